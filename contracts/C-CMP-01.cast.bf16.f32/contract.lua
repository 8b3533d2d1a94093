local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function cast(name, defines)
  return kc.kernel { name = name, file = "cast.k", entry = "cast", args = { "x", "s", "y", "n" }, group = { 64 }, grid = { "n" },
                     defines = defines }
end

local function of(label, x) return sample.named(label, sample.inputs { x = x, s = sample.values { 1, 0.5, -4, 2 } }) end
-- bf16 holds 8 significant bits: these are exact, lie between two, and half-way.
local held = of("numbers that bf16 holds", sample.integers(-255, 255))
local between = of("numbers between two of bf16", sample.uniform(1, 2))
local halfway = of("numbers half-way between two of bf16", sample.integers(0x101, 0x1ff, 2))

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "cast.bf16.f32", version = "1.0" },
  scope         = { operation = "s bf16(x), level F0: the cast is rounded to nearest, ties to even", inputs = { "x: f32[n]", "s: f32[n]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 2048) } },
  precondition  = function(x) return { kc.finite(x.x), kc.finite(x.s) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x) return x.s * kc.rounded(x.x, "bf16") end,
  protocol      = { inputs = { held, between, halfway },
                    judged = "element", samples = 2048, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "the bits of the composition", repeats = 1 },
  signature     = { pattern = "the cast is elided or rounds otherwise",
                    test = function(m)
                      if m:wrong(held.label) then return kc.no "wrong where the cast changes nothing" end
                      if not m:wrong(halfway.label) then return kc.no "none" end
                      return m:wrong(between.label) and kc.yes "elided or truncated" or kc.yes "ties are rounded away"
                    end },
  calibration   = { baseline = cast("ignores_s", "IGNORES_S=1"),
                    bad = { cast("elides", "ELIDES=1"), cast("truncates", "TRUNCATES=1"), cast("half_away", "HALF_AWAY=1") },
                    good = { cast "cast", cast("on_bits", "ON_BITS=1") },
                    probes = { sample.inputs { x = sample.integers(3, 9), s = sample.constant(4) } },
                    functional = { inputs = { of("functional", sample.uniform(1, 2)) }, rtol = 1e-2, atol = 1e-3 } },
}
