local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function cosine(name)
  return kc.kernel { file = name .. ".k", entry = "cosine", args = { "x", "y", "c", "n", "d" }, group = { 64 }, grid = { "n" } }
end

-- Squares of norms whose product is far from overflow and underflow, however a kernel forms it.
local function moderate(x, name)
  local squares = kc.oracle.evaluate(kc.oracle.dot(name, name), x)
  local upper = squares:upper()
  for i = 1, #upper do
    if upper[i] < 0x1p-60 or upper[i] > 0x1p60 then return kc.no(("row %d of '%s' has a norm beyond 2^-30 .. 2^30"):format(i, name)) end
  end
  return kc.yes "norms are moderate"
end

-- |c| <= 1, and for such norms the tolerance is below twice its leading term, (2 d + 9) u. True of a constant too, so it stands beside the
-- oracle, not instead of it.
local function is_a_cosine(x, y)
  local d = x.x:shape()[2]
  local clamped = kc.oracle.evaluate(kc.oracle.clamp("c", { a = -1.0, b = 1.0 }), y)
  local beyond = tol.abs { limit = (2 * d + 9) * 0x1p-23, denormals = "preserve", source = "Cauchy and Schwarz, and T-COSINE" }
  return kc.within(y.c, clamped, beyond)
end

local function rows(label, n, d, x, y) return sample.named(label, sample.at({ n = n, d = d }, sample.inputs { x = x, y = y or x })) end

local list = sample.values { 1.1, 0.3, -2.7, 5.9, -0.001, 3.3, 0.77 }
local random = rows("cosine of rows of N(0,1)", 64, 100, sample.normal())
local parallel = rows("cosine of parallel rows", 16, 509, list)
local opposite = rows("cosine of opposite rows", 16, 509, sample.constant(3.7), sample.constant(-0.013))
local unequal = rows("cosine of rows of norms 2^13 and 2^-7", 64, 100, sample.normal(10), sample.normal(-10))
local long = rows("cosine of long rows", 8, 4096, sample.uniform(0, 1))
local short = rows("cosine of rows of norm 1e-5", 64, 16, sample.normal(-19))
local near = sample.named("cosine of nearly orthogonal rows", sample.at({ n = 32, d = 64 }, sample.ill_conditioned(1e3, "x", "y")))

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "cosine.f32", version = "1.0" },
  scope         = { operation = "cosine of the angle between rows", inputs = { "x: f32[n,d]", "y: f32[n,d]" }, outputs = { "c: f32[n]" },
                    shapes = { n = kc.range(1, 64), d = kc.range(1, 4096) } },
  precondition  = function(x) return { kc.finite(x.x), kc.finite(x.y), moderate(x, "x"), moderate(x, "y") } end,
  postcondition = function(x, y, ref, t)
                    return { kc.same_class(y.c, ref.c, t), kc.within(y.c, ref.c, t), is_a_cosine(x, y) }
                  end,
  -- sqrt within 1 ulp, and its reciprocal rounded.
  tolerance     = tol.cosine { accumulator = "f32", height = "d - 1", rsqrt_error = 3, denormals = "preserve" },
  oracle        = kc.oracle.cosine("x", "y"),
  protocol      = { inputs = { random, parallel, opposite, unequal, short, long, near },
                    judged = "element", samples = 8, budget = 1e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "the cosine has lost bits of its sums or of a norm",
                    test = function(m)
                      local bits, cancelled = m:bits(random.label), m:bits(parallel.label)
                      if m:ratio(random.label) > 1 and cancelled > 16 then -- x / x is 1 whatever x lost
                        return kc.yes(("%.1f bits, all of them where dot product and norms are equal: narrow sums"):format(bits))
                      end
                      if m:ratio(random.label) > 1 then return kc.yes(("%.1f bits, also of parallel rows: a narrow norm"):format(bits)) end
                      if m:ratio(short.label) > 1 then return kc.yes "only short rows: the product of the norms has a floor" end
                      return m:ratio(long.label) > 1 and kc.yes "only long rows: they are not divided by both norms" or kc.no "none"
                    end },
  calibration   = { baseline = cosine "dot_product",
                    bad = { cosine "sums_in_f16", cosine "norms_in_bf16", cosine "long_rows_by_one_norm", cosine "epsilon" },
                    good = { cosine "quotient", cosine "normalised" },
                    probes = { sample.at({ n = 16, d = 16 }, sample.inputs { x = sample.normal(), y = sample.uniform(1, 2) }) },
                    functional = { inputs = { sample.at({ n = 16, d = 64 }, sample.normal()) }, rtol = 1e-2, atol = 1e-3 } },
}
