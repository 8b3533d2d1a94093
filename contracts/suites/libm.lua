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
  return { column = "glibc", name = "glibc", file = libraries.glibc, symbol = symbol, limit = ulps + 0.5, source = GLIBC:format(ulps) }
end

-- Where the manual limits the argument, finite ones beyond are not asked: it permits anything there, or infinity.
local function sleef(symbol, limit, lo, hi)
  local variant, source = symbol:match("_(u%d+)$"), SLEEF:format(symbol)
  if lo then source = ("%s, for arguments from %g to %g"):format(source, lo, hi) end
  return { column = variant == "u35" and "SLEEF u35" or "SLEEF", name = "sleef." .. variant, file = libraries.sleef, symbol = symbol,
           limit = limit, source = source, domain = lo and { lo, hi } }
end

local function rounded(library) -- sqrt: what IEEE 754 demands, whatever else is stated
  library.limit, library.source = 0.5, IEEE
  return library
end

-- ---- the inputs ---------------------------------------------------------------------------------------------------------------

local STRIDE = 8               -- neighbours on each side of a special point
local EVERYWHERE = 510 * 512   -- 255 exponents, the subnormals among them, and two signs: 512 inputs each
local INTERESTING = 1 << 20    -- the same over the exponents where the function is neither linear nor constant
local PIECE = 1 << 20          -- of an exhausted interval

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

-- What calibrates and judges, and what only judges: the first is small, because calibration runs five implementations over it.
local function unary_inputs(f)
  local further = { many(INTERESTING, sample.stratified(f.exponents[1], f.exponents[2])) }
  for code = f.all or 0, f.all and f.all + (1 << 24) - 1 or -1, PIECE do further[#further + 1] = many(PIECE, sample.exhaustive(code)) end
  return { many(EVERYWHERE, sample.stratified()), around(f.points or {}), many(1 << 16, sample.bits()) }, further
end

local function all_within(domain, list)
  local out = {}
  for i, s in ipairs(list) do out[i] = sample.at(s.sizes, sample.within(domain[1], domain[2], s.base)) end
  return out
end

-- Pairs: every exponent with any number, what the function adds, and each special point with each of a few numbers.
local function binary_inputs(f)
  local few = { 0 / 0, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1 / 3, 1 / 0, -1 / 0, 0x1p-149, 0x1.fffffep+127,
                -0x1.fffffep+127, 0x1p+23 - 1, 0x1p+24 + 2, -0x1p+23 - 1 }
  local xs, zs = {}, {}
  for _, x in ipairs(special { 3.0, -0.0 }) do
    for _, z in ipairs(few) do xs[#xs + 1], zs[#zs + 1] = x, z end
  end
  local further = {}
  for i, near in ipairs(f.near) do further[i] = many(INTERESTING // #f.near, sample.inputs { x = near[1], z = near[2] }) end
  return { many(EVERYWHERE, sample.inputs { x = sample.stratified(), z = sample.finite_bits() }),
           many(EVERYWHERE, sample.inputs { x = f.near[1][1], z = f.near[1][2] }),
           many(#xs, sample.inputs { x = sample.values(xs), z = sample.values(zs) }) }, further
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
    identifier    = { class = "C-PRC-02", name = ("%s.f32.%s"):format(f.name, library.name), version = "1.0" },
    scope         = { operation = f.name, inputs = f.near and { "x: f32[n]", "z: f32[n]" } or { "x: f32[n]" }, outputs = { "y: f32[n]" },
                      shapes = { n = kc.range(1, 1 << 20) } },
    precondition  = anything,
    postcondition = as_stated,
    tolerance     = tol.ulp { limit = library.limit, denormals = "preserve", source = library.source },
    oracle        = shared.oracle,
    protocol      = { inputs = shared.inputs, further = shared.further, thorough = shared.thorough, judged = "element",
                      samples = 4096, budget = 1e9, vacuous = 0.6, statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
    signature     = { pattern = "errors beyond the stated bound",
                      test = function(m)
                        if m:ratio "stratified" > 1 then return kc.yes "for ordinary arguments" end
                        if m:ratio "around" > 1 then return kc.yes "near special points only" end
                        return m.worst > 1 or m:misplaced() > 0 or m:wrong ""
                      end },
    calibration   = shared.calibration,
  }
end

-- `exponents`: where the function is neither linear nor constant; `all`: first code of 2^24 that hold every reduced argument;
-- `typical`: arguments for the functional test; `binade`: of arguments where calibration's one_binade errs (-3 unless stated).
local MAX = 0x1.fffffep+127
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
  { name = "log10", exponents = { -12, 12 }, typical = { 0.1, 0.9 }, points = { 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10 },
    glibc("log10f", 2), sleef("Sleef_log10f_u10", 1.0) },
  { name = "log1p", exponents = { -26, 12 }, typical = { 0.1, 1 }, points = { 1e38 },
    glibc("log1pf", 1), sleef("Sleef_log1pf_u10", 1.0, -MAX, 1e38) },
  { name = "sin", exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns(),
    glibc("sinf", 1), sleef("Sleef_sinf_u10", 1.0), sleef("Sleef_sinf_u35", 3.5) },
  { name = "cos", exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns(),
    glibc("cosf", 1), sleef("Sleef_cosf_u10", 1.0), sleef("Sleef_cosf_u35", 3.5) },
  { name = "tan", exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns(),
    glibc("tanf", 1), sleef("Sleef_tanf_u10", 1.0), sleef("Sleef_tanf_u35", 3.5) },
  { name = "asin", exponents = { -14, 0 }, typical = { 0.1, 0.9 },
    glibc("asinf", 1), sleef("Sleef_asinf_u10", 1.0), sleef("Sleef_asinf_u35", 3.5) },
  { name = "acos", exponents = { -26, 0 }, typical = { 0.1, 0.9 },
    glibc("acosf", 1), sleef("Sleef_acosf_u10", 1.0), sleef("Sleef_acosf_u35", 3.5) },
  { name = "atan", exponents = { -14, 26 }, typical = { 0.1, 1 },
    glibc("atanf", 1), sleef("Sleef_atanf_u10", 1.0), sleef("Sleef_atanf_u35", 3.5) },
  { name = "sinh", exponents = { -14, 7 }, typical = { 0.1, 1 }, points = { 88, 88.5, 88.722839, 89.415986 },
    glibc("sinhf", 2), sleef("Sleef_sinhf_u10", 1.0, -88.5, 88.5), sleef("Sleef_sinhf_u35", 3.5, -88, 88) },
  { name = "cosh", exponents = { -14, 7 }, typical = { 0.1, 1 }, points = { 88, 88.5, 88.722839, 89.415986 },
    glibc("coshf", 2), sleef("Sleef_coshf_u10", 1.0, -88.5, 88.5), sleef("Sleef_coshf_u35", 3.5, -88, 88) },
  { name = "tanh", exponents = { -14, 4 }, typical = { 0.1, 1 }, points = { 9.010913 },
    glibc("tanhf", 2), sleef("Sleef_tanhf_u10", 1.0001), sleef("Sleef_tanhf_u35", 3.5) },
  { name = "asinh", exponents = { -14, 30 }, typical = { 0.1, 1 }, points = { 1.84e19 },
    glibc("asinhf", 2), sleef("Sleef_asinhf_u10", 1.001, -1.84e19, 1.84e19) },
  { name = "acosh", exponents = { 0, 30 }, typical = { 1.5, 4 }, binade = 1, points = { 1.84e19 },
    glibc("acoshf", 2), sleef("Sleef_acoshf_u10", 1.001, -1.84e19, 1.84e19) },
  { name = "atanh", exponents = { -14, 0 }, typical = { 0.1, 0.9 },
    glibc("atanhf", 2), sleef("Sleef_atanhf_u10", 1.0001) },
  { name = "erf", exponents = { -14, 3 }, typical = { 0.1, 1 }, points = { 3.832507 },
    glibc("erff", 1), sleef("Sleef_erff_u10", 1.0) },
  -- SLEEF states max(1.5 ulp, FLT_MIN); up to 8 the former is the larger.
  { name = "erfc", exponents = { -26, 4 }, typical = { 0.1, 1 }, points = { 3.832507, 9.194549, 10.054676 },
    glibc("erfcf", 3), sleef("Sleef_erfcf_u15", 1.5, -MAX, 8) },
  { name = "cbrt", exponents = { -4, 4 }, typical = { 0.1, 1 },
    glibc("cbrtf", 1), sleef("Sleef_cbrtf_u10", 1.0), sleef("Sleef_cbrtf_u35", 3.5) },
  { name = "sqrt", exponents = { -2, 2 }, typical = { 0.1, 1 }, all = 0x3f800000,
    rounded(glibc("sqrtf", 0)), rounded(sleef("Sleef_sqrtf_u05", 0.5)),
    sleef("Sleef_sqrtf_u35", 3.5) },
  { name = "pow", typical = { 0.1, 1, 0.5, 2 },
    near = { { sample.stratified(-8, 8), sample.log_uniform(-4, 4) }, { sample.log_uniform(-1, 1, true), sample.log_uniform(0, 8) },
             { sample.stratified(-127, 127), sample.integers(-8, 8) } },
    glibc("powf", 1), sleef("Sleef_powf_u10", 1.0) },
  -- Both sides of one exponent, and near each other.
  { name = "hypot", typical = { 0.1, 1, 0.1, 1 },
    near = { { sample.stratified(), sample.stratified() }, { sample.log_uniform(-4, 4), sample.log_uniform(-4, 4) } },
    glibc("hypotf", 0), sleef("Sleef_hypotf_u05", 0.5), sleef("Sleef_hypotf_u35", 3.5) },
}

local function shared_by(f)
  local inputs, further = (f.near and binary_inputs or unary_inputs)(f)
  return { inputs = inputs, further = further, thorough = function() return thorough(f) end, calibration = calibration(f),
           oracle = f.near and kc.oracle[f.name]("x", "z") or kc.oracle[f.name]("x") }
end

local function limited(shared, domain)
  return { inputs = all_within(domain, shared.inputs), further = all_within(domain, shared.further),
           thorough = function() return all_within(domain, shared.thorough()) end, calibration = shared.calibration,
           oracle = shared.oracle }
end

local judge = {}
for _, f in ipairs(functions) do
  local common = shared_by(f)
  for _, library in ipairs(f) do
    local shared = library.domain and limited(common, library.domain) or common
    local implementation = kc.library { name = library.symbol, file = library.file, entry = library.symbol,
                                        args = f.near and { "x", "z", "y" } or { "x", "y" }, map = true, optional = true }
    judge[#judge + 1] = { contract = contract(f, shared, library), implementations = { implementation }, row = f.name .. "f",
                          column = library.column }
  end
end

return kc.suite { name = "libm", judge = judge, timeout = 600 }
