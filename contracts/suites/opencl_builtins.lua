-- The mathematics of an OpenCL device: its builtins of f32, each against the largest error that OpenCL C states. See README.md beside this
-- file.
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- ---- what is stated -----------------------------------------------------------------------------------------------------------

local FULL = "OpenCL C 1.2, 7.4, table of single precision functions, full profile: <= %g ulp"
local HALF = "OpenCL C 1.2, 6.12.2: half_ functions have 10 bits or more, <= 8192 ulp"
local NATIVE = "kc's own yardstick: OpenCL C 1.2, 6.12.2, leaves range and error of native_ functions to the implementation"

local function full(name, ulps)
  return { column = "full", name = "opencl", symbol = name, limit = ulps, source = FULL:format(ulps), zeros = "either" }
end

-- kc builds with -cl-fp32-correctly-rounded-divide-sqrt where the device offers it.
local ROUNDED = "OpenCL C 1.2, 7.4 and 5.6.4.2: rounded correctly where the device has CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT"

local function rounded(name)
  return { column = "rounded", name = "opencl.rounded", symbol = name, limit = 0.5, source = ROUNDED, zeros = "either",
           needs = "CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT" }
end

-- Neither kind needs subnormal numbers, so arguments and results are normal ones.
local function half(name, lo, hi)
  return { column = "half_", name = "opencl.half", symbol = "half_" .. name, limit = 8192, source = HALF, domain = { lo, hi } }
end
local function native(name, lo, hi)
  return { column = "native_", name = "opencl.native", symbol = "native_" .. name, limit = 8192, source = NATIVE, domain = { lo, hi } }
end

local NORMAL, MAX, PI = 0x1p-126, 0x1.fffffep+127, math.pi

-- Each function with its claims.
local functions = {
  { "exp", full("exp", 3), half("exp", -80, 80), native("exp", -80, 80) },
  { "exp2", full("exp2", 3), half("exp2", -120, 120), native("exp2", -120, 120) },
  { "expm1", full("expm1", 3) },
  { "log", full("log", 3), half("log", NORMAL, MAX), native("log", NORMAL, MAX) },
  { "log2", full("log2", 3), half("log2", NORMAL, MAX), native("log2", NORMAL, MAX) },
  { "log10", full("log10", 3), half("log10", NORMAL, MAX), native("log10", NORMAL, MAX) },
  { "log1p", full("log1p", 2) },
  { "sin", full("sin", 4), half("sin", 0x1p-100, 65536), native("sin", 0x1p-100, PI) },
  { "cos", full("cos", 4), half("cos", -65536, 65536), native("cos", -PI, PI) },
  { "tan", full("tan", 5), half("tan", 0x1p-100, 65536), native("tan", 0x1p-100, PI) },
  { "asin", full("asin", 4) }, { "acos", full("acos", 4) }, { "atan", full("atan", 5) },
  { "sinh", full("sinh", 4) }, { "cosh", full("cosh", 4) }, { "tanh", full("tanh", 5) },
  { "asinh", full("asinh", 4) }, { "acosh", full("acosh", 4) }, { "atanh", full("atanh", 5) },
  { "erf", full("erf", 16) }, { "erfc", full("erfc", 16) },
  { "cbrt", full("cbrt", 2) },
  { "sqrt", full("sqrt", 3), rounded "sqrt", half("sqrt", NORMAL, MAX), native("sqrt", NORMAL, MAX) },
  { "rsqrt", full("rsqrt", 2), half("rsqrt", NORMAL, MAX), native("rsqrt", NORMAL, MAX) },
  { "pow", full("pow", 16) },
  { "hypot", full("hypot", 4) },
  { "div", full("quotient", 2.5), rounded "quotient" },
}

-- The same functions of f16, asked for every number that there is, where the device has them.
local NARROW = "OpenCL extension cl_khr_fp16, table of half precision functions, full profile: <= %g ulp"
local narrow = { exp = 2, exp2 = 2, expm1 = 2, log = 2, log2 = 2, log10 = 2, log1p = 2, sin = 2, cos = 2, tan = 2.5, asin = 2, acos = 2,
                 atan = 2, sinh = 2, cosh = 2, tanh = 2, asinh = 2, acosh = 2, atanh = 2, erf = 4, erfc = 4, cbrt = 2, sqrt = 1.5,
                 rsqrt = 1 }

local function of_f16(name)
  return { column = "f16", name = "opencl", symbol = name, limit = narrow[name], source = NARROW:format(narrow[name]), zeros = "either",
           needs = "cl_khr_fp16", defines = " F16=1" }
end

-- ---- the inputs ---------------------------------------------------------------------------------------------------------------

-- Every number of f16, as f32.
local function numbers_of_f16()
  local list = {}
  for code = 0, 65535 do list[code + 1] = kc.decode("f16", code) end
  return list
end

local size = { kernels = "libm", everywhere = 510 * 128, interesting = 1 << 18, bits = 1 << 15,
               piece = 1 << 20, pieces = (1 << 32) // (1 << 20),
               further = { sample.at({ n = 65536 }, sample.named("every number of f16", sample.values(numbers_of_f16()))) } }

-- ---- operations that are rounded correctly --------------------------------------------------------------------------------------

local EXACT = "OpenCL C 1.2, 7.4: rounded correctly"
local nan, inf = 0 / 0, 1 / 0

local function truncated(q) return kc.where(kc.lt(q, 0), -kc.floor(-q), kc.floor(q)) end

-- Halves go to the even number: one that is a half above is taken back where it is odd. A result of 0 has the argument's sign.
local function nearest_of(q)
  local up = kc.floor(q + 0.5)
  return up - kc.where(kc.eq(up - q, 0.5), up - 2 * kc.floor(up * 0.5), 0)
end
local function nearest(q) return kc.where(kc.eq(q, 0), q, kc.where(kc.lt(q, 0), -nearest_of(-q), nearest_of(q))) end

local function halves_away(q) return kc.where(kc.lt(q, 0), -kc.floor(-q + 0.5), kc.floor(q + 0.5)) end

-- What x leaves after a whole number of z; x itself where z is infinite; a zero of x's sign.
local function left(x, z, whole)
  local rest = x - z * whole(x / kc.where(kc.isinf(z), 1, z))
  local finite = kc.where(kc.isinf(z), x, kc.where(kc.eq(rest, 0), x * 0, rest))
  return kc.where(kc.isinf(x), x - x, finite)
end

-- Roundings by the suffixes of OpenCL's conversions: as kc.rounded says them, as exact.k does, and to a whole number.
local modes = { { "rte", "RNE", 0, nearest }, { "rtz", "RZ", 1, truncated }, { "rtp", "RU", 2, function(q) return -kc.floor(-q) end },
                { "rtn", "RD", 3, function(q) return kc.floor(q) end } }

local function many(n, base) return sample.at({ n = n }, base) end

local function every_half()
  local list = {}
  for i = -1024, 1024 do list[#list + 1] = i / 2 end
  return list
end

-- Numbers half way between those of a format with that many bits, over its exponents, and its ends.
local function between(bits, lowest, highest)
  local list = {}
  for e = lowest, highest do table.move({ 2.0^e, (1 + 2.0^-bits) * 2.0^e, -(2 - 2.0^-bits) * 2.0^e }, 1, 3, #list + 1, list) end
  return list
end

local function around(points) return many(9 * #points, sample.around(points, 4)) end

local few = sample.values { 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, nan, inf, -inf, 0x1p-149, -0x1p-149, MAX, -MAX, NORMAL }
local halves, random = many(2049, sample.values(every_half())), many(1 << 14, sample.bits())
local everywhere, special = many(510 * 64, sample.stratified()), many(4096, sample.inputs { x = few, z = sample.bits(), w = sample.bits() })

-- `entry` and the defines that make good, bad and baseline of exact.k; `builtin`: file, entry and name of what is judged.
local function exact(row, column, op)
  local names = {}
  for _, name in ipairs { "x", "z", "w", "y", "n" } do
    if op.inputs[name] or name == "y" or name == "n" then names[#names + 1] = name end
  end
  local function kernel(defines)
    return kc.kernel { name = defines, file = "opencl/exact.k", entry = op.entry, args = names, group = { 64 }, grid = { "n" },
                       defines = defines }
  end
  local inputs, bad = {}, {}
  for _, name in ipairs { "x", "z", "w" } do
    if op.inputs[name] then inputs[#inputs + 1] = ("%s: %s[n]"):format(name, op.inputs[name]) end
  end
  for i, defines in ipairs(op.bad) do bad[i] = kernel(defines) end
  return { row = row, column = column, implementations = { kc.kernel { name = op.name or op.builtin[3], file = op.builtin[1],
             entry = op.builtin[2], args = names, group = { 64 }, grid = { "n" },
             defines = ("FUNCTION=%s ENTRY_%s=1"):format(op.builtin[3], op.builtin[2]),
             needs = op.f64 and "cl_khr_fp64" } },
           contract = kc.contract {
    identifier    = { class = "C-PRC-02", name = ("%s.%s.opencl.exact"):format((row:gsub(" ", "_")), column), version = "1.0" },
    scope         = { operation = row, inputs = inputs, outputs = { ("y: %s[n]"):format(op.output or "f32") },
                      shapes = { n = kc.range(1, 1 << 20) } },
    precondition  = function(x) return { kc.any_value(x.x) } end,
    postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
    tolerance     = tol.exact { denormals = "preserve", source = EXACT },
    oracle        = op.oracle,
    protocol      = { inputs = op.samples, judged = "element", samples = 4096, budget = 1e9, vacuous = 0.6, statistic = "max",
                      pass = "equal to the exact result rounded once", repeats = 1 },
    signature     = { pattern = "not rounded correctly", test = function(m) return m.worst > 1 or m:misplaced() > 0 or m:wrong "" end },
    calibration   = { baseline = kernel(op.good .. " FEW=1"), bad = bad, good = { kernel(op.good) },
                      probes = { many(256, op.typical) },
                      functional = { inputs = { many(4096, op.typical) }, rtol = 1e-2, atol = op.atol or 1e-3 } },
  } }
end

local judge = {}
local function add(row, column, op) judge[#judge + 1] = exact(row, column, op) end

add("fma", "exact", { entry = "ternary", builtin = { "opencl/exact.cl", "ternary", "fma" }, inputs = { x = "f32", z = "f32", w = "f32" },
  oracle = function(x) return kc.rounded(x.x * x.z + x.w, "f32") end, good = "TERNARY=fused",
  bad = { "TERNARY=separate", "TERNARY=chopped" },
  typical = sample.uniform(0.5, 2),
  samples = { many(1 << 14, sample.inputs { x = sample.integers(4097, 8191, 2), z = sample.integers(-8191, 8191, 2),
                                            w = sample.integers(-(1 << 24), 1 << 24) }),
              everywhere, many(1 << 14, sample.stratified(-70, -60)), many(1 << 14, sample.stratified(-3, 3)), random, special } })
for _, pair in ipairs { { "remainder", nearest }, { "fmod", truncated } } do
  local name, whole = table.unpack(pair)
  add(name, "exact", { entry = "binary", builtin = { "opencl/binary.cl", "apply", name }, inputs = { x = "f32", z = "f32" },
    oracle = function(x) return left(x.x, x.z, whole) end, good = ("BINARY=%s_right"):format(name),
    bad = { ("BINARY=%s_rounded"):format(name), ("BINARY=%s_by_quotient"):format(name) },
    typical = sample.inputs { x = sample.integers(-1000, 1000), z = sample.integers(1, 30) },
    samples = { many(1 << 13, sample.inputs { x = sample.integers(-1000, 1000), z = sample.integers(1, 30) }),
                many(1 << 13, sample.inputs { x = sample.stratified(-20, 20), z = sample.stratified(-4, 4) }),
                many(1 << 13, sample.inputs { x = sample.stratified(20, 127), z = sample.stratified(-149, 20) }), special } })
end
for _, row in ipairs { { "floor", 3, modes[4][4] }, { "ceil", 2, modes[3][4] }, { "trunc", 1, truncated }, { "rint", 0, nearest },
                       { "round", 4, halves_away } } do
  add(row[1], "exact", { entry = "whole_f32", builtin = { "opencl/unary.cl", "apply", row[1] }, inputs = { x = "f32" },
    oracle = function(x) return row[3](x.x) end, good = "MODE=" .. row[2],
    bad = { "MODE=" .. (row[2] + 1) % 5, "MODE=" .. (row[2] + 2) % 5 }, typical = sample.uniform(-100, 100), atol = 1.0,
    samples = { everywhere, halves, random } })
end
for _, mode in ipairs(modes) do
  local suffix, rounding, number, whole = table.unpack(mode)
  local good, bad = "MODE=" .. number, { "MODE=" .. (number + 1) % 4, "MODE=" .. (number + 2) % 4 }
  local function convert(row, entry, name, op)
    op.name = ("%s(%s)"):format(name:format(suffix), op.inputs.x)
    op.entry, op.good, op.bad, op.builtin = entry, good, bad, { "opencl/exact.cl", entry, name:format(suffix) }
    add(row, suffix, op)
  end
  convert("f32 to f16", "f32_to_f16", "vstore_half_%s", { inputs = { x = "f32" }, output = "f16", typical = sample.uniform(-2, 2),
    oracle = function(x) return kc.rounded(-x.x, "f16", rounding) end,
    samples = { many(1 << 16, sample.stratified(-27, 16)), everywhere, around(between(11, -26, 16)), random } })
  convert("f64 to f32", "f64_to_f32", "convert_float_%s", { inputs = { x = "f64" }, f64 = true, typical = sample.uniform(-2, 2),
    oracle = function(x) return kc.rounded(-x.x, "f32", rounding) end,
    samples = { many(1 << 16, sample.stratified(-152, 128)), around(between(24, -151, 127)), random } })
  convert("i32 to f32", "i32_to_f32", "convert_float_%s", { inputs = { x = "i32" }, typical = sample.integers(-1000000, 1000000),
    oracle = function(x) return kc.rounded(-x.x, "f32", rounding) end,
    samples = { many(1 << 16, sample.integers(-(1 << 31) + 1, (1 << 31) - 1)), many(1 << 14, sample.integers(-(1 << 26), 1 << 26)) } })
  convert("f32 to i32", "f32_to_i32", "convert_int_%s", { inputs = { x = "f32" }, output = "i32", typical = sample.uniform(-100, 100),
    atol = 1.0, oracle = function(x) return whole(-x.x) end,
    samples = { many(1 << 16, sample.stratified(-3, 30)), halves, many(1 << 12, sample.stratified(-149, -1)) } })
end

-- ---- functions with a stated error -------------------------------------------------------------------------------------------------

local function builtin(f, claim)
  return kc.kernel { name = claim.needs and ("%s.%s"):format(claim.symbol, claim.column) or claim.symbol, needs = claim.needs,
                     file = f.binary and "opencl/binary.cl" or "opencl/unary.cl", entry = "apply",
                     args = f.binary and { "x", "z", "y", "n" } or { "x", "y", "n" }, group = { 64 }, grid = { "n" },
                     defines = ("FUNCTION=%s%s"):format(claim.symbol, claim.defines or "") }
end

local function add_claim(f, name, claim)
  judge[#judge + 1] = { contract = kc.contract(f:clauses(claim)), implementations = { builtin(f, claim) }, row = name,
                        column = claim.column }
end

for _, row in ipairs(functions) do
  local name, f = row[1], kc.accuracy(row[1], size)
  for i = 2, #row do add_claim(f, name, row[i]) end
  if narrow[name] then add_claim(kc.accuracy(name, { kernels = "libm", format = "f16" }), name, of_f16(name)) end
end

return kc.suite { name = "OpenCL builtins", judge = judge, timeout = 600 }
