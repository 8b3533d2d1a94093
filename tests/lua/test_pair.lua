-- Which of two results is nearer the exact value, and two devices side by side.
local kc = require "kc"
local core = require "kc.core"
local loader = require "kc.loader"
local measure = require "kc.measure"
local pair = require "kc.pair"
local passed = 0

local function check(condition, text)
  if not condition then error(text or "check failed", 2) end
  passed = passed + 1
end

-- ---- nearer ----

local finite, nan, inf, unsure = { "+finite" }, { "nan" }, { "+inf" }, { "nan", "+finite" }
local NAN = 0 / 0
for _, row in ipairs {
  { 1.0, 1.5, 1.1, 1.1, finite, 1 }, { 1.5, 1.0, 1.1, 1.1, finite, 2 },
  { 1.0, 2.0, 1.5, 1.5, finite, nil }, -- as far
  { 1.0, 2.0, 1.4, 1.6, finite, nil }, -- either, as far as is known
  { 1.0, 2.0, 1.4, 1.49, finite, 1 },
  { 1.0, 2.0, 0.9, 1.1, finite, 1 }, -- one lies between the bounds
  { -1.0, 1.0, 0.25, 0.25, finite, 2 },
  { NAN, 1.0, 1.0, 1.0, finite, 2 }, { 1.0, math.huge, 1.0, 1.0, finite, 1 }, { 1.0, NAN, 0.0, 0.0, nan, 2 },
  { math.huge, -math.huge, math.huge, math.huge, inf, 1 },
  { math.huge, NAN, 1.0, 1.0, finite, nil }, -- neither
  { NAN, 1.0, 1.0, 1.0, unsure, nil },
} do
  local a, b = kc.buffer("f64", 1), kc.buffer("f64", 1)
  a[1], b[1] = row[1], row[2]
  local n = core.nearer(a, b, core.enclosure({ row[3] }, { row[4] }, { table.concat(row[5], " ") }))
  local got = n.a == 1 and 1 or n.b == 1 and 2 or nil
  check(got == row[6] and n.a + n.b + n.undecided == 1 and n.different == 1 and n.first == 1,
    ("nearer(%s, %s) to [%s, %s]: %s"):format(row[1], row[2], row[3], row[4], got))
end

-- ---- on devices ----

local directory = os.tmpname()
os.remove(directory)
assert(core.mkdirs(directory))
local function file(name, text)
  local f = assert(io.open(directory .. "/" .. name, "w"))
  f:write(text)
  f:close()
end
local relu = "contracts/C-EXC-01.relu.f32"
for _, name in ipairs(core.listdir(relu)) do file(name, assert(loader.read(relu .. "/" .. name))) end
local head = "KC_KERNEL void relu(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_i32 n) {\n  kc_i32 i = kc_gid(0);\n"
-- Writes what differs from run to run: the number of the runner's process would not do; a clock is at hand in a host function.
file("drifts.c", "#include <time.h>\n#include <string.h>\nvoid relu(const float *x, float *y, int n) {\n" ..
  "  for (int i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];\n  struct timespec t;\n  clock_gettime(CLOCK_MONOTONIC, &t);\n" ..
  "  if (n > 1) { y[0] = 1.0f; unsigned u; memcpy(&u, y, 4); u += (unsigned)t.tv_nsec % 1000 + 1; memcpy(y, &u, 4); }\n}\n")
file("crashes.k", head .. "  if (i < n) y[i + 100000000] = x[i];\n}\n")
local loaded = assert(loader.file(directory .. "/contract.lua"))

local function run(name, options)
  local implementation = kc.kernel { file = name, entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
  local o = { devices = { "cpu", "cpu:0" }, seed = 0, cache = measure.cache(), limit = 60, timeout = 60 }
  for key, value in pairs(options or {}) do o[key] = value end
  return pair.run(loaded, implementation, o)
end

local same = run "bitwise.k"
check(same.different == 0 and same.elements > 1000 and same.samples > 3 and not same.first and not same.failed)

local drifts = run "drifts.c"
check(drifts.different > 0 and drifts.different < drifts.elements, drifts.different)
check(drifts.first.element == 1 and drifts.first.a.code ~= drifts.first.b.code and drifts.worst > 0 and drifts.worst <= 1000)
local sum = 0
for _, n in ipairs(drifts.histogram) do sum = sum + n end
check(drifts.nearer[1] + drifts.nearer[2] + drifts.nearer[3] == drifts.different)
check(sum > drifts.different and sum <= drifts.elements)

local crashes = run "crashes.k"
check(crashes.failed and crashes.failed.device == "cpu" and crashes.failed.text:find "crashed", crashes.failed and crashes.failed.text)
os.execute("rm -rf '" .. directory .. "'")
print(passed .. " passed")
