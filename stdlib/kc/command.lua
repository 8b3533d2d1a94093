---@module kc.command
-- The runner's side of an external implementation: writes the inputs, runs the command, reads the outputs. What was dumped elsewhere is
-- only read. See spec/external.md.
local core = require "kc.core"
local exchange = require "kc.exchange"
local M = {}

local TAIL_BYTES, TAIL_LINES = 4096, 3 -- of what the command said last

--- A word of the shell that stands for this text.
---@param text string
---@return string quoted
function M.quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The shell runs the first line before it reads the command, so that a mistake in that is told in the log.
local function script(request, places, log)
  local quoted = { ["in"] = M.quote(places.inputs), out = M.quote(places.outputs) }
  return ("cd %s || exit 126; export KC_IN=%s KC_OUT=%s; exec 2>%s%s\n%s"):format(M.quote(request.place), quoted["in"], quoted.out,
    M.quote(log), request.verbose and " >&2" or "", (request.run:gsub("{(%a+)}", quoted)))
end

-- The last lines of a log, in one line.
local function tail(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  file:seek("set", math.max(0, file:seek("end") - TAIL_BYTES))
  local lines = {}
  for line in file:read("a"):gmatch("[^\n]+") do lines[#lines + 1] = line:match("^%s*(.*)") end
  file:close()
  return table.concat(lines, "; ", math.max(1, #lines - TAIL_LINES + 1))
end

local function show(path)
  local file = io.open(path, "rb")
  if not file then return end
  io.stderr:write(file:read("a"))
  file:close()
end

local UNRUNNABLE, SIGNAL = { [126] = true, [127] = true }, 128 -- exit statuses by which a shell says these

-- What became of the command: nil when all is well.
local function outcome(how, number, name, said)
  said = said ~= "" and ": " .. said or ""
  if how == "signaled" then return { error = ("crashed: killed by %s%s"):format(name, said), code = "crash" } end
  if number == 0 then return nil end
  if UNRUNNABLE[number] then return { error = ("the shell's status is %d%s"):format(number, said), code = "command" } end
  if number > SIGNAL and number <= SIGNAL + 64 then
    local text = ("crashed: killed by signal %d, as the shell's status %d says%s"):format(number - SIGNAL, number, said)
    return { error = text, code = "crash" }
  end
  return { error = ("exited with status %d%s"):format(number, said), code = "raised", record = {} }
end

-- Runs the command to its end; what it left behind must not write while its outputs are read.
local function run(request, places)
  local log = request.directory .. "/log"
  local process, message = core.spawn { argv = { "/bin/sh", "-c", script(request, places, log) } }
  if not process then return { error = message, code = "host" } end
  local how, number, name = process:wait()
  core.killtree()
  if request.verbose then show(log) end
  return outcome(how, number, name, tail(log))
end

local function tensors(list, buffers)
  local out = {}
  for i, item in ipairs(list) do out[i] = { name = item.name, buffer = buffers[item.buffer] } end
  return out
end

local function execute(request, buffers)
  local places = { inputs = request.directory .. "/in", outputs = request.directory .. "/out" }
  for _, path in ipairs { places.inputs, places.outputs } do
    local made, message = core.mkdirs(path)
    if not made then return nil, { error = message, code = "host" } end
  end
  local ok, message = exchange.write(places.inputs, request.exchange, tensors(request.inputs, buffers), request.sizes)
  if not ok then return nil, { error = message, code = "host" } end
  core.subreaper() -- what leaves the command's tree is found by killtree
  return places.outputs, run(request, places)
end

local codes = { absent = "unwritten", output = "output" }

--- Answers a request of the judge.
---@param request table {run=command or nil where the outputs are there, exchange=, directory=, place=where the command runs, inputs=,
---  outputs=, sizes=, token=, verbose=}
---@param buffers table id -> buffer
---@return table reply
function M.answer(request, buffers)
  local started = core.clock()
  local directory, failed = request.directory, nil
  if request.run then directory, failed = execute(request, buffers) end
  if failed then return failed end
  local seconds = core.clock() - started
  local ok, message, code = exchange.read(directory, request.exchange, tensors(request.outputs, buffers), request.run and "out")
  if not ok then return { error = message, code = codes[code] } end
  return { record = { seconds = seconds }, token = request.token }
end

return M
