local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function groups_of(n) return { grid = { (n + 63) // 64 }, group = { 64 } } end

local function zeroed(n)
  local buffer = kc.buffer("i32", n)
  for i = 1, n do buffer[i] = 0 end
  return buffer
end

-- Starts from a copy of base; `adds` is the kernel that adds the terms, if any does.
local function copy_then(name, adds)
  local kernels = { "copies_base.k", adds }
  return kc.implementation { name = name, kernels = kernels, run = function(device, x, y, sizes)
    local copy = device:kernel { file = "copies_base.k", entry = "scatter", params = { "base: f32[]", "y: f32[]", "m: i32" } }
    device:launch(copy, { x.base, y.y, sizes.m }, groups_of(sizes.m))
    if not adds then return end
    local add = device:kernel { file = adds, entry = "scatter", params = { "index: i32[]", "src: f32[]", "y: f32[]", "k: i32" } }
    device:launch(add, { x.index, x.src, y.y, sizes.k }, groups_of(sizes.k))
  end }
end

local unstable = kc.implementation { name = "unstable_sort", kernels = { "unstable_sort.k" }, run = function(device, x, y, sizes)
  local m, k, file = sizes.m, sizes.k, "unstable_sort.k"
  local count, bin = zeroed(m), kc.buffer("f32", m * k)
  local place = device:kernel { file = file, entry = "place",
    params = { "index: i32[]", "src: f32[]", "count: i32[]", "bin: f32[]", "k: i32" } }
  local combine = device:kernel { file = file, entry = "combine",
    params = { "base: f32[]", "count: i32[]", "bin: f32[]", "y: f32[]", "m: i32", "k: i32" } }
  device:launch(place, { x.index, x.src, count, bin, k }, groups_of(k))
  device:launch(combine, { x.base, count, bin, y.y, m, k }, groups_of(m))
end }

local fixed = kc.implementation { name = "fixed_point_atomics", kernels = { "fixed_point_atomics.k" }, run = function(device, x, y, sizes)
  local m, k, file = sizes.m, sizes.k, "fixed_point_atomics.k"
  local total = zeroed(m)
  local place = device:kernel { file = file, entry = "place", params = { "index: i32[]", "src: f32[]", "total: i32[]", "k: i32" } }
  local combine = device:kernel { file = file, entry = "combine", params = { "base: f32[]", "total: i32[]", "y: f32[]", "m: i32" } }
  device:launch(place, { x.index, x.src, total, k }, groups_of(k))
  device:launch(combine, { x.base, total, y.y, m }, groups_of(m))
end }

-- Integers below 2^20: sums round in f32, and 32-bit integers hold them.
local function terms(label, k, index)
  local integers = sample.integers(1, 1048575)
  return sample.named(label, sample.at({ m = 8, k = k }, sample.inputs { base = integers, index = index, src = integers }))
end

local duplicates = terms("scatter D0 duplicates", 512, sample.integers(0, 7))
local unique = terms("scatter D0 unique", 8, sample.values { 5, 2, 7, 0, 3, 6, 1, 4 })

return kc.contract {
  identifier    = { class = "C-ORD-02", name = "scatter_add.d0.f32", version = "1.0" },
  scope         = { operation = "y[j] = base[j] + the sum of src[i] with index[i] = j, the same bits under any schedule",
                    inputs = { "base: f32[m,1]", "index: i32[1,k]", "src: f32[1,k]" }, outputs = { "y: f32[m,1]" },
                    shapes = { m = kc.choice { 8 }, k = kc.range(1, 512) } },
  precondition  = function(x) return { kc.finite(x.base), kc.any_value(x.index), kc.finite(x.src) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- 513 terms below 2^20 in any order: gamma(512) 513 2^20 = 16416.6.
  tolerance     = tol.abs { limit = 16417, denormals = "preserve",
                            source = "Higham, lemma 3.1: gamma(512) S1 with u = 2^-24 and S1 <= 513 * 2^20, all terms in one slot" },
  oracle        = function(x)
    local slot = kc.cumsum(x.base - x.base + 1, 0) - 1
    return x.base + kc.sum(kc.where(kc.eq(x.index, slot), x.src, 0), 1)
  end,
  protocol      = { inputs = { duplicates, unique }, judged = "element", samples = 8, budget = 1e5, vacuous = 0.0, statistic = "max",
                    pass = "error <= limit on the first run, the same bits on all", determinism = "D0",
                    repeats = kc.invocations { probability = 0.03 } },
  signature     = { pattern = "the bits of slots with several contributors change from run to run",
                    test = function(m) return m:distinct(duplicates.label) > 1 and m:distinct(unique.label) == 1 end },
  calibration   = { baseline = copy_then "copies_base", bad = { copy_then("float_atomics", "float_atomics.k"), unstable },
                    good = { kc.kernel { file = "slots_scan.k", entry = "scatter", args = { "base", "index", "src", "y", "m", "k" },
                                         group = { 64 }, grid = { "m" } }, fixed },
                    probes = { duplicates }, functional = { inputs = { duplicates }, rtol = 1e-3, atol = 0 } },
}
