---@module kc.pair
-- How two devices differ on one implementation. Each is judged against the contract by itself; this says what people argue about when
-- both hold: where the bits differ, by how much, and which of the two is nearer the exact value. No verdict depends on it.
local candidates = require "kc.candidate"
local core = require "kc.core"
local histogram = require "kc.histogram"
local json = require "kc.json"
local measure = require "kc.measure"
local protocol = require "kc.protocol"
local M = {}

-- ---- one tensor ----------------------------------------------------------------------------------------------------------------

local function float(x) return math.type(x) == "integer" and x + 0.0 or x end

local function side(buffer, i) return { value = float(buffer[i]), code = ("0x%x"):format(buffer:code(i)) } end

-- Numbers of elementwise functions: inputs of another size are left out.
local function arguments(inputs, count, i)
  local list = {}
  for _, input in ipairs(inputs) do
    if #input.buffer == count then list[#list + 1] = { name = input.name, value = float(input.buffer[i]) } end
  end
  return list
end

local function element(run, name, i)
  local lo, hi = run.references[name]:at(i)
  return { sample = run.index, label = run.label, output = name, element = i, a = side(run.outputs[1][name], i),
           b = side(run.outputs[2][name], i), lo = lo, hi = hi, inputs = arguments(run.inputs, #run.outputs[1][name], i) }
end

-- Adds one output of one sample to the record.
local function add(record, run, name)
  local a, b, exact = run.outputs[1][name], run.outputs[2][name], run.references[name]
  local s = assert(core.metric("ulp", a, b))
  record.elements = record.elements + s.count
  record.classes = record.classes + s.class_mismatches
  if s.bit_differences == 0 then return end
  record.different = record.different + s.bit_differences
  if s.finite > 0 then histogram.add(record.histogram, s.histogram) end
  if s.worst and s.max > record.worst then record.worst, record.worst_at = s.max, element(run, name, s.worst) end
  local n = assert(core.nearer(a, b, exact))
  record.payloads = record.payloads + n.payloads
  for i, count in ipairs { n.a, n.b, n.undecided } do record.nearer[i] = record.nearer[i] + count end
  record.first = record.first or n.first and element(run, name, n.first)
end

-- ---- all samples ----------------------------------------------------------------------------------------------------------------

local function blank(loaded, implementation, options)
  return { contract = loaded.contract.id, implementation = implementation.name, devices = options.devices, seed = options.seed,
           samples = 0, elements = 0, different = 0, classes = 0, payloads = 0,
           histogram = json.list {}, worst = 0.0, nearer = json.list { 0, 0, 0 } }
end

-- Outputs that differ only; what the two runs have in common costs no oracle.
local function compare(record, contract, run)
  record.samples = record.samples + 1
  for _, output in ipairs(contract.scope.outputs) do
    local name = output.name
    if run.outputs[1][name]:digest() ~= run.outputs[2][name]:digest() then
      run.references = run.references or run.exact()
      add(record, run, name)
    else
      record.elements = record.elements + #run.outputs[1][name]
    end
  end
end

local function relation_of_two(spec) return spec.relation and spec.relation.change end

--- Runs an implementation on two devices, on the samples of the protocol, and counts what differs.
---@param loaded table the contract
---@param implementation table
---@param options table {devices={A, B}, seed=, thorough=, timeout=, limit=, cache=, directory=, path=, runner=, progress=}
---@return table record {samples=, elements=, different=, payloads=NaNs of other bits, classes=, histogram= (as core.metric's), worst=ulps,
---  worst_at=, first=, nearer={A, B, undecided}}; or with failed={device=, text=} where one did not run
function M.run(loaded, implementation, options)
  local record, list = blank(loaded, implementation, options), {}
  for i, device in ipairs(options.devices) do
    list[i] = candidates.new(loaded, implementation, { device = device, runner = options.runner, directory = options.directory,
                                                       path = options.path })
  end
  local samples = protocol.samples(loaded.contract, options.seed, options.thorough)
  for i, spec in ipairs(samples) do
    local run, failure, which
    if not relation_of_two(spec) then run, failure, which = measure.side_by_side(list, spec, options) end
    if run then compare(record, loaded.contract, run) end
    if failure then
      record.failed = { device = options.devices[which], text = failure.text }
      break
    end
    if options.progress then options.progress(i, #samples) end
  end
  for _, candidate in ipairs(list) do candidate:close() end
  return record
end

return M
