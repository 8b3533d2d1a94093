---@module kc.candidate
-- One implementation on one device, ready to be run on samples: arguments, geometry, builds, and the vacuous stand-ins.
local client = require "kc.client"
local core = require "kc.core"
local external = require "kc.external"
local paths = require "kc.paths"
local source = require "kc.source"
local words = require "kc.words"
local M = {}

local Candidate = {}
Candidate.__index = Candidate

local function find(list, name)
  for _, item in ipairs(list) do if item.name == name then return item end end
end

-- A parameter is a tensor of the contract or one of its dimensions (a 32-bit integer).
local function params(contract, implementation)
  local list = {}
  for i, name in ipairs(implementation.args) do
    local tensor = find(contract.scope.inputs, name) or find(contract.scope.outputs, name)
    local is_dim = contract.scope.shapes[name] ~= nil
    if not tensor and not is_dim then
      local known = {}
      for _, t in ipairs(contract.scope.inputs) do known[#known + 1] = t.name end
      for _, t in ipairs(contract.scope.outputs) do known[#known + 1] = t.name end
      for _, d in ipairs(contract.scope.dims) do known[#known + 1] = d end
      return nil, ("argument '%s' of %s is neither a tensor nor a dimension; %s"):format(name, implementation.name,
        words.hint(name, known))
    end
    list[i] = { name = name, format = tensor and tensor.format or "i32", buffer = tensor ~= nil }
  end
  return list
end

-- A mapped function takes an element of each input and gives one of the last argument, the output.
local function mapped(contract, implementation, list)
  local output = find(contract.scope.outputs, implementation.args[#implementation.args])
  if not output then
    return ("%s: 'map' needs an output as last argument, got '%s'"):format(implementation.name,
      tostring(implementation.args[#implementation.args]))
  end
  for i = 1, #list - 1 do
    local input = find(contract.scope.inputs, list[i].name)
    if input and table.concat(input.dims, ",") ~= table.concat(output.dims, ",") then
      return ("%s: 'map' needs inputs of the output's shape: '%s' is [%s], '%s' is [%s]"):format(implementation.name, input.name,
        table.concat(input.dims, ","), output.name, table.concat(output.dims, ","))
    end
  end
end

--- What a device builds of a kernel or a library's function.
---@param contract table
---@param implementation table
---@param directory string where its file lies
---@return table|nil build, string|nil message
function M.build_of(contract, implementation, directory)
  local list, message = params(contract, implementation)
  if not list then return nil, message end
  local build = { entry = implementation.entry, params = list, cache = paths.cache_dir("kernels") }
  if implementation.kind == "library" then
    local file = require("kc.loader").resolve(directory, implementation.file)
    build.dialect, build.source, build.file = "library", core.realpath(file) or file, file
    build.result, build.map = implementation.result, implementation.map
    local wrong = build.map and mapped(contract, implementation, list)
    if wrong then return nil, wrong end
    return build
  end
  local path = require("kc.loader").resolve(directory, implementation.file)
  local dialect = source.dialect(path)
  if not dialect or dialect == "library" then return nil, path .. ": expected a file called .k, .c, .cu or .cl" end
  local text, why = source.read(path)
  if not text then return nil, why end
  build.dialect, build.source, build.file = dialect, text, path
  build.contract = implementation.contraction or false
  build.flush = implementation.denormals == "flush"
  build.fast_math = implementation.fast_math or false
  build.defines = implementation.defines or ""
  return build
end

--- Prepares an implementation; nothing runs yet.
---@param loaded table what loader.contract returned
---@param implementation table
---@param options table {device=name, runner=as of kc.client, directory=where its files lie|nil, path=file that holds it|nil}
---@return table candidate
function M.new(loaded, implementation, options)
  local outside = external.is(implementation)
  local device = outside and external.DEVICE or options.device
  return setmetatable({ contract = loaded.contract, loaded = loaded, implementation = implementation, runner = options.runner,
                        device = device, external = outside, host = options.device, directory = options.directory or loaded.directory,
                        path = options.path or loaded.path,
                        client = implementation.kind ~= "vacuous" and
                          client.new { device = not outside and device or nil, runner = options.runner } or nil }, Candidate)
end

--- Another implementation against the same contract on the same device (beside a command: that of the calibration), in a runner of its
--- own.
---@param implementation table
---@return table candidate
function Candidate:another(implementation)
  return M.new(self.loaded, implementation, { device = self.host, runner = self.runner })
end

--- Why the device cannot run it: a feature that it needs and the device does not have.
---@return string|nil reason
function Candidate:lacking()
  local needs = self.implementation.needs
  if not needs or not self.client or not (self.client.started or self.client:start()) then return nil end
  local features = " " .. (self.client.fingerprint.features or "") .. " "
  for feature in needs:gmatch "%S+" do
    if not features:find(" " .. feature .. " ", 1, true) then return "the device has no " .. feature end
  end
end

--- Builds the kernel, once.
---@param timeout number seconds
---@return boolean|nil ok, table|nil failure {kind=, text=, log=}
function Candidate:prepare(timeout)
  local kind = self.implementation.kind
  if kind == "vacuous" or self.external or self.kernel or self.ready then return true end
  if kind == "lua" then
    local digest, message = core.sha256file(self.path)
    if not digest then return nil, { kind = "build", text = message } end
    self.ready, self.sha256 = true, digest
    return true
  end
  local build, message = M.build_of(self.contract, self.implementation, self.directory)
  if not build then return nil, { kind = "build", text = message } end
  local kernel, why, static = self.client:kernel(build, timeout)
  if not kernel then return nil, why end
  self.kernel, self.static = kernel, static
  return true
end

-- Work-groups along each dimension; 0 where there is nothing to do.
local function groups(implementation, sizes, outputs)
  if implementation.map then
    local elements = #find(outputs, implementation.args[#implementation.args]).buffer
    return { elements }, elements
  end
  local grid, total = {}, 1
  for d, extent in ipairs(implementation.grid or { 1 }) do
    local n = type(extent) == "string" and sizes[extent] or extent
    local group = implementation.group and implementation.group[d] or 1
    grid[d] = (n + group - 1) // group
    total = total * grid[d]
  end
  return grid, total
end

local vacuous = {}

function vacuous.zeros(output) output:fillvalue(0) end
function vacuous.constant(output) output:fillvalue(1) end
function vacuous.unwritten() end

-- A format without NaN gets its largest number.
function vacuous.nan(output)
  local format = core.format(output:format())
  if format.has_nan or #output == 0 then return output:fill(0, { kind = "constant", a = 0 / 0 }) end
  output:setcode(1, format.max_code)
  output:tile(1)
end

function vacuous.copy(output, inputs)
  for _, input in ipairs(inputs) do
    if input.buffer:format() == output:format() and #input.buffer > 0 then
      local raw, bytes = input.buffer:raw(), output:bytes()
      output:setraw(raw:rep((bytes + #raw - 1) // #raw):sub(1, bytes))
      return
    end
  end
  local first = inputs[1].buffer
  for i = 1, #output do output[i] = #first > 0 and first[(i - 1) % #first + 1] or 0 end
end

function Candidate:imitate(inputs, outputs)
  for _, output in ipairs(outputs) do vacuous[self.implementation.name](output.buffer, inputs) end
  return { seconds = 0.0 }
end

-- Buffers cross once per sample: the runner maps them, runs, and gives them back.
function Candidate:share(inputs, outputs)
  local ids, list = {}, {}
  for _, group in ipairs { inputs, outputs } do
    for _, tensor in ipairs(group) do
      local id, why = self.client:share(tensor.buffer, group == outputs)
      if not id then return nil, why end
      ids[tensor.name] = id
      list[#list + 1] = id
    end
  end
  return ids, list
end

local function named(list, ids)
  local out = {}
  for i, tensor in ipairs(list) do out[i] = { name = tensor.name, buffer = ids[tensor.name] } end
  return out
end

function Candidate:launch(ids, inputs, outputs, sizes, options)
  local implementation = self.implementation
  if self.external then
    return external.launch(self, { inputs = named(inputs, ids), outputs = named(outputs, ids), sizes = sizes }, options, inputs)
  end
  if implementation.kind == "lua" then
    local record, failure = self.client:call({ path = self.path, sha256 = self.sha256, implementation = implementation.name,
      inputs = named(inputs, ids), outputs = named(outputs, ids), sizes = sizes, schedule = options.schedule,
      interleaving = options.interleaving }, options.timeout)
    self.says = record and record.says or self.says
    return record, failure
  end
  local args = {}
  for i, name in ipairs(implementation.args) do
    args[i] = ids[name] and { buffer = ids[name] } or { value = sizes[name] }
  end
  local grid, total = groups(implementation, sizes, outputs)
  if total == 0 then return { seconds = 0.0, empty = true } end
  return self.client:launch(self.kernel, args, { grid = grid, group = implementation.group or { 1 }, schedule = options.schedule },
    options.timeout)
end

--- Runs the implementation once.
---@param inputs table list of {name=, buffer=}
---@param outputs table list of {name=, buffer=}
---@param sizes table
---@param options table {timeout=seconds, schedule=integer|nil, index=of the sample, live=kc.live that takes the outputs over, still mapped}
---@return table|nil record, table|nil failure
function Candidate:run(inputs, outputs, sizes, options)
  if self.implementation.kind == "vacuous" then return self:imitate(inputs, outputs) end
  local ok, why = self:prepare(options.timeout)
  if not ok then return nil, why end
  local ids, list = self:share(inputs, outputs)
  if not ids then return nil, list end
  local record, failure = self:launch(ids, inputs, outputs, sizes, options)
  if options.live then options.live:mapped(table.move(list, #inputs + 1, #list, 1, {})) end
  if record or failure.code == "raised" then
    self.client:free(options.live and table.move(list, 1, #inputs, 1, {}) or list)
  end
  if not self.client.started then self.kernel = nil end
  return record, failure
end

--- Kills the runner.
function Candidate:close()
  if self.client then self.client:close() end
end

return M
