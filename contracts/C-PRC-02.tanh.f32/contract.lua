local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function tanh(name)
  return kc.kernel { file = name .. ".k", entry = "tanh_f32", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local wide = sample.named("tanh far from 0", sample.uniform(-20.0, 20.0))
local small = sample.named("tanh near 0", sample.log_uniform(-40, 8))

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "tanh.f32", version = "1.0" },
  scope         = { operation = "tanh", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.ulp { limit = 5.0, denormals = "preserve", source = "OpenCL C 3.0 specification, section 7.4, full profile" },
  oracle        = kc.oracle.tanh("x"),
  protocol      = { inputs = { wide, small,
                               sample.exceptional(0.1, sample.normal()),
                               sample.subnormal() },
                    judged = "element", samples = 8192, budget = 1e6, vacuous = 0.05,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "a formula beyond where it holds",
                    test = function(m)
                      if m:ratio(small.label) > 2 * m:ratio(wide.label) then
                        return kc.yes "relative error grows towards 0: a difference of nearly equal numbers"
                      end
                      return m:ratio(wide.label) > 1 and kc.yes "error grows away from 0" or kc.no "none"
                    end },
  calibration   = { baseline = tanh "clamped_x", bad = { tanh "exp_ratio", tanh "pade" },
                    good = { tanh "library", tanh "double" },
                    probes = { sample.uniform(0.5, 2.0) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-3, atol = 1e-6 } },
}
