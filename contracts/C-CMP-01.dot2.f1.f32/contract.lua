local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function dot2(name, defines)
  return kc.kernel { name = name, file = "dot2.k", entry = "dot2", args = { "p", "q", "y", "n" }, group = { 64 }, grid = { "n" },
                     defines = defines }
end

local random = sample.named("random products", sample.uniform(1, 2))
local cancels = sample.named("products cancel, F1", sample.inputs { p = sample.values { 1e20, -1e20 }, q = sample.constant(1e10) })

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "dot2.f1.f32", version = "1.0" },
  scope         = { operation = "a c + b d, level F1: contraction allowed", inputs = { "p: f32[n,2]", "q: f32[n,2]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 2048) } },
  precondition  = function(x) return { kc.finite(x.p), kc.finite(x.q) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- Two terms, one addition: a fused multiply-add makes fewer errors than the bound allows.
  tolerance     = tol.dot { kind = "proved", terms = 2, height = 1, accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.dot("p", "q"),
  protocol      = { inputs = { random, cancels, sample.log_uniform(-40, 40), sample.ill_conditioned(1e4, "p", "q") },
                    judged = "element", samples = 1024, budget = 1e5, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "more than contraction",
                    test = function(m)
                      local format = kc.signature.format_of(m:bits(random.label))
                      if format and format ~= "f32" then return kc.yes("a product passes through " .. format) end
                      return m:ratio(random.label) > 1 and kc.yes "a product is rounded more than once" or kc.no "none"
                    end },
  calibration   = { baseline = dot2("one_product", "ONE_PRODUCT=1"),
                    bad = { dot2("through_bf16", "THROUGH_BF16=1"), dot2("through_f16", "THROUGH_F16=1") },
                    good = { dot2 "dot2", dot2("fuses_first", "FUSES_FIRST=1"), dot2("fuses_second", "FUSES_SECOND=1") },
                    probes = { sample.integers(3, 9) },
                    functional = { inputs = { random }, rtol = 1e-2, atol = 1e-3 } },
}
