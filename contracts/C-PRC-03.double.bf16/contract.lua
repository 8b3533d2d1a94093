local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function twice(name)
  return kc.kernel { file = name .. ".k", entry = "twice", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

-- Every subnormal number of bf16 and as many normal ones, of each sign.
local positive = sample.named("positive subnormals of bf16", sample.at({ n = 256 }, sample.exhaustive(0)))
local negative = sample.named("negative subnormals of bf16", sample.at({ n = 256 }, sample.exhaustive(0x8000)))

return kc.contract {
  identifier    = { class = "C-PRC-03", name = "double.bf16", version = "1.0" },
  scope         = { operation = "2 x, denormals preserved", inputs = { "x: bf16[n]" }, outputs = { "y: bf16[n]" },
                    shapes = { n = kc.range(1, 4096) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "PRESERVE", denormals = "preserve" },
  oracle        = function(x) return 2 * x.x end,
  protocol      = { inputs = { positive, negative, sample.integers(-128, 128) },
                    judged = "element", samples = 256, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "subnormal bf16 numbers are flushed",
                    test = function(m) return m:wrong(positive.label) and m:wrong(negative.label) and not m:wrong "integers(-128" end },
  calibration   = { baseline = twice "one", bad = { twice "flushes_operands", twice "flushes_results" },
                    good = { twice "codec", twice "integer" },
                    probes = { sample.integers(1, 9) },
                    functional = { inputs = { sample.integers(-100, 100) }, rtol = 1e-3, atol = 1e-5 } },
}
