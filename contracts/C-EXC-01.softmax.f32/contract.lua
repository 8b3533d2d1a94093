local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function softmax(name, defines)
  return kc.kernel { name = name, file = "softmax.k", entry = "softmax", args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" },
                     defines = defines }
end

local cases = {}
local function case(label, base)
  cases[#cases + 1] = sample.named(label, sample.draws(1, sample.at({ n = 9, d = 17 }, base)))
  return cases[#cases].label
end
-- One row of nine holds the value, at each kind of place; the others must stay as they are.
case("rows without NaN or infinity", sample.normal())
for _, place in ipairs { "first", "middle", "last" } do
  case("a row with NaN", sample.plant(sample.normal(), nan, { place, place }))
  case("a row with +inf", sample.plant(sample.normal(), inf, { place, place }))
  case("a row with -inf", sample.plant(sample.normal(), -inf, { place, place }))
  case("a row of -inf", sample.plant(sample.normal(), -inf, { place, "all" }))
end

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "softmax.f32", version = "1.0" },
  scope         = { operation = "softmax over the last axis, NaN and infinities as IEEE 754 has them", inputs = { "x: f32[n,d]" },
                    outputs = { "y: f32[n,d]" }, shapes = { n = kc.range(1, 9), d = kc.range(1, 64) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.softmax { accumulator = "f32", height = "d", exp_error = 2, denormals = "preserve" },
  oracle        = kc.oracle.softmax("x"),
  protocol      = { inputs = cases, judged = "tensor", samples = 1, budget = 1e6, vacuous = 0.5,
                    statistic = "max", pass = "class admissible and error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "NaN or infinity lost or leaked",
                    test = function(m)
                      if m:wrong "rows without" then return kc.no "wrong without NaN too" end
                      if m:swallowed "a row with NaN" > 0 then return kc.yes "NaN is swallowed" end
                      return m:swallowed "a row of -inf" > 0 and kc.yes "a row of -inf gives numbers, which only a mask may ask for"
                        or kc.no "none"
                    end },
  calibration   = { baseline = softmax("uniform", "UNIFORM=1"),
                    bad = { softmax("skips_nan", "SKIPS_NAN=1 NAN_TO_ZERO=1"), softmax("nan_to_zero", "NAN_TO_ZERO=1"),
                            softmax("floors_maximum", "FLOORS_MAXIMUM=1") },
                    good = { softmax("quotient", "QUOTIENT=1"), softmax("reciprocal", "RECIPROCAL=1") },
                    probes = { sample.at({ n = 8, d = 16 }, sample.uniform(0, 4)) },
                    functional = { inputs = { sample.at({ n = 9, d = 17 }, sample.normal()) }, rtol = 1e-5, atol = 1e-8 } },
}
