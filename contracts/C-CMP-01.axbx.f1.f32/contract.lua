local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- The kernels of F0 that are legal here, and those of this contract.
local f0 = "../C-CMP-01.axbx.f0.f32/"
local function axbx(name, options)
  local o = options or {}
  return kc.kernel { name = o.name or name, file = (o.folder or "") .. name .. ".k", entry = "axbx", args = { "a", "b", "x", "y", "n" },
                     group = { 64 }, grid = { "n" }, contraction = o.contraction, defines = o.defines }
end
local function shared(name) return axbx(name, { folder = f0 }) end

local function of(a, b, x) return sample.inputs { a = a, b = b, x = x } end

local one_sign = sample.named("terms of one sign", sample.uniform(1, 2))
local alone = sample.named("a alone, x = 1", of(sample.uniform(1, 2), sample.constant(0), sample.constant(1)))
local cancelling = sample.named("b = -a", of(sample.constant(0x1.555556p0), sample.constant(-0x1.555556p0), sample.normal()))
local nearly = sample.named("b = -a, nearly", of(sample.uniform(1, 1.0001), sample.uniform(-1.0001, -1), sample.normal()))
local integers = sample.named("exact terms", of(sample.integers(-2047, 2047), sample.integers(-2047, 2047), sample.integers(-2047, 2047)))
local spread = sample.named("exponents -60 to 60", sample.log_uniform(-60, 60))
local below = sample.named("a x underflows", sample.log_uniform(-75, -65))

return kc.contract {
  identifier    = { class = "C-CMP-01", name = "axbx.f1.f32", version = "1.0" },
  scope         = { operation = "a x + b x in f32, contraction allowed (F1)", inputs = { "a: f32[n]", "b: f32[n]", "x: f32[n]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 4096) } },
  precondition  = function(x) return { kc.finite(x.a), kc.finite(x.b), kc.finite(x.x) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = 2, height = 1, accumulator = "f32", denormals = "preserve" },
  oracle        = function(x) return x.a * x.x + x.b * x.x end,
  protocol      = { inputs = { one_sign, alone, cancelling, nearly, integers, spread, below },
                    judged = "element", samples = 512, budget = 2e4, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "an intermediate is narrower than f32",
                    test = function(m)
                      local format = kc.signature.format_of(m:bits(alone.label))
                      return format and kc.yes(("1 a + 1 0 has the bits of %s"):format(format)) or kc.no "1 a + 1 0 is a"
                    end },
  calibration   = { baseline = shared "forgets_b",
                    bad = { axbx("narrow_products", { name = "bf16_products" }), axbx "tf32_operands",
                            axbx("narrow_products", { name = "f16_products", defines = "F16=1" }) },
                    good = { shared "plain", shared "fuses_first", shared "fuses_second", shared "fuses_both",
                             axbx("plain", { folder = f0, name = "contracted", contraction = true }) },
                    probes = { sample.uniform(1.25, 2) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.uniform(0.5, 2)) }, rtol = 1e-2, atol = 1e-2 } },
}
