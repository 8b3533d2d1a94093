local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function matmul(name)
  return kc.kernel { file = name .. ".k", entry = "matmul", args = { "A", "B", "C", "M", "N", "K" }, group = { 16, 16 },
                     grid = { "N", "M" } }
end

-- Sums of these products stay below 2^24: no order of summation in f32 makes an error.
local integers = sample.at({ M = 32, N = 32, K = 1024 }, sample.integers(1, 31))
local identity = sample.at({ M = 1, N = 1024, K = 1 }, sample.inputs { A = sample.constant(1), B = sample.finite_bits() })
local short = sample.at({ M = 1, N = 1024, K = 2 }, sample.uniform(1, 2))

-- One product and zeros: exact in every order, and needs no oracle.
local unit = kc.relation {
  name = "I B = B", inputs = { sample.at({ M = 64, K = 64, N = 96 },
                                         sample.inputs { A = sample.identity(), B = sample.log_uniform(-14, 15) }) },
  holds = function(x, y) return kc.equal(y.C, x.B) end,
}

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "matmul.f16.acc_f32", version = "1.0" },
  scope         = { operation = "matmul", inputs = { "A: f16[M,K]", "B: f16[K,N]" }, outputs = { "C: f32[M,N]" },
                    shapes = { M = kc.range(1, 128), N = kc.range(1, 1024), K = kc.range(1, 8192) } },
  precondition  = function(x) return { kc.finite(x.A), kc.finite(x.B) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.C, ref.C, t), kc.within(y.C, ref.C, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "K", height = "K - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.matmul("A", "B"),
  protocol      = { inputs = { integers, identity, short, sample.uniform(0, 1), sample.normal(), sample.log_uniform(-14, 0),
                               sample.at({ M = 2, N = 1024, K = 80 }, sample.uniform(0, 1)),
                               sample.at({ M = 32, N = 32, K = 8192 }, sample.integers(0, 40)) },
                    judged = "element", samples = 512, budget = 14e6, vacuous = 0.5, relations = { unit },
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "narrower than f32",
                    test = function(m)
                      return kc.signature.narrower(m, { declared = "f32", identity = identity.label, short = short.label,
                                                        integers = integers.label })
                    end },
  calibration   = { baseline = matmul "zeros", bad = { matmul "acc_f16", matmul "acc_bf16", matmul "chunks_f16" },
                    good = { matmul "acc_f32", matmul "blocks_f32" },
                    probes = { sample.at({ M = 16, N = 16, K = 32 }, sample.uniform(1, 2)) },
                    functional = { inputs = { sample.at({ M = 16, N = 16, K = 32 }, sample.uniform(0, 1)) }, rtol = 5e-2, atol = 1e-2 } },
}
