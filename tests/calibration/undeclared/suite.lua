local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- Contracts that leave a policy out: what NaN gives, what an index outside gives, what becomes of subnormals.
local function kernel(name, folder, entry, args, options)
  return kc.kernel { name = name, file = ("../../../contracts/%s.k"):format(folder), entry = entry, args = args, group = { 64 },
                     grid = { args[#args] }, denormals = options }
end

local function lua(name, of)
  return kc.implementation { name = name, run = function(_, x, y)
    for i = 1, #y.y do y.y[i] = of(x, i) end
  end }
end

local function postcondition(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end

local function contract(class, fields)
  return kc.contract {
    identifier    = { class = class, name = fields.name, version = "1.0" },
    scope         = { operation = fields.name, inputs = fields.inputs, outputs = fields.outputs, shapes = fields.shapes },
    precondition  = function() return true end,
    postcondition = postcondition,
    tolerance     = tol.policy { policy = "left out", denormals = fields.denormals or "preserve" },
    oracle        = fields.oracle,
    protocol      = { inputs = fields.samples, judged = "element", samples = 64, budget = 1e6, vacuous = 0.0,
                      statistic = "max", pass = "value equal", repeats = 1 },
    signature     = { pattern = "wrong whatever the policy", test = function(m) return m:wrong(fields.samples[1].label) end },
    calibration   = { baseline = lua(fields.name .. " negative", function() return -7 end), bad = fields.bad, good = fields.good,
                      probes = fields.probes, functional = { inputs = fields.usual, rtol = 1e-5, atol = 1e-8 } },
  }
end

local function larger(x, i) return x.a[i] > x.b[i] and x.a[i] or x.b[i] end
local function maximum(name) return kernel("max " .. name, "C-EXC-01.max.f32/" .. name, "maximum", { "a", "b", "y", "n" }) end
local pairs_of_numbers = sample.inputs { a = sample.uniform(0, 1), b = sample.uniform(2, 3) }
local max = contract("C-EXC-01", {
  name = "max", inputs = { "a: f32[n]", "b: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.choice { 256 } },
  oracle = kc.oracle.max("a", "b"), samples = { sample.normal(), sample.exceptional(0.2, sample.normal()) },
  bad = { lua("max of negative numbers is 0", function(x, i) return math.max(larger(x, i), 0) end) },
  good = { maximum "nan_first", maximum "fmax" }, probes = { pairs_of_numbers }, usual = { pairs_of_numbers } })

local picks = { "data", "index", "y", "n", "m" }
local function gather(name) return kernel("gather " .. name, "C-EXC-02.gather.clamp.f32/" .. name, "gather", picks) end
local function indices(lo, hi) return sample.inputs { data = sample.log_uniform(0, 8), index = sample.integers(lo, hi) } end
local inside = indices(0, 50)
local picked = contract("C-EXC-02", {
  name = "gather", inputs = { "data: f32[n]", "index: i32[m]" }, outputs = { "y: f32[m]" },
  shapes = { n = kc.choice { 100 }, m = kc.choice { 64 } },
  oracle = kc.oracle.gather("data", "index"), samples = { indices(0, 99), indices(-50, 150) },
  bad = { lua("gather of the first half", function(x, i) return x.data[math.min(math.max(x.index[i], 0), 50) + 1] end) },
  good = { gather "clamps", gather "zeroes" }, probes = { inside }, usual = { inside } })

local function sub(name, denormals)
  return kernel("sub " .. name, "C-PRC-03.sub.f32/plain", "sub", { "a", "b", "y", "n" }, denormals)
end
local numbers = sample.inputs { a = sample.integers(5, 9), b = sample.integers(1, 4) }
local difference = contract("C-PRC-03", {
  name = "sub", inputs = { "a: f32[n]", "b: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.choice { 256 } },
  oracle = function(x) return x.a - x.b end, denormals = "undeclared",
  samples = { sample.integers(-99, 99), sample.inputs { a = sample.subnormal(), b = sample.constant(0) } },
  bad = { lua("sub without sign", function(x, i) return math.abs(x.a[i] - x.b[i]) end) },
  good = { sub "preserves", sub("flushes", "flush") }, probes = { numbers }, usual = { numbers } })

return kc.suite {
  name = "what a contract leaves undeclared",
  judge = {
    { contract = max, implementations = { kernel("max: NaN first", "C-EXC-01.max.f32/nan_first", "maximum", { "a", "b", "y", "n" }),
                                          kernel("max: NaN ignored", "C-EXC-01.max.f32/fmax", "maximum", { "a", "b", "y", "n" }) } },
    { contract = picked, implementations = { kernel("gather: clamped", "C-EXC-02.gather.clamp.f32/clamps", "gather", picks) } },
    { contract = difference, implementations = { kernel("sub: preserved", "C-PRC-03.sub.f32/plain", "sub", { "a", "b", "y", "n" }),
                                                 kernel("sub: flushed", "C-PRC-03.sub.f32/plain", "sub", { "a", "b", "y", "n" },
                                                        "flush") } },
  },
}
