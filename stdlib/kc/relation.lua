---@module kc
-- Metamorphic relations: what must hold between a kernel's inputs and outputs, or between two of its runs, without an oracle
-- (Chen, Cheung and Yiu, "Metamorphic testing: a new approach for generating next test cases", HKUST-CS98-01, 1998).
local check = require "kc.check"
local core = require "kc.core"
local json = require "kc.json"
local sample = require "kc.sample"
local words = require "kc.words"
local M = {}

local Relation = { __name = "kc.relation", __metatable = false }
Relation.__index = Relation
local made = setmetatable({}, { __mode = "k" })

local DRAWS = 4

local function is_samples(v)
  if type(v) ~= "table" or #v == 0 then return false end
  for _, item in ipairs(v) do if not sample.is(item) then return false end end
  return true
end

local fields = {
  name = { "text", function(v) return type(v) == "string" and v ~= "" end },
  inputs = { "a list of samples", is_samples },
  draws = { "an integer >= 1", function(v) return v == nil or math.type(v) == "integer" and v >= 1 end },
  change = { "a function of the inputs", function(v) return v == nil or type(v) == "function" end },
  holds = { "a function of inputs and outputs", function(v) return type(v) == "function" end },
}

--- A metamorphic relation, for `protocol.relations`. holds(x, y) states what one run must satisfy; with change(x, sizes), which returns
--- the inputs that a second run gets instead (name -> buffer; the others stay), holds(x, y, x2, y2) relates both runs.
---@param options table {name=text, inputs={samples}, draws=4, change=function|nil, holds=function}
---@return table relation
function M.relation(options)
  if type(options) ~= "table" then error("kc.relation: expected a table of fields, got " .. words.show(options), 2) end
  for _, key in ipairs(words.keys(options)) do
    if not fields[key] then
      error(("kc.relation: unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), words.keys(fields))), 2)
    end
  end
  for _, key in ipairs(words.keys(fields)) do
    if not fields[key][2](options[key]) then
      error(("kc.relation: field '%s': expected %s, got %s"):format(key, fields[key][1], words.show(options[key])), 2)
    end
  end
  local relation = { name = options.name, inputs = options.inputs, draws = options.draws or DRAWS, change = options.change,
                     holds = options.holds }
  made[relation] = true
  return setmetatable(relation, Relation)
end

--- True for a relation.
function M.is(value) return made[value] == true end

function Relation:__tostring() return self.name end

-- ---- predicates and changes -----------------------------------------------------------------------------------------------

local function is_buffer(value) return type(value) == "userdata" and tostring(value):sub(1, 9) == "kc.buffer" end

local function demand_buffer(where, i, value)
  if not is_buffer(value) then error(("%s: argument %d: expected a buffer, got %s"):format(where, i, words.show(value)), 3) end
end

local function same_number(a, b) return a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b end

local function shown(x) return math.type(x) == "integer" and ("%d"):format(x) or json.float(x) end

--- Do two buffers hold the same numbers, element by element: value and sign, NaN like NaN? The formats may differ.
--- > kc.equal(kc.buffer("f32", 1, { 2 }), kc.buffer("f16", 1, { 2 })).answer
--- "yes"
---@param a userdata buffer
---@param b userdata buffer of as many elements
---@return table check
function M.equal(a, b)
  demand_buffer("kc.equal", 1, a)
  demand_buffer("kc.equal", 2, b)
  if #a ~= #b then error(("kc.equal: %d and %d elements"):format(#a, #b), 2) end
  if a:format() == b:format() and a:raw() == b:raw() then return check.yes(("%d elements are equal"):format(#a)) end
  local count, first = 0, nil
  for i = 1, #a do
    if not same_number(a[i], b[i]) then count, first = count + 1, first or i end
  end
  if count == 0 then return check.yes(("%d elements are equal"):format(#a)) end
  return check.no(("%d of %d elements differ, first at element %d: %s and %s"):format(count, #a, first, shown(a[first]), shown(b[first])),
    { differing = count })
end

--- Is every element this number (its sign counts)?
---@param buffer userdata
---@param x number
---@return table check
function M.all_equal(buffer, x)
  demand_buffer("kc.all_equal", 1, buffer)
  if type(x) ~= "number" then error("kc.all_equal: argument 2: expected a number, got " .. words.show(x), 2) end
  for i = 1, #buffer do
    if not same_number(buffer[i], x) then return check.no(("element %d is %s, not %s"):format(i, shown(buffer[i]), shown(x))) end
  end
  return check.yes(("every element is %s"):format(shown(x)))
end

local function like(buffer) return assert(core.buffer(buffer:format(), buffer:shape())) end

--- A new buffer with every element times a power of two; raises where a product is not exact in the format.
--- > kc.scaled(kc.buffer("f32", 2, { 1, 3 }), 0.5)
--- f32[2]: 2 elements, from 0.5 to 1.5
---   0.5 1.5
---@param buffer userdata
---@param factor number a power of two
---@return userdata buffer
function M.scaled(buffer, factor)
  demand_buffer("kc.scaled", 1, buffer)
  if type(factor) ~= "number" or not ("%a"):format(factor):match("^%-?0x1p") then
    error("kc.scaled: argument 2: expected a power of two, got " .. words.show(factor), 2)
  end
  local out = like(buffer)
  for i = 1, #buffer do
    local product = buffer[i] * factor
    out[i] = product
    if not (same_number(out[i], product) and same_number(product / factor, buffer[i])) then
      error(("kc.scaled: element %d: %s times %s is not exact in %s"):format(i, shown(buffer[i]), shown(factor), buffer:format()), 2)
    end
  end
  return out
end

--- A new buffer with the order of the elements along an axis reversed.
--- > kc.reversed(kc.buffer("i32", 3, { 1, 2, 3 }), 0)
--- i32[3]: 3 elements, from 1.0 to 3.0
---   3 2 1
---@param buffer userdata
---@param axis integer|nil from 0, negative from the end (-1 when omitted)
---@return userdata buffer
function M.reversed(buffer, axis)
  demand_buffer("kc.reversed", 1, buffer)
  local shape = buffer:shape()
  axis = axis or -1
  local d = axis < 0 and #shape + 1 + axis or axis + 1
  if math.type(axis) ~= "integer" or d < 1 or d > #shape then
    error(("kc.reversed: argument 2: expected an axis of a buffer of %d dimensions, got %s"):format(#shape, words.show(axis)), 2)
  end
  local inner, raw, parts = 1, buffer:raw(), {}
  for k = d + 1, #shape do inner = inner * shape[k] end
  local block = #buffer > 0 and inner * (#raw // #buffer) or 1 -- bytes that move together
  for from = 0, #raw - 1, math.max(1, block * shape[d]) do
    for i = shape[d] - 1, 0, -1 do parts[#parts + 1] = raw:sub(from + i * block + 1, from + (i + 1) * block) end
  end
  local out = like(buffer)
  out:setraw(table.concat(parts))
  return out
end

return M
