local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- The kernels are those of F0, with the roles exchanged.
local function mul_add(name)
  return kc.kernel { file = "../C-CMP-01.mul_add.f0.bf16/" .. name .. ".k", entry = "mul_add", args = { "x", "y", "z", "r", "n" },
                     group = { 64 }, grid = { "n" } }
end

local function of(x, y, z) return sample.inputs { x = x, y = y, z = z } end

local exact = sample.named("x y + z exact in bf16", of(sample.integers(-11, 11), sample.integers(-11, 11), sample.integers(-31, 31)))
local alone = sample.named("x y alone", of(sample.integers(129, 255, 2), sample.integers(129, 255, 2), sample.constant(0)))
local fraction = sample.integers(129, 255, 2)
local close = sample.named("kept in f32, z near -x y", of(fraction, fraction, sample.integers(-32768, -16384, 128)))
local random = sample.named("kept in f32, normal", sample.normal())
local wide = sample.named("kept in f32, any exponent", sample.log_uniform(-30, 30))

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "mul_add.f3.bf16", version = "1.0" },
  scope         = { operation = "x y + z, the intermediate in f32, rounded to bf16 once (F3)",
                    inputs = { "x: bf16[n]", "y: bf16[n]", "z: bf16[n]" }, outputs = { "r: bf16[n]" },
                    shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.finite(x.x), kc.finite(x.y), kc.finite(x.z) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.r, ref.r, t), kc.within(y.r, ref.r, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = 2, height = 1, accumulator = "f32", denormals = "preserve" },
  oracle        = function(x) return x.x * x.y + x.z end,
  protocol      = { inputs = { exact, alone, close, random, wide },
                    judged = "element", samples = 512, budget = 2.5e4, vacuous = 0.1,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "the product is rounded before the sum",
                    test = function(m)
                      if m:wrong(exact.label) or not m:wrong(close.label) then return kc.no "the product is kept, or lost altogether" end
                      return kc.yes(m:wrong(alone.label) and "it is cut off" or "wrong where the sum cancels only")
                    end },
  calibration   = { baseline = mul_add "forgets_z", bad = { mul_add "separate", mul_add "integer", mul_add "truncates" },
                    good = { mul_add "in_f32", mul_add "fused" },
                    probes = { sample.uniform(1.5, 2) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1.6e-2, atol = 1e-1 } },
}
