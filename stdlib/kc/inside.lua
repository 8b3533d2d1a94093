---@module kc.inside
-- Judging in the calling process: a runner that is no process, and a supervisor of one judge that is none. What they are asked and what
-- they answer is what crosses between processes, so that verdicts are the same; nothing is caught and nothing is killed here.
local core = require "kc.core"
local json = require "kc.json"
local M = {}

--- What results and traces say of such a run.
M.ISOLATION = "none"

-- A message as the other side would read it.
local function crossed(message) return json.decode(json.encode(message)) end

-- ---- a runner ---------------------------------------------------------------------------------------------------------------------

local no_crash_handler = { ranges = function() end }

-- Runners whose clients were dropped on the way, by an error; what is collected needs no closing.
local live = setmetatable({}, { __mode = "k" })

local function start(self)
  self.runner = require("kc.runner").new(no_crash_handler)
  self.process, self.started = self.runner, true
  live[self] = true
  return self:open()
end

-- The runner owns the descriptors that it is given, unless it refuses them.
local function exchange(self, request, fds)
  local own = {}
  for i, fd in ipairs(fds or {}) do own[i] = core.dupfd(fd) end
  local reply = self.runner:answer(crossed(request), own)
  for _, fd in ipairs(reply.error and own or {}) do core.closefd(fd) end
  return crossed(reply)
end

local function close(self)
  if not self.started then return end
  self.started, live[self] = false, nil
  for _, buffer in pairs(self.runner.buffers) do buffer:close() end -- order does not matter
  if self.runner.device then self.runner.device:close() end
end

--- The class of clients whose runner is in this process.
---@param base table class of kc.client
---@return table class
function M.client(base)
  local class = setmetatable({ start = start, exchange = exchange, close = close }, { __index = base })
  class.__index = class
  return class
end

--- Where a calibration's states run: the bad kernels of some contracts leave their buffers, which must cost a runner. Only a device of the
--- program's own is nowhere else.
---@param device string
---@return table runner as of kc.client
function M.calibrating(device)
  local driver = device:match "^[^:]*"
  for _, extension in ipairs(core.extensions()) do
    for _, name in ipairs(extension.path and {} or extension.drivers) do
      if name == driver then return { inside = true } end
    end
  end
  return {}
end

-- ---- a supervisor -----------------------------------------------------------------------------------------------------------------

local Supervisor = {}
Supervisor.__index = Supervisor

--- Stands for kc.supervisor. Contract code is bounded by the timeout; a kernel is not.
---@param options table {timeout=, progress=function(judges)|nil}
---@param cancel function|nil asked after each sample: true ends the run
---@return table supervisor
function M.supervisor(options, cancel)
  local self = setmetatable({ progress = options.progress, cancel = cancel or function() return false end }, Supervisor)
  self.judge = require("kc.judge").new { runner = { inside = true }, limit = options.timeout, progress = function()
    if self:stop() then error({ code = "interrupted", message = "cancelled" }, 0) end
  end }
  return self
end

function Supervisor:stop()
  self.stopped = self.stopped or self.cancel()
  return self.stopped
end

--- As kc.supervisor's.
---@param queue table
---@return boolean finished
function Supervisor:work(queue)
  while queue[1] do
    local task = table.remove(queue, 1)
    local reply = not self:stop() and crossed(self.judge:answer(crossed(task.request)))
    if self.stopped then return false end
    task.done(reply)
    if self.progress then self.progress {} end
  end
  return true
end

Supervisor.ask = require("kc.supervisor").ask

--- Closes what is still open.
function Supervisor.close()
  for _, client in ipairs(require("kc.words").keys(live)) do client:close() end
end

return M
