local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local arguments = { "a", "b", "c", "d", "v", "s", "p", "i", "n", "k" }

local function probes(name, defines, denormals)
  return kc.kernel { name = name, file = "probes.k", entry = "probes", args = arguments, group = { 64 }, grid = { "n" }, defines = defines,
                     denormals = denormals }
end

-- Six probes, one a sample. Every sum and product of these numbers is exact in f32.
local order, small = sample.values { -1, 3, 2 }, sample.integers(1, 1000)
local function probe(label, inputs)
  return sample.named(label, sample.at({ n = 512, k = 3 }, sample.inputs {
    a = inputs.a or small, b = inputs.b or small, c = inputs.c or small, d = inputs.d or small, v = inputs.v or order }))
end
local denormal = probe("denormal operands and sums", { a = sample.subnormal(), b = sample.constant(0) })
local halves = probe("denormal operands, normal sum", { a = sample.constant(0x1p-127), b = sample.constant(0x1p-127) })
local near = probe("normal operands, denormal sum", { a = sample.values { 0x1.8p-126, 0x1.4p-126 }, b = sample.constant(-0x1p-126) })
local halved = probe("normal operands, denormal product", { c = sample.values { 0x1p-126, -0x1p-126, 0x1.8p-126 },
                                                            d = sample.constant(0.5) })
local infinite = probe("infinity times a denormal", { c = sample.values { -math.huge, math.huge }, d = sample.constant(0x1p-149) })
local largest = probe("largest of -1, -0 and a denormal", { v = sample.values { -1, -0.0, 0x1p-149 } })
local plain = probe("ordinary", {})

-- What a policy makes of the probes: wrong where it flushes what the probe holds.
local function policy(m)
  local operands = m:wrong(halves.label) and m:wrong(infinite.label) and m:wrong(largest.label)
  local results = m:wrong(near.label) and m:wrong(halved.label)
  return operands and results and "FTZ and DAZ: operands and results" or operands and "DAZ: operands" or results and "FTZ: results"
end

return kc.contract {
  identifier    = { class = "C-PRC-03", name = "fingerprint.f32", version = "1.0" },
  scope         = { operation = "a + b, c d and the place of the largest, denormals preserved",
                    inputs = { "a: f32[n]", "b: f32[n]", "c: f32[n]", "d: f32[n]", "v: f32[1,k]" },
                    outputs = { "s: f32[n]", "p: f32[n]", "i: i32[1]" },
                    shapes = { n = kc.choice { 512 }, k = kc.choice { 3 } } },
  precondition  = function(x) return { kc.finite(x.a), kc.finite(x.b), kc.any_value(x.c), kc.finite(x.d), kc.finite(x.v) } end,
  postcondition = function(_, y, ref, t)
    return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t), kc.same_class(y.p, ref.p, t), kc.within(y.p, ref.p, t),
             kc.within(y.i, ref.i, t) }
  end,
  tolerance     = tol.policy { policy = "PRESERVE", denormals = "preserve" },
  oracle        = { s = function(x) return x.a + x.b end, p = function(x) return x.c * x.d end,
                    i = kc.oracle.argmax("v", { axis = 1, tie = "first" }) },
  protocol      = { inputs = { denormal, halves, near, halved, infinite, largest, plain },
                    judged = "tensor", samples = 1, budget = 1e6, vacuous = 0.0,
                    statistic = "max", pass = "value equal", repeats = 1 },
  signature     = { pattern = "denormals are flushed",
                    test = function(m)
                      if m:saw("fpstate", plain.label) then return kc.yes "and the unit is left so: ambient state" end
                      if m:wrong(plain.label) then return kc.no "wrong without denormals too" end
                      local name = policy(m)
                      return name and kc.yes(name) or kc.no "none"
                    end },
  calibration   = { baseline = probes("first", "FIRST=1"),
                    bad = { probes("device_flushes", nil, "flush"), probes("flushes_results", "FLUSH_RESULTS=1"),
                            probes("flushes_operands", "FLUSH_OPERANDS=1"),
                            kc.kernel { file = "leaves_ftz.c", entry = "leaves_ftz", args = arguments, group = { 1 }, grid = { 1 } } },
                    good = { probes "plain", probes("in_double", "IN_DOUBLE=1") },
                    probes = { plain },
                    functional = { inputs = { plain }, rtol = 1e-5, atol = 1e-8 } },
}
