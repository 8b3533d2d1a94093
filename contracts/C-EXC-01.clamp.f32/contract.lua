local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function clamp(name)
  return kc.kernel { file = name .. ".k", entry = "clamp", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local among = sample.named("NaN and infinities to be clamped", sample.exceptional(0.1, sample.normal(1)))

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "clamp.f32", version = "1.0" },
  scope         = { operation = "clamp to [-1, 1]", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.clamp("x", { a = -1.0, b = 1.0, nan = "propagate" }),
  protocol      = { inputs = { among, sample.bits(), sample.subnormal() },
                    judged = "element", samples = 4096, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN swallowed: a limit comes out where a NaN went in",
                    test = function(m) return m:swallowed(among.label) > 0 end },
  calibration   = { baseline = clamp "identity", bad = { clamp "nested_ternary", clamp "fmin_fmax" },
                    good = { clamp "outside_first", clamp "nan_first" },
                    probes = { sample.uniform(-4, 4) },
                    functional = { inputs = { sample.normal(1) }, rtol = 1e-5, atol = 1e-8 } },
}
