local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function gemv(name, defines)
  return kc.kernel { name = name, file = "gemv.k", entry = "gemv", args = { "A", "x", "y0", "alpha", "beta", "y", "M", "K" },
                     group = { 32 }, grid = { "M" }, defines = defines }
end

-- Operands are small integers, so that every finite result is exact in any order of summation.
local few, some = sample.integers(1, 3), sample.integers(1, 9)
local plain = { A = few, x = few, y0 = some, alpha = sample.constant(2), beta = sample.constant(3), layout = sample.integers(0, 3) }

local function with(changes)
  local all = {}
  for _, name in ipairs { "A", "x", "y0", "alpha", "beta", "layout" } do all[name] = changes[name] or plain[name] end
  return sample.inputs(all)
end

-- Each case at drawn sizes, and once so large that a library uses its blocked kernels and its threads. The large ones stand first:
-- their references, the dearest, then are among those that are kept for the next implementation.
local cases, small = {}, {}
local function case(label, changes)
  local inputs = sample.named(label, with(changes))
  cases[#cases + 1] = sample.named(label, sample.at({ M = 151, K = 130 }, inputs))
  small[#small + 1] = inputs
end
local function empty(label, changes)
  small[#small + 1] = sample.named(label, sample.at({ M = 150, K = 0 }, with(changes)))
end

local function at(value, row, column, base) return sample.plant(base or few, value, { row, column }) end
local zero, one = sample.constant(0), sample.constant(1)

case("finite", {})
case("transposed", { layout = sample.values { 1, 0, 0 } })
case("ld > width, strides > 1", { layout = sample.values { 0, 3, 2 } })
case("NaN in A", { A = at(nan, "last", "middle") })
case("NaN in x", { x = at(nan, "last", "first") })
case("NaN in y", { y0 = at(nan, "last", "first", some), beta = one })
case("Inf in A", { A = at(inf, "middle", "last") })
case("Inf in x", { x = at(-inf, "middle", "first") })
case("Inf in y", { y0 = at(inf, "last", "first", some) })
case("Inf - Inf", { A = at(inf, "last", "all"), x = at(-1, "last", "first") })
case("0 in A, NaN in x", { A = at(0, "all", "middle"), x = at(nan, "middle", "first") })
case("NaN in A, 0 in x", { A = at(nan, "last", "middle"), x = at(0, "middle", "first") })
case("0 in A, Inf in x", { A = at(0, "all", "last"), x = at(inf, "last", "first") })
case("Inf in A, 0 in x", { A = at(inf, "last", "middle"), x = at(0, "middle", "first") })
case("alpha = 0, NaN in A", { alpha = zero, A = at(nan, "middle", "middle") })
case("alpha = 0, Inf in x", { alpha = zero, x = at(inf, "middle", "first") })
case("beta = 0, NaN in y", { beta = zero, y0 = at(nan, "middle", "first", some) })
case("beta = 0, Inf in y", { beta = zero, y0 = at(inf, "last", "first", some) })
case("alpha = beta = 0, NaN in all", { alpha = zero, beta = zero, A = at(nan, "all", "all"), x = at(nan, "all", "all"),
                                       y0 = at(nan, "all", "all") })
case("alpha = NaN", { alpha = sample.values { nan } })
case("beta = NaN", { beta = sample.values { nan } })
empty("K = 0", {})
empty("K = 0, beta = 0, NaN in y", { beta = zero, y0 = at(nan, "middle", "first", some) })

table.move(small, 1, #small, #cases + 1, cases)

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "gemv.f32", version = "1.0" },
  scope         = { operation = "y = alpha A x + beta y0",
                    inputs = { "A: f32[M,K]", "x: f32[K,1]", "y0: f32[M,1]", "alpha: f32[1]", "beta: f32[1]", "layout: i32[3]" },
                    outputs = { "y: f32[M,1]" }, shapes = { M = kc.range(1, 160), K = kc.range(1, 160) } },
  precondition  = function(x) return { kc.any_value(x.A), kc.any_value(x.x), kc.any_value(x.y0) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE, except that alpha = 0 reads neither A nor x and beta = 0 does not read y0",
                               denormals = "preserve" },
  oracle        = kc.oracle.matmul("A", "x", "y0", { alpha = "alpha", beta = "beta" }),
  protocol      = { inputs = cases, judged = "element", samples = 100, budget = 6e6, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN lost or leaked: an operand is passed over that counts, or read although alpha or beta is 0",
                    test = function(m)
                      return kc.signature.misplaced(m, { "NaN in", "Inf", "0 in", "alpha", "beta", "K = 0" })
                    end },
  calibration   = { baseline = gemv("ignores_y", "IGNORES_Y=1"),
                    bad = { gemv("skips_zeros_of_x", "SKIPS_ZEROS_OF_X=1"), gemv("always_reads_y", "ALWAYS_READS_Y=1"),
                            gemv("nan_beta_is_zero", "NAN_BETA_IS_ZERO=1"), gemv("quick_return", "QUICK_RETURN=1") },
                    good = { gemv "column_by_column", gemv("dot_first", "DOT_FIRST=1") },
                    probes = { with {} },
                    functional = { inputs = { with {} }, rtol = 1e-5, atol = 1e-8 } },
}
