---@module kc.cli
-- The command line: options, commands, scripts. Exit codes: spec/verdicts.md.
local core = require "kc.core"
local report_formats = require "kc.report.formats"
local words = require "kc.words"
local M = {}

local USAGE = 64

-- Each option: how its value is read (nil: a flag), and its line of --help.
local function integer(text)
  local n = math.tointeger(tonumber(text))
  return n and math.abs(n) <= 1 << 53 and n or nil, "an integer of at most 53 bits"
end
local function count(text)
  local n = math.tointeger(tonumber(text))
  return n and n >= 1 and n <= 1024 and n or nil, "an integer from 1 to 1024"
end
local function seconds(text)
  local n = tonumber(text)
  return n and n > 0 and n < 1e6 and n + 0.0 or nil, "a number of seconds above 0"
end
local function tolerance(text)
  local n = tonumber(text)
  return n and n >= 0 and n < math.huge and n + 0.0 or nil, "a number >= 0, decimal or 0x1p-23"
end
local function text(value) return value ~= "" and value or nil, "text" end

local admitted = {} -- how a value is read -> function that lists the values, where they can be listed

local function one_of(...)
  local list = { ... }
  local function read(value)
    for _, item in ipairs(list) do if item == value then return value end end
    return nil, "one of " .. table.concat(list, ", ")
  end
  admitted[read] = function() return list end
  return read
end

-- Which of a backend's devices there are is known when it is opened.
local function device(value)
  local name, colon, which = value:match("^([^:]*)(:?)(.*)$")
  for _, driver in ipairs(core.drivers()) do
    if driver == name and (colon == "" or which ~= "") then return value end
  end
  local hint = require("kc.words").hint(name, core.drivers())
  return nil, ("NAME, NAME:NUMBER or NAME:TEXT as 'kc devices' prints them (%s)"):format(hint)
end
admitted[device] = core.drivers

-- Of a report, or (diff) of numbers.
local function any_format(value)
  if words.holds(report_formats.names, value) or core.format(value) then return value end
  return nil, ("one of %s; for diff also %s"):format(table.concat(report_formats.names, ", "), table.concat(core.formats(), ", "))
end
local function float_format(value)
  local facts = core.format(value)
  return facts and facts.kind == "float" and value or nil, "a format of floats, e.g. f32, bf16, e4m3fn"
end
local function accepted(read)
  return function()
    local list = {}
    for _, names in ipairs { report_formats.names, core.formats() } do
      for _, name in ipairs(names) do
        if read(name) then list[#list + 1] = name end
      end
    end
    return list
  end
end
admitted[any_format], admitted[float_format] = accepted(any_format), accepted(float_format)

local options = {
  { "device", device, "NAME", "judge on this device (repeatable; default cpu)", list = "devices" },
  { "filter", text, "GLOB", "only contracts whose id matches" },
  { "candidate", text, "COMMAND", "judge this command instead (repeatable); {in} and {out} are its directories", list = "candidates" },
  { "exchange", one_of("npy", "npz", "safetensors"), "FORMAT", "of a command's files: npy (default), npz, safetensors" },
  { "inputs", text, "DIR", "with --outputs: what export-inputs wrote" },
  { "outputs", text, "DIR", "judge the outputs dumped here for these inputs" },
  { "out", text, "DIR", "export-inputs: a new directory" },
  { "impl", text, "GLOB", "these implementations instead of the good ones" },
  { "seed", integer, "N", "seed of all inputs (default 0)" },
  { "jobs", count, "N", "judges at a time (default: processors)" },
  { "timeout", seconds, "S", "seconds for one cell, and for contract code (default 60)" },
  { "trace", text, "FILE", "write a trace" },
  { "resume", text, "FILE", "go on with a trace that was interrupted" },
  { "report", text, "FILE", "also write a report; " .. table.concat(report_formats.extensions, " ") },
  { "format", any_format, "FORMAT", "of the report on stdout: " .. table.concat(report_formats.names, " ") .. "; diff: of raw elements too",
    list = "formats" },
  { "as", float_format, "FORMAT", "diff: count ulps of this format, at the reference" },
  { "ulp", tolerance, "N", "diff: accept errors of N ulps" },
  { "abs", tolerance, "A", "diff: accept absolute errors up to A" },
  { "rel", tolerance, "R", "diff: accept errors up to R times the reference" },
  { "bits", nil, nil, "diff: every bit counts, those of NaNs too" },
  { "clause", text, "NAME", "explain this clause only" },
  { "arch", text, "NAME", "compile: for this architecture, e.g. sm_90, gfx90a (repeatable)", list = "archs" },
  { "code", nil, nil, "compile: the code itself, PTX or AMD's instructions" },
  { "color", one_of("auto", "always", "never"), "WHEN", "auto (default), always or never" },
  { "thorough", nil, nil, "also what contracts keep for a thorough run; --timeout is then for one sample" },
  { "list", nil, nil, "show what would run" },
  { "force", nil, nil, "replay although the contract has changed" },
  { "quiet", nil, nil, "only what is not held" },
  { "verbose", nil, nil, "candidates' output and Lua traces on stderr (-v)" },
  { "help", nil, nil, "this text" },
  { "version", nil, nil, "the version" },
}
local by_name, names = {}, {}
for _, row in ipairs(options) do
  by_name[row[1]] = row
  names[#names + 1] = "--" .. row[1]
end

-- Each command: its arguments, its line of --help, and the options that it takes beside those that every command takes.
local every = "help version verbose quiet color"
local judging = "device filter impl seed jobs timeout trace resume report format thorough list"
local commands = {
  { "run", "[CONTRACT|SUITE|DIR]...", "judge implementations; calibrates first what is not calibrated",
    takes = judging .. " candidate exchange inputs outputs" },
  { "calibrate", "[CONTRACT|SUITE|DIR]...", "measure baseline, bad, good and vacuous implementations of each contract", takes = judging },
  { "list", "[CONTRACT|SUITE|DIR]...", "contracts and their implementations", takes = "device filter impl seed thorough timeout" },
  { "explain", "CONTRACT", "a contract as prose", takes = "clause timeout" },
  { "lint", "[FILE|DIR]...", "what is wrong with contracts, without running them", takes = "timeout" },
  { "watch", "FILE [RUN OPTIONS]", "run again whenever a contract or a file beside it changes",
    takes = judging .. " candidate exchange inputs outputs" },
  { "diff-contract", "A B", "what differs between two contracts, clause by clause", takes = "timeout" },
  { "new", "contract|kernel NAME", "a contract that calibrates at once, or a kernel, to be changed", takes = "",
    about = function() return require("kc.new").about() end },
  { "devices", "", "backends and devices", takes = "timeout" },
  { "compile", "FILE.k --arch NAME", "static evidence of its kernels' code; needs a compiler, no device", takes = "arch code" },
  { "export-inputs", "CONTRACT --out DIR", "write a contract's inputs for a kernel that runs elsewhere",
    takes = "out exchange seed thorough timeout" },
  { "replay", "TOKEN", "one result again, bit for bit", takes = "force report format timeout" },
  { "diff", "GOT.npy REFERENCE.npy", "compare two dumped tensors", takes = "format as ulp abs rel bits report" },
  { "doctor", "", "what is present and what is missing, and how to get it", takes = "format" },
  { "cache", "[clear]", "size of the cache; clear it", takes = "" },
  { "help", "[TOPIC]", "documentation of a function, a command, a clause, ...", takes = "" },
}

M.commands, M.options = commands, options

local function has_word(list, word) return (" " .. list .. " "):find((" %s "):format(word), 1, true) ~= nil end

--- Is an option one that every command takes?
---@param option string without dashes
---@return boolean
function M.common(option) return has_word(every, option) end

--- Does a command take an option?
---@param command_row table of M.commands
---@param option string without dashes
---@return boolean
function M.takes(command_row, option)
  return command_row.takes == nil or has_word(every, option) or has_word(command_row.takes, option)
end

--- The values that an option of a command admits; nil where they cannot be listed. Formats of numbers are of diff's elements.
---@param option table row of M.options
---@param command string
---@return table|nil values
function M.values(option, command)
  local list = admitted[option[2] or false]
  if not list or option[2] ~= any_format or command == "diff" then return list and list() end
  local reports = {}
  for _, name in ipairs(list()) do if not core.format(name) then reports[#reports + 1] = name end end
  return reports
end

local function usage_error(message)
  io.stderr:write("kc: ", message, "\n")
  return USAGE
end

-- ---- parsing ----------------------------------------------------------------------------------------------------------------

local function store(parsed, row, value)
  if row.list then
    parsed[row.list] = parsed[row.list] or {}
    table.insert(parsed[row.list], value)
  else
    parsed[row[1]] = value
  end
end

local function parse_option(parsed, argv, i)
  local name, value = argv[i]:match("^%-%-([^=]*)=?(.*)$")
  local given = argv[i]:find("=", 1, true) ~= nil
  local row = by_name[name]
  table.insert(parsed.used, name)
  if not row then return nil, ("unknown option '--%s'; %s"):format(name, words.hint("--" .. name, names)) end
  if not row[2] then
    if given then return nil, ("option '--%s' takes no value"):format(name) end
    parsed[name] = true
    return i
  end
  if not given then
    i = i + 1
    value = argv[i]
    if not value then return nil, ("option '--%s' needs a value: %s"):format(name, row[3]) end
  end
  local read, expected = row[2](value)
  if read == nil then return nil, ("option '--%s': expected %s, got '%s'"):format(name, expected, value) end
  store(parsed, row, read)
  return i
end

local short = { ["-v"] = "--verbose", ["-h"] = "--help", ["-q"] = "--quiet" }

local function parse(argv, from)
  local parsed, rest, i = { used = {} }, {}, from
  while i <= #argv do
    local item = short[argv[i]] or argv[i]
    if item == "--" then
      table.move(argv, i + 1, #argv, #rest + 1, rest)
      break
    elseif item:match("^%-%-") then
      argv[i] = item
      local at, message = parse_option(parsed, argv, i)
      if not at then return nil, message end
      i = at
    elseif item:match("^%-.") then
      return nil, ("unknown option '%s'; %s"):format(item, words.hint(item, names))
    else
      rest[#rest + 1] = item
    end
    i = i + 1
  end
  parsed.targets = rest
  return parsed
end

-- What the command does with its options: the first that is none of its own is an error.
local function misplaced(o, name)
  local mine
  for _, row in ipairs(commands) do if row[1] == name then mine = row end end
  for _, option in ipairs(o.used) do
    local takers = {}
    for _, row in ipairs(commands) do if M.takes(row, option) then takers[#takers + 1] = "'" .. row[1] .. "'" end end
    if not M.takes(mine, option) then
      return ("option '--%s' is not of '%s', but of %s"):format(option, name, table.concat(takers, ", "))
    end
  end
end

local function distinct(list)
  local seen, out = {}, {}
  for _, item in ipairs(list) do
    if not seen[item] then out[#out + 1] = item end
    seen[item] = true
  end
  return out
end

-- --format names the report's, and for diff also that of raw elements; --report names a file by what is written into it.
local function formats(o, command)
  for _, name in ipairs(o.formats or {}) do
    local of_elements = core.format(name) ~= nil
    if of_elements and command ~= "diff" then
      return ("option '--format': expected one of %s, got '%s'"):format(table.concat(report_formats.names, ", "), name)
    end
    local wrong = not of_elements and report_formats.refused(command, name)
    if wrong then return wrong end
    o[of_elements and "number" or "format"] = name
  end
  return o.report and report_formats.refused_file(command, o.report)
end

-- What is judged instead of the good ones: commands, or outputs that lie in files.
local function given(o)
  if not (o.candidates or o.inputs or o.outputs) then return nil end
  if o.impl then return "--impl picks among a contract's implementations; without it" end
  if (o.inputs == nil) ~= (o.outputs == nil) then return "--inputs and --outputs belong together" end
  if o.candidates and o.inputs then return "--candidate and --outputs exclude each other" end
  if o.inputs and o.exchange then return "--exchange is what the manifest of the inputs says" end
  o.given = {}
  for i, candidate in ipairs(o.candidates or {}) do
    o.given[i] = { name = candidate, kind = "command", with = o.exchange or "npy" }
  end
  if o.outputs then o.given[1] = { name = o.outputs, kind = "dumped", with = o.inputs } end
end

-- What takes all contracts where the command line names none.
local over_contracts = { "run", "calibrate", "list", "lint" }

local function defaults(o, command)
  o.command = command
  o.devices = distinct(o.devices or { "cpu" })
  o.seed = o.seed or 0
  o.jobs = o.jobs or core.cpus()
  o.patience, o.timeout = o.timeout, o.timeout or 60.0 -- what was asked for, and what holds otherwise
  o.progress = not o.quiet and core.isatty(2)
  local wrong = formats(o, command) or given(o)
  if wrong then return wrong end
  if o.trace and o.resume then return "--trace and --resume exclude each other" end
  if #o.targets == 0 and words.holds(over_contracts, command) then
    local root = require("kc.paths").default_contracts()
    if not root then return "no contracts directory here; name a contract, a suite or a directory" end
    o.targets = { root }
  end
end

local function wants_color(o)
  if o.color == "always" then return true end
  if o.color == "never" or (os.getenv("NO_COLOR") or "") ~= "" then return false end
  return core.isatty(1)
end

-- ---- reports ----------------------------------------------------------------------------------------------------------------

-- Runs a command that writes reports; what could not be written is an error of the host, unless worse was found.
local function reporting(o, run)
  local sinks, message = report_formats.open(o)
  if not sinks then
    usage_error(message)
    return 4
  end
  local code = run(sinks)
  local failed = report_formats.close(sinks)
  if not failed then return code end
  io.stderr:write("kc: ", failed, "\n")
  return code ~= 1 and code < USAGE and 4 or code
end

local function with_reports(o, run)
  return reporting(o, function(sinks)
    local reports = {}
    for i, sink in ipairs(sinks) do
      reports[i] = i == 1 and o.listener or
        require(sink.format.module).new(sink.write, { color = i == 1 and wants_color(o), quiet = i == 1 and o.quiet })
    end
    return run(o, reports)
  end)
end

-- ---- commands ---------------------------------------------------------------------------------------------------------------

local handlers = {}

local function judge(o)
  if o.list then return require("kc.run").list(o, function(s) io.stdout:write(s) end) end
  local result = with_reports(o, require("kc.run").execute)
  require("kc.cache").trim(require("kc.cache").LIMIT)
  return result
end

handlers.run, handlers.calibrate = judge, judge

function handlers.list(o) return require("kc.run").list(o, function(s) io.stdout:write(s) end) end

local function out(s)
  io.stdout:write(s)
  io.stdout:flush()
end

function handlers.lint(o) return require("kc.lint").run(o, out) end
function handlers.watch(o) return require("kc.watch").run(o, function() return judge(o) end, out) end
handlers["diff-contract"] = function(o) return require("kc.difference").run(o, out) end
function handlers.new(o) return require("kc.new").run(o.targets, out) end

function handlers.explain(o)
  if #o.targets ~= 1 then return usage_error("explain: expected one contract, got " .. #o.targets) end
  local reply = require("kc.run").ask(o, { cmd = "explain", target = o.targets[1], clause = o.clause,
                                           roots = require("kc.paths").contract_roots() })
  if reply.error then return require("kc.verdict").refused(reply) end
  io.stdout:write(reply.text)
  return 0
end

function handlers.devices(o)
  local reply = require("kc.run").ask(o, { cmd = "devices" })
  if reply.error then
    io.stderr:write("kc: ", reply.error, "\n")
    return 4
  end
  for _, row in ipairs(reply.devices) do
    if row.fingerprint then
      local f = row.fingerprint
      io.stdout:write(("%-8s %s, %s; %s; %s; denormals %s, contraction %s\n"):format(row.name, f.name, f.arch, f.driver, f.compiler,
        f.denormals_kept and "kept" or "flushed", f.contracts and "on" or "off"))
    else
      io.stdout:write(("%-8s absent: %s\n"):format(row.name, row.why))
    end
  end
  return 0
end

function handlers.compile(o)
  if #o.targets ~= 1 then return usage_error("compile: expected one file, got " .. #o.targets) end
  local ok, message, code = require("kc.compile").run(o, function(s) io.stdout:write(s) end)
  if ok then return 0 end
  io.stderr:write("kc: ", message, "\n")
  return code
end

handlers["export-inputs"] = function(o)
  if #o.targets ~= 1 then return usage_error("export-inputs: expected one contract, got " .. #o.targets) end
  if not o.out then return usage_error("export-inputs: say where with --out DIR") end
  local reply = require("kc.run").ask(o, { cmd = "export", target = o.targets[1], out = o.out, exchange = o.exchange or "npy",
    seed = o.seed, thorough = o.thorough, roots = require("kc.paths").contract_roots() })
  if reply.error then return require("kc.verdict").refused(reply) end
  io.stdout:write(require("kc.manifest").summary(reply, o))
  return 0
end

function handlers.replay(o)
  if #o.targets ~= 1 then return usage_error("replay: expected one token, got " .. #o.targets) end
  o.token = o.targets[1]
  return with_reports(o, require("kc.run").replay)
end

function handlers.diff(o)
  if #o.targets ~= 2 then return usage_error("diff: expected two files, got " .. #o.targets) end
  if o.bits and (o.ulp or o.abs or o.rel) then return usage_error("--bits and a tolerance exclude each other") end
  o.got, o.reference = o.targets[1], o.targets[2]
  return reporting(o, function(sinks)
    local outputs = {}
    for i, sink in ipairs(sinks) do outputs[i] = { format = sink.format.name, quiet = i == 1 and o.quiet, write = sink.write } end
    local result, message = require("kc.diff").run(o, outputs)
    if message then usage_error(message) end
    return result
  end)
end

function handlers.doctor(o)
  if #o.targets > 0 then return usage_error("doctor: expected nothing, got " .. #o.targets) end
  return require("kc.doctor").run(o, function(s) io.stdout:write(s) end)
end

function handlers.cache(o)
  local cache = require "kc.cache"
  if o.targets[1] and o.targets[1] ~= "clear" then
    return usage_error(("cache: expected nothing or 'clear', got '%s'"):format(o.targets[1]))
  end
  if o.targets[1] then io.stdout:write(("removed %d files\n"):format(cache.trim(0))) end
  local bytes, files = cache.size()
  io.stdout:write(("%s: %d files, %.1f MiB of at most %.0f MiB\n"):format(require("kc.paths").cache() or "no cache", files,
    bytes / 2^20, cache.LIMIT / 2^20))
  return 0
end

function handlers.help(o)
  local help = require "kc.help"
  local doc, message = help.overview(), nil
  if o.targets[1] then doc, message = help.text(table.concat(o.targets, " ")) end
  if not doc then return usage_error(message) end
  io.stdout:write(doc)
  return 0
end

-- ---- the program -----------------------------------------------------------------------------------------------------------

local function unknown(word)
  local known = {}
  for i, row in ipairs(commands) do known[i] = row[1] end
  local first = { "--no-rc", table.unpack(names) }
  if word:match("^%-") then return usage_error(("unknown option '%s'; %s"):format(word, words.hint(word, first))) end
  return usage_error(("no command and no file is called '%s'; %s"):format(word, words.hint(word, known)))
end

--- Executes one command line.
---@param argv table {command, ...}
---@param listener table|nil takes the place of the first report, see kc.service
---@return integer exit code
function M.command(argv, listener)
  local o, message = parse(argv, 2)
  if not o then return usage_error(message) end
  o.listener = listener
  if o.help then
    io.stdout:write(argv[1] == "help" and require("kc.manual").usage() or require("kc.help").text("command " .. argv[1]))
    return 0
  end
  if o.version then
    io.stdout:write("kc ", core.version, "\n")
    return 0
  end
  message = misplaced(o, argv[1]) or defaults(o, argv[1])
  if message then return usage_error(message) end
  return handlers[argv[1]](o)
end

--- Entry point of the program kc.
---@param argv table
---@return integer exit code
function M.main(argv)
  local first = argv[1]
  if first == "--role=judge" then return require("kc.judge").main(argv) end
  if first == "--role=run" then return require("kc.service").main(argv, M.command) end
  if first == nil or first == "--no-rc" then
    if not core.isatty(0) then return require("kc.script").stdin(argv, 0) end
    return require("kc.repl").main { rc = first == nil }
  end
  if handlers[first] then return M.command(argv) end
  if first == "--help" or first == "-h" or first == "--version" then
    return M.command { "help", first }
  end
  if first == "-e" or first == "-" then return require("kc.script").run(argv) end
  local stat = core.stat(first)
  if stat and stat.type == "file" then return require("kc.script").run(argv) end
  return unknown(first)
end

return M
