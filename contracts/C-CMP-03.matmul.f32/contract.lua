local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function matmul(name, defines)
  return kc.kernel { name = name, file = defines and "matmul.k" or name .. ".k", entry = "matmul",
                     args = { "A", "B", "C", "M", "N", "K" }, group = { 16, 16 }, grid = { "N", "M" }, defines = defines }
end

-- Small integers: every sum is exact, so that a wrong element is wrong whatever the order of summation.
local values = sample.integers(1, 31)
local function at(label, M, N, K) return sample.named(label, sample.draws(1, sample.at({ M = M, N = N, K = K }, values))) end

local inputs = { at("shape that is usually tried", 64, 64, 64), at("shape next to it", 20, 64, 64), at("shape next to it", 64, 20, 64),
                 at("shape next to it", 64, 64, 20), at("shape of few offsets", 33, 3, 200), at("shape of few offsets", 200, 3, 33) }
local edges = sample.edges { 16 }
for _, edge in ipairs(sample.shapes(values, { M = 20, N = 20, K = 24 }, { M = edges, N = edges, K = edges })) do
  inputs[#inputs + 1] = sample.named("shape at an edge", edge)
end
inputs[#inputs + 1] = sample.draws(24, sample.named("shape drawn", sample.integers(1, 31)))
inputs[#inputs + 1] = at("shape beyond 16-bit offsets", 200, 3, 200)

-- A result that does not follow its inputs was not computed from them.
local doubled = kc.relation {
  name = "2 A B is twice A B", draws = 2, inputs = { sample.at({ M = 64, N = 64, K = 64 }, values) },
  change = function(x) return { A = kc.scaled(x.A, 2) } end,
  holds = function(_, y, _, y2) return kc.equal(kc.scaled(y.C, 2), y2.C) end,
}

return kc.contract {
  identifier    = { class = "C-CMP-03", name = "matmul.f32", version = "1.0" },
  scope         = { operation = "matmul of any shape", inputs = { "A: f32[M,K]", "B: f32[K,N]" }, outputs = { "C: f32[M,N]" },
                    shapes = { M = kc.range(0, 200), N = kc.range(0, 200), K = kc.range(0, 200) } },
  precondition  = function(x) return { kc.finite(x.A), kc.finite(x.B) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.C, ref.C, t), kc.within(y.C, ref.C, t) } end,
  -- The companion's bound (C-PRC-01): none at all for integers that 24 bits hold.
  tolerance     = tol.dot { kind = "proved", terms = "K", height = "K - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.matmul("A", "B"),
  protocol      = { inputs = inputs, further = { sample.draws(299, sample.named("shape drawn further", values)) },
                    judged = "tensor", samples = 24, budget = 6e7, vacuous = 0.0, relations = { doubled },
                    statistic = "max", pass = "every shape right", repeats = 1 },
  signature     = { pattern = "right for some shapes only", test = function(m)
                      if m:wrong "2 A B" then return kc.yes "no shape at all: the result does not follow the inputs" end
                      return kc.signature.shapes(m, "shape")
                    end },
  calibration   = { baseline = matmul("zeros", "ZEROS=1"),
                    bad = { matmul("floor_grid", "FLOOR_GRID=1"), matmul("narrow_index", "NARROW_INDEX=1"),
                            matmul("one_shape", "ONE_SHAPE=1"), matmul("tail_of_k", "TAIL_OF_K=1") },
                    good = { matmul "matmul", matmul "tiles" },
                    probes = { sample.at({ M = 16, N = 16, K = 16 }, values) },
                    functional = { inputs = { sample.draws(2, sample.at({ M = 64, N = 64, K = 64 }, values)) },
                                   rtol = 1e-4, atol = 1e-4 } },
}
