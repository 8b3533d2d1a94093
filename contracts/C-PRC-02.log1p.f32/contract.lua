local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function log1p(name)
  return kc.kernel { file = name .. ".k", entry = "log1p_f32", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

-- Steps towards 0. What 1 + x rounds away is 2^-24 of 1, ever more of x; what a series leaves out is ever less.
local function step(text, lo, hi) return sample.named("log1p of " .. text, sample.log_uniform(lo, hi)) end

local large = sample.named("log1p of 1 to 2^127", sample.log_uniform(0, 127, true))
local coarse, fine, tiny = step("2^-7 to 2^-4", -7, -4), step("2^-23 to 2^-20", -23, -20), step("2^-120 to 2^-60", -120, -60)
local subnormal = sample.named("log1p of subnormals", sample.subnormal())

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "log1p.f32", version = "1.0" },
  scope         = { operation = "log1p", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.ulp { limit = 2.0, denormals = "preserve", source = "OpenCL C 3.0 specification, section 7.4, full profile" },
  oracle        = kc.oracle.log1p("x"),
  protocol      = { inputs = { large, coarse, fine, tiny, subnormal, sample.uniform(-1, 1),
                               sample.exceptional(0.1, sample.normal()) },
                    judged = "element", samples = 4096, budget = 1e6, vacuous = 0.15,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "the error of log1p depends on the distance from 0",
                    test = function(m)
                      local near, far = m:ratio(fine.label), m:ratio(coarse.label)
                      if near > math.max(1, far) then return kc.yes "it grows towards 0: x is lost in 1 + x" end
                      if far > 1 and near <= 1 then return kc.yes "it shrinks towards 0: a series that is too short" end
                      local lost = m:confusion("+finite", "+0", subnormal.label) + m:confusion("-finite", "-0", subnormal.label)
                      return lost > 0 and kc.yes "subnormal results are lost" or kc.no "none"
                    end },
  calibration   = { baseline = log1p "identity", bad = { log1p "log_of_sum", log1p "short_series", log1p "flushes" },
                    good = { log1p "library", log1p "double" },
                    probes = { sample.uniform(1, 4) },
                    functional = { inputs = { sample.within(0, 8, sample.normal()) }, rtol = 1e-3, atol = 1e-6 } },
}
