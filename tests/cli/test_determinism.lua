-- Determinism classes: what differs from run to run, what writes into earlier outputs, what fails in a later run only.
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()

-- Doubles its input; each candidate has its own way to go wrong in a later run.
local function candidate(name, body)
  t:file(name .. ".c", ("#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n" ..
    "void f(const float *x, float *y, int32_t n) {\n  for (int32_t i = 0; i < n; i++) y[i] = 2 * x[i];\n%s\n}\n"):format(body))
  return ("k %q"):format(name)
end

local counted = "  static int runs; runs++;\n"
local right = candidate("right", "")
local third = candidate("third", counted .. "  if (runs % 3 == 0 && n > 2) y[2] = nextafterf(y[2], 1e9f);")
local keeps = candidate("keeps", counted .. "  static float *old; if (runs == 3) old = y; if (runs == 6) old[0] = 1;")
local crashes = candidate("crashes", counted .. "  if (runs == 5) abort();")
local far = candidate("far", counted .. "  if (runs == 4) y[0] = 1e30f;")
local remembers = candidate("remembers", "  static float sum; float now = 0;\n  for (int32_t i = 0; i < n; i++) now += x[i];\n" ..
  "  if (sum != 0 && sum != now) y[1] = sum;\n  sum = now;")
t:file("third.c", (t.read(t.directory .. "/third.c"):gsub("#include <stdint.h>", "#include <math.h>\n%0")))
candidate("zeros", "  memset(y, 0, 4 * n);")
candidate("same", "  memcpy(y, x, 4 * n);")
candidate("doubles", "")

local function suite(class, repeats)
  return t:file(("suite_%s.lua"):format(class), ([[
local kc = require "kc"
local function k(name) return kc.kernel { file = name .. ".c", entry = "f", args = { "x", "y", "n" }, group = { 1 }, grid = { 1 } } end
local contract = kc.contract {
  identifier = { class = "C-ORD-02", name = "double", version = "1" },
  scope = { operation = "double", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.choice { 64 } } },
  precondition = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance = kc.tolerance.ulp { limit = 2, denormals = "preserve", source = "a test" },
  oracle = function(x) return x.x + x.x end,
  protocol = { inputs = { kc.sample.normal() }, judged = "element", samples = 64, budget = 64, vacuous = 0.5, statistic = "max",
               pass = "ulp", repeats = REPEATS, determinism = "CLASS" },
  signature = { pattern = "runs differ", test = function(m) return m:distinct "normal" > 1 or m:wrong "normal" end },
  calibration = { baseline = k "zeros", bad = { k "same" }, good = { k "doubles" }, probes = { kc.sample.uniform(1, 2) },
                  functional = { inputs = { kc.sample.uniform(1, 2) }, rtol = 0.9, atol = 0 } } }
return kc.suite { name = "runs", judge = { { contract = contract, implementations = { LIST } } } }
]]):gsub("CLASS", class):gsub("REPEATS", repeats or 10):gsub("LIST", table.concat({ right, third, keeps, crashes, far, remembers }, ", ")))
end

local function judged(class, name, code, ...)
  return t:expect({ "run", suite(class), "--impl", name, "--format", "json" }, { code = code, out = { name, ... } })
end

local function sample(got) return assert(json.decode(got.stdout)).results[1].samples[1] end

-- The same bits on every run.
local held = sample(judged("D1", "right", 0, "held"))
assert(held.runs == 10 and held.distinct == 1 and held.differing == 0 and held.live == nil)
local differs = sample(judged("D1", "third", 1, "violated", "runs differ", "2 different results in 10 runs", "1 elements differ"))
assert(differs.distinct == 2 and differs.differing == 1)
assert(sample(judged("D1", "keeps", 1, "of run 2 changed after that run")).evidence.kind == "aliasing")
judged("D1", "crashes", 1, "violated", "in run 4: crashed: SIGABRT")
judged("D1", "remembers", 1, "violated", "1 elements differ")
judged("D0", "third", 1, "violated", "1 elements differ")

-- 256 outputs stay mapped, no more.
local many = t:expect({ "run", suite("D1", 300), "--impl", "right", "--format", "json" }, { code = 0 })
assert(sample(many).runs == 300 and sample(many).live == 256)

-- Every run within the tolerance: one ulp is, 1e30 is not.
assert(sample(judged("D2", "third", 0, "held")).distinct == 2)
judged("D2", "far", 1, "violated", "in run 4")
judged("D3", "far", 1, "violated", "in run 4")
t:done "determinism"
