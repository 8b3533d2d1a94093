local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- Some kernels are those of C-PRC-01, where any order will do.
local other = "../C-PRC-01.sum.f32/"

local function rows(name)
  return kc.kernel { file = other .. name .. ".k", entry = "sum", args = { "x", "s", "n", "k" }, group = { 64 }, grid = { "n" } }
end

-- A group of 64 work-items for each row.
local function groups(name, directory)
  local file = (directory or "") .. name .. ".k"
  return kc.implementation { name = name, kernels = { file }, run = function(device, x, y, sizes)
    local kernel = device:kernel { file = file, entry = "sum", params = { "x: f32[]", "s: f32[]", "n: i32", "k: i32" } }
    device:launch(kernel, { x.x, y.s, sizes.n, sizes.k }, { grid = { sizes.n }, group = { 64 } })
  end }
end

local integers = sample.named("integers in 64 lanes", sample.at({ n = 64, k = 4099 }, sample.integers(-31, 1023)))
local equal = sample.named("equal terms in 64 lanes", sample.at({ n = 32, k = 8192 }, sample.constant(0.1)))

-- Sums that are exact do not depend on the order of the terms; and the declared order is the same for 2^10 times the terms.
local reversed = kc.relation {
  name = "sum of the reversed terms", inputs = { integers },
  change = function(x) return { x = kc.reversed(x.x) } end,
  holds = function(_, y, _, y2) return kc.equal(y.s, y2.s) end,
}
local scaled = kc.relation {
  name = "sum of 2^10 times the terms", inputs = { sample.log_uniform(-10, 10) },
  change = function(x) return { x = kc.scaled(x.x, 0x1p10) } end,
  holds = function(_, y, _, y2) return kc.equal(kc.scaled(y.s, 0x1p10), y2.s) end,
}

return kc.contract {
  identifier    = { class = "C-ORD-01", name = "sum.lanes64.f32", version = "1.0" },
  scope         = { operation = "sum over the last axis in 64 lanes and a tree", inputs = { "x: f32[n,k]" }, outputs = { "s: f32[n]" },
                    shapes = { n = kc.range(1, 64), k = kc.range(1, 16384) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t) } end,
  -- The declared order: k / 64 terms in each lane, then six levels.
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "ceil(k / 64) - 1 + 6", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.sum("x"),
  protocol      = { inputs = { integers, equal, sample.uniform(0, 1), sample.log_uniform(-10, 10, true),
                               sample.at({ n = 64, k = 4 }, sample.values { 1e8, 1, -1e8, 1 }) },
                    judged = "element", samples = 64, budget = 3e6, vacuous = 0.5, relations = { reversed, scaled },
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "another order of summation than declared",
                    test = function(m)
                      -- No order makes sums of these integers wrong.
                      if m:ratio(integers.label) > 0 then return kc.yes "terms are lost, or partial sums are narrowed on the way" end
                      return m:ratio(equal.label) > 1 and kc.yes "errors of equal terms add up along a longer path" or kc.no "none"
                    end },
  calibration   = { baseline = rows "zeros", bad = { rows "sequential", groups "drops_tail", groups "bf16_partials" },
                    good = { groups("group_tree", other), groups "contiguous_lanes" },
                    probes = { sample.at({ n = 16, k = 64 }, sample.uniform(1, 2)) },
                    functional = { inputs = { sample.at({ n = 16, k = 1000 }, sample.uniform(0, 1)) }, rtol = 1e-2, atol = 1e-3 } },
}
