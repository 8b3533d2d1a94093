-- The f32 functions of the C library and of SLEEF, each against the largest error that its documentation states.
local kc = require "kc"

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

local PIECE = 1 << 20
local size = { kernels = "libm",
               everywhere = 510 * 512, -- 255 exponents, the subnormals among them, and two signs: 512 inputs each
               interesting = 1 << 20, bits = 1 << 16, piece = PIECE, pieces = (1 << 32) // PIECE }

-- ---- the functions ------------------------------------------------------------------------------------------------------------

local MAX = 0x1.fffffep+127
local functions = {
  { "exp", glibc("expf", 1), sleef("Sleef_expf_u10", 1.0) },
  { "exp2", glibc("exp2f", 1), sleef("Sleef_exp2f_u10", 1.0), sleef("Sleef_exp2f_u35", 3.5) },
  { "expm1", glibc("expm1f", 1), sleef("Sleef_expm1f_u10", 1.0) },
  { "log", glibc("logf", 1), sleef("Sleef_logf_u10", 1.0), sleef("Sleef_logf_u35", 3.5) },
  { "log2", glibc("log2f", 1), sleef("Sleef_log2f_u10", 1.0), sleef("Sleef_log2f_u35", 3.5) },
  { "log10", glibc("log10f", 2), sleef("Sleef_log10f_u10", 1.0) },
  { "log1p", glibc("log1pf", 1), sleef("Sleef_log1pf_u10", 1.0, -MAX, 1e38) },
  { "sin", glibc("sinf", 1), sleef("Sleef_sinf_u10", 1.0), sleef("Sleef_sinf_u35", 3.5) },
  { "cos", glibc("cosf", 1), sleef("Sleef_cosf_u10", 1.0), sleef("Sleef_cosf_u35", 3.5) },
  { "tan", glibc("tanf", 1), sleef("Sleef_tanf_u10", 1.0), sleef("Sleef_tanf_u35", 3.5) },
  { "asin", glibc("asinf", 1), sleef("Sleef_asinf_u10", 1.0), sleef("Sleef_asinf_u35", 3.5) },
  { "acos", glibc("acosf", 1), sleef("Sleef_acosf_u10", 1.0), sleef("Sleef_acosf_u35", 3.5) },
  { "atan", glibc("atanf", 1), sleef("Sleef_atanf_u10", 1.0), sleef("Sleef_atanf_u35", 3.5) },
  { "sinh", glibc("sinhf", 2), sleef("Sleef_sinhf_u10", 1.0, -88.5, 88.5), sleef("Sleef_sinhf_u35", 3.5, -88, 88) },
  { "cosh", glibc("coshf", 2), sleef("Sleef_coshf_u10", 1.0, -88.5, 88.5), sleef("Sleef_coshf_u35", 3.5, -88, 88) },
  { "tanh", glibc("tanhf", 2), sleef("Sleef_tanhf_u10", 1.0001), sleef("Sleef_tanhf_u35", 3.5) },
  { "asinh", glibc("asinhf", 2), sleef("Sleef_asinhf_u10", 1.001, -1.84e19, 1.84e19) },
  { "acosh", glibc("acoshf", 2), sleef("Sleef_acoshf_u10", 1.001, -1.84e19, 1.84e19) },
  { "atanh", glibc("atanhf", 2), sleef("Sleef_atanhf_u10", 1.0001) },
  { "erf", glibc("erff", 1), sleef("Sleef_erff_u10", 1.0) },
  -- SLEEF states max(1.5 ulp, FLT_MIN); up to 8 the former is the larger.
  { "erfc", glibc("erfcf", 3), sleef("Sleef_erfcf_u15", 1.5, -MAX, 8) },
  { "cbrt", glibc("cbrtf", 1), sleef("Sleef_cbrtf_u10", 1.0), sleef("Sleef_cbrtf_u35", 3.5) },
  { "sqrt", rounded(glibc("sqrtf", 0)), rounded(sleef("Sleef_sqrtf_u05", 0.5)), sleef("Sleef_sqrtf_u35", 3.5) },
  { "pow", glibc("powf", 1), sleef("Sleef_powf_u10", 1.0) },
  { "hypot", glibc("hypotf", 0), sleef("Sleef_hypotf_u05", 0.5), sleef("Sleef_hypotf_u35", 3.5) },
}

local judge = {}
for _, row in ipairs(functions) do
  local f = kc.accuracy(row[1], size)
  for i = 2, #row do
    local library = row[i]
    local implementation = kc.library { name = library.symbol, file = library.file, entry = library.symbol,
                                        args = f.binary and { "x", "z", "y" } or { "x", "y" }, map = true, optional = true }
    judge[#judge + 1] = { contract = kc.contract(f:clauses(library)), implementations = { implementation }, row = row[1] .. "f",
                          column = library.column }
  end
end

return kc.suite { name = "libm", judge = judge, timeout = 600 }
