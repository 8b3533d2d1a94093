local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function maximum(name)
  return kc.kernel { file = name .. ".k", entry = "maximum", args = { "a", "b", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local among = sample.named("NaN and infinities to be compared", sample.exceptional(0.1, sample.normal()))

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "max.f32", version = "1.0" },
  scope         = { operation = "elementwise maximum", inputs = { "a: f32[n]", "b: f32[n]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.any_value(x.a), kc.any_value(x.b) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.max("a", "b", { nan = "propagate" }),
  protocol      = { inputs = { among, sample.bits(), sample.subnormal() },
                    judged = "element", samples = 4096, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN swallowed: the other operand comes out where one was NaN",
                    test = function(m) return m:swallowed(among.label) > 0 end },
  calibration   = { baseline = maximum "first", bad = { maximum "greater", maximum "fmax" },
                    good = { maximum "nan_first", maximum "either_nan" },
                    probes = { sample.uniform(-1, 1) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-5, atol = 1e-8 } },
}
