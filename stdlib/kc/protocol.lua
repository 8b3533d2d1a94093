---@module kc.protocol
-- From a protocol to the list of samples: which generator, which draw, which sizes. Pure data; no buffer is touched here.
local core = require "kc.core"
local json = require "kc.json"
local sample = require "kc.sample"
local scope = require "kc.scope"
local M = {}

-- A shape as large as the budget allows tells little more than a moderate one and eats the rest: one draw takes at most this
-- share of what is left of what one generator may spend. Large shapes drawn early make later ones smaller, not fewer.
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
  if generator.kind == "draws" then generator = generator.base end
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

-- Draws for one generator until enough units are judged or its share of the budget is spent. `taken`: draws that samples of the same
-- label have had; labels and draws name the random streams (and what a judge keeps), so these go on from there.
local function draws(contract, generator, g, taken, seed, budget, add)
  local names, domains = contract.scope.dims, contract.scope.shapes
  local wanted, judged, spent, index = contract.protocol.samples, 0, 0, 0
  if generator.kind == "draws" then wanted = generator.n end
  local fixed = fixed_sizes(generator, names, domains)
  while judged < wanted do
    index = index + 1
    -- Only the first generator walks through the edge sizes; the others start with drawn ones.
    local draw = (g == 1 and taken == 0 and not fixed) and index or index + 3 + taken
    local key = core.key(json.encode { tostring(seed), "sizes", generator.label, draw })
    local sizes = fixed or scope.draw(names, domains, key, draw, (budget - spent) * DRAW_SHARE)
    local work = math.max(1, scope.work(names, sizes))
    if spent + work > budget and index > 1 then return judged >= wanted end
    spent = spent + work
    local units = generator.kind == "draws" and 1 or judged_units(contract, sizes)
    judged = judged + units
    add { generator = g, draw = draw, sizes = sizes, units = units, label = generator.label }
    if index > wanted + 8 then return false end -- only shapes without elements
  end
  return true
end

local function plan(contract, generators, seed, samples, whole_budget)
  local complete = true
  local budget = whole_budget / #generators
  local taken = {}
  for _, spec in ipairs(samples) do taken[spec.label] = (taken[spec.label] or 0) + 1 end
  for g = 1, #generators do
    local label = generators[g].label
    local reached = draws(contract, generators[g], g, taken[label] or 0, seed, budget, function(spec)
      taken[label] = (taken[label] or 0) + 1
      spec.index = #samples + 1
      spec.sample = generators[g]
      spec.random = sample.random(generators[g])
      samples[#samples + 1] = spec
    end)
    complete = complete and reached
  end
  return samples, complete
end

-- Relations are evaluated in Lua, element by element: their draws are kept small.
local RELATION_WORK = 32768

-- A relation's draws. The sizes of its samples are drawn as those of any other, without edge sizes.
local function relate(contract, relation, seed, samples)
  local names, domains = contract.scope.dims, contract.scope.shapes
  for _, generator in ipairs(relation.inputs) do
    local label = ("%s: %s"):format(relation.name, generator.label)
    local fixed = fixed_sizes(generator, names, domains)
    for draw = 1, relation.draws do
      local key = core.key(json.encode { tostring(seed), "sizes", label, draw })
      local sizes = fixed or scope.draw(names, domains, key, draw + 3, RELATION_WORK)
      samples[#samples + 1] = { index = #samples + 1, generator = generator, sample = generator, draw = draw, sizes = sizes, label = label,
                                relation = relation, random = false }
    end
  end
end

-- What only a thorough run takes may be a long list, so a function makes it when it is needed.
local function thorough_inputs(contract)
  local list = contract.protocol.thorough()
  for i = 1, type(list) == "table" and #list or 0 do
    if not sample.is(list[i]) then error(("%s: protocol.thorough: item %d is not a sample"):format(contract.path, i), 0) end
  end
  if type(list) ~= "table" or #list == 0 then error(contract.path .. ": protocol.thorough: expected a list of samples", 0) end
  return list
end

--- The samples that calibrate a contract under a seed.
---@param contract table
---@param seed integer
---@return table samples list of {index, generator, draw, sizes, units, label, sample}
---@return boolean complete false when the budget ends before the stated number of samples
function M.calibrating(contract, seed)
  local samples, complete = plan(contract, contract.protocol.inputs, seed, {}, contract.protocol.budget)
  for _, relation in ipairs(contract.protocol.relations or {}) do relate(contract, relation, seed, samples) end
  return samples, complete
end

--- The samples that judge: those that calibrate, `protocol.further`, and when `thorough` those of `protocol.thorough`.
---@param contract table
---@param seed integer
---@param thorough boolean|nil
---@return table samples
---@return boolean complete
function M.samples(contract, seed, thorough)
  local samples, complete = M.calibrating(contract, seed)
  if contract.protocol.further then plan(contract, contract.protocol.further, seed, samples, math.huge) end
  if thorough and contract.protocol.thorough then plan(contract, thorough_inputs(contract), seed, samples, math.huge) end
  return samples, complete
end

--- The samples of the vacuity gate: the contract's probes.
function M.probes(contract, seed) return plan(contract, contract.calibration.probes, seed, {}, contract.protocol.budget) end

--- The samples of a functional test.
---@param contract table
---@param test table {inputs=}
---@param seed integer
function M.functional(contract, test, seed) return plan(contract, test.inputs, seed, {}, contract.protocol.budget) end

-- ---- one sample to try things on ------------------------------------------------------------------------------------------------

local MOST_WORK = 1 << 18

-- A small size of a domain that no other dimension has, so that two dimensions are not taken for each other.
local function small_size(domain, taken)
  local least, largest = scope.bounds(domain)
  for _, n in ipairs(domain.kind == "choice" and domain.sizes or {}) do
    if n >= 2 and not taken[n] then return n end
  end
  for n = math.max(least, 2), domain.kind == "range" and largest or 0 do
    if not taken[n] then return n end
  end
  return largest
end

--- One size for each dimension, all different where the domains allow it.
---@param contract table
---@return table sizes
function M.distinct_sizes(contract)
  local sizes, taken = {}, {}
  for _, name in ipairs(contract.scope.dims) do
    sizes[name] = small_size(contract.scope.shapes[name], taken)
    taken[sizes[name]] = true
  end
  return sizes
end

-- A sample that takes any sizes; nil where every one has its own.
local function any_sample(contract)
  for _, list in ipairs { contract.protocol.inputs, contract.calibration.probes, contract.calibration.functional.inputs } do
    for _, item in ipairs(list) do
      if item.kind ~= "at" and not (item.base and item.base.kind == "at") then return item end
    end
  end
end

--- One small sample, its dimensions of different sizes where some sample takes any; else the smallest of those that are planned.
---@param contract table
---@param samples table what was planned
---@return table|nil spec
function M.trial(contract, samples)
  local sizes, item, smallest = M.distinct_sizes(contract), any_sample(contract), nil
  if item and scope.work(contract.scope.dims, sizes) <= MOST_WORK then
    return { sample = item, label = item.label, draw = 1, index = 1, sizes = sizes }
  end
  for _, spec in ipairs(samples) do
    local work = scope.work(contract.scope.dims, spec.sizes)
    if work > 0 and work <= MOST_WORK and (not smallest or work < smallest.work) then smallest = { work = work, spec = spec } end
  end
  return smallest and smallest.spec
end

--- Name of a sample: part of every element's key.
---@param spec table
---@param seed integer
---@param redraw integer
---@return string name
function M.name(spec, seed, redraw) return json.encode { tostring(seed), spec.label, spec.draw, redraw } end

return M
