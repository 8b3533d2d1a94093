---@module kc.runner
-- Role runner: executes the candidate and nothing else. What it says is a claim; the judge reads the evidence in the memfds.
local core = require "kc.core"
local wire = require "kc.wire"
local M = {}

local Runner = {}
Runner.__index = Runner

local handlers = {}

function handlers.open(self, request)
  local device, message, code = core.device(request.device)
  if not device then return { error = message, code = code } end
  self.device = device
  return { fingerprint = device:fingerprint() }
end

-- What a backend has: every device with what it says of itself, or why there is none.
function handlers.devices(_, request)
  local count, why = core.probe(request.driver)
  local rows = {}
  for i = 1, count do
    local row = { name = count == 1 and request.driver or ("%s:%d"):format(request.driver, i - 1) }
    local device, message = core.device(("%s:%d"):format(request.driver, i - 1))
    row.fingerprint, row.why = device and device:fingerprint(), message
    rows[i] = row
    if device then device:close() end
  end
  return { devices = count > 0 and rows or { { name = request.driver, why = why } } }
end

function handlers.buffer(self, request, fds)
  if not fds[1] then return { error = "a buffer's descriptor did not arrive: does the candidate limit open files?", code = "io" } end
  local buffer, message, code = core.attach(fds[1], request.format, request.shape,
    { guard = request.guard, writable = request.writable })
  if not buffer then return { error = message, code = code } end
  self.buffers[request.id] = buffer
  return {}
end

function handlers.free(self, request)
  for _, id in ipairs(request.ids) do
    self.buffers[id]:close()
    self.buffers[id] = nil
  end
  return {}
end

function handlers.kernel(self, request)
  local kernel, message, code, log = self.device:kernel(request.build)
  if not kernel then return { error = message, code = code, log = log } end
  self.kernels[request.id] = kernel
  local shown = kernel:code()
  return { log = message, static = shown and require("kc.evidence").of(shown) }
end

-- The binary stays here: it is no text, and only the device reads it.
function handlers.code(self, request)
  local code, message, kind = self.kernels[request.kernel]:code()
  if not code then return { error = message, code = kind } end
  code.binary = nil
  return { code = code }
end

-- Arguments come as {buffer=id} or {value=number as text}.
local function arguments(self, list)
  local args = {}
  for i, item in ipairs(list) do
    args[i] = item.buffer and self.buffers[item.buffer] or wire.tonumber(item.value)
  end
  return args
end

local function all_buffers(args)
  local list = {}
  for _, value in ipairs(args) do
    if type(value) == "userdata" then list[#list + 1] = value end
  end
  return list
end

function handlers.launch(self, request)
  local args = arguments(self, request.args)
  self.crash:ranges(all_buffers(args))
  local record, message, code = self.device:launch(self.kernels[request.kernel], args,
    { grid = request.grid, group = request.group, schedule = request.schedule })
  if not record then return { error = message, code = code } end
  return { record = record, token = request.token }
end

-- A Lua function over kernels: the contract's file is loaded here with oracles and reals inert.
function handlers.call(self, request)
  local loader = require "kc.loader"
  if core.sha256file(request.path) ~= request.sha256 then
    return { error = request.path .. " changed while it was judged", code = "contract" }
  end
  if not self.file or self.file.path ~= request.path then
    local loaded, message = loader.file(request.path)
    if not loaded then return { error = message, code = "contract" } end
    self.file = loaded
  end
  local loaded = self.file
  local found
  for _, item in ipairs(loader.implementations(loaded)) do
    if item.implementation.name == request.implementation then found = item.implementation end
  end
  local inputs, outputs = {}, {}
  for _, item in ipairs(request.inputs) do inputs[item.name] = self.buffers[item.buffer] end
  for _, item in ipairs(request.outputs) do outputs[item.name] = self.buffers[item.buffer] end
  local device = require("kc.device").direct(self.device, loaded.directory, found.kernels or {})
  device.schedule = request.schedule -- the judge chooses the order of work-items, unless the implementation says one
  device.interleaving = request.interleaving
  local ok, said = pcall(found.run, device, inputs, outputs, request.sizes)
  local record = device.facts
  if not ok and device.unbuilt then return { error = device.unbuilt, code = "build" } end
  if not ok then return { error = tostring(said), code = "raised", record = record } end
  record.seconds, record.says = 0.0, type(said) == "string" and said:sub(1, 256) or nil
  return { record = record, token = request.token }
end

-- A command, or what one left.
function handlers.external(self, request) return require("kc.command").answer(request, self.buffers) end

function Runner:answer(request, fds)
  local handler = handlers[request.op]
  if not handler then return { error = "unknown request " .. tostring(request.op), code = "internal" } end
  local ok, reply = pcall(handler, self, request, fds)
  if not ok then -- ours, so it convicts nobody
    return { error = (tostring(reply):gsub("^stdlib/[%w_/]+%.lua:%d+: ", "")), code = "internal" }
  end
  return reply
end

--- The half of a runner that answers requests.
---@param crash table of core.crashhandler, or what stands for it
---@return table runner answer(request, fds) -> reply
function M.new(crash) return setmetatable({ buffers = {}, kernels = {}, crash = crash }, Runner) end

--- Entry point of kc-runner: argv[1] is the channel's descriptor, argv[2] that of the crash page.
---@param argv table
---@return integer code
function M.main(argv)
  local channel_fd, page_fd = math.tointeger(tonumber(argv[1])), math.tointeger(tonumber(argv[2]))
  if not channel_fd or not page_fd then
    io.stderr:write("kc-runner: started by kc, not by hand\n")
    return 64
  end
  core.limit_core()
  core.pdeathsig(9)
  local self = M.new(core.crashhandler(page_fd))
  local channel = core.inherit(channel_fd)
  while true do
    local request, fds, code = wire.receive(channel)
    if not request then return code == "closed" and 0 or 4 end
    local reply = self:answer(request, fds)
    reply.id = request.serial
    if not wire.send(channel, reply) then return 4 end
  end
end

return M
