local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function relu(name)
  return kc.kernel { file = name .. ".k", entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local among = sample.named("NaN and infinities for relu", sample.exceptional(0.1, sample.normal()))
local tiny = sample.named("subnormals for relu", sample.subnormal())

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "relu.f32", version = "1.0" },
  scope         = { operation = "relu", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.relu("x"),
  protocol      = { inputs = { among, sample.bits(), tiny },
                    judged = "element", samples = 4096, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN swallowed: a number comes out where a NaN went in",
                    test = function(m)
                      if m:wrong(tiny.label) then return kc.yes "no NaN, but subnormals: they are flushed" end
                      return m:swallowed(among.label) > 0
                    end },
  calibration   = { baseline = relu "identity", bad = { relu "greater_else_zero", relu "fmax", relu "flushes" },
                    good = { relu "less_else_x", relu "bitwise" },
                    probes = { sample.uniform(-1, 1) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-5, atol = 1e-8 } },
}
