local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function unscale(name, defines)
  return kc.kernel { name = name, file = "one_item.k", entry = "unscale", args = { "g", "scale", "y", "skipped", "n" }, group = { 1 },
                     grid = { 1 }, defines = defines }
end
local group = kc.kernel { file = "group.k", entry = "unscale", args = { "g", "scale", "y", "skipped", "n" }, group = { 64 }, grid = { 64 } }

-- The same gradients for every scale and seed: exponents lo .. hi - 1 and significands spread evenly, both signs.
local N = 512
local function gradients(lo, hi)
  local list = {}
  for i = 1, N do
    local exponent, significand = lo + math.floor((hi - lo) * (i * 0.6180339887 % 1)), 1 + 0.999 * (i * 0.7548776662 % 1)
    list[i] = (i % 2 == 0 and 1 or -1) * significand * 2.0 ^ exponent
  end
  return sample.values(list)
end

local function scaled(label, g, s)
  return sample.named(label, sample.at({ n = N }, sample.inputs { g = g, scale = sample.constant(2.0 ^ s) }))
end

-- 2^-14 .. 2^-8 lies in the window of every scale; 2^-34 .. 2^-8, from 2^20 on.
local inside, small = gradients(-14, -8), gradients(-34, -8)
local scales = { 0, 4, 8, 12, 16, 20, 24 }
local inputs = {}
for _, s in ipairs(scales) do inputs[#inputs + 1] = scaled(("in the window, S = 2^%d"):format(s), inside, s) end
for _, s in ipairs(scales) do inputs[#inputs + 1] = scaled(("small gradients, S = 2^%d"):format(s), small, s) end
-- 65519 still rounds to 65504, 65520 does not.
for _, row in ipairs { { "overflow, first of all", 1.0, "first", 24 }, { "overflow, last of all", -0x1p-7, "last", 24 },
                       { "overflow, just so", 65520 / 65536, "middle", 16 }, { "largest that fits", 65519 / 65536, "middle", 16 } } do
  inputs[#inputs + 1] = scaled(row[1], sample.plant(small, row[2], { row[3] }), row[4])
end

local function f16(x) return kc.rounded(x.g * x.scale, "f16") end
local function overflows(x) return kc.reduce_max(kc.isinf(f16(x)), 0) end

-- Results that are zero, of one sample's.
local function zeros(m, label)
  local n = 0
  for _, record in ipairs(m.samples) do n = n + (record.label == label and record.zeros or 0) end
  return n
end

local function place(m)
  local least, most = "small gradients, S = 2^0", "small gradients, S = 2^24"
  if m:wrong "in the window, S = 2^24" then return kc.no "wrong where nothing comes near an end of the range" end
  if m:wrong(most) then
    local share = zeros(m, most) / zeros(m, least)
    return share > 0.5 and kc.yes "the flushed fraction is flat in log2 S: small gradients meet f16 outside of the scaling"
      or kc.no "the flushed fraction falls with S"
  end
  if m:wrong(least) then return kc.yes "the flushed fraction falls with S, but is too large: subnormal f16 are flushed" end
  return m:wrong "overflow, just so" and kc.yes "overflow is not reported" or kc.no "every scale gives the same"
end

local function power_of_two(x) return ("%a"):format(x):match "^0x1p" ~= nil end

return kc.contract {
  identifier    = { class = "C-PRC-04", name = "unscale.f16", version = "1.0" },
  scope         = { operation = "f32(f16(g S)) / S, nothing and `skipped` where f16 overflows", inputs = { "g: f32[n]", "scale: f32[1]" },
                    outputs = { "y: f32[n]", "skipped: i32[1]" }, shapes = { n = kc.range(1, 4096) } },
  precondition  = function(x) return { kc.finite(x.g), power_of_two(x.scale[1]), x.scale[1] >= 1, x.scale[1] <= 2.0 ^ 24 } end,
  postcondition = function(_, y, ref, t)
    return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t), kc.same_class(y.skipped, ref.skipped, t),
             kc.within(y.skipped, ref.skipped, t) }
  end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = {
    y = kc.oracle.expression(function(x) return kc.where(overflows(x), 0, kc.rounded(f16(x) / x.scale, "f32")) end),
    skipped = kc.oracle.expression(overflows),
  },
  protocol      = { inputs = inputs, judged = "element", samples = N, budget = 2e4, vacuous = 0.0,
                    statistic = "max", pass = "equal to the composition of rounded operations", repeats = 1 },
  signature     = { pattern = "the result depends on the scale", test = place },
  calibration   = { baseline = unscale("forgets", "FORGETS=1"),
                    bad = { unscale("unscales_in_f16", "IN_F16=1"), unscale("casts_first", "CASTS_FIRST=1"),
                            unscale("flushes_subnormals", "FLUSHES=1"), unscale("no_report", "NO_REPORT=1") },
                    good = { unscale "divides", group },
                    probes = { scaled("probe", inside, 8) },
                    functional = { inputs = { scaled("tested, S = 2^8", small, 8), scaled("tested, S = 2^16", small, 16) },
                                   norm = 1e-3 } },
}
