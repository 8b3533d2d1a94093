-- The f32 functions of the C library and of SLEEF, each against the largest error that its documentation states.
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- ---- the libraries, by full path; what is not installed is skipped ----------------------------------------------------------

local libraries = {
  glibc = { "/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "/usr/lib/libm.so.6" },
  sleef = { "/usr/lib/x86_64-linux-gnu/libsleef.so.3", "/usr/lib/aarch64-linux-gnu/libsleef.so.3", "/usr/lib64/libsleef.so.3",
            "/usr/lib/libsleef.so.3" },
}

-- What each states. glibc counts ulps between its result and the rounded exact value and rounds the count up, so that "1" allows
-- 1.5 ulp from the exact value; SLEEF counts from the exact value, as kc does.
local GLIBC = "glibc 2.36 manual, 19.7 Known Maximum Errors in Math Functions, x86_64: %d ulp from the rounded value"
local SLEEF = "SLEEF reference manual, error bound of %s"
local IEEE = "IEEE 754-2019, section 5.4.1: sqrt is rounded correctly"

local function glibc(symbol, ulps)
  return { column = "glibc", file = libraries.glibc, symbol = symbol, limit = ulps + 0.5, source = GLIBC:format(ulps) }
end

local function sleef(symbol, limit)
  return { column = "SLEEF " .. symbol:match("_(u%d+)$"), file = libraries.sleef, symbol = symbol, limit = limit,
           source = SLEEF:format(symbol) }
end

local function rounded(column, file, symbol) return { column = column, file = file, symbol = symbol, limit = 0.5, source = IEEE } end

-- ---- the inputs ---------------------------------------------------------------------------------------------------------------

local STRIDE = 8               -- neighbours on each side of a special point
local EVERYWHERE = 510 * 512   -- 255 exponents, the subnormals among them, and two signs: 512 inputs each
local INTERESTING = 1 << 20  -- the same over the exponents where the function is neither linear nor constant
local PIECE = 1 << 20        -- of an exhausted interval

local function many(n, base) return sample.at({ n = n }, base) end

-- Zero, the smallest and largest numbers, every power of two, infinity, and what the function adds; of both signs. NaN.
local function special(own)
  local points = { 0 / 0, 0.0, 1 / 0, -1 / 0, 0x1.fffffep+127, -0x1.fffffep+127 }
  for e = -149, 127 do table.move({ 2.0^e, -2.0^e }, 1, 2, #points + 1, points) end
  for _, x in ipairs(own) do table.move({ x, -x }, 1, 2, #points + 1, points) end
  return points
end

-- Multiples of pi / 2, and the f32 nearest to one (Kahan's search; Muller et al., Handbook of Floating-Point Arithmetic, 10.2).
local function quarter_turns()
  local points = { 16367173 * 2.0^72 }
  for k = 1, 64 do points[#points + 1] = k * (math.pi / 2) end
  for e = 7, 40 do points[#points + 1] = 2.0^e * (math.pi / 2) end
  return points
end

local function around(points)
  local all = special(points)
  return many(#all * (2 * STRIDE + 1), sample.around(all, STRIDE))
end

-- The 2^24 codes from `first` on, in pieces.
local function exhausted(first)
  local list = {}
  for code = first, first + (1 << 24) - 1, PIECE do list[#list + 1] = many(PIECE, sample.exhaustive(code)) end
  return list
end

local function unary_inputs(f)
  local list = { many(EVERYWHERE, sample.stratified()), many(INTERESTING, sample.stratified(f.exponents[1], f.exponents[2])),
                 around(f.points or {}), many(1 << 16, sample.bits()) }
  return list
end

-- Pairs: every exponent with any number, what the function adds, and each special point with each of a few numbers.
local function binary_inputs(f)
  local few = { 0 / 0, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1 / 3, 1 / 0, -1 / 0, 0x1p-149, 0x1.fffffep+127,
                -0x1.fffffep+127, 0x1p+23 - 1, 0x1p+24 + 2, -0x1p+23 - 1 }
  local xs, zs = {}, {}
  for _, x in ipairs(special { 3.0, -0.0 }) do
    for _, z in ipairs(few) do xs[#xs + 1], zs[#zs + 1] = x, z end
  end
  local list = { many(INTERESTING, sample.inputs { x = sample.stratified(), z = sample.finite_bits() }),
                 many(#xs, sample.inputs { x = sample.values(xs), z = sample.values(zs) }) }
  for _, near in ipairs(f.near) do list[#list + 1] = many(INTERESTING // #f.near, sample.inputs { x = near[1], z = near[2] }) end
  return list
end

-- All 2^32 inputs in pieces; of two arguments as many pairs.
local function thorough(f)
  local list = {}
  for i = 0, (1 << 32) // PIECE - 1 do
    local base = f.near and sample.inputs { x = sample.exhaustive(i * PIECE), z = f.near[1][2] } or sample.exhaustive(i * PIECE)
    list[i + 1] = many(PIECE, base)
  end
  return list
end

-- ---- one contract for each function and limit; those of one function share inputs and oracle ---------------------------------

local function anything(x) return kc.any_value(x.x) end
local function as_stated(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end

local function implementations(f)
  local file, args = f.near and "libm/binary.k" or "libm/unary.k", f.near and { "x", "z", "y", "n" } or { "x", "y", "n" }
  return function(entry)
    return kc.kernel { name = entry, file = file, entry = entry, args = args, group = { 64 }, grid = { "n" },
                       defines = ("FUNCTION=kc_%s EXPONENT=%d"):format(f.name, 127 + (f.binade or -3)) }
  end
end

local function calibration(f)
  local kernel = implementations(f)
  local x, z = sample.uniform(f.typical[1], f.typical[2]), f.near and sample.uniform(f.typical[3], f.typical[4])
  local typical = z and sample.inputs { x = x, z = z } or x
  return { baseline = kernel "five_bits", bad = { kernel "short_argument", kernel "short_result", kernel "one_binade" },
           good = { kernel "double_rounded" },
           probes = { many(256, typical) },
           functional = { inputs = { many(4096, typical) }, rtol = 1e-3, atol = 1e-4 } }
end

local function contract(f, shared, library)
  return kc.contract {
    identifier    = { class = "C-PRC-02", name = ("%s.f32.%s"):format(f.name, library.column:lower():gsub(" ", ".")), version = "1.0" },
    scope         = { operation = f.name, inputs = f.near and { "x: f32[n]", "z: f32[n]" } or { "x: f32[n]" }, outputs = { "y: f32[n]" },
                      shapes = { n = kc.range(1, 1 << 20) } },
    precondition  = anything,
    postcondition = as_stated,
    tolerance     = tol.ulp { limit = library.limit, denormals = "preserve", source = library.source },
    oracle        = shared.oracle,
    protocol      = { inputs = shared.inputs, further = shared.further, thorough = shared.thorough, judged = "element",
                      samples = 4096, budget = 1e9, vacuous = 0.6, statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
    signature     = { pattern = "near special points only: the code for exceptional arguments is wrong",
                      test = function(m) return m:ratio("around") > 1 and m:ratio("stratified") <= 1 end },
    calibration   = shared.calibration,
  }
end

-- `exponents`: where the function is neither linear nor constant; `all`: first code of 2^24 that hold every reduced argument;
-- `typical`: arguments for the functional test.
local functions = {
  { name = "exp", exponents = { -26, 7 }, typical = { 0.1, 1 }, points = { 88.722839, 87.336544, 103.278929, 103.972084 },
    glibc("expf", 1), sleef("Sleef_expf_u10", 1.0) },
  { name = "exp2", exponents = { -26, 7 }, typical = { 0.1, 1 }, points = { 126, 149, 150 },
    glibc("exp2f", 1), sleef("Sleef_exp2f_u10", 1.0), sleef("Sleef_exp2f_u35", 3.5) },
  { name = "expm1", exponents = { -26, 7 }, typical = { 0.1, 1 }, points = { 88.722839, 17.328679 },
    glibc("expm1f", 1), sleef("Sleef_expm1f_u10", 1.0) },
  { name = "log", exponents = { -12, 12 }, typical = { 0.1, 0.9 }, all = 0x3f000000,
    glibc("logf", 1), sleef("Sleef_logf_u10", 1.0), sleef("Sleef_logf_u35", 3.5) },
  { name = "log2", exponents = { -12, 12 }, typical = { 0.1, 0.9 }, all = 0x3f000000,
    glibc("log2f", 1), sleef("Sleef_log2f_u10", 1.0), sleef("Sleef_log2f_u35", 3.5) },
  { name = "log1p", exponents = { -26, 12 }, typical = { 0.1, 1 }, points = { 1e38 },
    glibc("log1pf", 1), sleef("Sleef_log1pf_u10", 1.0) },
  { name = "sin", exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns(),
    glibc("sinf", 1), sleef("Sleef_sinf_u10", 1.0), sleef("Sleef_sinf_u35", 3.5) },
  { name = "cos", exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns(),
    glibc("cosf", 1), sleef("Sleef_cosf_u10", 1.0), sleef("Sleef_cosf_u35", 3.5) },
  { name = "tanh", exponents = { -14, 4 }, typical = { 0.1, 1 }, points = { 9.010913 },
    glibc("tanhf", 2), sleef("Sleef_tanhf_u10", 1.0001), sleef("Sleef_tanhf_u35", 3.5) },
  { name = "erf", exponents = { -14, 3 }, typical = { 0.1, 1 }, points = { 3.832507 },
    glibc("erff", 1), sleef("Sleef_erff_u10", 1.0) },
  { name = "cbrt", exponents = { -4, 4 }, typical = { 0.1, 1 },
    glibc("cbrtf", 1), sleef("Sleef_cbrtf_u10", 1.0), sleef("Sleef_cbrtf_u35", 3.5) },
  { name = "sqrt", exponents = { -2, 2 }, typical = { 0.1, 1 }, all = 0x3f800000,
    rounded("glibc", libraries.glibc, "sqrtf"), rounded("SLEEF u05", libraries.sleef, "Sleef_sqrtf_u05"),
    sleef("Sleef_sqrtf_u35", 3.5) },
  { name = "pow", typical = { 0.1, 1, 0.5, 2 },
    near = { { sample.stratified(-8, 8), sample.log_uniform(-4, 4) }, { sample.log_uniform(-1, 1, true), sample.log_uniform(0, 8) },
             { sample.stratified(-127, 127), sample.integers(-8, 8) } },
    glibc("powf", 1), sleef("Sleef_powf_u10", 1.0) },
}

local judge = {}
for _, f in ipairs(functions) do
  local shared = { inputs = f.near and binary_inputs(f) or unary_inputs(f), further = f.all and exhausted(f.all),
                   thorough = function() return thorough(f) end, calibration = calibration(f),
                   oracle = f.near and kc.oracle[f.name]("x", "z") or kc.oracle[f.name]("x") }
  for _, library in ipairs(f) do
    local implementation = kc.library { name = library.symbol, file = library.file, entry = library.symbol,
                                        args = f.near and { "x", "z", "y" } or { "x", "y" }, map = true, optional = true }
    judge[#judge + 1] = { contract = contract(f, shared, library), implementations = { implementation }, row = f.name .. "f",
                          column = library.column }
  end
end

return kc.suite { name = "libm", judge = judge }
