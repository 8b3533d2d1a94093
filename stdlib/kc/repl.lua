---@module kc
-- The prompt: expressions print, statements run, an entry may take several lines.
local complete = require "kc.complete"
local core = require "kc.core"
local limit = require "kc.limit"
local paths = require "kc.paths"
local show = require "kc.show"
local M = {}

local EVERY = 20000 -- Lua instructions between two looks for Ctrl-C
local PROMPT = "kc> "

local Repl = {}
Repl.__index = Repl

-- ---- one entry --------------------------------------------------------------------------------------------------------------

local function lacks_end(message) return message:find("near <eof>", 1, true) ~= nil end

-- An expression first; a text that only lacks its end goes on in the next line. The text names its chunk, so that who traces a function
-- can read it. What begins no statement was meant as an expression.
local function compile(text, env)
  if text:find("^[@=]") then text = " " .. text end -- as the name of a chunk it would mean a file
  local chunk, of_expression = load("return " .. text, text, "t", env)
  if chunk then return chunk end
  local statement, message = load(text, text, "t", env)
  if statement then return statement end
  local more = lacks_end(message) or lacks_end(of_expression)
  return nil, message:find("]:1: unexpected symbol", 1, true) and of_expression or message, more
end

-- Chunks of the prompt as people read of them.
local function named(message) return (message:gsub('%[string ".-"%]:(%d+):', "prompt:%1:"):gsub('%[string ".-"%]', "prompt")) end

local function line_of(text, number)
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number - 1
    if number == 0 then return line end
  end
end

-- A line of a chunk, where it is not plain to see: of a file, or of an entry of several lines.
local function shown_line(source, number)
  if not number then return nil end
  local text = source
  if source:sub(1, 1) == "@" then
    local file = io.open(source:sub(2), "r")
    if not file then return nil end
    text = file:read("a")
    file:close()
  elseif not source:find("\n", 1, true) then
    return nil
  end
  local line = line_of(text, number)
  return line and line:find("%S") and ("\n  %d | %s"):format(number, line) or nil
end

-- The line on which the innermost frame stands that is neither C's nor kc's own.
local function line_of_frame()
  for level = 3, 40 do
    local info = debug.getinfo(level, "Sl")
    if not info or info.source == "@stdlib/kc/repl.lua" then return nil end
    local own = info.source:find("stdlib/kc/", 1, true)
    if info.what ~= "C" and not own and info.currentline > 0 then return shown_line(info.source, info.currentline) end
  end
end

-- Frames of kc's own are of no use to who types; those of the prompt and of files are.
local function traceback(e)
  if type(e) ~= "string" then return show.text(e) end
  local lines = {}
  for line in debug.traceback("", 2):gmatch("[^\n]+") do
    if line:find("stdlib/kc/repl.lua", 1, true) then break end -- what called the prompt is not at fault
    local foreign = line:find("stdlib/kc/", 1, true) or line:find("[C]:", 1, true) or line:find("stack traceback", 1, true) or
      line:find("(...tail calls...)", 1, true)
    if not foreign and line:find("%S") and not line:find("in main chunk", 1, true) then lines[#lines + 1] = named(line) end
  end
  local message = named(e):gsub("^stdlib/kc/[%w_/]+%.lua:%d+: ", "")
  return table.concat({ message .. (line_of_frame() or ""), table.unpack(lines) }, "\n")
end

local function stop_on_signal()
  if core.interrupted() then error("interrupted", 0) end
end

-- Runs a chunk so that Ctrl-C ends it: by a look every so many instructions, and where it waits, by the runner, which the terminal's signal
-- ends too.
local function guarded(chunk)
  core.interrupted(true)
  local results = table.pack(limit.hooked(stop_on_signal, EVERY, xpcall, chunk, traceback))
  if core.interrupted(true) then return { n = 2, false, "interrupted" } end
  return results
end

function Repl:print(results)
  for i = 2, results.n do self.write(show.text(results[i]) .. "\n") end
  if results.n >= 2 then
    self.env._, self.env._1, self.env._2 = results[2], results[2], self.env._1
  end
end

local function asked(text) return text:match("^%s*%?%s*(.-)%s*$") end

--- Does an entry lack its end?
---@param text string
---@param env table
---@return boolean
function M.incomplete(text, env)
  if asked(text) then return false end
  local _, _, more = compile(text:gsub(";%s*$", ""), env)
  return more or false
end

--- Runs one entry.
---@param text string
function Repl:enter(text)
  local topic = asked(text)
  if topic then
    local said, message = require("kc.help").text(topic ~= "" and topic or "kc.help")
    self.write((said or message) .. "\n")
    return
  end
  local silent = text:match(";%s*$")
  local chunk, message = compile(text:gsub(";%s*$", ""), self.env)
  if not chunk then
    self.complain(named(message) .. (shown_line(text:gsub("^[@=]", " %0"), math.tointeger(tonumber(message:match("%]:(%d+):")))) or ""))
    return
  end
  local results = guarded(chunk)
  if not results[1] then
    self.complain(results[2])
  elseif silent then
    self.env._ = results[2]
  else
    self:print(results)
  end
end

-- ---- the loop ---------------------------------------------------------------------------------------------------------------

function Repl:run_rc()
  local path = paths.rc()
  if not path then return end
  local chunk, message = loadfile(path, "t", self.env)
  local results = chunk and guarded(chunk) or { false, message }
  if not results[1] then self.complain(results[2]) end
end

function Repl:loop()
  while true do
    local text, why = self.editor:read(PROMPT)
    if text and text:find("%S") then
      self.editor:remember(text)
      self:enter(text)
    elseif not text then
      self.write("\n")
      if why ~= "interrupted" then return end
    end
  end
end

local function environment(locals)
  local env = setmetatable(locals or {}, { __index = _G })
  env.kc = require "kc"
  env.help = require("kc.help").help
  return env
end

--- A prompt over an editor with read(prompt) and remember(text).
---@param options table {editor=, write=function, complain=function, env=table}
---@return table repl with enter(text) and loop()
function M.new(options) return setmetatable(options, Repl) end

-- Variables of the function that called kc.repl, by name; the innermost of equal names.
local function locals_of(level)
  local list = {}
  for i = 1, math.huge do
    local name, value = debug.getlocal(level, i)
    if not name then break end
    if name:match("^[%a_]") then list[name] = value end
  end
  return list
end

local function complain(text)
  local color = core.isatty(2) and (os.getenv("NO_COLOR") or "") == ""
  io.stderr:write(color and ("\27[31m%s\27[0m\n"):format(text) or text .. "\n")
end

--- The prompt on this terminal, until Ctrl-D. Called from a script it sees the variables of the function that calls it.
---@param options table|nil {rc=false: without the file rc.lua of the user}
function M.repl(options)
  local env = environment(options == nil and locals_of(3) or nil)
  local line = require "kc.line"
  local self = M.new { env = env, write = io.write, complain = complain }
  local editor <close> = line.open("kc", function(text) return complete.answer(text, env, core.columns(1)) end,
    function(text) return M.incomplete(text, env) end)
  self.editor = editor
  core.catch_signals()
  local interrupt <close> = core.catch_interrupt() -- luacheck: ignore interrupt
  core.subreaper()
  local path = paths.history()
  if path then editor:load(path) end
  if not (options and options.rc == false) then self:run_rc() end
  self:loop()
  if path then editor:save(path) end
end

--- `kc` on a terminal.
---@param options table {rc=boolean}
---@return integer exit code
function M.main(options)
  io.write(("kc %s, %s; help() or ?kc.ulp for help, Tab completes, Ctrl-D ends\n"):format(core.version, _VERSION))
  M.repl { rc = options.rc }
  return 0
end

return M
