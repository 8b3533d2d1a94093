local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function sum4(name, options)
  return kc.kernel { name = options and options.name, file = name .. ".k", entry = "sum4", args = { "a", "b", "c", "d", "y", "n" },
                     group = { 64 }, grid = { "n" }, defines = options and options.defines }
end

local integers = sample.named("four integers", sample.integers(-4194303, 4194303))
local one_sign = sample.named("four of one sign", sample.uniform(1, 2))
-- What a and b leave is c + d.
local cancelling = sample.named("a = -b, c and d small", sample.inputs {
  a = sample.constant(4096), b = sample.constant(-4096), c = sample.uniform(0.5, 1), d = sample.uniform(0.5, 1) })
local random = sample.named("four normal", sample.normal())
local spread = sample.named("four of any exponent", sample.log_uniform(-30, 30))
local below = sample.named("four subnormals", sample.subnormal())

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "sum4.f2.f32", version = "1.0" },
  scope         = { operation = "a + b + c + d in f32, in any order (F2)", inputs = { "a: f32[n]", "b: f32[n]", "c: f32[n]", "d: f32[n]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.finite(x.a), kc.finite(x.b), kc.finite(x.c), kc.finite(x.d) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = 4, height = 3, accumulator = "f32", denormals = "preserve" },
  oracle        = function(x) return x.a + x.b + x.c + x.d end,
  protocol      = { inputs = { integers, one_sign, cancelling, random, spread, below },
                    judged = "element", samples = 512, budget = 2.5e4, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "less than f32 sums in some order",
                    test = function(m)
                      local format = kc.signature.format_of(m:bits(one_sign.label))
                      if format and format ~= "f32" then return kc.yes(("sums of one sign have the bits of %s"):format(format)) end
                      return m:wrong(cancelling.label) and not m:wrong(one_sign.label) and kc.yes "terms are lost where larger ones cancel"
                        or kc.no "neither narrower nor incomplete"
                    end },
  calibration   = { baseline = sum4 "forgets_d",
                    bad = { sum4("narrow", { name = "bf16_partials" }), sum4("narrow", { name = "f16_partials", defines = "F16=1" }),
                            sum4 "drops_small" },
                    good = { sum4 "left", sum4 "pairs", sum4 "compensated" },
                    probes = { sample.uniform(1.25, 2) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1.6e-2, atol = 1e-1 } },
}
