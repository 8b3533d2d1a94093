local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function relu(name)
  return kc.kernel { file = name .. ".k", entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "relu.f32", version = "1.0" },
  scope         = { operation = "relu", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.relu("x"),
  protocol      = { inputs = { sample.exceptional(0.1, sample.normal()), sample.bits(), sample.subnormal() },
                    judged = "element", samples = 4096, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN swallowed: a number comes out where a NaN went in",
                    test = function(m) return m:confusion("nan", "+0") + m:confusion("nan", "+finite") > 0 end },
  calibration   = { baseline = relu "identity", bad = { relu "greater_else_zero", relu "fmax", relu "flushes" },
                    good = { relu "less_else_x", relu "bitwise" },
                    probes = { sample.uniform(-1, 1) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-5, atol = 1e-8 } },
}
