local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function mul_add(name, defines)
  return kc.kernel { name = name, file = "../C-CMP-01.mul_add.f0.bf16/mul_add.k", entry = "mul_add",
                     args = { "x", "y", "z", "r", "n" }, group = { 64 }, grid = { "n" }, defines = defines }
end

local function of(label, x, y, z) return sample.named(label, sample.inputs { x = x, y = y, z = z }) end
local held = of("f3: products that bf16 holds", sample.integers(-15, 15), sample.integers(-15, 15), sample.integers(-15, 15))
local random = of("f3: random", sample.uniform(1, 2), sample.uniform(1, 2), sample.uniform(1, 2))
local cancels = of("f3: products cancel", sample.constant(1.0078125), sample.constant(1.0078125), sample.constant(-1.015625))

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "mul_add.f3.bf16", version = "1.0" },
  scope         = { operation = "x y + z in bf16, level F3: the product and sum are kept in f32, one rounding to bf16",
                    inputs = { "x: bf16[n]", "y: bf16[n]", "z: bf16[n]" }, outputs = { "r: bf16[n]" }, shapes = { n = kc.range(0, 2048) } },
  precondition  = function(x) return { kc.finite(x.x), kc.finite(x.y), kc.finite(x.z) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.r, ref.r, t), kc.within(y.r, ref.r, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x) return kc.rounded(kc.rounded(x.x * x.y + x.z, "f32"), "bf16") end,
  protocol      = { inputs = { held, random, cancels },
                    judged = "element", samples = 2048, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "the bits of the composition", repeats = 1 },
  signature     = { pattern = "another precision between product and sum than declared",
                    test = function(m)
                      if m:wrong(held.label) then return kc.no "wrong where the product needs no rounding" end
                      return m:wrong(cancels.label) and kc.yes "the product is rounded to bf16 or cut" or kc.no "none"
                    end },
  calibration   = { baseline = mul_add("product", "PRODUCT=1"),
                    bad = { mul_add("rounds_product", "ROUNDS_PRODUCT=1"), mul_add("truncates", "TRUNCATES_PRODUCT=1") },
                    good = { mul_add("keeps_f32", "KEEPS=1"), mul_add("fused", "FUSED=1") },
                    probes = { of("probe", sample.integers(3, 9), sample.integers(3, 9), sample.integers(3, 9)) },
                    functional = { inputs = { random }, rtol = 2e-2, atol = 1e-3 } },
}
