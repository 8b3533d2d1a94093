-- Certified oracles: enclosures by Arb against MPFR at 300 bits (another library's algorithms), widths, exceptional arguments,
-- refinement of ties.
local kc = require "kc"
local core = require "kc.core"
local exact = require "kc.exact"
local inf, nan = math.huge, 0 / 0
local passed = 0
local BITS = 300

local function real(x) return exact.real(x, BITS) end
local one, two = real(1), real(2)
local reference = {
  exp = exact.exp, exp2 = exact.exp2, log = exact.log, log2 = exact.log2, log1p = exact.log1p, expm1 = exact.expm1,
  tanh = exact.tanh, erf = exact.erf, sqrt = exact.sqrt, sin = exact.sin, cos = exact.cos, cbrt = exact.cbrt,
  sigmoid = function(x) return one / (one + exact.exp(-x)) end,
  silu = function(x) return x / (one + exact.exp(-x)) end,
  gelu = function(x) return x * exact.erfc(-x / exact.sqrt(two)) / two end,
  rsqrt = function(x) return one / exact.sqrt(x) end,
  div = function(x, y) return x / y end,
  pow = exact.pow, hypot = exact.hypot, log10 = exact.log10, tan = exact.tan, sinh = exact.sinh, cosh = exact.cosh,
  asin = exact.asin, acos = exact.acos, atan = exact.atan, erfc = exact.erfc,
  asinh = function(x) return exact.log(x + exact.sqrt(x * x + one)) end,
  acosh = function(x) return exact.log(x + exact.sqrt(x * x - one)) end,
  atanh = function(x) return exact.log((one + x) / (one - x)) / two end,
}
-- Exponents of the arguments and whether they are positive, where not every number will do.
local domain = { asin = { -12, 0 }, acos = { -12, 0 }, atanh = { -12, 0 }, acosh = { 0, 6, true } }
for _, name in ipairs { "log", "log2", "log10", "sqrt", "rsqrt", "pow", "log1p" } do domain[name] = { -12, 6, true } end

-- The next double up, for the width of an enclosure.
local function up(x)
  if x == 0 then return 5e-324 end
  local bits = string.unpack("<i8", string.pack("<d", x))
  return (string.unpack("<d", string.pack("<i8", x > 0 and bits + 1 or bits - 1)))
end

local elementwise = {}
for _, row in ipairs(exact.oracles()) do
  if row.elementwise then elementwise[#elementwise + 1] = { name = row.name, arity = row.least } end
end
for _, row in ipairs(elementwise) do
  local name, n = row.name, 400
  local x, y = kc.buffer("f32", n), kc.buffer("f32", n)
  local lo_exponent, hi_exponent, positive = table.unpack(domain[name] or { -12, 6 })
  x:fill(11, { kind = "log_uniform", a = lo_exponent, b = hi_exponent, c = positive and 1 or 0 })
  y:fill(12, { kind = "log_uniform", a = -6, b = 5, c = 0 })
  local e = assert(exact.oracle(name, row.arity == 2 and { x, y } or { x }))
  assert(#e == n)
  for i = 1, n do
    local lo, hi = e:at(i)
    local want = row.arity == 2 and reference[name](real(x[i]), real(y[i])) or reference[name](real(x[i]))
    local where = ("%s(%a%s): [%a, %a]"):format(name, x[i], row.arity == 2 and (", %a"):format(y[i]) or "", lo, hi)
    -- The reference is itself rounded: half of 2^-300, or for the composed ones a few times that, relative.
    local slack = exact.abs(want) * exact.exp2(real(-250))
    assert(real(lo) - slack <= want and want <= real(hi) + slack, where .. " does not hold " .. tostring(want))
    assert(lo == hi or hi <= up(up(up(lo))), where .. " is wide")
  end
  passed = passed + n
end

-- Exceptional arguments: C11 Annex F.10, IEEE 754-2019 section 9.2.1, limits for the gated ones.
local function classes(name, arguments, expected, value)
  local buffers = {}
  for i, v in ipairs(arguments) do buffers[i] = kc.buffer("f64", 1, { v }) end
  local lo, hi, got = assert(exact.oracle(name, buffers)):at(1)
  local text = ("%s(%s)"):format(name, table.concat(arguments, ", "))
  assert(table.concat(got, " ") == expected, ("%s is %s, expected %s"):format(text, table.concat(got, " "), expected))
  if value then assert(lo == value and hi == value, ("%s: [%a, %a]"):format(text, lo, hi)) end
  passed = passed + 1
end
for _, row in ipairs(exact.oracles()) do
  if row.arity == 1 then classes(row.name, { nan }, "nan") end
end
local table_of = {
  { "exp", -inf, "+0" }, { "exp", inf, "+inf" }, { "exp", 0, "+finite", 1 }, { "exp", -0.0, "+finite", 1 },
  { "exp2", 10, "+finite", 1024 }, { "exp2", -inf, "+0" }, { "exp2", -1, "+finite", 0.5 },
  { "log", 1, "+0" }, { "log", 0, "-inf" }, { "log", -0.0, "-inf" }, { "log", -1, "nan" }, { "log", inf, "+inf" },
  { "log2", 8, "+finite", 3 }, { "log2", 1, "+0" }, { "log2", -inf, "nan" },
  { "log1p", -1, "-inf" }, { "log1p", -2, "nan" }, { "log1p", -0.0, "-0" }, { "log1p", 0, "+0" },
  { "expm1", -inf, "-finite", -1 }, { "expm1", -0.0, "-0" }, { "expm1", inf, "+inf" },
  { "tanh", inf, "+finite", 1 }, { "tanh", -inf, "-finite", -1 }, { "tanh", -0.0, "-0" },
  { "erf", inf, "+finite", 1 }, { "erf", -0.0, "-0" },
  { "sigmoid", -inf, "+0" }, { "sigmoid", inf, "+finite", 1 }, { "sigmoid", 0, "+finite", 0.5 },
  { "gelu", inf, "+inf" }, { "gelu", -inf, "-0 +0" }, { "gelu", -0.0, "-0" },
  { "silu", inf, "+inf" }, { "silu", -inf, "-0 +0" }, { "silu", 0, "+0" },
  { "rsqrt", 0, "+inf" }, { "rsqrt", -0.0, "-inf" }, { "rsqrt", -1, "nan" }, { "rsqrt", inf, "+0" }, { "rsqrt", 4, "+finite", 0.5 },
  { "sqrt", -0.0, "-0" }, { "sqrt", -1, "nan" }, { "sqrt", inf, "+inf" }, { "sqrt", 9, "+finite", 3 },
  { "sin", inf, "nan" }, { "sin", -0.0, "-0" }, { "cos", -inf, "nan" }, { "cos", 0, "+finite", 1 },
  { "cbrt", -27, "-finite", -3 }, { "cbrt", -inf, "-inf" }, { "cbrt", -0.0, "-0" },
}
for _, r in ipairs(table_of) do classes(r[1], { r[2] }, r[3], r[4]) end
local pairs_of = {
  { "pow", nan, 0, "+finite", 1 }, { "pow", 1, nan, "+finite", 1 }, { "pow", nan, 1, "nan" }, { "pow", -1, inf, "+finite", 1 },
  { "pow", 0.5, inf, "+0" }, { "pow", 2, inf, "+inf" }, { "pow", 0.5, -inf, "+inf" }, { "pow", 2, -inf, "+0" },
  { "pow", -0.0, -1, "-inf" }, { "pow", -0.0, -2, "+inf" }, { "pow", -0.0, 3, "-0" }, { "pow", -0.0, 2, "+0" }, { "pow", 0, -3, "+inf" },
  { "pow", -inf, 3, "-inf" }, { "pow", -inf, 2, "+inf" }, { "pow", -inf, -3, "-0" }, { "pow", inf, -1, "+0" },
  { "pow", -8, 0.5, "nan" }, { "pow", -2, 3, "-finite", -8 }, { "pow", 4, 0.5, "+finite", 2 }, { "pow", 3, 2, "+finite", 9 },
  { "div", 0, 0, "nan" }, { "div", inf, inf, "nan" }, { "div", 1, 0, "+inf" }, { "div", -1, 0, "-inf" }, { "div", 1, -inf, "-0" },
  { "div", 0, -1, "-0" }, { "div", -6, 3, "-finite", -2 }, { "div", nan, 1, "nan" },
}
for _, r in ipairs(pairs_of) do classes(r[1], { r[2], r[3] }, r[4], r[5]) end

-- Beyond the doubles a finite value stays finite: e^1000 is not infinite.
local lo, hi, c = exact.oracle("exp", { kc.buffer("f64", 1, { 1000 }) }):at(1)
assert(lo == 1.7976931348623157e308 and hi == inf and c[1] == "+finite" and #c == 1)
lo, hi, c = exact.oracle("exp", { kc.buffer("f64", 1, { -1000 }) }):at(1)
assert(lo == 0 and hi == 5e-324 and c[1] == "+finite" and #c == 1)
lo, hi = exact.oracle("tanh", { kc.buffer("f64", 1, { 100 }) }):at(1)
assert(lo < 1 and hi == 1, "tanh(100) is below 1")

-- A 16-bit format takes the way through its codes and gives the same.
local all, part = kc.buffer("f16", 65536), kc.buffer("f16", 1000)
all:fill(0, { kind = "exhaustive", a = 0 })
for i = 1, 1000 do part:setcode(i, i * 61) end
local whole, few = exact.oracle("tanh", { all }), exact.oracle("tanh", { part })
for i = 1, 1000 do
  local a, b = whole:at(i * 61 + 1)
  local p, q = few:at(i)
  assert(a == p and b == q)
end

-- Ties and near-ties are refined until they are decided: the quotient 1 + 2^-24 lies half-way between two f32 numbers.
local function decide(name, inputs, got, limit)
  local e = exact.oracle(name, inputs)
  return core.decide(got, e, { kind = "ulp", value = limit, denormals = "preserve" })
end
local tie = kc.buffer("f64", 1, { 1 + 2.0 ^ -24 })
local d = decide("div", { tie, kc.buffer("f64", 1, { 1 }) }, kc.buffer("f32", 1, { 1 }), 0.5)
assert(d.value_yes == 1, "a tie is within half an ulp")
d = decide("cbrt", { kc.buffer("f64", 1, { 27 }) }, kc.buffer("f32", 1, { 3 }), 0.0)
assert(d.value_yes == 1, "an exact cube root has no error at all")
-- sqrt(2) rounded to f32 is off by 0.2026... ulp of 2^-23: limits just above and below decide although the bulk tier cannot.
local root = exact.sqrt(real(2))
local got = kc.buffer("f32", 1, { root:tonumber() })
local off = exact.abs(real(got[1]) - root) / exact.exp2(real(-23))
local nearest = off:tonumber()
d = decide("sqrt", { kc.buffer("f64", 1, { 2 }) }, got, nearest * (1 + 2.0 ^ -52))
assert(d.value_yes == 1 and d.value_unknown == 0, "just inside")
d = decide("sqrt", { kc.buffer("f64", 1, { 2 }) }, got, nearest * (1 - 2.0 ^ -52))
assert(d.value_no == 1, "just outside")

local function raises(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:find(text, 1, true), tostring(message))
  passed = passed + 1
end
raises("did you mean 'exp'?", exact.oracle, "epx", { tie })
raises("expected 1 inputs", exact.oracle, "exp", { tie, tie })
raises("expected a float format", exact.oracle, "exp", { kc.buffer("i32", 1) })
raises("of one shape", exact.oracle, "pow", { tie, kc.buffer("f64", 2) })
raises("expected an open buffer", exact.oracle, "exp", { 7 })

-- What Lua lists is what C has.
local names = {}
for _, row in ipairs(exact.oracles()) do names[#names + 1] = row.name end
table.sort(names)
assert(table.concat(names, " ") == table.concat(require("kc.oracle").exact_names(), " "))
print(("exact: %d passed"):format(passed))
