local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function variance(name)
  return kc.kernel { name = name, file = "../../../contracts/C-PRC-02.variance.f32/" .. name .. ".k", entry = "variance",
                     args = { "x", "y", "n", "d" }, group = { 64 }, grid = { "n" } }
end

local function dot(name)
  return kc.kernel { name = name, file = "../../../contracts/C-PRC-01.dot.f32/" .. name .. ".k", entry = "dot",
                     args = { "x", "y", "d", "n", "k" }, group = { 32 }, grid = { "n" } }
end

local near = sample.at({ n = 64, d = 256 }, sample.uniform(-1, 1))

-- Long rows far from zero: the two-pass bound exceeds the variance itself, so zero would pass.
local far = kc.contract {
  identifier    = { class = "C-PRC-02", name = "variance.far", version = "1.0" },
  scope         = { operation = "variance", inputs = { "x: f32[n,d]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(1, 64), d = kc.range(1, 16384) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.variance { accumulator = "f32", height = "d", algorithm = "two_pass", denormals = "preserve" },
  oracle        = kc.oracle.variance("x"),
  protocol      = { inputs = { near }, further = { sample.named("far", sample.at({ n = 16, d = 16384 }, sample.uniform(1e4, 1e4 + 2))) },
                    judged = "element", samples = 16, budget = 2e6, vacuous = 0.5, statistic = "max", pass = "ratio <= 1", repeats = 1 },
  signature     = { pattern = "none", test = function(m) return m.worst > 1 end },
  calibration   = { baseline = variance "one", bad = { variance "sample_variance" }, good = { variance "two_pass" },
                    probes = { sample.at({ n = 16, d = 16 }, sample.uniform(2, 8)) },
                    functional = { inputs = { near }, rtol = 1e-2, atol = 1e-4 } },
}

-- Ill-conditioned sums: the same, but exact probes show what the bound cannot.
local function ill(name, inputs)
  return kc.contract {
    identifier    = { class = "C-PRC-01", name = name, version = "1.0" },
    scope         = { operation = "dot", inputs = { "x: f32[n,k]", "y: f32[n,k]" }, outputs = { "d: f32[n]" },
                      shapes = { n = kc.range(1, 256), k = kc.range(1, 1024) } },
    precondition  = function(x) return { kc.finite(x.x), kc.finite(x.y) } end,
    postcondition = function(_, y, ref, t) return { kc.same_class(y.d, ref.d, t), kc.within(y.d, ref.d, t) } end,
    tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
    oracle        = kc.oracle.dot("x", "y"),
    protocol      = { inputs = inputs,
                      further = { sample.named("ill", sample.at({ n = 256, k = 1024 }, sample.ill_conditioned(1e6, "x", "y"))) },
                      judged = "element", samples = 256, budget = 4e6, vacuous = 0.5, statistic = "max", pass = "ratio <= 1", repeats = 1 },
    signature     = { pattern = "none", test = function(m) return m.worst > 1 end },
    calibration   = { baseline = dot "zeros", bad = { dot "acc_f16" }, good = { dot "lanes" },
                      probes = { sample.at({ n = 64, k = 64 }, sample.uniform(1, 2)) },
                      functional = { inputs = { sample.at({ n = 64, k = 256 }, sample.uniform(0, 1)) }, rtol = 1e-2, atol = 1e-2 } },
  }
end

local same_sign = sample.at({ n = 256, k = 1024 }, sample.uniform(0, 1))
local integers = sample.at({ n = 256, k = 1024 }, sample.integers(1, 31))

return kc.suite { name = "what shows nothing", judge = {
  { contract = far, implementations = { variance "corrected" } },
  { contract = ill("dot.not_carried", { same_sign }), implementations = { dot "sequential" } },
  { contract = ill("dot.carried", { same_sign, integers }), implementations = {
    kc.kernel { name = "carried", file = "../../../contracts/C-PRC-01.dot.f32/sequential.k", entry = "dot",
                args = { "x", "y", "d", "n", "k" }, group = { 32 }, grid = { "n" } } } },
} }
