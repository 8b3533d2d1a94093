local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function unscale(name, defines)
  return kc.kernel { name = name, file = "unscale.k", entry = "unscale", args = { "g", "scale", "y", "skipped", "n" }, group = { 1 },
                     grid = { 1 }, defines = defines }
end

-- The window: |g| S from the smallest normal number of f16, 2^-14, to below its largest, 65504. Moderate gradients are in it for
-- scales from 2^0 to 2^16, small ones for 2^20 to 2^23.
local moderate, small = sample.log_uniform(-12, -2), sample.log_uniform(-34, -8)
local function scaled_by(label, g, e)
  return sample.named(("%s, scale 2^%d"):format(label, e), sample.inputs { g = g, scale = sample.constant(2.0 ^ e) })
end
local inputs = {}
for e = 0, 16, 4 do inputs[#inputs + 1] = scaled_by("moderate gradients", moderate, e) end
for _, e in ipairs { 20, 22, 23 } do inputs[#inputs + 1] = scaled_by("small gradients", small, e) end
local beyond = sample.named("one gradient overflows", sample.inputs { g = sample.plant(small, 1.0, { "middle" }),
                                                                       scale = sample.constant(0x1p17) })
inputs[#inputs + 1] = beyond

-- Powers of two inside the window change no bit; this needs no oracle.
local invariant = kc.relation {
  name = "16 times the scale", inputs = { scaled_by("moderate gradients", moderate, 4), scaled_by("moderate gradients", moderate, 12) },
  change = function(x) return { scale = kc.scaled(x.scale, 16) } end,
  holds = function(_, y, _, y2) return { kc.equal(y.y, y2.y), kc.equal(y.skipped, y2.skipped) } end,
}

local function overflows(x) return kc.reduce_max(kc.where(kc.isinf(kc.rounded(x.g * x.scale, "f16")), 1, 0), -1) end

return kc.contract {
  identifier    = { class = "C-PRC-04", name = "unscale.f16", version = "1.0" },
  scope         = { operation = "gradients through f16 under a loss scale, unscaled in f32; a step that overflows is skipped",
                    inputs = { "g: f32[n]", "scale: f32[1]" }, outputs = { "y: f32[n]", "skipped: i32[1]" },
                    shapes = { n = kc.range(64, 1024) } },
  precondition  = function(x) return { kc.finite(x.g), kc.finite(x.scale) } end,
  postcondition = function(_, y, ref, t)
    return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t), kc.within(y.skipped, ref.skipped, t) }
  end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = { y = function(x) return kc.where(kc.gt(overflows(x), 0), 0, kc.rounded(x.g * x.scale, "f16") / x.scale) end,
                    skipped = overflows },
  protocol      = { inputs = inputs, judged = "element", samples = 1024, budget = 1e6, vacuous = 0.0, relations = { invariant },
                    statistic = "max", pass = "the bits are those of every scale in the window", repeats = 1 },
  signature     = { pattern = "gradients are lost to the scale",
                    test = function(m)
                      if m:confusion("+finite", "+0", "small gradients, scale 2^22") > 0 then
                        local share = {}
                        for i, e in ipairs { 20, 22, 23 } do
                          local label = ("small gradients, scale 2^%d"):format(e)
                          local lost = m:confusion("+finite", "+0", label) + m:confusion("-finite", "-0", label)
                          share[i] = ("%.0f"):format(100 * lost / m:count(label))
                        end
                        return kc.yes(("small ones become zero whatever the scale: %s %%"):format(table.concat(share, ", ")))
                      end
                      return m:wrong(beyond.label) and kc.yes "an overflow is not reported" or kc.no "none"
                    end },
  calibration   = { baseline = unscale("zeros", "ZEROS=1"),
                    bad = { unscale("unscales_in_f16", "UNSCALES_IN_F16=1"), unscale("scales_after_cast", "SCALES_AFTER_CAST=1"),
                            unscale("ignores_overflow", "IGNORES_OVERFLOW=1") },
                    good = { unscale("divides", "DIVIDES=1"), unscale("multiplies", "RECIPROCAL=1") },
                    probes = { sample.at({ n = 64 }, sample.inputs { g = sample.uniform(0.5, 0.75), scale = sample.constant(2) }) },
                    -- The tolerance that the paper calls a placeholder: every bad passes it.
                    functional = { inputs = { sample.at({ n = 1024 }, scaled_by("functional", small, 22)) }, norm = 1e-3 } },
}
