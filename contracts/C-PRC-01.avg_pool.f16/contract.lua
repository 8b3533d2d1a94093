local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function avg_pool(name)
  return kc.kernel { file = name .. ".k", entry = "avg_pool", args = { "x", "y", "c", "k" }, group = { 4 }, grid = { "c" } }
end

-- Windows of height times width elements: one line says the sizes at which a sum or a count of 11 bits stands still.
local function windows(label, height, width, base)
  return sample.named(label, sample.at({ c = 4, k = height * width }, base))
end

local STOPS = 2048 -- above it f16 holds no odd integer: adding 1, or less, changes nothing
local full = {}
for _, size in ipairs { { 128, 64 }, { 255, 63 }, { 255, 255 } } do
  local height, width = size[1], size[2]
  full[#full + 1] = { k = height * width, ones = windows(("pools of ones %dx%d"):format(height, width), height, width, sample.constant(1)),
                      some = windows(("pools of U[0,1) %dx%d"):format(height, width), height, width, sample.uniform(0, 1)) }
end
-- Ones and zeros are counted exactly in f16 up to 2048: what is wrong here is wrong in every window.
local masks = sample.named("pools of masks 32x64", sample.at({ c = 64, k = STOPS }, sample.integers(0, 1)))

local inputs = { masks, sample.at({ c = 64, k = 64 }, sample.uniform(0, 1)), sample.at({ c = 64, k = 49 }, sample.normal()) }
for _, window in ipairs(full) do table.move({ window.ones, window.some }, 1, 2, #inputs + 1, inputs) end

-- The mean of ones is 1 = S1, so the largest error in units of S1 tells how far the sum, or the count, came.
local function stopped(m)
  for _, window in ipairs(full) do
    local off, n = 2.0 ^ -m:bits(window.ones.label), window.k
    if math.abs(off - (1 - STOPS / n)) < 0x1p-9 then return kc.yes(("the sum of %d ones stops at 2048: 2048/N"):format(n)) end
    if math.abs(off - (n / STOPS - 1)) < 0x1p-6 then return kc.yes(("the count of %d elements stops at 2048: N/2048"):format(n)) end
  end
  return kc.no "windows of ones have the mean 1"
end

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "avg_pool.f16", version = "1.0" },
  scope         = { operation = "average pooling of one window a channel", inputs = { "x: f16[c,k]" }, outputs = { "y: f16[c]" },
                    shapes = { c = kc.range(1, 64), k = kc.range(1, 65536) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.mean("x"),
  protocol      = { inputs = inputs, judged = "element", samples = 8, budget = 8e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "windows beyond 2048 elements are pooled with 11 bits",
                    test = function(m) return m:wrong(masks.label) and kc.no "windows of 2048 are wrong too" or stopped(m) end },
  calibration   = { baseline = avg_pool "first",
                    bad = { avg_pool "running_f16", avg_pool "large_windows_f16", avg_pool "counts_in_f16" },
                    good = { avg_pool "sequential", avg_pool "lanes" },
                    probes = { sample.at({ c = 16, k = 64 }, sample.uniform(1.5, 2)) },
                    functional = { inputs = { sample.at({ c = 64, k = 64 }, sample.uniform(0, 1)) }, rtol = 1e-2, atol = 1e-3 } },
}
