local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function rsqrt(name)
  return kc.kernel { file = name .. ".k", entry = "rsqrt_f32", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local normal = sample.named("normal operands of rsqrt", sample.log_uniform(-126, 127, true))
local tiny = sample.named("subnormal operands of rsqrt", sample.subnormal())

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "rsqrt.f32", version = "1.0" },
  scope         = { operation = "rsqrt", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.ulp { limit = 2.0, denormals = "preserve", source = "OpenCL C 3.0 specification, section 7.4, full profile" },
  oracle        = kc.oracle.rsqrt("x"),
  protocol      = { inputs = { normal,
                               sample.exceptional(0.1, sample.log_uniform(-10, 10, true)),
                               tiny,
                               sample.bits() },
                    judged = "element", samples = 8192, budget = 1e6, vacuous = 0.0,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "an approximation that was not refined",
                    test = function(m)
                      if m:ratio(normal.label) > 8 then return kc.yes "a relative error of 2^-20 and more everywhere" end
                      return m:wrong(tiny.label) and kc.yes "at subnormal operands" or kc.no "none"
                    end },
  calibration   = { baseline = rsqrt "half", bad = { rsqrt "magic", rsqrt "truncated_input", rsqrt "subnormal_is_zero" },
                    good = { rsqrt "double_sqrt", rsqrt "double_newton" },
                    probes = { sample.uniform(0.1, 4) },
                    functional = { inputs = { sample.uniform(0.1, 10) }, rtol = 1e-3, atol = 1e-6 } },
}
