local kc = require "kc"

-- One result of each kind that a report tells apart, under names that would break a careless one.
local tol, sample = kc.tolerance, kc.sample
local function kernel(file, entry, name)
  return kc.kernel { file = "../../../contracts/" .. file, entry = entry, name = name, args = { "x", "y", "n" }, group = { 64 },
                     grid = { "n" } }
end
local function relu(file, name) return kernel(("C-EXC-01.relu.f32/%s.k"):format(file), "relu", name) end
local function exp(file, name) return kernel(("C-PRC-02.exp.f32/%s.k"):format(file), "exp_f32", name) end

local function contract(name, good)
  return kc.contract {
    identifier    = { class = "C-EXC-01", name = name, version = "1.0" },
    scope         = { operation = "relu", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 4096) } },
    precondition  = function(x) return kc.any_value(x.x) end,
    postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
    tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
    oracle        = kc.oracle.relu("x"),
    protocol      = { inputs = { sample.at({ n = 1 }, sample.values { 0 / 0 }),
                                 sample.at({ n = 4096 }, sample.exceptional(0.1, sample.bits())) },
                      judged = "element", samples = 1, budget = 1e4, vacuous = 0.0,
                      statistic = "max", pass = "class admissible and value equal", repeats = 1 },
    signature     = { pattern = "NaN <swallowed> & gone", test = function(m) return m:swallowed "" > 0 or m:wrong "" end },
    calibration   = { baseline = relu "identity", bad = { relu "greater_else_zero" }, good = { relu(good) },
                      probes = { sample.at({ n = 256 }, sample.uniform(-1, 1)) },
                      functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1e-5, atol = 1e-8 } },
  }
end

return kc.suite {
  name = "results of every kind",
  judge = {
    { contract = contract("relu.short.f32", "bitwise"), implementations = {
      relu("bitwise", "<script>alert(1)</script> & 'one' \"two\" # SKIP \\"),
      relu("fmax", "bytes \xff\xc3( \27[31m \194\133 \239\191\190 \226\128\174 ü ]]> --> &#0;"),
      relu("no_such_file", "does not build"),
      kc.library { name = "not # installed \\", file = "/nowhere/<b>.so", entry = "relu", args = { "x", "y", "n" }, optional = true },
    } },
    { contract = contract("relu.untrusted.f32", "fmax"), implementations = { relu("bitwise", "right, but who knows") } },
    { contract = "C-PRC-02/exp.f32", implementations = { exp("library", "close"), exp("exp2_product", "far") } },
  },
}
