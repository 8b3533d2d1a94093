local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function mean(name)
  return kc.kernel { file = name .. ".k", entry = "mean", args = { "x", "y", "n", "k" }, group = { 64 }, grid = { "n" } }
end

-- Sums of these integers stay below 2^24, so every order of f32 additions is exact; the lowest bit of a term is set, and that of a sum
-- of many is lost in f16 and bf16.
local odd = sample.integers(1, 127, 2)
local pairs_of = sample.named("means of two numbers", sample.at({ n = 512, k = 2 }, sample.uniform(1, 2)))
local short = sample.named("means of 255 odd integers", sample.at({ n = 256, k = 255 }, odd))
local long = sample.named("means of 4095 odd integers", sample.at({ n = 256, k = 4095 }, odd))

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "mean.f16", version = "1.0" },
  scope         = { operation = "mean over the last axis", inputs = { "x: f16[n,k]" }, outputs = { "y: f16[n]" },
                    shapes = { n = kc.range(1, 512), k = kc.range(1, 8192) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.mean("x"),
  protocol      = { inputs = { short, long, pairs_of, sample.uniform(0, 1), sample.normal(), sample.log_uniform(-14, 15),
                               sample.at({ n = 64, k = 1000 }, sample.subnormal()) },
                    judged = "element", samples = 256, budget = 5e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "partial sums of the mean are narrower than f32",
                    test = function(m)
                      if kc.signature.format_of(m:bits(pairs_of.label)) == "bf16" then return kc.yes "means of two have 8 bits: bf16" end
                      if m:confusion("+finite", "+inf", long.label) > 0 then return kc.yes "finite sums overflow: the range of f16" end
                      if m:ratio(short.label) > 1 then return kc.yes "sums of 255 integers are rounded" end
                      return m:ratio(long.label) > 1 and kc.yes "only in long rows" or kc.no "means of integers are right"
                    end },
  calibration   = { baseline = mean "zeros", bad = { mean "running_f16", mean "partial_bf16", mean "long_rows_f16" },
                    good = { mean "sequential", mean "lanes" },
                    probes = { sample.at({ n = 64, k = 64 }, sample.uniform(1.5, 2)) },
                    functional = { inputs = { sample.at({ n = 64, k = 64 }, sample.uniform(0, 1)) }, rtol = 5e-2, atol = 1e-2 } },
}
