local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function axbx(name, options)
  return kc.kernel { name = options and options.name, file = name .. ".k", entry = "axbx", args = { "a", "b", "x", "y", "n" },
                     group = { 64 }, grid = { "n" }, contraction = options and options.contraction }
end

local function of(a, b, x) return sample.inputs { a = a, b = b, x = x } end

-- Twelve bits times twelve are exact in f32, so that fusing such a product changes nothing; seventeen times twelve are not. No x is 0,
-- whose products have signs that a + b does not know.
local short, long, factor = sample.integers(-2047, 2047), sample.integers(65537, 131071, 2), sample.integers(2049, 4095, 2)
local both = sample.named("both products exact", of(short, short, sample.integers(-2047, 2047, 2)))
local first = sample.named("a x exact, b x rounded", of(short, long, factor))
local second = sample.named("b x exact, a x rounded", of(long, short, factor))
-- b = -a: the products are equal, whatever is left over is the rounding error of one of them.
local cancelling = sample.named("b = -a", of(sample.constant(0x1.555556p0), sample.constant(-0x1.555556p0), sample.normal()))
local reported = sample.named("b = -a, as reported", of(sample.constant(1e20), sample.constant(-1e20), sample.log_uniform(32, 34)))
local beyond = sample.named("products overflow", of(sample.log_uniform(100, 127), sample.log_uniform(100, 127), sample.log_uniform(20, 40)))
local tiny = sample.log_uniform(-75, -65)
local below = sample.named("a x underflows", of(tiny, tiny, tiny))
local random = sample.named("a, b, x normal", sample.normal())

local function place(m)
  if m:wrong(both.label) then return kc.no "wrong where every product is exact" end
  local a, b = m:wrong(second.label), m:wrong(first.label)
  if not m:wrong(cancelling.label) then
    return (a or b) and kc.yes "neither product is rounded, or a + b is formed first" or kc.no "no rounding is missing"
  end
  if a == b then return kc.no "wrong where the products cancel, but not as one fused product is" end
  return kc.yes(a and "a x is not rounded" or "b x is not rounded")
end

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "axbx.f0.f32", version = "1.0" },
  scope         = { operation = "a x + b x, every operation rounded to f32 (F0)", inputs = { "a: f32[n]", "b: f32[n]", "x: f32[n]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.any_value(x.a), kc.any_value(x.b), kc.any_value(x.x) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = function(x) return kc.rounded(kc.rounded(x.a * x.x, "f32") + kc.rounded(x.b * x.x, "f32"), "f32") end,
  protocol      = { inputs = { both, first, second, cancelling, reported, beyond, below, random },
                    judged = "element", samples = 512, budget = 3e4, vacuous = 0.0,
                    statistic = "max", pass = "equal to the composition of rounded operations", repeats = 1 },
  signature     = { pattern = "a rounding of the composition is missing", test = place },
  calibration   = { baseline = axbx "forgets_b",
                    bad = { axbx "fuses_first", axbx "fuses_second", axbx "fuses_both", axbx "factored",
                            axbx("plain", { name = "contracted", contraction = true }) },
                    good = { axbx "plain", axbx "fma_without_sum", axbx "by_double" },
                    probes = { sample.uniform(1.25, 2) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1e-5, atol = 1e-5 } },
}
