---@module kc.embed
-- Judging from another program's process: starts the installed kc, which does what `kc run` does, and hears its results.
local core = require "kc.core"
local json = require "kc.json"
local verdict = require "kc.verdict"
local wire = require "kc.wire"
local M = {}

local SLICE = 0.1 -- seconds between two questions whether to stop
local GRACE = 10  -- seconds in which kc ends its judges and runners
local LAST_WORDS = 1024 -- bytes

-- ---- the command line -------------------------------------------------------------------------------------------------------

-- Options in the order in which they are written: field, option, how its value reads.
local function word(value) return value end
local function seconds(value) return ("%.17g"):format(value) end
local function integer(value) return ("%d"):format(value) end
local words = { { "filter", word }, { "impl", word }, { "seed", integer }, { "jobs", integer }, { "timeout", seconds },
                { "trace", word }, { "report", word } }

local function command_line(options)
  local argv = { "run" }
  local function add(...) table.move({ ... }, 1, select("#", ...), #argv + 1, argv) end
  for _, name in ipairs(options.devices or {}) do add("--device", name) end
  for _, row in ipairs(words) do
    if options[row[1]] ~= nil then add("--" .. row[1], row[2](options[row[1]])) end
  end
  if options.thorough then add "--thorough" end
  add("--", table.unpack(options.targets or {}))
  return argv
end

-- kc with a channel as descriptor 3.
local function program_line(options)
  local argv = { core.exe(), "--role=run", "3" }
  if options.extensions and options.extensions[1] then
    argv = { "/usr/bin/env", "KC_EXTENSIONS=" .. table.concat(options.extensions, ":"), table.unpack(argv) }
  end
  local words_of_run = command_line(options)
  return table.move(words_of_run, 1, #words_of_run, #argv + 1, argv)
end

-- ---- what kc says -----------------------------------------------------------------------------------------------------------

local Run = {}
Run.__index = Run

local heard = {}

function heard.version(self, message)
  if message.version == core.version then return end
  self.failure = ("'%s' is kc %s, this library %s"):format(core.exe(), message.version, core.version)
end

function heard.log(self, message)
  self.text = self.text .. message.log
  for line in self.text:gmatch "([^\n]*)\n" do
    line = line:gsub("^kc: ", "")
    self.messages[#self.messages + 1] = line
    if self.on.log then self.on.log(line) end
  end
  self.text = self.text:match "[^\n]*$"
end

function heard.done(self, message)
  if self.on.progress then self.on.progress(message.done, message.total) end
end

function heard.result(self, message)
  local r = message.result
  r.worst, r.seconds = json.number(r.worst), json.number(r.seconds)
  self.results[#self.results + 1] = r
end

function heard.code(self, message) self.code = message.code end

local kinds = { "version", "log", "done", "result", "code" }

-- What kc wrote to stderr before it could speak, or when it no longer could.
function Run:said()
  self.process:wait(GRACE)
  local bytes = {}
  for i = 1, #self.stderr do
    if self.stderr[i] == 0 then break end
    bytes[i] = string.char(self.stderr[i])
  end
  local text = table.concat(bytes):gsub("\n+$", "")
  return text ~= "" and ": " .. text or ""
end

function Run:take(message)
  for _, kind in ipairs(kinds) do
    if message[kind] ~= nil then heard[kind](self, message) end
  end
end

function Run:hear()
  local message, why, code = wire.receive(self.channel, GRACE)
  if not message and code == "closed" and self.deadline then
    self.code = verdict.exit.interrupted -- asked to stop before it could listen
    return
  elseif not message then
    self.failure = code == "closed" and ("'%s' ended before it was done%s"):format(core.exe(), self:said()) or why
    return
  end
  self:take(message)
end

function Run:stop()
  if self.deadline then return end
  self.deadline = core.clock() + GRACE
  self.process:kill(2)
end

function Run:listen()
  while not (self.code or self.failure) do
    if #core.poll({ self.channel:fd() }, SLICE) > 0 then self:hear() end
    if self.on.cancel and not self.deadline and self.on.cancel() then self:stop() end
    if self.deadline and core.clock() > self.deadline then self.failure = "kc did not end when asked to" end
  end
end

-- kc ends what it has started; only one that does not is killed.
function Run:close()
  if not self.code then self:stop() end
  if self.process:wait(GRACE) == "running" then core.killtree(self.process:pid()) end
  self.channel:close()
end

local function new(on, more)
  local self = more or {}
  self.results, self.messages, self.text, self.on = {}, {}, "", on or {}
  return setmetatable(self, Run)
end

local function start(options, on)
  local stat, why = core.stat(core.exe())
  if not stat then return nil, ("the program kc is not there: %s; KC_PROGRAM names another"):format(why), "io" end
  local here, there, failure = core.channel()
  if not here then return nil, there, failure end
  local stderr = assert(core.buffer("u8", { LAST_WORDS }, { guard = 0 }))
  stderr:fillvalue(0)
  local process, message, code = core.spawn { argv = program_line(options), fds = { { 3, there:fd() } }, stderr = stderr:fd() }
  there:close()
  if not process then
    here:close()
    return nil, message, code
  end
  return new(on, { channel = here, process = process, stderr = stderr })
end

local function run_program(options, on)
  local self, message, code = start(options, on)
  if not self then return nil, message, code end
  local ok, raised = pcall(Run.listen, self)
  self:close()
  if not ok then error(raised, 0) end
  return self
end

-- ---- in this process -----------------------------------------------------------------------------------------------------------

local function run_inside(options, on)
  if options.extensions and options.extensions[1] then
    return nil, "option 'extensions': a run in this process has those of its state, see kc_embed_add", "invalid"
  end
  local inside, self = require "kc.inside", new(on)
  local channel = { send = function(_, text) self:take(json.decode(text)) return true end }
  require("kc.service").serve(channel, command_line(options), require("kc.cli").command, {
    isolation = inside.ISOLATION, supervise = function(o) return inside.supervisor(o, self.on.cancel) end })
  for _, r in ipairs(self.results) do r.isolation = inside.ISOLATION end -- also what was not run
  return self
end

-- ---- calls ------------------------------------------------------------------------------------------------------------------

local codes = { [verdict.exit.usage] = "invalid", [verdict.exit.interrupted] = "cancelled" }

--- Runs `kc run` with these options. Violations are results; of a run that was cancelled, or in which some target was refused, there are
--- those results that came before.
---@param options table {targets=, devices=, filter=, impl=, seed=, jobs=, timeout=, thorough=, trace=, report=, extensions=,
---  in_process=true: judged here, without kc's processes}
---@param on table|nil functions: log(line), progress(done, total), cancel() -> true to stop
---@return table|nil run {code=exit code, results=list, messages=list}
---@return string|nil message
---@return string|nil code "invalid", "cancelled", "io"
function M.run(options, on)
  local self, message, code = (options.in_process and run_inside or run_program)(options, on)
  if not self then return nil, message, code end
  if self.failure then return nil, self.failure, "io" end
  local run = { code = self.code, results = self.results, messages = self.messages }
  if not codes[self.code] then return run end
  return run, self.messages[1] or "cancelled", codes[self.code]
end

--- kc.judge for a program that embeds kc: the same results, from a kc of its own.
---@param target string
---@param options table|nil as of kc.judge
---@return table results
function M.judge(target, options)
  local o = options or {}
  local run, message, code = M.run({ targets = { target }, devices = { o.device or "cpu" }, impl = o.impl, seed = o.seed,
                                     timeout = o.timeout, extensions = o.extensions,
                                     in_process = o.isolation == "none" }, { progress = o.progress })
  if not run or code then error(message, 3) end
  if #run.results == 0 then error(run.messages[1] or "nothing was selected", 3) end
  return run.results
end

--- Results as the C interface gives them: texts and numbers only.
---@param results table
---@return table cells
function M.cells(results)
  local cells = {}
  for i, r in ipairs(results) do
    local v = r.verdict
    cells[i] = { contract = r.contract, path = r.path or "", implementation = r.implementation, role = r.role or "", device = r.device,
                 verdict = v.name, reason = v.reason or "", signature = v.signature or "", note = v.note or "",
                 replay = r.replay or "", ratio = r.worst or 0.0, judged = r.judged or 0, vacuous = r.vacuous or 0,
                 seconds = r.seconds or 0.0, isolated = r.isolation == nil }
  end
  return cells
end

local function demand_inputs(oracle, inputs)
  for _, name in ipairs(oracle.arguments) do
    if not inputs[name] then
      error(("the oracle names input '%s'; %s"):format(name, require("kc.words").hint(name, require("kc.words").keys(inputs))), 0)
    end
  end
end

--- The exact values of a tensor.
---@param expression string in Lua: a kc.oracle, or a function as a contract's oracle may be
---@param inputs table name -> buffer
---@param shape table of the tensor
---@return userdata enclosure
function M.enclose(expression, inputs, shape)
  local oracle, code = require "kc.oracle", "return " .. expression
  local chunk, message = load(code, code, "t", setmetatable({ kc = require "kc" }, { __index = _G }))
  local value = chunk and chunk()
  if not chunk then error("oracle: " .. message, 0) end
  if type(value) == "function" then value = oracle.expression(value) end
  if not oracle.is(value) then error("expected an oracle, a kc.oracle or a function, got " .. require("kc.words").show(value), 0) end
  demand_inputs(value, inputs)
  return oracle.evaluate(value, inputs, shape)
end

--- The prompt, in a program that has a terminal.
---@return boolean|nil ok, string|nil message, string|nil code
function M.repl()
  if not core.isatty(0) then return nil, "the prompt needs a terminal on standard input", "unsupported" end
  require("kc.repl").main { rc = true }
  return true
end

return M
