---@module kc.protocol
-- From a protocol to the list of samples: which generator, which draw, which sizes. Pure data; no buffer is touched here.
local core = require "kc.core"
local json = require "kc.json"
local scope = require "kc.scope"
local M = {}

-- A shape as large as the budget allows tells little more than a moderate one and eats the rest: one draw takes at most this
-- share of what one generator may spend.
local DRAW_SHARE = 0.5

local function judged_units(contract, sizes)
  if contract.protocol.judged == "tensor" then return 1 end
  local count = 0
  for _, output in ipairs(contract.scope.outputs) do
    local elements = 1
    for _, n in ipairs(scope.shape(output, sizes)) do elements = elements * n end
    count = count + elements
  end
  return count
end

local function fixed_sizes(generator, names, domains)
  if generator.kind ~= "at" then return nil end
  local sizes = {}
  for _, name in ipairs(names) do
    sizes[name] = generator.sizes[name]
    if not sizes[name] then
      local domain = domains[name]
      sizes[name] = domain.kind == "range" and domain.lo or domain.sizes[1]
    end
  end
  return sizes
end

-- Draws for one generator until enough units are judged or its share of the budget is spent.
local function draws(contract, generator, g, seed, budget, add)
  local names, domains = contract.scope.dims, contract.scope.shapes
  local wanted, judged, spent, index = contract.protocol.samples, 0, 0, 0
  local fixed = fixed_sizes(generator, names, domains)
  while judged < wanted do
    index = index + 1
    -- Only the first generator walks through the edge sizes; the others start with drawn ones.
    local draw = (g == 1 and not fixed) and index or index + 3
    local key = core.key(json.encode { tostring(seed), "sizes", generator.label, draw })
    local sizes = fixed or scope.draw(names, domains, key, draw, budget * DRAW_SHARE)
    local work = math.max(1, scope.work(names, sizes))
    if spent + work > budget and index > 1 then return judged >= wanted end
    spent = spent + work
    local units = judged_units(contract, sizes)
    judged = judged + units
    add { generator = g, draw = draw, sizes = sizes, units = units, label = generator.label }
    if index > wanted + 8 then return false end -- only shapes without elements
  end
  return true
end

local function plan(contract, generators, seed)
  local samples, complete = {}, true
  local budget = contract.protocol.budget / #generators
  for g = 1, #generators do
    local reached = draws(contract, generators[g], g, seed, budget, function(sample)
      sample.index = #samples + 1
      sample.sample = generators[g]
      samples[#samples + 1] = sample
    end)
    complete = complete and reached
  end
  return samples, complete
end

--- The samples of a contract's protocol under a seed.
---@param contract table
---@param seed integer
---@return table samples list of {index, generator, draw, sizes, units, label, sample}
---@return boolean complete false when the budget ends before the stated number of samples
function M.samples(contract, seed) return plan(contract, contract.protocol.inputs, seed) end

--- The samples of the vacuity gate: the contract's probes.
function M.probes(contract, seed) return plan(contract, contract.calibration.probes, seed) end

--- The samples of the stored functional test.
function M.functional(contract, seed) return plan(contract, contract.calibration.functional.inputs, seed) end

--- Name of a sample: part of every element's key.
---@param sample table
---@param seed integer
---@param redraw integer
---@return string name
function M.name(sample, seed, redraw) return json.encode { tostring(seed), sample.label, sample.draw, redraw } end

return M
