local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function clip(name, defines)
  return kc.kernel { name = name, file = "one_item.k", entry = "clip", args = { "h", "scale", "y", "n" }, group = { 1 }, grid = { 1 },
                     defines = defines }
end
local group = kc.kernel { file = "group.k", entry = "clip", args = { "h", "scale", "y", "n" }, group = { 64 }, grid = { 64 } }

local function scaled(label, n, h, s)
  return sample.named(label, sample.at({ n = n }, sample.inputs { h = h, scale = sample.constant(2.0 ^ s) }))
end

-- The same gradients under three scales: 3 and 4, which have norm 5; normal ones; and ones of norm below 1, which stay as they are.
local inputs = {}
for _, s in ipairs { 0, 8, 13 } do
  inputs[#inputs + 1] = scaled(("3 and 4, S = 2^%d"):format(s), 2, sample.values { 3 * 2.0 ^ s, 4 * 2.0 ^ s }, s)
end
for _, s in ipairs { 0, 4, 12 } do inputs[#inputs + 1] = scaled(("N(0,1), S = 2^%d"):format(s), 256, sample.normal(s), s) end
for _, s in ipairs { 0, 6, 12 } do inputs[#inputs + 1] = scaled(("within the ball, S = 2^%d"):format(s), 256, sample.normal(s - 6), s) end
inputs[#inputs + 1] = scaled("squares overflow f16, one", 1, sample.constant(300), 0)
inputs[#inputs + 1] = scaled("squares overflow f16, many", 256, sample.log_uniform(6, 14), 0)
inputs[#inputs + 1] = scaled("any exponents, S = 2^24", 256, sample.stratified(), 24)

-- Roundings on the longest path: the square, n - 1 additions, of which the root halves the effect, then root, reciprocal and product.
local N = 256
local theta = (math.ceil(N / 2) + 3) * 2.0 ^ -24

local function place(m)
  if m:wrong "3 and 4, S = 2^13" and not m:wrong "3 and 4, S = 2^0" then return kc.yes "the scaled gradients are clipped" end
  if m:wrong "squares overflow f16, one" and m:confusion("+finite", "+0") > 0 and not m:wrong "3 and 4, S = 2^0" then
    return kc.yes "the squares overflow, and the gradient is lost"
  end
  if m:wrong "within the ball" then return kc.no "wrong where nothing is clipped" end
  local least = m:ratio "3 and 4, S = 2^0"
  return least > 1 and least < 100 and kc.yes "the coefficient is narrower than f32" or kc.no "neither scale nor range shows"
end

local function power_of_two(x) return ("%a"):format(x):match "^0x1p" ~= nil end

return kc.contract {
  identifier    = { class = "C-PRC-04", name = "clip.f16", version = "1.0" },
  scope         = { operation = "g / max(||g||, 1) with g = h / S: unscaled, then clipped to norm 1",
                    inputs = { "h: f16[n]", "scale: f32[1]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, N) } },
  precondition  = function(x) return { kc.finite(x.h), power_of_two(x.scale[1]), x.scale[1] >= 1, x.scale[1] <= 2.0 ^ 24 } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.rel { limit = theta / (1 - theta), denormals = "preserve",
                            source = "G((ceil(n / 2) + 3) u) for n = 256: spec/tolerances.md, \"T-REL: clipping to a norm\"" },
  oracle        = function(x)
    local g = x.h / x.scale
    return g / kc.max(kc.sqrt(kc.sum(g * g, 0)), 1)
  end,
  protocol      = { inputs = inputs, judged = "tensor", samples = 2, budget = 1e4, vacuous = 0.0,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "the clipped gradient depends on the scale, or on the range of f16", test = place },
  calibration   = { baseline = clip("never_clips", "NEVER_CLIPS=1"),
                    bad = { clip("clips_first", "CLIPS_FIRST=1"), clip("norm_in_f16", "NORM_IN_F16=1"),
                            clip("coefficient_in_f16", "COEFFICIENT_IN_F16=1") },
                    good = { clip "unscales_first", group },
                    probes = { scaled("probe", 64, sample.uniform(1.5, 2), 0) },
                    functional = { inputs = { scaled("tested", 64, sample.normal(), 0) }, norm = 1e-2 } },
}
