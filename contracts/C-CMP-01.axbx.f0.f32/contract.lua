local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function axbx(name, defines)
  return kc.kernel { name = name, file = "axbx.k", entry = "axbx", args = { "a", "b", "x", "y", "n" }, group = { 64 }, grid = { "n" },
                     defines = defines }
end

local function of(label, a, b, x) return sample.named(label, sample.inputs { a = a, b = b, x = x }) end
local random = of("random factors", sample.uniform(1, 2), sample.uniform(1, 2), sample.uniform(1, 2))
local cancels = of("products cancel", sample.constant(1e20), sample.constant(-1e20), sample.uniform(1e9, 1e10))
local nearly = of("products nearly cancel", sample.uniform(1, 1.0001), sample.uniform(-1.0001, -1), sample.normal())
local function one(v) return kc.rounded(v, "f32") end

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "axbx.f0.f32", version = "1.0" },
  scope         = { operation = "a x + b x, level F0: two rounded products and a rounded sum",
                    inputs = { "a: f32[n]", "b: f32[n]", "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 2048) } },
  precondition  = function(x) return { kc.finite(x.a), kc.finite(x.b), kc.finite(x.x) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x) return one(one(x.a * x.x) + one(x.b * x.x)) end,
  protocol      = { inputs = { random, cancels, nearly, sample.log_uniform(-70, 60) },
                    judged = "element", samples = 2048, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "the bits of the composition", repeats = 1 },
  signature     = { pattern = "not the composition of rounded operations",
                    test = function(m)
                      if not m:wrong(cancels.label) and not m:wrong(nearly.label) then return kc.no "none where products cancel" end
                      if m:wrong(cancels.label) then return kc.yes "where products cancel, what one of them lost comes out" end
                      return kc.yes "other operations: right where products cancel exactly, wrong where they nearly do"
                    end },
  calibration   = { baseline = axbx("one_product", "ONE_PRODUCT=1"),
                    bad = { axbx("fuses_first", "FUSES_FIRST=1"), axbx("fuses_second", "FUSES_SECOND=1"), axbx("factors", "FACTORS=1") },
                    good = { axbx "plain", axbx("in_double", "IN_DOUBLE=1") },
                    probes = { of("probe", sample.integers(3, 9), sample.integers(3, 9), sample.integers(3, 9)) },
                    functional = { inputs = { random }, rtol = 1e-5, atol = 1e-8 } },
}
