local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample
local nan, inf = 0 / 0, math.huge

local function remainder(name, defines)
  return kc.kernel { name = name, file = "remainder.k", entry = "remainder_of", args = { "a", "b", "y", "n" }, group = { 64 },
                     grid = { "n" }, defines = defines }
end

local function of(label, a, b) return sample.named(label, sample.at({ n = 64 }, sample.inputs { a = a, b = b })) end
local integers, divisors = sample.integers(-1000, 1000), sample.integers(1, 30)
local control = of("remainders of integers", integers, divisors)

local function truncated(q) return kc.where(kc.lt(q, 0), -kc.floor(-q), kc.floor(q)) end

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "remainder.f32", version = "1.0" },
  scope         = { operation = "a - b trunc(a / b), as C's fmod", inputs = { "a: f32[n]", "b: f32[n]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(1, 64) } },
  precondition  = function(x) return { kc.any_value(x.a), kc.any_value(x.b) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  -- C11, F.10.7.1: fmod(a, +-inf) is a for finite a; NaN for an infinite a or b = 0.
  oracle        = function(x)
    local finite = kc.where(kc.isinf(x.b), x.a, x.a - x.b * truncated(x.a / kc.where(kc.isinf(x.b), 1, x.b)))
    return kc.where(kc.isinf(x.a), x.a - x.a, finite)
  end,
  protocol      = { inputs = { control, of("remainder by zero", integers, sample.values { 0, -0.0 }),
                               of("remainder of infinity", sample.values { inf, -inf }, divisors),
                               of("remainder by infinity", sample.integers(1, 1000), sample.values { inf, -inf }),
                               of("remainder of NaN", sample.values { nan, 5 }, sample.values { 3, nan }) },
                    judged = "element", samples = 64, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "an invalid operation does not give NaN, or a valid one does",
                    test = function(m)
                      if m:wrong(control.label) then return kc.no "wrong for integers too" end
                      if m:confusion("nan", "+inf", "remainder") > 0 then return kc.yes "infinity comes out where NaN is due" end
                      if m:swallowed "remainder" > 0 then return kc.yes "NaN is swallowed" end
                      return m:misplaced "remainder by infinity" > 0 and kc.yes "NaN leaks: infinity times zero" or kc.no "none"
                    end },
  calibration   = { baseline = remainder("first", "FIRST=1"),
                    bad = { remainder("infinite", "INFINITE=1"), remainder("dividend", "DIVIDEND=1"),
                            remainder("by_quotient", "BY_QUOTIENT=1") },
                    good = { remainder("library", "LIBRARY=1"), remainder("in_double", "IN_DOUBLE=1") },
                    probes = { sample.at({ n = 16 }, sample.inputs { a = sample.integers(23, 23), b = sample.integers(7, 7) }) },
                    functional = { inputs = { control }, rtol = 1e-5, atol = 1e-8 } },
}
