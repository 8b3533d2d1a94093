---@module kc
-- Devices for scripts and for implementations written in Lua. The same methods everywhere: in a script or judge they act through a
-- runner of their own, which a crash or a hang costs, not the caller; in the runner, and with isolation = "none", directly.
local core = require "kc.core"
local json = require "kc.json"
local source = require "kc.source"
local words = require "kc.words"
local M = {}

local PATIENCE = 60 -- seconds for a backend to say what it has

local fields = { "file", "source", "entry", "params", "result", "contraction", "denormals", "fast_math", "defines" }

-- "x: f32[n]" or "x: f32[]" is a buffer, "n: i32" a scalar.
local function parameter(text, i)
  local name, format, dims = tostring(text):match("^%s*([%a_][%w_]*)%s*:%s*(%w+)%s*(%[?.*)$")
  if not name then error(("parameter %d: expected \"name: format\" or \"name: format[]\", got %s"):format(i, words.show(text)), 0) end
  return { name = name, format = format, buffer = dims:sub(1, 1) == "[" }
end

-- What is built: a file's text, or the library itself, by the full path that it really has.
local function text_of(build)
  if build.dialect == "library" then return core.realpath(build.file) or build.file end
  local text, message = source.read(build.file)
  return text or error(message, 0)
end

local function build_of(options, directory)
  for _, key in ipairs(words.keys(options)) do
    local known = false
    for _, field in ipairs(fields) do known = known or field == key end
    if not known then error(("device:kernel: unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), fields)), 0) end
  end
  local loader = require "kc.loader"
  local path = options.file and loader.resolve(directory, options.file)
  local build = { entry = options.entry, params = {}, result = options.result, contract = options.contraction or false,
                  flush = options.denormals == "flush", fast_math = options.fast_math or false, defines = options.defines or "",
                  file = path or "source", dialect = source.dialect(path or "x.k") or "kc",
                  cache = require("kc.paths").cache_dir("kernels") }
  build.source = options.source or path and text_of(build)
  if not build.source then error("device:kernel: one of the fields 'file' and 'source' is needed", 0) end
  for i, text in ipairs(options.params or {}) do build.params[i] = parameter(text, i) end
  return build
end

local function geometry(options, schedule)
  return { grid = options.grid or { 1 }, group = options.group or { 1 }, schedule = options.schedule or schedule or 0 }
end

-- ---- in this process -----------------------------------------------------------------------------------------------------

local Direct = { __name = "kc.device", __metatable = false }
Direct.__index = Direct

--- Wraps an opened device for Lua implementations and for isolation = "none".
---@param device userdata
---@param directory string where kernel files lie
---@param kernels table|nil the kernel files that may be built: those that an implementation's digest covers
---@return table device
function M.direct(device, directory, kernels)
  return setmetatable({ handle = device, directory = directory, kernels = kernels, facts = {} }, Direct)
end

local function demand_named(self, build)
  if not self.kernels or build.dialect == "library" then return end
  local resolve = require("kc.loader").resolve
  for _, name in ipairs(self.kernels) do
    if resolve(self.directory, name) == build.file then return end
  end
  error(("device:kernel: file '%s' is not among the implementation's kernels = { ... }: its digest would not cover it"):format(
    build.file), 3)
end

-- What a launch wrote beside its buffers: said, and painted over, so that the next one is not blamed.
local function demand_inside(args)
  for i, value in ipairs(args) do
    local damage = type(value) == "userdata" and value:writable() and value:guards()
    if damage then
      local data = value:raw()
      value:poison(0)
      value:setraw(data)
      error(("device:launch: the kernel wrote outside argument %d: %s"):format(i, damage.text), 3)
    end
  end
end

function Direct:fingerprint() return self.handle:fingerprint() end

function Direct:kernel(options)
  local build = build_of(options, self.directory)
  if options.file then demand_named(self, build) end
  local kernel, message = self.handle:kernel(build)
  if not kernel then
    self.unbuilt = message -- an implementation that stops here did not raise: it does not build
    error(message, 2)
  end
  return kernel
end

function Direct:launch(kernel, args, options)
  local record, message = self.handle:launch(kernel, args, geometry(options or {}, self.schedule))
  if not record then error(message, 2) end
  self:note(record)
  if self.alone then demand_inside(args) end
  return record
end

-- What any launch left behind counts for the whole implementation.
function Direct:note(record)
  for _, fact in ipairs { "fp_changed", "divergent_barrier", "local_damaged" } do
    if record[fact] then
      self.facts[fact] = true
      self.facts.evidence = self.facts.evidence or record.evidence
    end
  end
end

--- Ranks with queues on this device, for implementations that overlap communication; see kc.ranks.
function Direct:ranks(count) return require("kc.ranks").new(self, count) end

function Direct:close() self.handle:close() end

-- ---- through a runner ----------------------------------------------------------------------------------------------------

local Remote = { __name = "kc.device", __metatable = false }
Remote.__index = Remote

-- A build's log begins with what the text says.
local function ask(failure)
  local log = failure.log or ""
  error(log:find(failure.text, 1, true) and log or log ~= "" and failure.text .. "\n" .. log or failure.text, 3)
end

function Remote:fingerprint()
  if not self.client.started then
    local ok, why = self.client:start()
    if not ok then ask(why) end
  end
  return self.client.fingerprint
end

-- A killed runner takes its kernels and mappings along: `epoch` tells which are still there.
function Remote:place(kernel)
  if kernel.epoch == self.client.process and self.client.started then return kernel.id end
  local id, why = self.client:kernel(kernel.build)
  if not id then ask(why) end
  kernel.id, kernel.epoch = id, self.client.process
  return id
end

-- Methods of a kernel in a runner: its code travels when it is asked for.
local Kernel = { __name = "kc.kernel", __metatable = false }
Kernel.__index = Kernel

--- The kernel's code, as core.compile gives it, on a device that shows it.
function Kernel:code()
  local code, failure = self.device.client:code(self.device:place(self))
  if not code then return nil, failure.text, failure.code end
  return code
end

--- The kernel's PTX, on a device that has such.
function Kernel:ptx()
  local code, message, why = self:code()
  if code and code.language ~= "ptx" then
    return nil, ("the kernel's text is %s, not PTX; kernel:code() gives it"):format(code.language), "unsupported"
  end
  return code and code.text, message, why
end

function Remote:kernel(options)
  local kernel = setmetatable({ build = build_of(options, self.directory), device = self }, Kernel)
  self:place(kernel)
  return kernel
end

function Remote:launch(kernel, args, options)
  local id = self:place(kernel)
  local sent, shared = {}, {}
  for i, value in ipairs(args) do
    if type(value) == "userdata" then
      local buffer, why = self.client:share(value, value:writable())
      if not buffer then ask(why) end
      sent[i] = { buffer = buffer }
      shared[#shared + 1] = buffer
    else
      sent[i] = { value = value }
    end
  end
  local record, failure = self.client:launch(id, sent, geometry(options or {}), options and options.timeout)
  if not record then ask(failure) end
  self.client:free(shared)
  demand_inside(args)
  record.seconds = json.tofloat(record.seconds)
  return record
end

function Remote.ranks()
  error("device:ranks: its operations are Lua and run in one process: use it in an implementation, or with isolation = \"none\"", 2)
end

function Remote:close() self.client:close() end

--- Opens a device. Methods: fingerprint(); kernel{file= or source=, entry=, params={"x: f32[]", "n: i32"}, result=, contraction=,
--- denormals=, fast_math=, defines=}, where a file called .so is a shared library and `entry` a function of it;
--- launch(kernel, {buffers and numbers}, {grid=, group=, schedule=, timeout=}) -> record, an error where the kernel wrote outside of a
--- buffer; ranks(count), in an implementation only; close().
---@param name string e.g. "cpu"
---@param options table|nil {isolation="none"} opens it in this process: no protection from crashes and hangs
---@return table device
function M.device(name, options)
  local isolation = options and options.isolation
  if isolation ~= nil and isolation ~= "none" then
    error("kc.device: field 'isolation': expected \"none\" or nothing, got " .. words.show(isolation), 2)
  end
  if isolation == "none" or core.role == "runner" then
    local device, message = core.device(name)
    if not device then error(message, 2) end
    local direct = M.direct(device, ".")
    direct.alone = true -- no judge looks at the buffers after a launch
    return direct
  end
  core.subreaper()
  local device = setmetatable({ client = require("kc.client").new { device = name }, directory = "." }, Remote)
  local ok, why = device.client:start()
  if not ok then error(why.text, 2) end
  return device
end

--- The architectures that a backend's compiler knows; needs no device.
---@param name string e.g. "cuda"
---@return table|nil names, string|nil message
function M.archs(name) return core.archs(name) end

--- Compiles a kernel for an architecture; needs no device.
---@param name string e.g. "cuda"
---@param arch string one of kc.archs(name)
---@param options table as of device:kernel
---@return table|nil code {language=, arch=, entry=, text=, binary=}, string|nil message
function M.compile(name, arch, options) return core.compile(name, arch, build_of(options, ".")) end

-- A vendor's libraries are loaded into a runner, which they may take down.
local function devices_of(driver)
  local client = require("kc.client").new {}
  local reply, failure = client:request({ op = "devices", driver = driver }, nil, PATIENCE)
  client:close()
  return reply and reply.devices or { { name = driver, why = failure.text } }
end

--- Every device of every backend, or the reason why a backend has none.
---@return table rows {name=as kc.device takes it, driver=backend, fingerprint=table|nil, why=string|nil}
function M.devices()
  local rows = {}
  core.subreaper()
  for _, driver in ipairs(core.drivers()) do
    for _, row in ipairs(devices_of(driver)) do
      row.driver = driver
      rows[#rows + 1] = row
    end
  end
  return rows
end

return M
