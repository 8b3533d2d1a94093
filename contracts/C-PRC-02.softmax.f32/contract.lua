local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function softmax(name)
  return kc.kernel { file = name .. ".k", entry = "softmax", args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

-- The elementwise bounds add up to u (2 sum y |x - m| + d + 2 e + 2), and sum y |x - m| <= log d (it is the entropy less log s): less
-- than 4 u (d + 8). True of the uniform distribution too, so it stands beside the oracle, not instead of it.
local function adds_up(y)
  local n, d = table.unpack(y.y:shape())
  local ones = kc.buffer("f32", n)
  ones:fillvalue(1)
  local sums = kc.oracle.evaluate(kc.oracle.sum("y"), y)
  return kc.within(ones, sums, tol.abs { limit = (d + 8) * 0x1p-22, denormals = "preserve", source = "4 u (d + 8), as above" })
end

local narrow = sample.named("logits of spread 1", sample.normal())
local wide = sample.named("logits of spread 4", sample.at({ n = 4, d = 4096 }, sample.normal(2)))
local large = sample.named("logits up to 100", sample.uniform(0, 100))

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "softmax.f32", version = "1.0" },
  scope         = { operation = "softmax over the last axis", inputs = { "x: f32[n,d]" }, outputs = { "y: f32[n,d]" },
                    shapes = { n = kc.range(1, 64), d = kc.range(1, 4096) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t), adds_up(y) } end,
  -- The exp of the kernel's library may err by 1 ulp, which is 2 u.
  tolerance     = tol.softmax { accumulator = "f32", height = "d", exp_error = 2, denormals = "preserve" },
  oracle        = kc.oracle.softmax("x"),
  protocol      = { inputs = { narrow, large, wide, sample.log_uniform(-20, 6) },
                    judged = "element", samples = 4096, budget = 200000, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "cancellation or overflow in the exponent, or a narrow sum",
                    test = function(m)
                      if m:confusion("+finite", "nan", large.label) > 0 then
                        return kc.yes "NaN for large inputs: the maximum is not subtracted"
                      end
                      if m:ratio(narrow.label) <= 1 then return kc.no "none" end
                      -- Four times the spread costs two bits where the exponent is narrow, none where the sum is.
                      if m:bits(narrow.label) - m:bits(wide.label) > 1 then return kc.yes "error grows away from the maximum" end
                      return kc.yes "every element of a row errs alike: the sum is narrow"
                    end },
  calibration   = { baseline = softmax "uniform", bad = { softmax "no_maximum", softmax "exp_through_f16", softmax "sum_in_bf16" },
                    good = { softmax "one_pass", softmax "lanes" },
                    probes = { sample.at({ n = 8, d = 16 }, sample.uniform(0, 4)) },
                    functional = { inputs = { sample.at({ n = 64, d = 8 }, sample.normal()) }, rtol = 3e-2, atol = 1e-3 } },
}
