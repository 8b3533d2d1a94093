local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function variance(name)
  return kc.kernel { file = name .. ".k", entry = "variance", args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

-- Rows of spread 1 around growing offsets; the last is so far out that the two-pass bound exceeds what it measures.
local offsets = { 0, 10, 100, 1000 }
local inputs = {}
for i, m in ipairs(offsets) do
  inputs[i] = sample.named(("offset %d"):format(m), sample.at({ n = 256, d = 256 }, sample.uniform(m - 1.0, m + 1.0)))
end
inputs[#inputs + 1] = sample.normal()
inputs[#inputs + 1] = sample.log_uniform(-20, 20)

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "variance.f32", version = "1.0" },
  scope         = { operation = "population variance over the last axis, in two passes", inputs = { "x: f32[n,d]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 256), d = kc.range(1, 4096) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.variance { accumulator = "f32", height = "d", algorithm = "two_pass", denormals = "preserve" },
  oracle        = kc.oracle.variance("x"),
  protocol      = { inputs = inputs, judged = "element", samples = 256, budget = 900000, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "cancellation against the mean",
                    test = function(m)
                      local near, far = m:ratio "offset 0", m:ratio "offset 1000"
                      if near > 1 then return kc.no "wrong without an offset too" end
                      return far > 100 * near and kc.yes "error grows with the square of the offset" or kc.no "none"
                    end },
  calibration   = { baseline = variance "one", bad = { variance "naive", variance "mean_in_f16", variance "sample_variance" },
                    good = { variance "two_pass", variance "corrected" },
                    probes = { sample.at({ n = 16, d = 16 }, sample.uniform(2, 8)) },
                    functional = { inputs = { sample.at({ n = 16, d = 256 }, sample.uniform(-1, 1)) }, rtol = 1e-2, atol = 1e-4 } },
}
