local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function exp(name)
  return kc.kernel { file = name .. ".k", entry = "exp_f32", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local whole = sample.named("the whole range of exp", sample.uniform(-104.0, 89.0))
local small = sample.named("around 0", sample.log_uniform(-30, 7))

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "exp.f32", version = "1.0" },
  scope         = { operation = "exp", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.ulp { limit = 3.0, denormals = "preserve", source = "OpenCL C 3.0 specification, section 7.4, full profile" },
  oracle        = kc.oracle.exp("x"),
  protocol      = { inputs = { whole, small,
                               sample.exceptional(0.1, sample.normal()),
                               sample.subnormal() },
                    judged = "element", samples = 8192, budget = 1e6, vacuous = 0.15,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "wrong where the result is far from 1",
                    test = function(m)
                      if m:confusion("+finite", "+inf", whole.label) > 0 then return kc.yes "infinity for results that are finite" end
                      if m:confusion("+finite", "+0", whole.label) > 0 then return kc.yes "subnormal results are lost" end
                      return m:ratio(whole.label) > 1 and kc.yes "error grows with |x|" or kc.no "none"
                    end },
  calibration   = { baseline = exp "one_plus_x", bad = { exp "exp2_product", exp "taylor_f32", exp "early_infinity", exp "flushes" },
                    good = { exp "library", exp "double" },
                    probes = { sample.uniform(-1, 1) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-3, atol = 1e-6 } },
}
