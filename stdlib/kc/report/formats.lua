---@module kc.report.formats
-- The formats of reports, which of them each command writes, and where they go: standard output, and the file of --report.
local words = require "kc.words"
local M = {}

-- A format of reports is one row here and one module.
M.list = {
  { name = "text", extension = "txt", module = "kc.report.text" },
  { name = "json", extension = "json", module = "kc.report.json" },
  { name = "junit", extension = "xml", module = "kc.report.junit" },
  { name = "tap", extension = "tap", module = "kc.report.tap" },
  { name = "html", extension = "html", module = "kc.report.html" },
}

local function column(key, prefix)
  local list = {}
  for i, row in ipairs(M.list) do list[i] = prefix .. row[key] end
  return list
end

M.names = column("name", "")
M.extensions = column("extension", ".")

local some = { "text", "json" }
local files = { run = M.names, calibrate = M.names, watch = M.names, replay = M.names, diff = some }
local streams = { run = M.names, calibrate = M.names, watch = M.names, replay = M.names, diff = some, doctor = some }
local takes = { format = streams, report = files }

local function find(key, value)
  for _, row in ipairs(M.list) do if row[key] == value then return row end end
end

local function choice(list) return #list > 1 and table.concat(list, ", ", 1, #list - 1) .. " or " .. list[#list] or list[1] end

-- Does this command write that format? A message when not.
local function refused(option, command, name, got)
  local names = takes[option][command]
  if not words.holds(names, name) then
    local expected = {}
    for i, known in ipairs(names) do expected[i] = option == "format" and known or "." .. find("name", known).extension end
    return ("option '--%s': '%s' writes %s, got '%s'"):format(option, command, choice(expected), got)
  end
end

--- Why a command does not write a format; nil when it does.
---@param command string
---@param name string a format's name
---@return string|nil message
function M.refused(command, name) return refused("format", command, name, name) end

--- Why a command writes no report into a file of that name; nil when it does.
---@param command string
---@param path string
---@return string|nil message
function M.refused_file(command, path)
  local row = find("extension", path:match("%.([^./]*)$") or "")
  if not row and files[command] == M.names then
    return ("option '--report': expected a file called %s, got '%s'"):format(choice(M.extensions), path)
  end
  return refused("report", command, row and row.name, path)
end

-- ---- where reports go -------------------------------------------------------------------------------------------------------

local EPIPE = 32 -- who reads has had enough

-- What writes to a file and remembers the first failure.
local function sink(name, file, row)
  local self = { name = name, file = file, format = row }
  function self.note(ok, why, code)
    if not ok and code ~= EPIPE then self.failed = self.failed or why or "unknown error" end
  end
  function self.write(text) self.note(file:write(text)) end
  return self
end

local function stdout(o)
  local self = sink("standard output", io.stdout, find("name", o.format or "text"))
  function self.write(text)
    if o.progress then io.stderr:write("\r\27[K") end -- the progress line stands where this goes
    self.note(io.stdout:write(text))
    self.note(io.stdout:flush())
  end
  return self
end

--- Where the reports of a run go.
---@param o table options {format=name|nil, report=path|nil, progress=boolean}
---@return table|nil sinks list of {format=row of M.list, write=function}, standard output first
---@return string|nil message of the operating system
function M.open(o)
  local sinks = { stdout(o) }
  if not o.report then return sinks end
  local file, message = io.open(o.report, "wb")
  if not file then return nil, "cannot write the report: " .. message end
  sinks[2] = sink(("'%s'"):format(o.report), file, find("extension", o.report:match("%.([^./]*)$")))
  return sinks
end

--- Closes what M.open opened.
---@param sinks table
---@return string|nil message what could not be written
function M.close(sinks)
  if sinks[2] then sinks[2].note(sinks[2].file:close()) end
  for _, one in ipairs(sinks) do
    if one.failed then return ("cannot write the report to %s: %s"):format(one.name, one.failed) end
  end
end

return M
