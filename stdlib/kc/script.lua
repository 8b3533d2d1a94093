---@module kc.script
-- Scripts: `kc FILE.lua`, `kc -e CODE`, `kc -`. A script is a judge: it sees kc and help as globals. os.exit works; an error prints its
-- traceback and gives 4.
local M = {}

local USAGE = 64

local function complain(message, code)
  io.stderr:write("kc: ", message, "\n")
  return code
end

local function globals(argv, from)
  _G.kc = require "kc"
  function _G.help(topic) return require("kc.help").help(topic) end
  _G.arg = { [0] = argv[from] }
  table.move(argv, from + 1, #argv, 1, _G.arg)
end

local function run_chunk(chunk, message, argv, from)
  if not chunk then return complain(message, USAGE) end
  globals(argv, from)
  local ok, result = xpcall(chunk, function(e)
    return type(e) == "string" and debug.traceback(e, 2) or tostring(e)
  end, table.unpack(_G.arg))
  if not ok then return complain(result, 4) end
  return math.type(result) == "integer" and result or 0
end

local function load_text(text, name)
  require("kc.chunks")[name] = text
  return load(text, name)
end

--- Runs what stands on stdin.
---@param argv table
---@param from integer index of the script's name in argv
---@return integer exit code
function M.stdin(argv, from)
  local chunk, message = load_text((io.read("a"):gsub("^#[^\n]*", "")), "=stdin")
  return run_chunk(chunk, message, argv, from)
end

--- Runs the script that the first arguments name: a file, "-", or "-e" and code.
---@param argv table
---@return integer exit code
function M.run(argv)
  local first = argv[1]
  if first == "-" then return M.stdin(argv, 1) end
  if first ~= "-e" then
    local chunk, message = loadfile(first)
    return run_chunk(chunk, message, argv, 1)
  end
  if not argv[2] then return complain("-e needs code", USAGE) end
  local chunk, message = load_text(argv[2], "=-e")
  return run_chunk(chunk, message, argv, 2)
end

return M
