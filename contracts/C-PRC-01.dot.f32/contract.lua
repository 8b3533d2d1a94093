local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function dot(name)
  return kc.kernel { file = name .. ".k", entry = "dot", args = { "x", "y", "d", "n", "k" }, group = { 32 }, grid = { "n" } }
end

-- Three probes allow no error at all: sums of integers that 24 bits hold, odd 13-bit integers that narrower operands cannot hold, and
-- 1 * v.
local integers = sample.at({ n = 1024, k = 600 }, sample.integers(1, 31))
local odd = sample.at({ n = 1024, k = 128 }, sample.inputs { x = sample.integers(4097, 8191, 2), y = sample.values { 1, -1 } })
local short = sample.at({ n = 1024, k = 2 }, sample.inputs { x = sample.uniform(1, 2), y = sample.constant(1) })
local identity = sample.at({ n = 1024, k = 1 }, sample.inputs { x = sample.constant(1), y = sample.log_uniform(-60, 60) })

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "dot.f32", version = "1.0" },
  scope         = { operation = "dot", inputs = { "x: f32[n,k]", "y: f32[n,k]" }, outputs = { "d: f32[n]" },
                    shapes = { n = kc.range(1, 1024), k = kc.range(1, 8192) } },
  precondition  = function(x) return { kc.finite(x.x), kc.finite(x.y) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.d, ref.d, t), kc.within(y.d, ref.d, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.dot("x", "y"),
  protocol      = { inputs = { integers, odd, identity, short,
                               sample.uniform(0, 1), sample.normal(),
                               sample.at({ n = 256, k = 256 }, sample.ill_conditioned(1e6, "x", "y")),
                               sample.log_uniform(-20, 20), sample.log_uniform(40, 55),
                               sample.named("products underflow", sample.log_uniform(-70, -60)) },
                    judged = "element", samples = 256, budget = 9e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "narrower than f32",
                    test = function(m)
                      return kc.signature.narrower(m, { declared = "f32", identity = identity.label, short = short.label,
                                                        integers = integers.label })
                    end },
  calibration   = { baseline = dot "zeros",
                    bad = { dot "operands_tf32", dot "operands_hf32", dot "acc_f16", dot "narrow_when_long" },
                    good = { dot "sequential", dot "lanes" },
                    probes = { sample.at({ n = 64, k = 64 }, sample.uniform(1, 2)) },
                    functional = { inputs = { sample.at({ n = 64, k = 256 }, sample.uniform(0, 1)) }, rtol = 1e-2, atol = 1e-2 } },
}
