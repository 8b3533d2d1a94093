local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function masked(name, defines)
  return kc.kernel { name = name, file = "masked_softmax.k", entry = "masked_softmax", args = { "x", "mask", "y", "n", "d" },
                     group = { 64 }, grid = { "n" }, defines = defines }
end

local some, numbers = sample.values { 1, 1, 0, 1, 0 }, sample.uniform(-4, 4)
local function of(label, x, mask)
  return sample.named(label, sample.draws(1, sample.at({ n = 9, d = 15 }, sample.inputs { x = x, mask = mask })))
end
-- The third of every five columns is masked, so in all rows the middle one, number 8, holds what must not matter.
local plain = of("masks over numbers", numbers, some)
local function behind(label, value) return of(label, sample.plant(numbers, value, { "all", "middle" }), some) end
local rows = of("masks over whole rows", numbers, sample.plant(some, 0, { "middle", "all" }))

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "masked_softmax.f32", version = "1.0" },
  scope         = { operation = "softmax over the elements whose mask is 1; masked elements and fully masked rows give 0",
                    inputs = { "x: f32[n,d]", "mask: f32[n,d]" }, outputs = { "y: f32[n,d]" },
                    depends = { y = { x = "row", mask = "row" } },
                    shapes = { n = kc.range(1, 9), d = kc.range(1, 15) } },
  precondition  = function(x) return { kc.any_value(x.x), kc.finite(x.mask) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.rel { limit = 48 * 0x1p-24, denormals = "preserve",
                            source = "spec/tolerances.md, T-SOFTMAX with D <= 8, height 15, exp_error 2: G(12 u + 25 u) < 48 u" },
  oracle        = function(x)
    local kept = kc.gt(x.mask, 0)
    local e = kc.where(kept, kc.exp(x.x), 0)
    local s = kc.sum(e, -1)
    return kc.where(kept, e / kc.where(kc.gt(s, 0), s, 1), 0)
  end,
  protocol      = { inputs = { plain, behind("masks over NaN", nan), behind("masks over +inf", inf), behind("masks over -inf", -inf),
                               rows },
                    judged = "tensor", samples = 1, budget = 1e6, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "the mask is not what decides",
                    test = function(m)
                      if m:wrong(plain.label) then return kc.no "wrong where nothing exceptional is masked" end
                      if m:exceptions("leaked", "masks over NaN") > 0 then return kc.yes "a masked NaN leaks: zero times NaN" end
                      return m:wrong(rows.label) and kc.yes "a fully masked row is not 0" or kc.no "none"
                    end },
  calibration   = { baseline = masked("mask_only", "MASK_ONLY=1"),
                    bad = { masked("multiplies", "MULTIPLIES=1"), masked("no_row_test", "NO_ROW_TEST=1"),
                            masked("uniform_rows", "UNIFORM_ROWS=1") },
                    good = { masked("selects", "SELECTS=1"), masked("reciprocal", "RECIPROCAL=1") },
                    probes = { of("probe", numbers, some) },
                    functional = { inputs = { of("functional", numbers, some) }, rtol = 1e-5, atol = 1e-8 } },
}
