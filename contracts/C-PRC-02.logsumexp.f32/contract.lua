local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function logsumexp(name)
  return kc.kernel { file = name .. ".k", entry = "logsumexp", args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

-- The same rows at growing offsets: the exact result moves by the offset, and so may the error, by rounding, and no more.
local function rows(label, offset) return sample.named(label, sample.at({ n = 64, d = 100 }, sample.uniform(offset, offset + 1))) end

local near = rows("logsumexp at offset 0", 0)
local far = { rows("logsumexp at offset 100", 100), rows("logsumexp at offset -200", -200), rows("logsumexp at offset 10^6", 1e6) }
local cancels = rows("logsumexp that cancels", -5.1) -- about -log 100
local long = sample.named("logsumexp of long rows", sample.draws(1, sample.at({ n = 16, d = 4096 }, sample.normal(1))))

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "logsumexp.f32", version = "1.0" },
  scope         = { operation = "logsumexp over the last axis", inputs = { "x: f32[n,d]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(1, 64), d = kc.range(1, 4096) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- exp and log of the kernel's library may err by 1 ulp, which is 2 u.
  tolerance     = tol.logsumexp { accumulator = "f32", height = "d", exp_error = 2, log_error = 2, denormals = "preserve" },
  oracle        = kc.oracle.logsumexp("x"),
  protocol      = { inputs = { near, far[1], far[2], far[3], cancels, long, sample.log_uniform(-20, 6) },
                    judged = "element", samples = 32, budget = 5e5, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "the error of logsumexp depends on the offset, or on the length of the row",
                    test = function(m)
                      if m:misplaced(far[1].label) + m:misplaced(far[2].label) > 0 then
                        return kc.yes "infinities at an offset where the result is finite: the maximum is not subtracted"
                      end
                      if m:ratio(near.label) > 1 then return kc.yes "wrong at every offset: the sum is narrow" end
                      return m:ratio(long.label) > 1 and kc.yes "long rows only: their blocks have different scales" or kc.no "none"
                    end },
  calibration   = { baseline = logsumexp "maximum",
                    bad = { logsumexp "no_maximum", logsumexp "sum_in_f16", logsumexp "not_rescaled" },
                    good = { logsumexp "two_pass", logsumexp "lanes" },
                    probes = { sample.at({ n = 16, d = 16 }, sample.uniform(2, 4)) },
                    functional = { inputs = { sample.at({ n = 16, d = 64 }, sample.normal()) }, rtol = 1e-2, atol = 1e-3 } },
}
