local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function clip(name, defines)
  return kc.kernel { name = name, file = "clip.k", entry = "clip", args = { "g", "scale", "y", "n" }, group = { 1 }, grid = { 1 },
                     defines = defines }
end

local function scaled(label, g, scale) return sample.named(label, sample.inputs { g = g, scale = sample.constant(scale) }) end
local plain = scaled("clipped without a scale", sample.uniform(1, 4), 1)
local under = scaled("clipped under a scale", sample.uniform(1, 4), 0x1p-6)
local below = scaled("not clipped under a scale", sample.uniform(1, 4), 0x1p12)
local large = scaled("norm beyond f16", sample.uniform(250, 350), 1)

return kc.contract {
  identifier    = { class = "C-PRC-04", name = "clip.f16", version = "1.0" },
  scope         = { operation = "gradients unscaled, then clipped to norm 1", inputs = { "g: f16[n]", "scale: f32[1]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(2, 1024) } },
  precondition  = function(x) return { kc.finite(x.g), kc.finite(x.scale) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.rel { limit = 517 * 0x1p-24, denormals = "preserve",
                            source = "spec/tolerances.md, \"Norms\": (n / 2 + 5) u for n = 1024 terms" },
  oracle        = function(x)
    local u = x.g / x.scale
    local norm = kc.sqrt(kc.sum(u * u, -1))
    return kc.where(kc.gt(norm, 1), u / norm, u)
  end,
  protocol      = { inputs = { plain, under, below, large }, judged = "element", samples = 1024, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "clipping depends on the scale, or on the range of f16",
                    test = function(m)
                      if m:wrong(below.label) and m:ratio(plain.label) <= 1 then return kc.yes "clipped before it is unscaled" end
                      if m:wrong(large.label) and m:confusion("+finite", "+0", large.label) > 0 then
                        return kc.yes "the norm overflows f16 and the gradient is erased"
                      end
                      return m:wrong(plain.label) and kc.yes "the norm or the coefficient is narrow" or kc.no "none"
                    end },
  calibration   = { baseline = clip("never_clips", "NEVER_CLIPS=1"),
                    bad = { clip("clips_first", "CLIPS_FIRST=1"), clip("norm_in_f16", "NORM_IN_F16=1"),
                            clip("coefficient_in_f16", "COEFFICIENT_IN_F16=1") },
                    good = { clip("unscales_first", "UNSCALES_FIRST=1"), clip("four_sums", "FOUR_SUMS=1") },
                    probes = { sample.at({ n = 16 }, scaled("probe", sample.uniform(2, 3), 1)) },
                    functional = { inputs = { sample.at({ n = 2 }, scaled("functional", sample.values { 3, 4 }, 1)) }, norm = 1e-3 } },
}
