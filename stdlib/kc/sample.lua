---@module kc.sample
-- Samples: what inputs are drawn from. A sample is data; a tensor filled from it is a function of (seed, name, shape, sample).
local core = require "kc.core"
local words = require "kc.words"
local M = {}

local Sample = {}
Sample.__index = Sample
Sample.__name = "kc.sample"
Sample.__metatable = false

local function new(kind, label, fields)
  fields.kind, fields.label = kind, label
  return setmetatable(fields, Sample)
end

local function number(where, value)
  if type(value) ~= "number" or value ~= value then
    error(("sample.%s: expected a number, got %s"):format(where, words.show(value)), 3)
  end
  return value + 0.0
end

-- Labels name random streams, so a number is written with as many digits as tell it from every other.
local function digits(x)
  local short = ("%.6g"):format(x)
  return tonumber(short) == x and short or ("%.17g"):format(x)
end

local function dist(kind, label, a, b, c) return new("dist", label, { dist = { kind = kind, a = a, b = b, c = c } }) end

--- Every element `x`.
--- > kc.sample.constant(0.5)
--- constant(0.5)
---@param x number
---@return table sample
function M.constant(x) return dist("constant", ("constant(%s)"):format(digits(number("constant", x))), x + 0.0) end

--- Uniform in [lo, hi).
--- > kc.sample.uniform(-1, 1)
--- uniform(-1,1)
---@param lo number
---@param hi number
---@return table sample
function M.uniform(lo, hi)
  if number("uniform", lo) >= number("uniform", hi) then error("sample.uniform: expected lo < hi", 2) end
  return dist("uniform", ("uniform(%s,%s)"):format(digits(lo), digits(hi)), lo + 0.0, hi + 0.0)
end

--- Normal deviates of mean 0; the standard deviation is 2^exponent (0 when omitted), so that integers suffice to make them.
--- > kc.sample.normal(), kc.sample.normal(-3)
--- normal(0)
--- normal(-3)
---@param exponent integer|nil
---@return table sample
function M.normal(exponent)
  local e = exponent or 0
  if math.type(e) ~= "integer" then error("sample.normal: expected an integer exponent of two", 2) end
  return dist("normal", ("normal(%d)"):format(e), 0.0, 2.0 ^ e)
end

--- Log-uniform magnitudes in [2^lo, 2^hi); both signs unless `positive`.
--- > kc.sample.log_uniform(-3, 3, true)
--- log_uniform(-3,3,positive)
---@param lo integer
---@param hi integer
---@param positive boolean|nil
---@return table sample
function M.log_uniform(lo, hi, positive)
  return dist("log_uniform", ("log_uniform(%s,%s%s)"):format(digits(number("log_uniform", lo)), digits(number("log_uniform", hi)),
    positive and ",positive" or ""), lo + 0.0, hi + 0.0, positive and 1.0 or 0.0)
end

--- Uniform among the integers lo, lo + step, ... up to hi. Odd ones (odd lo, step 2) have their lowest bit set, so that a narrower
--- significand cannot hold them.
--- > kc.sample.integers(1, 31, 2)
--- integers(1,31,2)
---@param lo integer
---@param hi integer
---@param step integer|nil 1 when omitted
---@return table sample
function M.integers(lo, hi, step)
  if step and number("integers", step) < 1 then error("sample.integers: expected a step of at least 1, got " .. words.show(step), 2) end
  local label = ("integers(%s,%s%s)"):format(digits(number("integers", lo)), digits(number("integers", hi)),
    step and "," .. digits(number("integers", step)) or "")
  return dist("integers", label, lo + 0.0, hi + 0.0, step and step + 0.0 or nil)
end

--- Every code equally likely, NaN and infinity included.
---@return table sample
function M.bits() return dist("bits", "bits()") end

--- Every finite code equally likely.
---@return table sample
function M.finite_bits() return dist("finite_bits", "finite_bits()") end

--- Every subnormal code equally likely, both signs.
---@return table sample
function M.subnormal() return dist("subnormal", "subnormal()") end

--- Every code in order, from `first`; 65536 elements exhaust a 16-bit format.
---@param first integer|nil
---@return table sample
function M.exhaustive(first) return dist("exhaustive", ("exhaustive(%d)"):format(first or 0), (first or 0) + 0.0) end

--- Exponents lo..hi in turn, in each both signs, the significand at random: every exponent gets the same share. Subnormals count as
--- one exponent below the normal ones. All exponents of the format when omitted.
---@param lo integer|nil
---@param hi integer|nil
---@return table sample
function M.stratified(lo, hi)
  if lo == nil and hi == nil then return dist("stratified", "stratified()", -2000.0, 2000.0) end
  return dist("stratified", ("stratified(%s,%s)"):format(digits(number("stratified", lo)), digits(number("stratified", hi))), lo + 0.0,
    hi + 0.0)
end

--- Every number of the format that is at most `radius` steps from one of the points, in order, repeated over the tensor. A point is
--- rounded into the format first; 0 stands for both zeros.
--- > kc.sample.around({ 0, 1 }, 2)
--- around(values(0 1),2)
---@param points table numbers
---@param radius integer
---@return table sample
function M.around(points, radius)
  if math.type(radius) ~= "integer" or radius < 0 then error("sample.around: expected a number of steps, got " .. words.show(radius), 2) end
  local base = M.values(points)
  return new("around", ("around(%s,%d)"):format(base.label, radius), { points = base.values, radius = radius })
end

--- `base` with exceptional values (NaN, both infinities, both zeros, smallest and largest finite) sprinkled in.
--- > kc.sample.exceptional(0.1, kc.sample.normal())
--- exceptional(0.1,normal(0))
---@param share number probability of an exceptional element
---@param base table sample
---@return table sample
function M.exceptional(share, base)
  if not M.is(base) then error("sample.exceptional: expected a share and a sample", 2) end
  local label = ("exceptional(%s,%s)"):format(digits(number("exceptional", share)), base.label)
  return new("sprinkle", label, { share = share + 0.0, base = base })
end

--- The listed values, repeated over the tensor.
--- > kc.sample.values { 1, 2.5, math.huge }
--- values(1 2.5 inf)
---@param list table numbers
---@return table sample
function M.values(list)
  if type(list) ~= "table" or #list == 0 then error("sample.values: expected a list of numbers", 2) end
  local copy, text = {}, {}
  for i, x in ipairs(list) do
    if type(x) ~= "number" then error(("sample.values: item %d is not a number"):format(i), 2) end
    copy[i], text[i] = x, digits(x)
  end
  local shown = table.concat(text, " ")
  if #text > 6 then shown = ("%s ... #%s"):format(table.concat(text, " ", 1, 5), core.sha256(shown):sub(1, 8)) end
  return new("values", ("values(%s)"):format(shown), { values = copy })
end

--- 1 where the last two indices are equal, else 0: with square sizes the unit matrix, whose product with v is v.
---@return table sample
function M.identity() return new("identity", "identity()", {}) end

--- Two inputs of one shape whose rows (along the last axis) have dot products of condition number near `condition`; names the inputs.
---@param condition number
---@param x string
---@param y string
---@return table sample
function M.ill_conditioned(condition, x, y)
  local label = ("ill_conditioned(%s)"):format(digits(number("ill_conditioned", condition)))
  return new("dot", label, { condition = condition + 0.0, x = x, y = y })
end

--- Another sample for each named input.
--- > kc.sample.inputs { x = kc.sample.normal(), mask = kc.sample.values { 0, 1 } }
--- mask=values(0 1),x=normal(0)
---@param by_name table input name -> sample
---@return table sample
function M.inputs(by_name)
  local text = {}
  for _, name in ipairs(words.keys(by_name)) do
    if not M.is(by_name[name]) then error(("sample.inputs: '%s' is not a sample"):format(name), 2) end
    text[#text + 1] = name .. "=" .. by_name[name].label
  end
  return new("inputs", table.concat(text, ","), { by_name = by_name })
end

--- `base` drawn at these sizes instead of those that the protocol would choose.
--- > kc.sample.at({ n = 1000 }, kc.sample.bits())
--- bits()@n=1000
---@param sizes table dimension name -> size
---@param base table sample
---@return table sample
function M.at(sizes, base)
  if not M.is(base) then error("sample.at: expected sizes and a sample", 2) end
  if base.kind == "draws" then return M.draws(base.n, M.at(sizes, base.base)) end
  local text = {}
  for _, name in ipairs(words.keys(sizes)) do text[#text + 1] = ("%s=%d"):format(name, sizes[name]) end
  return new("at", ("%s@%s"):format(base.label, table.concat(text, ",")), { sizes = sizes, base = base })
end

local places = { first = true, middle = true, last = true, all = true }

--- `base` with `value` put at one place, or along a row or column: `where` says for each dimension "first", "middle", "last" or "all".
--- > kc.sample.plant(kc.sample.normal(), 0/0, { "all", "last" })
--- plant(normal(0),nan,all last)
---@param base table sample
---@param value number NaN and infinities too
---@param where table list of words, one for each dimension
---@return table sample
function M.plant(base, value, where)
  if not M.is(base) then error("sample.plant: expected a sample, got " .. words.show(base), 2) end
  if type(value) ~= "number" then error("sample.plant: expected a number, got " .. words.show(value), 2) end
  for i, word in ipairs(type(where) == "table" and where or { where }) do
    if type(where) ~= "table" or not places[word] then
      error(("sample.plant: place %d: expected \"first\", \"middle\", \"last\" or \"all\", got %s"):format(i, words.show(word)), 2)
    end
  end
  local text = value ~= value and "nan" or digits(value)
  return new("plant", ("plant(%s,%s,%s)"):format(base.label, text, table.concat(where, " ")), { base = base, value = value, where = where })
end

--- `base` drawn exactly `n` times, however many samples the protocol asks of the others.
---@param n integer
---@param base table sample
---@return table sample
function M.draws(n, base)
  if math.type(n) ~= "integer" or n < 1 then error("sample.draws: expected how often, got " .. words.show(n), 2) end
  if not M.is(base) then error("sample.draws: expected a number and a sample", 2) end
  return new("draws", base.label, { n = n, base = base })
end

--- Sizes at which kernels that work in tiles go wrong: 0, 1, around each tile and twice the tile, half a tile more, and a prime beyond.
--- > kc.sample.edges { 16 }
--- { 0, 1, 15, 16, 17, 24, 31, 32, 33, 37 }
---@param tiles table list of integers >= 2
---@return table sizes in order
function M.edges(tiles)
  local seen, sizes = {}, {}
  local function add(n)
    if not seen[n] then sizes[#sizes + 1] = n end
    seen[n] = true
  end
  add(0)
  add(1)
  for i, tile in ipairs(tiles) do
    if math.type(tile) ~= "integer" or tile < 2 then error(("sample.edges: item %d: expected an integer >= 2"):format(i), 2) end
    for _, n in ipairs { tile - 1, tile, tile + 1, tile + tile // 2, 2 * tile - 1, 2 * tile, 2 * tile + 1 } do add(n) end
    local prime = 2 * tile + 3
    while not M.is_prime(prime) do prime = prime + 2 end
    add(prime)
  end
  table.sort(sizes)
  return sizes
end

--- True for a prime number.
--- > kc.sample.is_prime(91), kc.sample.is_prime(97)
--- false
--- true
---@param n integer
---@return boolean
function M.is_prime(n)
  for d = 2, math.floor(math.sqrt(n)) do if n % d == 0 then return false end end
  return n > 1
end

--- `base` once at every listed size of every dimension: each dimension walks through its sizes while the others keep theirs of `usual`,
--- then all dimensions take the same place of their lists.
---@param base table sample
---@param usual table dimension name -> size
---@param sizes table dimension name -> list of sizes
---@return table samples
function M.shapes(base, usual, sizes)
  local names, list, most = words.keys(sizes), {}, 0
  local function add(changes)
    local at = {}
    for _, name in ipairs(words.keys(usual)) do at[name] = changes[name] or usual[name] end
    list[#list + 1] = M.draws(1, M.at(at, base))
  end
  for _, name in ipairs(names) do
    most = math.max(most, #sizes[name])
    for _, n in ipairs(sizes[name]) do add { [name] = n } end
  end
  for i = 1, #names > 1 and most or 0 do
    local all = {}
    for _, name in ipairs(names) do all[name] = sizes[name][math.min(i, #sizes[name])] end
    add(all)
  end
  return list
end

--- `base` with zeros above the main diagonal of the last two dimensions.
---@param base table sample
---@return table sample
function M.tril(base)
  if not M.is(base) then error("sample.tril: expected a sample, got " .. words.show(base), 2) end
  return new("tril", ("tril(%s)"):format(base.label), { base = base })
end

--- offset + stride[1] i[1] + stride[2] i[2] + ..., the indices counted from 0: where the elements of a strided view lie in its storage.
---@param offset integer
---@param strides table list of integers, one for each dimension
---@return table sample
function M.affine(offset, strides)
  local text = {}
  for i, stride in ipairs(strides) do text[i] = digits(number("affine", stride)) end
  return new("affine", ("affine(%s,%s)"):format(digits(number("affine", offset)), table.concat(text, " ")),
    { offset = offset, strides = strides })
end

--- The same sample under a label that a reader understands; reports show it.
--- > kc.sample.named("far from 0", kc.sample.uniform(100, 1000))
--- far from 0
---@param label string
---@param base table sample
---@return table sample
function M.named(label, base)
  if type(label) ~= "string" or label == "" then error("sample.named: expected a label, got " .. words.show(label), 2) end
  if not M.is(base) then error("sample.named: expected a sample, got " .. words.show(base), 2) end
  local fields = {}
  for _, key in ipairs(words.keys(base)) do fields[key] = base[key] end
  fields.behind = base.behind or base.label
  return new(base.kind, label, fields)
end

--- `base` with finite numbers beyond lo..hi replaced by the nearer end; infinities and NaN stay.
--- > kc.sample.within(-1, 1, kc.sample.normal())
--- within(-1,1,normal(0))
---@param lo number
---@param hi number
---@param base table sample
---@return table sample
function M.within(lo, hi, base)
  if number("within", lo) > number("within", hi) then error("sample.within: expected lo <= hi", 2) end
  if not M.is(base) then error("sample.within: expected two bounds and a sample", 2) end
  return new("within", ("within(%s,%s,%s)"):format(digits(lo), digits(hi), base.label), { lo = lo, hi = hi, base = base })
end

--- True for a value made by this module.
function M.is(value) return type(value) == "table" and rawget(value, "label") ~= nil and rawget(value, "kind") ~= nil end

-- Kinds whose elements are listed rather than drawn.
local listed = { constant = true, exhaustive = true }

--- True when a sample's elements are drawn at random, so that what holds for many of them bounds how often it fails; false for a list of
--- cases, each of which was tried.
--- > kc.sample.random(kc.sample.bits()), kc.sample.random(kc.sample.values { 1 })
--- true
--- false
---@param sample table
---@return boolean
function M.random(sample)
  if sample.kind == "dist" then return not listed[sample.dist.kind] end
  if sample.kind == "inputs" then
    for _, name in ipairs(words.keys(sample.by_name)) do
      if M.random(sample.by_name[name]) then return true end
    end
    return false
  end
  return sample.kind == "sprinkle" or sample.kind == "dot" or sample.base ~= nil and M.random(sample.base)
end

--- Fills the inputs of one tensor group.
--- > b = kc.buffer("f32", { 2, 2 })
--- > kc.sample.fill(kc.sample.affine(4, { 2, 1 }), { { name = "x", buffer = b, shape = { 2, 2 } } }, "0")
--- > b
--- f32[2,2]: 4 elements, from 4.0 to 7.0
---   4.0 5.0
---   6.0 7.0
---@param sample table
---@param inputs table list of {name=, buffer=, shape=}
---@param seed string seed and draw, part of every element's name
function M.fill(sample, inputs, seed) return require("kc.fill").fill(sample, inputs, seed) end

function Sample:__tostring() return self.label end

return M
