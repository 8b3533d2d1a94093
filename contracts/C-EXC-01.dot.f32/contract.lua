local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function dot(name, defines)
  return kc.kernel { name = name, file = "dot.k", entry = "dot", args = { "x", "y", "r", "K" }, group = { 1 }, grid = { 1 },
                     defines = defines }
end

-- Operands are small integers, so that every finite result is exact in any order of summation.
local few = sample.integers(1, 3)
local function with(changes)
  return sample.inputs { x = changes.x or few, y = changes.y or few, layout = changes.layout or sample.integers(0, 3) }
end

-- Each case at drawn lengths, and once so long that a library uses its threads.
local cases = {}
local function case(label, changes)
  local inputs = sample.named(label, with(changes))
  cases[#cases + 1] = inputs
  cases[#cases + 1] = sample.named(label, sample.at({ K = 10007 }, inputs))
end

local function x_at(value, place, base) return sample.plant(base or few, value, { "first", place }) end
local function y_at(value, place, base) return sample.plant(base or few, value, { place, "first" }) end

case("finite", {})
case("strides > 1", { layout = sample.values { 2, 3 } })
case("NaN in x", { x = x_at(nan, "last") })
case("NaN in y", { y = y_at(nan, "middle") })
case("Inf in x", { x = x_at(inf, "middle") })
case("Inf in y", { y = y_at(-inf, "last") })
case("Inf - Inf", { x = x_at(inf, "last", x_at(-inf, "first")), y = few })
case("0 in x, NaN in y", { x = x_at(0, "middle"), y = y_at(nan, "middle") })
case("NaN in x, 0 in y", { x = x_at(nan, "last"), y = y_at(0, "last") })
case("0 in x, Inf in y", { x = x_at(0, "last"), y = y_at(inf, "last") })
case("Inf in x, 0 in y", { x = x_at(inf, "middle"), y = y_at(0, "middle") })
cases[#cases + 1] = sample.named("K = 0", sample.at({ K = 0 }, with {}))

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "dot.f32", version = "1.0" },
  scope         = { operation = "r = x . y", inputs = { "x: f32[1,K]", "y: f32[K,1]", "layout: i32[2]" },
                    outputs = { "r: f32[1,1]" }, shapes = { K = kc.range(1, 12000) } },
  precondition  = function(x) return { kc.any_value(x.x), kc.any_value(x.y) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.r, ref.r, t), kc.within(y.r, ref.r, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.matmul("x", "y"),
  protocol      = { inputs = cases, judged = "tensor", samples = 4, budget = 2e6, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN or infinity lost: a term is passed over or cut off", test = function(m)
                      return kc.signature.misplaced(m, { "NaN in", "Inf", "0 in", "K = 0" })
                    end },
  calibration   = { baseline = dot("forgets_last", "FORGETS_LAST=1"),
                    bad = { dot("skips_zeros", "SKIPS_ZEROS=1"), dot("clamps", "CLAMPS=1") },
                    good = { dot "one_sum", dot("four_sums", "FOUR_SUMS=1") },
                    probes = { with {} },
                    functional = { inputs = { with {} }, rtol = 1e-5, atol = 1e-8 } },
}
