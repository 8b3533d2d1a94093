local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function scale(name)
  return kc.kernel { file = name .. ".k", entry = "scale", args = { "x", "s", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local function of(x, s) return sample.inputs { x = x, s = s } end
local power = sample.values { 1, -2, 0.5, 4 }

-- Numbers of bf16 have eight bits. Nine bits lie half-way between two of them; of ten bits those that end in 01 lie a quarter above one.
local held = sample.named("x in bf16", of(sample.integers(-255, 255), power))
local quarter = sample.named("x a quarter above bf16", of(sample.integers(513, 1021, 4), power))
local ties = sample.named("x half-way", of(sample.integers(257, 511, 2), power))
local beside = sample.named("x beside half-way", of(sample.around({ 257, 259, 261, 263, -265, 267, 1 + 2.0 ^ -8 }, 3), power))
local product = sample.named("any s, x in bf16", of(sample.integers(-255, 255), sample.normal()))
local random = sample.named("x and s normal", sample.normal())
local any = sample.named("x of any bits", of(sample.bits(), power))

local function place(m)
  if m:wrong(held.label) then return kc.no "wrong where the cast changes nothing" end
  if m:wrong(quarter.label) then return kc.yes "the cast is gone" end
  if m:wrong(ties.label) then return kc.yes "the cast does not round to nearest even" end
  if m:wrong(beside.label) then return kc.yes "the cast rounds twice" end
  return m:wrong(product.label) and kc.yes "the cast is right, the product narrower than f32" or kc.no "the cast is right"
end

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "cast.bf16.f32", version = "1.0" },
  scope         = { operation = "f32(bf16(x)) s, the cast kept (F0)", inputs = { "x: f32[n]", "s: f32[n]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.any_value(x.x), kc.any_value(x.s) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x) return kc.rounded(kc.rounded(x.x, "bf16") * x.s, "f32") end,
  protocol      = { inputs = { held, quarter, ties, beside, product, random, any },
                    judged = "element", samples = 512, budget = 3e4, vacuous = 0.0,
                    statistic = "max", pass = "equal to the composition of rounded operations", repeats = 1 },
  signature     = { pattern = "a declared rounding is missing or another", test = place },
  calibration   = { baseline = scale "forgets_s",
                    bad = { scale "elided", scale "truncates", scale "rounds_twice", scale "product_in_bf16" },
                    good = { scale "codec", scale "integer" },
                    probes = { of(sample.integers(257, 511, 2), sample.uniform(1.5, 2)) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1.6e-2, atol = 1e-5 } },
}
