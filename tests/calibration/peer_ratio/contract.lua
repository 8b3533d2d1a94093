local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function sum(name)
  return kc.kernel { file = "../../../contracts/C-PRC-01.sum.f32/" .. name .. ".k", entry = "sum", args = { "x", "s", "n", "k" },
                     group = { 64 }, grid = { "n" } }
end

local function in_groups()
  local file = "../../../contracts/C-PRC-01.sum.f32/group_tree.k"
  return kc.implementation { name = "group_tree", kernels = { file }, run = function(device, x, y, sizes)
    local kernel = device:kernel { file = file, entry = "sum",
      params = { "x: f32[]", "s: f32[]", "n: i32", "k: i32" } }
    device:launch(kernel, { x.x, y.s, sizes.n, sizes.k }, { grid = { sizes.n }, group = { 64 } })
  end }
end

-- As FlashAttention's tests ask: at most twice the largest error of a plain implementation on the same inputs.
return kc.contract {
  identifier    = { class = "C-PRC-01", name = "sum.peer", version = "1.0" },
  scope         = { operation = "sum", inputs = { "x: f32[n,k]" }, outputs = { "s: f32[n]" },
                    shapes = { n = kc.choice { 64 }, k = kc.choice { 2048 } } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t) } end,
  tolerance     = tol.peer_ratio { factor = 2, peer = sum "sequential", denormals = "preserve",
                                   source = "FlashAttention, tests/test_flash_attn.py" },
  oracle        = kc.oracle.sum("x"),
  protocol      = { inputs = { sample.uniform(0, 1) }, judged = "element", samples = 64, budget = 1e6, vacuous = 0.0,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "worse than the peer", test = function(m) return m:ratio() > 1 end },
  calibration   = { baseline = sum "zeros", bad = { sum "acc_f16", sum "acc_bf16" }, good = { in_groups(), sum "sequential" },
                    probes = { sample.uniform(1, 2) },
                    functional = { inputs = { sample.uniform(0, 0.001) }, rtol = 0.97, atol = 0 } },
}
