local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- One group of 64 work-items.
local function scatter(name)
  return kc.kernel { file = name .. ".k", entry = "scatter", args = { "base", "index", "src", "y", "m", "k" }, group = { 64 },
                     grid = { 64 } }
end

local function terms(label, k, index)
  return sample.named(label, sample.at({ m = 16, k = k }, sample.inputs { base = sample.integers(-1000, -1), index = index,
                                                                          src = sample.integers(1, 1000000) }))
end

local duplicates = terms("scatter last duplicates", 128, sample.integers(0, 12)) -- slots 13 to 15 keep base
local regular = terms("scatter last regular", 64, sample.values { 5, 2, 7, 0, 3, 6, 1, 4 })

-- In the functional test equal indices carry equal values, so that any winner is right.
local agree = sample.at({ m = 16, k = 128 }, sample.inputs { base = sample.integers(-1000, -1), index = sample.integers(0, 12),
                                                             src = sample.constant(7) })

return kc.contract {
  identifier    = { class = "C-ORD-02", name = "scatter.last.f32", version = "1.0" },
  scope         = { operation = "y[j] = the last src[i] with index[i] = j, else base[j]",
                    inputs = { "base: f32[m,1]", "index: i32[1,k]", "src: f32[1,k]" }, outputs = { "y: f32[m,1]" },
                    shapes = { m = kc.choice { 16 }, k = kc.choice { 64, 128 } } },
  precondition  = function(x) return { kc.finite(x.base), kc.any_value(x.index), kc.finite(x.src) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x)
    local slot = kc.cumsum(x.base - x.base + 1, 0) - 1
    local position = kc.cumsum(x.src - x.src + 1, 1)
    local winner = kc.reduce_max(kc.where(kc.eq(x.index, slot), position, 0), 1)
    return kc.where(kc.eq(winner, 0), x.base, kc.sum(kc.where(kc.eq(position, winner), x.src, 0), 1))
  end,
  protocol      = { inputs = { duplicates, regular }, judged = "element", samples = 16, budget = 1e5, vacuous = 0.0, statistic = "max",
                    pass = "equal on the first run, the same bits on all", determinism = "D0",
                    repeats = kc.invocations { probability = 0.03 } },
  signature     = { pattern = "with duplicate indices another than the declared winner",
                    test = function(m)
                      if m:distinct(duplicates.label) > 1 then return kc.yes "any winner: it changes from run to run" end
                      return m:wrong(duplicates.label) and kc.yes "another winner than the last, on the first run already" or kc.no "none"
                    end },
  calibration   = { baseline = scatter "copies_base", bad = { scatter "any_wins", scatter "first_wins" },
                    good = { scatter "slots_scan", scatter "atomic_max" },
                    probes = { duplicates }, functional = { inputs = { agree }, rtol = 0, atol = 0 } },
}
