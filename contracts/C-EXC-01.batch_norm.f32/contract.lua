local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function batch_norm(name, defines)
  return kc.kernel { name = name, file = "batch_norm.k", entry = "batch_norm", args = { "x", "y", "c", "n" }, group = { 1 }, grid = { 1 },
                     defines = defines }
end

local numbers = sample.uniform(-2, 3)
local function of(label, base) return sample.named(label, sample.draws(1, sample.at({ c = 5, n = 33 }, base))) end
local plain = of("channels of numbers", numbers)
local cases = { plain }
-- One channel of five holds the value: the whole channel is NaN, the others stay as they are.
for _, place in ipairs { "first", "middle", "last" } do
  cases[#cases + 1] = of("a channel with NaN", sample.plant(numbers, nan, { place, place }))
  cases[#cases + 1] = of("a channel with Inf", sample.plant(numbers, inf, { place, place }))
end

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "batch_norm.f32", version = "1.0" },
  scope         = { operation = "normalisation of each channel by its own statistics, epsilon 2^-17", inputs = { "x: f32[c,n]" },
                    outputs = { "y: f32[c,n]" }, depends = { y = { x = "row" } },
                    shapes = { c = kc.range(1, 5), n = kc.range(2, 33) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.layernorm { accumulator = "f32", height = "n", algorithm = "two_pass", rsqrt_error = 3, denormals = "preserve" },
  oracle        = kc.oracle.layernorm("x", { epsilon = 0x1p-17 }),
  protocol      = { inputs = cases, judged = "tensor", samples = 1, budget = 1e6, vacuous = 0.5,
                    statistic = "max", pass = "class admissible and error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "NaN does not stay with its channel",
                    test = function(m)
                      if m:wrong(plain.label) then return kc.no "wrong without NaN too" end
                      local function count(kind) return m:exceptions(kind, "a channel with NaN") end
                      if count "swallowed" > 0 then return kc.yes "swallowed: numbers come out of a channel with NaN" end
                      return count "widened" > 0 and kc.yes "widened: another channel becomes NaN" or kc.no "none"
                    end },
  calibration   = { baseline = batch_norm("centres_only", "CENTRES_ONLY=1"),
                    bad = { batch_norm("interpolates", "INTERPOLATES=1"), batch_norm("skips_nan", "SKIPS_NAN=1"),
                            batch_norm("carries", "CARRIES=1") },
                    good = { batch_norm("product", "PRODUCT=1"), batch_norm("quotient", "QUOTIENT=1") },
                    probes = { of("probe", sample.uniform(-4, 4)) },
                    functional = { inputs = { of("functional", numbers) }, rtol = 1e-4, atol = 1e-5 } },
}
