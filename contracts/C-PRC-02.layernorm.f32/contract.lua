local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function layernorm(name, build)
  local options = build or {}
  return kc.kernel { file = name .. ".k", entry = "layernorm", name = options.name, denormals = options.denormals,
                     args = { "x", "w", "b", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

local function rows(label, d, x, b)
  local inputs = sample.inputs { x = x, w = sample.uniform(0.5, 2), b = b or sample.uniform(-1, 1) }
  return sample.named(label, sample.at({ n = 16, d = d }, inputs))
end

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "layernorm.f32", version = "1.0" },
  scope         = { operation = "layernorm over the last axis, variance in two passes, epsilon 1e-5",
                    inputs = { "x: f32[n,d]", "w: f32[d]", "b: f32[d]" }, outputs = { "y: f32[n,d]" },
                    shapes = { n = kc.range(1, 64), d = kc.range(1, 4096) } },
  precondition  = function(x) return { kc.finite(x.x), kc.finite(x.w), kc.finite(x.b) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- 1 / sqrt: two correctly rounded operations, 3 u.
  tolerance     = tol.layernorm { accumulator = "f32", height = "d", algorithm = "two_pass", rsqrt_error = 3, denormals = "preserve" },
  -- The f32 nearest to 1e-5.
  oracle        = kc.oracle.layernorm("x", "w", "b", { epsilon = 0x1.4f8b58p-17 }),
  protocol      = { inputs = { rows("offset 0", 256, sample.uniform(-1, 1)), rows("offset 10", 256, sample.uniform(9, 11)),
                               rows("offset 100", 256, sample.uniform(99, 101)), rows("small variance", 256, sample.uniform(0, 0x1p-7)),
                               rows("short", 3, sample.normal()),
                               rows("denormals", 64, sample.log_uniform(-140, -130), sample.constant(0)), sample.normal() },
                    judged = "element", samples = 2048, budget = 300000, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "wrong statistics",
                    test = function(m)
                      if m:wrong "denormals" and not m:wrong "offset 0" and not m:wrong "offset 100" then
                        return kc.yes "subnormal deviations are lost"
                      end
                      if m:ratio "small variance" > 8 * m:ratio "offset 100" then return kc.yes "epsilon is missing or in another place" end
                      if m:ratio "offset 0" <= 1 and m:ratio "offset 100" > 1 then return kc.yes "error grows with the offset" end
                      return m:ratio "offset 0" > 1 and kc.yes "narrow statistics" or kc.no "none"
                    end },
  calibration   = { baseline = layernorm "bias_only",
                    bad = { layernorm "naive", layernorm "no_epsilon", layernorm "statistics_in_f16",
                            layernorm("two_pass", { name = "flushes", denormals = "flush" }) },
                    good = { layernorm "two_pass", layernorm "fused" },
                    probes = { rows("probe", 16, sample.uniform(-4, 4)) },
                    functional = { inputs = { rows("functional", 64, sample.normal()) }, rtol = 1e-2, atol = 1e-2 } },
}
