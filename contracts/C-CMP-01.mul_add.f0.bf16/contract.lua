local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function mul_add(name)
  return kc.kernel { file = name .. ".k", entry = "mul_add", args = { "x", "y", "z", "r", "n" }, group = { 64 }, grid = { "n" } }
end

local function of(x, y, z) return sample.inputs { x = x, y = y, z = z } end

-- Numbers of bf16 have eight bits, so that products of fewer bits and sums of them are exact.
local exact = sample.named("x y exact", of(sample.integers(-15, 15), sample.integers(-15, 15), sample.integers(-31, 31)))
local fraction = sample.integers(129, 255, 2)
local cancelling = sample.named("z = -bf16(x y)", of(sample.constant(0x1.02p0), sample.constant(0x1.02p0), sample.constant(-0x1.04p0)))
local close = sample.named("z near -x y", of(fraction, fraction, sample.integers(-32768, -16384, 128)))
local random = sample.named("x, y, z normal", sample.normal())
local wide = sample.named("x, y, z of any exponent", sample.log_uniform(-50, 50))
local any = sample.named("x, y, z of any bits", sample.bits())

local function place(m)
  if m:wrong(exact.label) then return kc.no "wrong where every result is exact" end
  if m:wrong(cancelling.label) then return kc.yes "the product is not rounded" end
  if m:wrong(close.label) then return kc.yes "the product is not rounded once to nearest even" end
  return m:wrong(wide.label) and kc.yes "the product has fewer exponents" or kc.no "no rounding is missing"
end

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "mul_add.f0.bf16", version = "1.0" },
  scope         = { operation = "x y + z in bf16, product and sum rounded (F0)", inputs = { "x: bf16[n]", "y: bf16[n]", "z: bf16[n]" },
                    outputs = { "r: bf16[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.any_value(x.x), kc.any_value(x.y), kc.any_value(x.z) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.r, ref.r, t), kc.within(y.r, ref.r, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  -- Each operation as processors without bf16 have it: in f32, then rounded; it differs from one rounding for subnormal products only.
  oracle        = function(x)
    local product = kc.rounded(kc.rounded(x.x * x.y, "f32"), "bf16")
    return kc.rounded(kc.rounded(product + x.z, "f32"), "bf16")
  end,
  protocol      = { inputs = { exact, cancelling, close, random, wide, any },
                    judged = "element", samples = 512, budget = 3e4, vacuous = 0.0,
                    statistic = "max", pass = "equal to the composition of rounded operations", repeats = 1 },
  signature     = { pattern = "the rounding after the product is missing or another", test = place },
  calibration   = { baseline = mul_add "forgets_z",
                    bad = { mul_add "in_f32", mul_add "fused", mul_add "truncates", mul_add "product_in_f16" },
                    good = { mul_add "separate", mul_add "integer" },
                    probes = { sample.uniform(1.5, 2) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1.6e-2, atol = 1e-1 } },
}
