local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function sum(name)
  return kc.kernel { file = name .. ".k", entry = "sum", args = { "x", "s", "n", "k" }, group = { 64 }, grid = { "n" } }
end

local function sum_in_groups(name)
  return kc.implementation { name = name, kernels = { name .. ".k" }, run = function(device, x, y, sizes)
    local kernel = device:kernel { file = name .. ".k", entry = "sum", params = { "x: f32[]", "s: f32[]", "n: i32", "k: i32" } }
    device:launch(kernel, { x.x, y.s, sizes.n, sizes.k }, { grid = { sizes.n }, group = { 64 } })
  end }
end

-- Sums of these integers stay below 2^24 in every order: no error is allowed.
local integers = sample.at({ n = 1024, k = 509 }, sample.integers(-31, 1023))
local short = sample.at({ n = 1024, k = 2 }, sample.uniform(1, 2))

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "sum.f32", version = "1.0" },
  scope         = { operation = "sum over the last axis", inputs = { "x: f32[n,k]" }, outputs = { "s: f32[n]" },
                    shapes = { n = kc.range(1, 1024), k = kc.range(1, 16384) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.sum("x"),
  protocol      = { inputs = { integers, short, sample.uniform(0, 1), sample.normal(), sample.log_uniform(-60, 60), sample.subnormal() },
                    judged = "element", samples = 256, budget = 6e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "narrower than f32",
                    test = function(m)
                      return kc.signature.narrower(m, { declared = "f32", short = short.label, integers = integers.label })
                    end },
  calibration   = { baseline = sum "zeros", bad = { sum "acc_bf16", sum "acc_f16", sum "drops_tail" },
                    good = { sum "sequential", sum_in_groups "group_tree" },
                    probes = { sample.at({ n = 64, k = 64 }, sample.uniform(1, 2)) },
                    functional = { inputs = { sample.at({ n = 64, k = 64 }, sample.uniform(0, 1)) }, rtol = 5e-2, atol = 1e-2 } },
}
