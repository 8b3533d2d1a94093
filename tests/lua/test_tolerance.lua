-- Tolerances: misuse is named, formulas fit their oracles, values are those of the formula worked out by hand, a peer is run.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local tol = kc.tolerance
local passed = 0

local function check(ok, text)
  assert(ok, text)
  passed = passed + 1
end

local function refused(text, fn, ...)
  local ok, message = pcall(fn, ...)
  check(not ok and tostring(message):find(text, 1, true), ("expected '%s', got %s"):format(text, tostring(message)))
end

-- ---- misuse -----------------------------------------------------------------------------------------------------------------

refused("field 'kind': expected \"proved\" or \"expected\"", tol.dot, { accumulator = "f32" })
refused("field 'accumulator'", tol.dot, { kind = "proved", terms = "K", height = "K", denormals = "preserve", accumulator = "i32" })
refused("field 'terms'", tol.dot, { kind = "proved", height = "K", denormals = "preserve", accumulator = "f32" })
refused("unknown field 'heigth'; did you mean 'height'?", tol.softmax, { heigth = 3 })
refused("field 'exp_error'", tol.softmax, { accumulator = "f32", height = 3, denormals = "preserve" })
refused("\"two_pass\" or \"welford\"", tol.variance, { accumulator = "f32", height = 3, denormals = "preserve", algorithm = "naive" })
refused("field 'rounding'", tol.dot, { kind = "proved", accumulator = "f32", terms = 1, height = 1, denormals = "preserve",
  rounding = "up" })
refused("field 'peer': expected an implementation", tol.peer_ratio, { factor = 2, peer = "x", denormals = "preserve", source = "s" })
refused("field 'source'", tol.ulp, { limit = 1, denormals = "preserve" })
-- The line is that of who called, whatever was wrong.
for _, name in ipairs { "exact", "policy", "ulp", "abs", "rel", "dot", "fpna", "softmax", "log_softmax", "logsumexp", "variance",
                        "layernorm", "cosine", "peer_ratio" } do
  local kind = name == "dot" and "proved" or nil
  refused("test_tolerance.lua:", function() return (tol[name] { kind = kind, bogus = 1 }) end)
  refused("test_tolerance.lua:", function() return (tol[name] { kind = kind }) end)
  refused("test_tolerance.lua:", function() return (tol[name] "text") end)
end
refused("belongs to a sample", function()
  tol.dot { kind = "proved", accumulator = "f32", terms = 1, height = 1, denormals = "preserve" }:core()
end)

-- ---- values -----------------------------------------------------------------------------------------------------------------

-- The allowed error of one output, as the formula gives it.
local function allowed(t, o, inputs, sizes, output)
  local formats = {}
  for name, buffer in next, inputs do formats[name] = buffer:format() end -- a copy
  local reference = oracle.evaluate(o, inputs)
  local bound = t:bind { oracles = { y = o }, inputs = inputs, formats = formats, references = { y = reference }, sizes = sizes,
    outputs = { { name = "y", format = output or "f32" } }, shapes = { y = { #reference } } }
  local options = bound:core(reference)
  return options.allowed, options.scale, reference
end

local function proved(fields)
  fields.kind, fields.denormals = "proved", fields.denormals or "preserve"
  return tol.dot(fields)
end

local function close(got, want, what)
  check(math.abs(got - want) <= 1e-9 * math.abs(want), ("%s: allowed %a, by hand %a"):format(what, got, want))
end

local u = 2.0 ^ -24
local function gamma(r) return r * u / (1 - r * u) end

-- Three f32 products of no common grid: r = 2 additions + 1 product, S1 by hand, no conversion.
local x, y = kc.buffer("f32", { 1, 3 }, { 1 / 3, -2 / 3, 1e6 / 7 }), kc.buffer("f32", { 1, 3 }, { 0.1, 0.7, -0.3 })
local s1 = 0.0
for i = 1, 3 do s1 = s1 + math.abs(x[i] * y[i]) end
local any_order = proved { accumulator = "f32", terms = "k", height = "k - 1" }
local a, scale = allowed(any_order, kc.oracle.dot("x", "y"), { x = x, y = y }, { k = 3 })
close(a[1], gamma(3) * s1 + (1 + gamma(3)) * 3 * 2.0 ^ -150, "dot")
close(scale[1], s1, "S1")
-- Towards zero: every u doubles.
a = allowed(proved { accumulator = "f32", terms = "k", height = "k - 1", rounding = "towards_zero" }, kc.oracle.dot("x", "y"),
  { x = x, y = y }, { k = 3 })
close(a[1], 6 * u / (1 - 6 * u) * s1 + 3 * 2.0 ^ -150, "dot towards zero")
-- An f16 output rounds the result.
local small = kc.buffer("f32", { 1, 3 }, { 1 / 3, 2 / 3, 1 / 7 })
a = allowed(proved { accumulator = "f32", terms = "k", height = "k - 1" }, kc.oracle.sum("x"), { x = small }, { k = 3 }, "f16")
local total = small[1] + small[2] + small[3]
close(a[1], gamma(2) * total + 2.0 ^ -11 * (total + gamma(2) * total), "sum into f16")
-- On a grid that 24 bits hold no error is allowed; one bit more, and it is.
local grid = kc.buffer("f32", { 1, 2 }, { 2.0 ^ 23, 2.0 ^ 23 - 1 })
a = allowed(proved { accumulator = "f32", terms = "k", height = "k - 1" }, kc.oracle.sum("x"), { x = grid }, { k = 2 })
check(a[1] == 0, "the sum of 2^23 and 2^23 - 1 is exact")
grid[1], grid[2] = 2.0 ^ 23 + 1, 2.0 ^ 23
a = allowed(proved { accumulator = "f32", terms = "k", height = "k - 1" }, kc.oracle.sum("x"), { x = grid }, { k = 2 })
check(a[1] > 0, "2^24 + 1 is not")
-- Nothing is claimed where a partial sum may overflow, or where r u reaches 1.
local huge = kc.buffer("f32", { 1, 2 }, { 3e38, -3e38 })
a = allowed(proved { accumulator = "f32", terms = "k", height = "k - 1" }, kc.oracle.sum("x"), { x = huge }, { k = 2 })
check(a[1] == math.huge, "S1 overflows")
a = allowed(proved { accumulator = "f16", terms = "k", height = 4096 }, kc.oracle.sum("x"), { x = small }, { k = 3 })
check(a[1] == math.huge, "4096 roundings of f16 leave nothing to say")
-- Where nothing is claimed every result is admissible, and counts as vacuous.
local reference = select(3, allowed(any_order, kc.oracle.sum("x"), { x = huge }, { k = 2 }))
local infinite = kc.buffer("f64", { 1 }, { math.huge })
for _, got in ipairs { 0 / 0, math.huge, 7 } do
  local d = core.decide(kc.buffer("f32", { 1 }, { got }), reference, { kind = "given", denormals = "preserve", allowed = infinite })
  check(d.value_yes == 1, "nothing is claimed")
end
local third = core.enclosure({ 0.5 }, { 0.5 }, { "+finite" })
check(core.decide(kc.buffer("f32", { 1 }, { 0 / 0 }), third, { kind = "given", denormals = "preserve", allowed = infinite }).vacuous == 1,
  "and shows nothing")

-- Terms finer than the accumulator's subnormals are lost one by one: a conforming f16 sum of them is 0.
local tiny = kc.buffer("f32", { 1, 8 }, { 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9 })
a = allowed(proved { accumulator = "f16", terms = "k", height = "k - 1" }, kc.oracle.sum("x"), { x = tiny }, { k = 8 }, "f16")
check(a[1] >= 8e-9, "an f16 sum of 1e-9 may be 0")

-- An expression: two products of 24 bits and an input, r = height + 1, S1 over the magnitudes; products of 8 bits are exact.
local terms = kc.oracle.expression(function(v) return -(v.x * v.y) + v.z - v.y * v.z end)
local p, q, z = kc.buffer("f32", 2, { 1 / 3, -3 }), kc.buffer("f32", 2, { -1 / 7, 5 }), kc.buffer("f32", 2, { 1e-9 / 3, 2 })
a, scale = allowed(proved { accumulator = "f32", terms = 3, height = 2 }, terms, { x = p, y = q, z = z }, {})
s1 = math.abs(p[1] * q[1]) + z[1] + math.abs(q[1] * z[1])
close(a[1], gamma(3) * s1 + (1 + gamma(3)) * 2 * 2.0 ^ -150, "an expression")
close(scale[1], s1, "its S1")
p, q, z = kc.buffer("bf16", 1, { 1 / 3 }), kc.buffer("bf16", 1, { -1 / 7 }), kc.buffer("bf16", 1, { 0x1.03p-40 })
a = allowed(proved { accumulator = "f32", terms = 3, height = 2 }, terms, { x = p, y = q, z = z }, {})
s1 = math.abs(p[1] * q[1]) + z[1] + math.abs(q[1] * z[1])
close(a[1], gamma(2) * s1 + (1 + gamma(2)) * 2 * 2.0 ^ -150, "an expression of bf16")
p, q, z = kc.buffer("f32", 1, { 3 }), kc.buffer("f32", 1, { -4095 }), kc.buffer("f32", 1, { 4095 })
a = allowed(proved { accumulator = "f32", terms = 3, height = 2 }, terms, { x = p, y = q, z = z }, {})
check(a[1] > 0, "S1 = 2^24 + 8189 on a grid of 1")
p[1], z[1] = 1, 4094
a = allowed(proved { accumulator = "f32", terms = 3, height = 2 }, terms, { x = p, y = q, z = z }, {})
check(a[1] == 0, "S1 = 2^24 - 4097 on a grid of 1 is exact")

-- ---- contracts --------------------------------------------------------------------------------------------------------------

local function contract(fields)
  local kernel = kc.kernel { file = "none.k", entry = "k", args = { "x", "y", "n" }, group = { 1 }, grid = { "n" } }
  local other = kc.kernel { file = "other.k", entry = "k", args = { "x", "y", "n" }, group = { 1 }, grid = { "n" } }
  local third_one = kc.kernel { file = "third.k", entry = "k", args = { "x", "y", "n" }, group = { 1 }, grid = { "n" } }
  local base = {
    identifier = { class = "C-PRC-01", name = "test", version = "1" },
    scope = { operation = "sum", inputs = { "x: f32[n,k]" }, outputs = { "y: f32[n]" },
              shapes = { n = kc.range(1, 4), k = kc.range(1, 4) } },
    precondition = function(v) return kc.finite(v.x) end,
    postcondition = function(_, v, ref, t) return kc.within(v.y, ref.y, t) end,
    oracle = kc.oracle.sum("x"),
    protocol = { inputs = { kc.sample.normal() }, judged = "element", samples = 4, budget = 100, vacuous = 0.5, statistic = "max",
                 pass = "ratio <= 1", repeats = 1 },
    signature = { pattern = "none", test = function() return false end },
    calibration = { baseline = kernel, bad = { other }, good = { third_one }, probes = { kc.sample.normal() },
                    functional = { inputs = { kc.sample.normal() }, rtol = 1, atol = 1 } },
  }
  for key, value in next, fields do base[key] = value end -- a copy
  return kc.contract(base)
end

check(contract { tolerance = proved { accumulator = "f32", terms = "k", height = "k - 1" } }, "a formula that fits")
refused("is for softmax, not for the oracle sum", contract, { tolerance = tol.softmax { accumulator = "f32", height = "k", exp_error = 2,
  denormals = "preserve" } })
refused("no dimension 'K'", contract, { tolerance = proved { accumulator = "f32", terms = "K", height = "k" } })
refused("names input 'z'", contract, { tolerance = proved { accumulator = "f32", terms = "k", height = "k" }, oracle = kc.oracle.sum("z") })
refused("names input 'z'", contract, { tolerance = tol.exact { denormals = "preserve" }, oracle = function(v) return kc.sum(v.z, -1) end })
refused("'if' in an expression", contract, { tolerance = tol.exact { denormals = "preserve" }, oracle = function(v)
  if v.x then return v.x end
  return 0
end })
local two = proved { accumulator = "f32", terms = 2, height = 1 }
local elementwise = { operation = "f", inputs = { "x: f32[n]", "z: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 4) } }
check(contract { tolerance = two, scope = elementwise, oracle = function(v) return v.x * v.z + v.x end }, "a sum of two terms fits")
refused("'terms': the oracle (x - z) has 2, got 3", contract, { tolerance = proved { accumulator = "f32", terms = 3, height = 1 },
  scope = elementwise, oracle = function(v) return v.x - v.z end })
for _, fn in ipairs { function(v) return v.x * v.z + 2 end, function(v) return v.x * v.z * v.x + v.z end,
                      function(v) return kc.exp(v.x) + v.z end, function(v) return v.x / v.z + v.z end } do
  refused("is for sums of inputs and of products of two inputs, not for the oracle", contract, { tolerance = two, scope = elementwise,
    oracle = fn })
end
elementwise.inputs[2] = "z: i32[n]"
refused("input 'z': the formula is for floating-point formats, not for i32", contract, { tolerance = two, scope = elementwise,
  oracle = function(v) return v.x - v.z end })
elementwise.inputs[2] = "z: f64[n]"
refused("input 'z' does not fit the accumulator f32", contract, { tolerance = two, scope = elementwise,
  oracle = function(v) return v.x - v.z end })
refused("it reads no parameter 'axes'; did you mean 'axis'?", kc.oracle.sum, "x", { axes = 1 })
print(("tolerance: %d passed"):format(passed))
