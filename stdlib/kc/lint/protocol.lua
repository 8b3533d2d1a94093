---@module kc.lint.protocol
-- Findings in protocols and signatures: what the samples cannot reach, and questions that a measurement cannot answer.
local limit = require "kc.limit"
local measurement = require "kc.measurement"
local scope = require "kc.scope"
local words = require "kc.words"
local M = {}

local function smallest(contract)
  local sizes = {}
  for _, name in ipairs(contract.scope.dims) do
    sizes[name] = scope.bounds(contract.scope.shapes[name])
  end
  return math.max(1, scope.work(contract.scope.dims, sizes))
end

local function elements(samples)
  local n = 0
  for _, spec in ipairs(samples) do n = n + (spec.units or 0) end
  return n
end

--- A budget that does not reach the stated samples, or not even one of the smallest shape; shapes without elements.
function M.budget(c, report)
  local p, least = c.contract.protocol, smallest(c.contract)
  local share = p.budget / #p.inputs
  if share < least then
    report("protocol", ("field 'budget': %g is %g for each of %d samples; the smallest shape takes %d"):format(p.budget, share, #p.inputs,
      least), "budget")
  elseif elements(c.samples) == 0 then
    report("protocol", "field 'samples': no shape that is drawn has an element", "samples")
  elseif not c.complete then
    report("protocol", ("field 'budget': %g ends before %d %ss of each sample are judged: no verdict can be held"):format(p.budget,
      p.samples, p.judged), "budget")
  end
end

--- A share of vacuous elements at which nothing need be shown.
function M.vacuous(c, report)
  if c.contract.protocol.vacuous >= 1 then
    report("protocol", "field 'vacuous': every element may be vacuous, so that nothing need be shown", "vacuous")
  end
end

--- A pass rule in words that says another bound than the one that is judged by. The rest of the words is the author's.
function M.pass(c, report)
  local said = c.contract.protocol.pass:match("tolerance%s*<=?%s*([%d.][%w.]*)")
  if said and tonumber(said) ~= 1 then
    report("protocol", ("field 'pass': it says error / tolerance <= %s; what the postcondition judges by is 1"):format(said), "pass")
  end
end

--- Runs that nothing compares.
function M.repeats(c, report)
  local p = c.contract.protocol
  if p.repeats > 1 and not p.determinism then
    report("protocol", ("field 'repeats': %d runs, and no 'determinism' says how their results may differ"):format(p.repeats), "repeats")
  end
end

-- ---- what a signature asks -------------------------------------------------------------------------------------------------------

-- The argument of a question that is a sample's label.
local label_at = { count = 1, confusion = 3, misplaced = 1, swallowed = 1, saw = 2, unwritten = 1, ratio = 1, bits = 1, wrong = 1,
                   exceptions = 2, foreign = 1, distinct = 1, interleavings = 1, shapes = 1, raised = 1 }

-- Two measurements of the planned samples: in one all is well, in the other everything is wrong, so that a test goes both ways.
local function imagined(samples, answer)
  local m, wrong = measurement.new(), answer == "no"
  for _, spec in ipairs(samples) do
    m:add { label = spec.label, sizes = spec.sizes, judged = spec.units or 1, vacuous = 0, answer = answer, worst = wrong and 2.0 or 0.0,
            scaled = wrong and 0x1p-8 or nil, confusion = {}, runs = 1, distinct = wrong and 2 or 1 }
  end
  return m
end

-- A measurement that writes down what it is asked.
local function recording(m, asked)
  return setmetatable({}, { __index = function(_, name)
    if rawget(m, name) ~= nil then return m[name] end
    local known = {}
    for _, key in ipairs(words.keys(getmetatable(m).__index)) do known[#known + 1] = key end
    if not words.holds(known, name) then
      asked[#asked + 1] = { unknown = tostring(name), hint = words.hint(tostring(name), known) }
      return function() return 0 end
    end
    return function(_, ...)
      asked[#asked + 1] = { name = name, ... }
      return m[name](m, ...)
    end
  end })
end

--- Everything that a signature's test asks of measurements.
---@param c table
---@return table asked list of {name=, arguments...} or {unknown=, hint=}
---@return string|nil message of a test that raised
local function questions(c)
  local asked, failure = {}, nil
  for _, answer in ipairs { "yes", "no" } do
    local m = recording(imagined(c.samples, answer), asked)
    local ok, why = pcall(limit.call, c.limit, c.contract.path .. ": signature", c.contract.signature.test, m)
    if not ok then failure = tostring(why) end
  end
  return asked, failure
end

local function labels_of(samples)
  local list, seen = {}, {}
  for _, spec in ipairs(samples) do
    if not seen[spec.label] then list[#list + 1] = spec.label end
    seen[spec.label] = true
  end
  return list
end

local function begins_any(labels, prefix)
  for _, label in ipairs(labels) do
    if label:sub(1, #prefix) == prefix then return true end
  end
  return false
end

local function varies(samples, axis)
  for _, spec in ipairs(samples) do
    if spec.sizes[axis] ~= samples[1].sizes[axis] then return true end
  end
  return false
end

local asks = {}

function asks.unknown(q) return q.unknown and ("a measurement has no '%s'; %s"):format(q.unknown, q.hint) end

function asks.label(q, c)
  local label = q[label_at[q.name] or 0]
  if not c.own_test or type(label) ~= "string" or begins_any(c.labels, label) then return nil end
  return ("m:%s asks for samples '%s', and the protocol has none; %s"):format(q.name, label, words.hint(label, c.labels))
end

function asks.axis(q, c)
  if q.name ~= "slope" then return nil end
  local dims, axis = c.contract.scope.dims, tostring(q[1])
  if not words.holds(dims, axis) then return ("m:slope asks for dimension '%s'; %s"):format(axis, words.hint(axis, dims)) end
  if not varies(c.samples, axis) then return ("m:slope('%s'): the protocol never varies '%s'"):format(axis, axis) end
end

function asks.repeats(q, c)
  if q.name == "distinct" and c.contract.protocol.repeats == 1 then
    return "m:distinct compares repeated runs, and protocol.repeats is 1"
  end
end

function asks.depends(q, c)
  if q.name == "exceptions" and not c.contract.scope.depends then
    return "m:exceptions counts by scope.depends, which the contract does not have"
  end
end

local order = { "unknown", "label", "axis", "repeats", "depends" }

--- Questions of the signature's test that no sample of the protocol can answer.
function M.signature(c, report)
  if #c.samples == 0 then return end
  local asked, failure = questions(c)
  c.labels = labels_of(c.samples)
  -- A test that kc.accuracy makes serves contracts with other samples too.
  c.own_test = debug.getinfo(c.contract.signature.test, "S").source == "@" .. c.contract.path
  if failure then report("signature", "the test raised: " .. failure, "test") end
  local seen = {}
  for _, q in ipairs(asked) do
    for _, name in ipairs(order) do
      local text = asks[name](q, c)
      if text and not seen[text] then report("signature", text, "test") end
      seen[text or ""] = true
    end
  end
end

M.rules = { M.budget, M.vacuous, M.pass, M.repeats, M.signature }

return M
