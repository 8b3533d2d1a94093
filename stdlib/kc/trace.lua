---@module kc.trace
-- The trace of a run: append-only JSON lines. First the environment, then one line per calibration and per measurement as
-- it ends,
-- last the digest of all lines before. Schema: spec/trace.schema.json.
local core = require "kc.core"
local json = require "kc.json"
local loader = require "kc.loader"
local M = {}

M.SCHEMA = 1

local Trace = {}
Trace.__index = Trace

--- What identifies a cell's result, so that a resumed run does not repeat it.
---@param row table with digest, implementation, device, seed and thorough
---@return string key
function M.key(row)
  return table.concat({ row.digest, row.implementation, row.device, tostring(row.seed), row.thorough and "thorough" or "" }, "\n")
end

local function open(path, size)
  local file, message = io.open(path, "ab")
  if not file then return nil, message end
  return setmetatable({ path = path, file = file, size = size, done = {}, calibrated = {} }, Trace)
end

--- Creates a trace; a file that exists is not overwritten.
---@param path string
---@return table|nil trace, string|nil message
function M.create(path)
  local stat = core.stat(path)
  if stat and stat.type == "file" and stat.size > 0 then
    return nil, ("'%s' exists; go on with it by --resume, or name another file"):format(path)
  end
  return open(path, 0)
end

-- Whole lines of the text with their end offsets; a torn last line is left out.
local function lines_of(text)
  local lines, at = {}, 1
  while true do
    local stop = text:find("\n", at, true)
    if not stop then return lines end
    lines[#lines + 1] = { text = text:sub(at, stop - 1), stop = stop }
    at = stop + 1
  end
end

local function validate(path, lines)
  local rows = {}
  for i, line in ipairs(lines) do
    local row, message = json.decode(line.text)
    if type(row) ~= "table" or type(row.type) ~= "string" then
      return nil, ("%s:%d: not a trace line: %s"):format(path, i, message or "expected an object with a type")
    end
    rows[i] = row
  end
  if not rows[1] or rows[1].type ~= "environment" or rows[1].schema ~= M.SCHEMA then
    return nil, ("%s:1: expected the environment line of a kc trace, schema %d"):format(path, M.SCHEMA)
  end
  return rows
end

--- Reads a trace: its rows, how many bytes are whole lines, and whether the last line was torn.
---@param path string
---@return table|nil rows, string|integer message_or_size, boolean|nil torn
function M.read(path)
  local text, message = loader.read(path)
  if not text then return nil, message end
  local lines = lines_of(text)
  local rows, why = validate(path, lines)
  if not rows then return nil, why end
  local size = lines[#lines].stop
  return rows, size, size < #text
end

--- Opens a trace to go on with: drops a torn last line and the end line, remembers which cells are done.
---@param path string
---@return table|nil trace, string|nil message
function M.resume(path)
  local rows, size = M.read(path)
  if not rows then return nil, size end
  if rows[#rows].type == "end" then
    size = size - #json.encode(rows[#rows]) - 1
    if core.sha256(loader.read(path):sub(1, size)) ~= rows[#rows].sha256 then
      return nil, ("%s: its end line's digest is not that of the lines before it: the trace was changed"):format(path)
    end
    rows[#rows] = nil
  end
  local ok, message = core.truncate(path, size)
  if not ok then return nil, message end
  local trace, why = open(path, size)
  if not trace then return nil, why end
  trace.resumed = rows[1]
  for _, row in ipairs(rows) do
    if row.type == "measurement" then trace.done[M.key(row)] = row end
  end
  return trace
end

--- Appends one row. After a failure (a full disk) the half-written line is cut off and nothing more is written.
---@param row table
---@return boolean ok, string|nil message
function Trace:add(row)
  if self.failed then return false, self.failed end
  local line = json.encode(row) .. "\n"
  local ok, message = self.file:write(line)
  if ok then ok, message = self.file:flush() end
  if not ok then
    self.failed = ("cannot write the trace '%s': %s; it holds what was measured before"):format(self.path, message)
    self.file:close()
    core.truncate(self.path, self.size)
    return false, self.failed
  end
  self.size = self.size + #line
  return true
end

--- Writes the end line and closes.
---@param row table counts and exit code
---@return boolean ok, string|nil message
function Trace:finish(row)
  if self.failed then return false, self.failed end
  row.type, row.sha256 = "end", core.sha256file(self.path)
  local ok, message = self:add(row)
  if ok then self.file:close() end
  return ok, message
end

--- Closes without an end line: the run was interrupted and can be resumed.
function Trace:close()
  if not self.failed then self.file:close() end
end

return M
