local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function add(name, defines, denormals)
  return kc.kernel { name = name, file = "add.k", entry = "add", args = { "a", "b", "y", "n" }, group = { 64 },
                     grid = { "n" }, defines = defines, denormals = denormals }
end

-- Zero of the value's sign where it is below the smallest normal number. Every sum of the data is exact in f32.
local function flushed(v) return kc.where(kc.lt(kc.abs(v), 0x1p-126), 0 * v, v) end

local function pair(label, a, b) return sample.named(label, sample.inputs { a = a, b = b }) end
local operands = pair("ftz: denormal operands, normal sums", sample.uniform(0x1.1p-127, 0x1.ep-127),
                      sample.uniform(0x1.1p-127, 0x1.ep-127))
local results = pair("ftz: normal operands, denormal sums", sample.uniform(0x1.8p-126, 0x1.cp-126),
                     sample.uniform(-0x1.7p-126, -0x1p-126))
local both = pair("ftz: denormal operands and sums", sample.subnormal(), sample.subnormal())
local integers = sample.integers(-4096, 4096)

return kc.contract {
  identifier    = { class = "C-PRC-03", name = "add.ftz.f32", version = "1.0" },
  scope         = { operation = "a + b, results flush, operands do not", inputs = { "a: f32[n]", "b: f32[n]" }, outputs = { "y: f32[n]" },
                    shapes = { n = kc.range(0, 2048) } },
  precondition  = function(x) return { kc.finite(x.a), kc.finite(x.b) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- The oracle flushes; what it leaves is exact.
  tolerance     = tol.policy { policy = "FTZ", denormals = "preserve" },
  oracle        = function(x) return flushed(x.a + x.b) end,
  protocol      = { inputs = { operands, results, both, integers },
                    judged = "element", samples = 2048, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "another policy than FTZ",
                    test = function(m)
                      if m:wrong "integers(-4096" then return kc.no "wrong without denormals too" end
                      local o, r = m:wrong(operands.label), m:wrong(results.label)
                      return o and r and kc.yes "at operands and at results" or o and kc.yes "at operands" or r and kc.yes "at results"
                        or kc.no "none"
                    end },
  calibration   = { baseline = add("first", "FIRST=1"),
                    bad = { add "preserves", add("daz", "FLUSH_OPERANDS=1"), add("ftz_daz", "FLUSH_OPERANDS=1 FLUSH_RESULTS=1") },
                    good = { add("ftz", "FLUSH_RESULTS=1"), add("ftz_by_comparison", "COMPARE_RESULTS=1") },
                    probes = { sample.inputs { a = sample.integers(5, 9), b = sample.integers(5, 9) } },
                    functional = { inputs = { sample.normal() }, rtol = 1e-5, atol = 1e-8 } },
}
