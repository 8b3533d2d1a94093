---@module kc.live
-- Outputs of earlier runs of a sample: within limits they stay mapped in the runner, and are looked at again when they go. A run that
-- writes into an earlier one's output aliases.
local M = {}

local Live = {}
Live.__index = Live

-- What is kept: memory, and descriptors (each buffer holds one).
local BYTES, BUFFERS = 64 * 1024 * 1024, 256

--- None yet.
---@param client table|nil of the runner that maps them; nil where nothing is run
---@return table live
function M.new(client) return setmetatable({ client = client, ids = {}, kept = {}, bytes = 0, buffers = 0 }, Live) end

--- Takes over what a run has mapped: the ids of its outputs.
---@param ids table
function Live:mapped(ids) table.move(ids, 1, #ids, #self.ids + 1, self.ids) end

local function aliased(kept)
  for i, output in ipairs(kept.outputs) do
    if output.buffer:digest() ~= kept.digests[i] then
      return { kind = "aliasing", output = output.name,
               text = ("output '%s' of run %d changed after that run: a later one wrote into it"):format(output.name, kept.run) }
    end
  end
end

-- Lets go of the oldest, so many that what stays is within these limits.
function Live:drop(bytes, buffers)
  local ids = {}
  while #self.kept > 0 and (self.bytes > bytes or self.buffers > buffers) do
    local kept = table.remove(self.kept, 1)
    self.aliasing = self.aliasing or aliased(kept)
    table.move(kept.ids, 1, #kept.ids, #ids + 1, ids)
    for _, output in ipairs(kept.outputs) do
      self.bytes, self.buffers = self.bytes - output.buffer:bytes(), self.buffers - 1
      output.buffer:close()
    end
  end
  if self.client then self.client:free(ids) end
end

--- Keeps the outputs of a run that is over; they are closed when they go.
---@param outputs table list of {name=, buffer=}
---@param run integer
function Live:add(outputs, run)
  local digests, bytes = {}, 0
  for i, output in ipairs(outputs) do digests[i], bytes = output.buffer:digest(), bytes + output.buffer:bytes() end
  self:drop(BYTES - bytes, BUFFERS - #outputs)
  self.bytes, self.buffers = self.bytes + bytes, self.buffers + #outputs
  self.kept[#self.kept + 1] = { outputs = outputs, digests = digests, ids = self.ids, run = run }
  self.ids = {}
end

--- Lets all go.
---@return table|nil evidence of aliasing
---@return integer kept how many runs' outputs had stayed
function Live:close()
  local kept = #self.kept
  self:drop(-1, -1)
  return self.aliasing, kept
end

return M
