-- A contract for the backend of my_extension.c: y = 2 x, exactly. Other backends compile the same kernels.
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function scale(file)
  return kc.kernel { file = file .. ".k", entry = "scale", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "twice.f32", version = "1.0" },
  scope         = { operation = "twice", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 64) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x) return x.x + x.x end,
  protocol      = { inputs = { sample.uniform(1, 2) }, judged = "element", samples = 64, budget = 1e4, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "not doubled", test = function() return kc.yes "not doubled" end },
  calibration   = { baseline = scale "copies", bad = { scale "nearly" }, good = { scale "twice" }, probes = { sample.uniform(1, 2) },
                    functional = { inputs = { sample.uniform(1, 2) }, rtol = 1e-5, atol = 1e-8 } },
}
