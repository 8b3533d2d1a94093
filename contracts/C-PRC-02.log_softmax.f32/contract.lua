local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function log_softmax(name)
  return kc.kernel { file = name .. ".k", entry = "log_softmax", args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

local narrow = sample.named("log_softmax of spread 1", sample.normal())
local signed = sample.named("log_softmax from -64 to 64", sample.log_uniform(-20, 6))
local large = sample.named("log_softmax up to 100", sample.uniform(0, 100))

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "log_softmax.f32", version = "1.0" },
  scope         = { operation = "log_softmax over the last axis", inputs = { "x: f32[n,d]" }, outputs = { "y: f32[n,d]" },
                    shapes = { n = kc.range(1, 64), d = kc.range(1, 4096) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- exp and log of the kernel's library may err by 1 ulp, which is 2 u.
  tolerance     = tol.log_softmax { accumulator = "f32", height = "d", exp_error = 2, log_error = 2, denormals = "preserve" },
  oracle        = kc.oracle.log_softmax("x"),
  protocol      = { inputs = { narrow, large, sample.at({ n = 4, d = 4096 }, sample.normal(2)), signed },
                    judged = "element", samples = 4096, budget = 200000, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "cancellation, overflow or underflow around the logarithm",
                    test = function(m)
                      local lost = m:confusion("-finite", "-inf", large.label) + m:confusion("-finite", "-inf", signed.label)
                      if lost > 0 then return kc.yes "-inf: a probability underflows or the sum overflows" end
                      if m:confusion("-finite", "nan", large.label) > 0 then return kc.yes "NaN: the maximum is not subtracted" end
                      return m:ratio(narrow.label) > 1 and kc.yes "the sum is narrow" or kc.no "none"
                    end },
  calibration   = { baseline = log_softmax "uniform",
                    bad = { log_softmax "log_of_softmax", log_softmax "no_maximum", log_softmax "sum_in_f16" },
                    good = { log_softmax "one_pass", log_softmax "lanes" },
                    probes = { sample.at({ n = 8, d = 16 }, sample.uniform(0, 4)) },
                    functional = { inputs = { sample.at({ n = 16, d = 64 }, sample.normal()) }, rtol = 1e-2, atol = 1e-3 } },
}
