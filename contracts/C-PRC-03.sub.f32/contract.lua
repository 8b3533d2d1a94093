local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function sub(name, options)
  return kc.kernel { name = options and options.name, file = name .. ".k", entry = "sub", args = { "a", "b", "y", "n" },
                     group = { 64 }, grid = { "n" }, denormals = options and options.denormals }
end

-- Three places where a policy shows; every difference of these numbers is exact in f32.
local tiny = sample.named("subnormal operands and results", sample.subnormal())
local near = sample.named("normal operands, subnormal results", sample.inputs { a = sample.uniform(0x1.8p-126, 0x1.cp-126),
                                                                               b = sample.uniform(0x1p-126, 0x1.7p-126) })
local sums = sample.named("subnormal operands, normal results", sample.inputs { a = sample.uniform(0x1.1p-127, 0x1.ep-127),
                                                                               b = sample.uniform(-0x1.ep-127, -0x1.1p-127) })

return kc.contract {
  identifier    = { class = "C-PRC-03", name = "sub.f32", version = "1.0" },
  scope         = { operation = "a - b, denormals preserved", inputs = { "a: f32[n]", "b: f32[n]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.finite(x.a), kc.finite(x.b) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "PRESERVE", denormals = "preserve" },
  oracle        = function(x) return x.a - x.b end,
  protocol      = { inputs = { tiny, near, sums, sample.integers(-4096, 4096) },
                    judged = "element", samples = 4096, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "subnormal numbers are flushed",
                    test = function(m)
                      local results, operands = m:wrong(near.label), m:wrong(sums.label)
                      if not m:wrong(tiny.label) then return kc.no "subnormal operands and results are right" end
                      if results and operands then return kc.yes "operands (DAZ) and results (FTZ)" end
                      return results and kc.yes "results (FTZ)" or operands and kc.yes "operands (DAZ)" or kc.no "none"
                    end },
  calibration   = { baseline = sub "first",
                    bad = { sub("plain", { name = "device_flushes", denormals = "flush" }), sub "flushes_results", sub "flushes_inputs" },
                    good = { sub "plain", sub "negated" },
                    probes = { sample.inputs { a = sample.integers(5, 9), b = sample.integers(-9, -5) } },
                    functional = { inputs = { sample.normal() }, rtol = 1e-5, atol = 1e-8 } },
}
