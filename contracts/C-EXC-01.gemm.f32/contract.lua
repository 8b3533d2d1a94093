local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function gemm(name, defines)
  return kc.kernel { name = name, file = "gemm.k", entry = "gemm", args = { "A", "B", "C0", "alpha", "beta", "C", "M", "N", "K" },
                     group = { 8, 8 }, grid = { "N", "M" }, defines = defines }
end

-- Operands are small integers, so that every finite result is exact in any order of summation.
local few, some = sample.integers(1, 3), sample.integers(1, 9)
local plain = { A = few, B = few, C0 = some, alpha = sample.constant(2), beta = sample.constant(3), layout = sample.integers(0, 3) }

local function with(changes)
  local all = {}
  for _, name in ipairs { "A", "B", "C0", "alpha", "beta", "layout" } do all[name] = changes[name] or plain[name] end
  return sample.inputs(all)
end

-- Each case at drawn sizes, and once so large that a library uses its blocked kernels and its threads. The large ones stand first:
-- their references, the dearest, then are among those that are kept for the next implementation.
local cases, small = {}, {}
local function case(label, changes)
  local inputs = sample.named(label, with(changes))
  cases[#cases + 1] = sample.named(label, sample.at({ M = 66, N = 67, K = 64 }, inputs))
  small[#small + 1] = inputs
end
-- What a 0 hides depends on the kernel that a library chooses, so on shape and storage: these also with few terms, which some hand
-- to a scaled vector addition, and either operand stored by columns.
local function hidden(label, changes)
  case(label, changes)
  for form = 0, 3 do
    changes.layout = sample.values { form % 2, form // 2, 0 }
    small[#small + 1] = sample.named(label, sample.at({ M = 66, N = 67, K = 3 }, with(changes)))
  end
end
local function empty(label, changes)
  small[#small + 1] = sample.named(label, sample.at({ M = 17, N = 19, K = 0 }, with(changes)))
end

local function at(value, row, column, base) return sample.plant(base or few, value, { row, column }) end
local zero, one = sample.constant(0), sample.constant(1)

case("finite", {})
case("transposed", { layout = sample.values { 1, 1, 0 } })
case("ld > width", { layout = sample.values { 0, 0, 3 } })
case("NaN in A", { A = at(nan, "last", "middle") })
case("NaN in B", { B = at(nan, "middle", "last") })
case("NaN in C", { C0 = at(nan, "last", "last", some), beta = one })
case("Inf in A", { A = at(inf, "middle", "last") })
case("Inf in B", { B = at(-inf, "last", "middle") })
case("Inf in C", { C0 = at(inf, "last", "middle", some) })
case("Inf - Inf", { A = at(inf, "last", "all"), B = at(-1, "last", "all") })
hidden("0 in A, NaN in B", { A = at(0, "all", "middle"), B = at(nan, "middle", "last") })
hidden("NaN in A, 0 in B", { A = at(nan, "last", "middle"), B = at(0, "middle", "all") })
hidden("0 in A, Inf in B", { A = at(0, "all", "last"), B = at(inf, "last", "middle") })
hidden("Inf in A, 0 in B", { A = at(inf, "last", "middle"), B = at(0, "middle", "all") })
case("alpha = 0, NaN in A", { alpha = zero, A = at(nan, "middle", "middle") })
case("alpha = 0, Inf in B", { alpha = zero, B = at(inf, "middle", "middle") })
case("beta = 0, NaN in C", { beta = zero, C0 = at(nan, "middle", "last", some) })
case("beta = 0, Inf in C", { beta = zero, C0 = at(inf, "last", "last", some) })
case("alpha = beta = 0, NaN in all", { alpha = zero, beta = zero, A = at(nan, "all", "all"), B = at(nan, "all", "all"),
                                       C0 = at(nan, "all", "all") })
case("alpha = NaN", { alpha = sample.values { nan } })
case("beta = NaN", { beta = sample.values { nan } })
empty("K = 0", {})
empty("K = 0, beta = 0, NaN in C", { beta = zero, C0 = at(nan, "middle", "last", some) })

table.move(small, 1, #small, #cases + 1, cases)

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "gemm.f32", version = "1.0" },
  scope         = { operation = "C = alpha A B + beta C0",
                    inputs = { "A: f32[M,K]", "B: f32[K,N]", "C0: f32[M,N]", "alpha: f32[1]", "beta: f32[1]", "layout: i32[3]" },
                    outputs = { "C: f32[M,N]" },
                    shapes = { M = kc.range(1, 80), N = kc.range(1, 80), K = kc.range(1, 80) } },
  precondition  = function(x) return { kc.any_value(x.A), kc.any_value(x.B), kc.any_value(x.C0) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.C, ref.C, t), kc.within(y.C, ref.C, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE, except that alpha = 0 reads neither A nor B and beta = 0 does not read C0",
                               denormals = "preserve" },
  oracle        = kc.oracle.matmul("A", "B", "C0", { alpha = "alpha", beta = "beta" }),
  protocol      = { inputs = cases, judged = "element", samples = 300, budget = 6e7, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN lost or leaked: an operand is passed over that counts, or read although alpha or beta is 0",
                    test = function(m)
                      return kc.signature.misplaced(m, { "NaN in", "Inf", "0 in", "alpha", "beta", "K = 0" })
                    end },
  calibration   = { baseline = gemm("ignores_c", "IGNORES_C=1"),
                    bad = { gemm("skips_zeros_of_b", "SKIPS_ZEROS_OF_B=1"), gemm("always_reads_c", "ALWAYS_READS_C=1"),
                            gemm("always_reads_ab", "ALWAYS_READS_AB=1"), gemm("nan_beta_is_zero", "NAN_BETA_IS_ZERO=1") },
                    good = { gemm "textbook", gemm("term_by_term", "TERM_BY_TERM=1") },
                    probes = { with {} },
                    functional = { inputs = { with {} }, rtol = 1e-5, atol = 1e-8 } },
}
