local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function variance(name, build)
  local options = build or {}
  return kc.kernel { file = name .. ".k", entry = "variance", name = options.name, denormals = options.denormals,
                     args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

-- Rows of spread 2 around growing offsets; beyond 1 / sqrt(u) = 4096 a mean of squares keeps nothing of the variance.
local offsets = { "0", "1e1", "1e2", "1e3", "1e4" }
local inputs = {}
for i, m in ipairs(offsets) do
  inputs[i] = sample.named("variance at offset " .. m, sample.at({ n = 256, d = 128 }, sample.uniform(m - 1.0, m + 1.0)))
end
inputs[#inputs + 1] = sample.normal()
inputs[#inputs + 1] = sample.log_uniform(-20, 20)
local tiny = sample.named("variances that underflow", sample.log_uniform(-72, -64))
inputs[#inputs + 1] = tiny

-- Sums of equal integers are exact, and so is their division by a power of two: the mean is the constant.
local constant = kc.relation {
  name = "the variance of a constant is 0", draws = 1,
  inputs = { sample.at({ n = 16, d = 256 }, sample.constant(3)), sample.at({ n = 16, d = 1024 }, sample.constant(-1000)) },
  holds = function(_, y) return kc.all_equal(y.y, 0) end,
}

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "variance.f32", version = "1.0" },
  scope         = { operation = "population variance over the last axis, in two passes", inputs = { "x: f32[n,d]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 256), d = kc.range(1, 4096) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.variance { accumulator = "f32", height = "d", algorithm = "two_pass", denormals = "preserve" },
  oracle        = kc.oracle.variance("x"),
  protocol      = { inputs = inputs, judged = "element", samples = 256, budget = 900000, vacuous = 0.5, relations = { constant },
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "cancellation against the mean",
                    test = function(m)
                      local function ratio(offset) return m:ratio("variance at offset " .. offset) end
                      local function bits(offset) return m:bits("variance at offset " .. offset) end
                      if ratio "0" > 1 then return kc.yes "no cancellation: wrong without an offset too, another divisor" end
                      -- Of log(error / variance) against log(offset), from 10 to 1000.
                      local slope = (bits "1e1" - bits "1e3") / math.log(100, 2)
                      if slope > 1.5 and slope < 2.5 then return kc.yes "error grows with the square of the offset" end
                      return m:wrong(tiny.label) and kc.yes "no cancellation: subnormal variances are lost" or kc.no "none"
                    end },
  calibration   = { baseline = variance "one", bad = { variance "naive", variance "mean_in_f16", variance "sample_variance",
                                        variance("two_pass", { name = "flushes", denormals = "flush" }) },
                    good = { variance "two_pass", variance "corrected" },
                    probes = { sample.at({ n = 16, d = 16 }, sample.uniform(2, 8)) },
                    functional = { inputs = { sample.at({ n = 16, d = 256 }, sample.uniform(-1, 1)) }, rtol = 1e-2, atol = 1e-4 } },
}
