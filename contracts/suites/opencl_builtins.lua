-- The mathematics of an OpenCL device: its builtins of f32, each against the largest error that OpenCL C states. See README.md beside this
-- file.
local kc = require "kc"
local sample = kc.sample

-- ---- what is stated -----------------------------------------------------------------------------------------------------------

local FULL = "OpenCL C 1.2, 7.4, table of single precision functions, full profile: <= %g ulp"
local HALF = "OpenCL C 1.2, 6.12.2: half_ functions have 10 bits or more, <= 8192 ulp"
local NATIVE = "kc's own yardstick: OpenCL C 1.2, 6.12.2, leaves range and error of native_ functions to the implementation"

local function full(name, ulps) return { column = "full", name = "opencl", symbol = name, limit = ulps, source = FULL:format(ulps), zeros = "either" } end

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

-- ---- the inputs ---------------------------------------------------------------------------------------------------------------

-- Every number of f16, as f32.
local function numbers_of_f16()
  local list = {}
  for code = 0, 65535 do list[code + 1] = kc.decode("f16", code) end
  return list
end

local size = { everywhere = 510 * 128, interesting = 1 << 18, bits = 1 << 15, piece = 1 << 20, pieces = (1 << 32) // (1 << 20),
               further = { sample.at({ n = 65536 }, sample.named("every number of f16", sample.values(numbers_of_f16()))) } }

-- ---- the suite ----------------------------------------------------------------------------------------------------------------

local function builtin(f, claim)
  return kc.kernel { name = claim.needs and claim.symbol .. ".rounded" or claim.symbol, needs = claim.needs, file = f.binary and "opencl/binary.cl" or "opencl/unary.cl", entry = "apply",
                     args = f.binary and { "x", "z", "y", "n" } or { "x", "y", "n" }, group = { 64 }, grid = { "n" },
                     defines = "FUNCTION=" .. claim.symbol }
end

local judge = {}
for _, row in ipairs(functions) do
  local f = kc.accuracy(row[1], size)
  for i = 2, #row do
    local claim = row[i]
    judge[#judge + 1] = { contract = kc.contract(f:clauses(claim)), implementations = { builtin(f, claim) }, row = row[1],
                          column = claim.column }
  end
end

return kc.suite { name = "OpenCL builtins", judge = judge, timeout = 600 }
