local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function gemm(name, defines, denormals)
  return kc.kernel { name = name, file = "gemm.k", entry = "gemm", args = { "A", "B", "C0", "alpha", "beta", "C", "M", "N", "K" },
                     group = { 16, 16 }, grid = { "N", "M" }, defines = defines, denormals = denormals }
end

-- The operands from one sample; alpha and beta at random, or 1 and 0.
local function product(label, operands, scaled)
  return sample.named(label, sample.inputs { A = operands, B = operands, C0 = operands,
    alpha = scaled and sample.uniform(0.5, 2) or sample.constant(1), beta = scaled and sample.uniform(-2, -0.5) or sample.constant(0) })
end

-- Sums of these products stay below 2^24: no order of summation in f32 makes an error.
local integers = sample.named("integers, exact", sample.at({ M = 32, N = 32, K = 512 }, product("integers, exact", sample.integers(1, 31))))
local long = sample.named("long rows", sample.at({ M = 32, N = 32, K = 1500 }, product("long rows", sample.uniform(0, 1), true)))

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "gemm.f32", version = "1.0" },
  scope         = { operation = "C = alpha A B + beta C0",
                    inputs = { "A: f32[M,K]", "B: f32[K,N]", "C0: f32[M,N]", "alpha: f32[1]", "beta: f32[1]" },
                    outputs = { "C: f32[M,N]" },
                    shapes = { M = kc.range(1, 96), N = kc.range(1, 96), K = kc.range(1, 3000) } },
  precondition  = function(x) return { kc.finite(x.A), kc.finite(x.B), kc.finite(x.C0), kc.finite(x.alpha), kc.finite(x.beta) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.C, ref.C, t), kc.within(y.C, ref.C, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "K", height = "K - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.matmul("A", "B", "C0", { alpha = "alpha", beta = "beta" }),
  protocol      = { inputs = { product("normal", sample.normal()), product("normal, alpha and beta", sample.normal(), true), integers,
                               long, product("exponents -20 to 20", sample.log_uniform(-20, 20), true),
                               product("products underflow", sample.log_uniform(-74, -64)) },
                    judged = "element", samples = 1024, budget = 8e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "sums or operands are narrower than f32",
                    test = function(m)
                      if m:ratio "integers, exact" > 0 then return kc.yes "sums of small integers are wrong" end
                      if m:ratio "normal, alpha and beta" > 1 or m:ratio "long rows" > 1 then
                        return kc.yes "sums of random terms exceed the bound"
                      end
                      return m:wrong "products underflow" and kc.yes "products that underflow are lost" or kc.no "none"
                    end },
  calibration   = { baseline = gemm("zeros", "ZEROS=1"),
                    bad = { gemm("f16_sums", "F16_SUMS=1"), gemm("tf32_operands", "TF32_OPERANDS=1"),
                            gemm("bf16_when_long", "BF16_WHEN_LONG=1"), gemm("flushes", nil, "flush") },
                    good = { gemm "one_sum", gemm("eight_sums", "EIGHT_SUMS=1") },
                    probes = { sample.at({ M = 16, N = 16, K = 32 }, product("probe", sample.uniform(1, 2), true)) },
                    functional = { inputs = { sample.at({ M = 16, N = 16, K = 64 }, product("functional", sample.uniform(0, 1))) },
                                   rtol = 2e-2, atol = 1e-2 } },
}
