-- Samples, shapes and protocols: what is drawn is a function of seed, draw, name, shape and sample, and of nothing else.
local kc = require "kc"
local core = require "kc.core"
local sample = require "kc.sample"
local scope = require "kc.scope"

local function digest(s, seed, shape, format)
  local buffer = assert(core.buffer(format or "f32", shape or { 100 }, { guard = 4096 }))
  sample.fill(s, { { name = "x", buffer = buffer, shape = shape or { 100 } } }, seed or "0")
  return buffer:digest(), buffer
end

local samples = { sample.normal(), sample.uniform(-1, 1), sample.uniform(0, 1), sample.log_uniform(-20, 20), sample.integers(1, 31),
                  sample.bits(), sample.finite_bits(), sample.subnormal(), sample.exceptional(0.1, sample.normal()) }
for i, s in ipairs(samples) do
  assert(digest(s) == digest(s), s.label .. " is reproducible")
  assert(digest(s) ~= digest(s, "1"), s.label .. " depends on the seed")
  for j = 1, i - 1 do assert(digest(s) ~= digest(samples[j]), s.label .. " differs from " .. samples[j].label) end
end
assert(sample.uniform(0, 0.1).label ~= sample.uniform(0, 0.1 + 2^-40).label, "labels keep every digit")

local function all(s, predicate, what, format)
  local _, buffer = digest(s, "7", { 2000 }, format)
  for i = 1, #buffer do assert(predicate(buffer[i]), ("%s: element %d is %s"):format(what, i, buffer[i])) end
  return buffer
end
all(sample.uniform(-2, 3), function(x) return x >= -2 and x <= 3 end, "uniform")
all(sample.integers(-3, 4), function(x) return x >= -3 and x <= 4 and x == math.floor(x) end, "integers")
local odd = all(sample.integers(5, 11, 2), function(x) return x == 5 or x == 7 or x == 9 or x == 11 end, "integers in steps")
local met = {}
for i = 1, #odd do met[odd[i]] = true end
assert(met[5] and met[7] and met[9] and met[11], "every step is drawn")
all(sample.log_uniform(-5, 5, true), function(x) return x >= 2.0^-5 and x <= 32 end, "log-uniform")
all(sample.subnormal(), function(x) return x ~= 0 and math.abs(x) < 2.0^-126 end, "subnormal")
all(sample.finite_bits(), function(x) return x == x and math.abs(x) < math.huge end, "finite bits")
local exhaustive = assert(core.buffer("f16", { 65536 }, { guard = 4096 }))
sample.fill(sample.exhaustive(), { { name = "x", buffer = exhaustive, shape = { 65536 } } }, "0")
local seen = {}
for i = 1, 65536 do seen[exhaustive:code(i)] = true end
for code = 0, 65535 do assert(seen[code], "code missing: " .. code) end

-- The dot product of an ill-conditioned sample: condition number from exact rational sums of the products.
local x, y = kc.buffer("f64", 100), kc.buffer("f64", 100)
sample.fill(sample.ill_conditioned(1e8, "x", "y"),
  { { name = "x", buffer = x, shape = { 100 } }, { name = "y", buffer = y, shape = { 100 } } }, "0")
local magnitude = 0.0
for i = 1, 100 do magnitude = magnitude + math.abs(x[i] * y[i]) end
assert(magnitude > 0)

-- Planted values stand where they are said to, and everything else is as without them; a name changes the label alone.
local function filled(s, shape)
  local buffer = assert(core.buffer("f32", shape, { guard = 4096 }))
  sample.fill(s, { { name = "x", buffer = buffer, shape = shape } }, "0")
  return buffer
end
local places = { { { "last", "first" }, { [9] = true } }, { { "middle", "all" }, { [5] = true, [6] = true, [7] = true, [8] = true } },
                 { { "all", "last" }, { [4] = true, [8] = true, [12] = true } }, { { "first", "middle" }, { [3] = true } } }
local without = filled(sample.integers(1, 9), { 3, 4 })
for _, row in ipairs(places) do
  local buffer = filled(sample.plant(sample.integers(1, 9), 0 / 0, row[1]), { 3, 4 })
  for i = 1, 12 do
    local got = buffer[i]
    assert((got ~= got) == (row[2][i] == true), ("%s: element %d is %s"):format(table.concat(row[1], " "), i, got))
    assert(got ~= got or got == without[i], "the rest is left alone")
  end
end
filled(sample.plant(sample.normal(), 1, { "last", "middle" }), { 3, 0 })
assert(not pcall(filled, sample.plant(sample.normal(), 1, { "last" }), { 3, 4 }), "as many places as dimensions")
assert(not pcall(sample.plant, sample.normal(), 1, { "lst" }) and not pcall(sample.plant, sample.normal(), "1", { "last" }))
assert(not pcall(sample.plant, 1, 1, { "last" }) and not pcall(sample.named, "", sample.normal()) and not pcall(sample.named, "x", 1))
local named = sample.named("K = 0", sample.at({ K = 0 }, sample.normal()))
assert(named.label == "K = 0" and named.kind == "at" and named.sizes.K == 0)

-- Stratified: the exponents in turn, each with both signs, so that none is missed whatever the seed.
local strata = filled(sample.stratified(-2, 1), { 16 })
local count = {}
for i = 1, 16 do
  local _, exponent = string.format("%a", strata[i]):match("^(-?0x[01]).*p([+-]%d+)$")
  local key = (strata[i] < 0 and "-" or "+") .. math.tointeger(tonumber(exponent))
  count[key] = (count[key] or 0) + 1
end
for _, key in ipairs { "+-2", "+-1", "+0", "+1", "--2", "--1", "-0", "-1" } do
  assert(count[key] == 2, ("exponent %s: %s of 16"):format(key, tostring(count[key])))
end
assert(not pcall(filled, sample.stratified(200, 300), { 4 }), "exponents that f32 has not")

-- Around: the neighbours of each point in the format, both zeros, nothing beyond infinity; again and again where there is room.
local tiny, up = 2.0^-149, 1 + 2.0^-23
local neighbours = filled(sample.around({ 0, 1, math.huge }, 1), { 10 })
local expected = { 0, -0.0, tiny, -tiny, 1, up, 1 - 2.0^-24, math.huge, 0x1.fffffep+127, 0 }
for i, want in ipairs(expected) do
  assert(neighbours[i] == want and 1 / neighbours[i] == 1 / want, ("neighbour %d is %a, expected %a"):format(i, neighbours[i], want))
end
assert(sample.around({ 1 }, 2).label ~= sample.around({ 1 }, 3).label and not pcall(sample.around, { 1 }, -1))

-- Within: finite numbers beyond the bounds become the nearest number inside, the rest is as it was.
local base = sample.exceptional(0.2, sample.log_uniform(-4, 4))
local free, bounded = filled(base, { 400 }), filled(sample.within(-0.1, 3, sample.named(base.label, base)), { 400 })
local inside = -core.decode("f32", core.encode("f32", 0.1, { rounding = "RZ" }))
for i = 1, 400 do
  local was, is = free[i], bounded[i]
  local want = (was > 3 and was < math.huge) and 3 or (was < -0.1 and was > -math.huge) and inside or was
  assert(is == want or (is ~= is and want ~= want), ("element %d: %a became %a"):format(i, was, is))
end
assert(not pcall(sample.within, 3, 2, base) and not pcall(sample.within, 0, 1, 7))

-- Shapes.
local tensor = assert(scope.tensor "A: bf16[M, 3, K]")
assert(tensor.format == "bf16" and #tensor.dims == 3 and tensor.dims[2] == 3)
for _, bad in ipairs { "A f32[M]", "A: f33[M]", "A: f32[M", "1: f32[M]", "A: f32[-1]", "" } do
  local none, message = scope.tensor(bad)
  assert(none == nil and message, "refused: " .. bad)
end
assert(not pcall(kc.range, 3, 2) and not pcall(kc.range, -1, 2) and not pcall(kc.choice, {}))

-- Samples of one label go on with the draws, so that none repeats another's numbers: in every contract; `at` keeps the number of draws.
do
  local protocol = require "kc.protocol"
  local loader = require "kc.loader"
  local streams = 0
  for _, name in ipairs(core.listdir "contracts") do
    local path = ("contracts/%s/contract.lua"):format(name)
    local contract = core.stat(path) and assert(loader.contract(path)).contract
    local met_in = {}
    for _, spec in ipairs(contract and (protocol.samples(contract, 0)) or {}) do
      local stream = protocol.name(spec, 0, 0)
      assert(not met_in[stream], ("%s: two samples share the stream %s"):format(name, stream))
      met_in[stream], streams = true, streams + 1
    end
  end
  assert(streams > 1000, streams)
  local twice = sample.at({ n = 3 }, sample.draws(2, sample.normal()))
  assert(twice.kind == "draws" and twice.n == 2 and twice.base.kind == "at" and twice.base.sizes.n == 3)
end
print("sample: passed")
