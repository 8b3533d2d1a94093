local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function sum4(name, defines)
  return kc.kernel { name = name, file = "sum4.k", entry = "sum4", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" },
                     defines = defines }
end

local random = sample.named("four random terms", sample.uniform(1, 2))
local uneven = sample.named("two large and two small terms", sample.values { 4096, 8192, 1, 3 })

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "sum4.f2.f32", version = "1.0" },
  scope         = { operation = "a + b + c + d, level F2: reassociation allowed", inputs = { "x: f32[n,4]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(1, 2048) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- Any order of three additions.
  tolerance     = tol.dot { kind = "proved", terms = 4, height = 3, accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.sum("x"),
  protocol      = { inputs = { random, uneven, sample.log_uniform(-20, 20), sample.normal() },
                    judged = "element", samples = 1024, budget = 1e5, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "more than reassociation",
                    test = function(m)
                      if m:ratio(random.label) > 1 then return kc.yes "partial sums are narrower" end
                      return m:wrong(uneven.label) and kc.yes "small terms are left out" or kc.no "none"
                    end },
  calibration   = { baseline = sum4("first", "FIRST=1"),
                    bad = { sum4("through_bf16", "THROUGH_BF16=1"), sum4("drops_small", "DROPS_SMALL=1") },
                    good = { sum4 "sum4", sum4("pairwise", "PAIRWISE=1"), sum4("backwards", "BACKWARDS=1") },
                    probes = { sample.integers(3, 9) },
                    functional = { inputs = { random }, rtol = 1e-2, atol = 1e-3 } },
}
