-- Devices, kernels and launches from Lua, in this process.
local core = require "kc.core"
local passed = 0

local function check(condition, text)
  if not condition then error(text or "check failed", 2) end
  passed = passed + 1
end

-- f must raise with a text that contains every given pattern.
local function raises(f, ...)
  local ok, message = pcall(f)
  check(not ok, "did not raise: expected " .. table.concat({ ... }, ", "))
  for _, pattern in ipairs { ... } do
    check(tostring(message):find(pattern), ("'%s' lacks '%s'"):format(tostring(message), pattern))
  end
end

-- ---- drivers and devices ----

check(core.drivers()[1] == "cpu")
check(select("#", core.probe "cpu") == 1 and core.probe "cpu" == 1)
raises(function() core.probe("cpo") end, "unknown device 'cpo'", "did you mean 'cpu'")
raises(function() core.device("cpo") end, "unknown device 'cpo'", "did you mean 'cpu'")
raises(function() core.device("cpu:") end, "NAME:NUMBER")
raises(function() core.device(nil) end, "string expected")
for which, pattern in pairs { ["7"] = "does not exist; there are 1", ["99999999999"] = "does not exist", nvidia = "none of 1 mentions" } do
  local none, message, code = core.device("cpu:" .. which)
  check(none == nil and message:find("cpu:" .. which, 1, true) and message:find(pattern) and code == "no-device", message)
end
core.device("cpu:KC CPU"):close() -- its driver is "kc cpu VERSION"

local device = core.device("cpu:0")
check(tostring(device) == "kc.device (cpu:0)")
check(getmetatable(device) == false)
local fingerprint = device:fingerprint()
check(fingerprint.arch == "x86-64" and fingerprint.driver:find("^kc cpu ") and fingerprint.denormals_kept == true)
check(fingerprint.contracts == false and #fingerprint.compiler > 0 and fingerprint.runtime:find("glibc"))

-- ---- building ----

local function params(text)
  local list = {}
  for name, format, brackets in text:gmatch("(%w+):(%w+)(%S*)") do
    list[#list + 1] = { name = name, format = format, buffer = brackets == "[]" }
  end
  return list
end

local function kernel(source, signature, options)
  local build = { source = source, file = "test.k", entry = "k", params = params(signature) }
  for key, value in pairs(options or {}) do build[key] = value end
  return device:kernel(build)
end

local axpy, log = kernel("KC_KERNEL void k(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_f32 a, kc_i32 n) {\n" ..
  "  kc_i32 i = kc_gid(0);\n  if (i < n) y[i] = a * x[i] + y[i];\n}\n", "x:f32[] y:f32[] a:f32 n:i32")
check(axpy, log)
check(log == nil, "a clean text has no log: " .. tostring(log))
check(tostring(axpy) == "kc.kernel (4 parameters)")

local failed, why, kind, text = kernel("KC_KERNEL void k(void) {\n  kc_i32 x = y;\n}\n", "")
check(failed == nil and kind == "build" and why:find("test.k:2:.*y") and text:find("test.k:2"), why)
failed, why, kind, text = kernel("KC_KERNEL void k(void) {\n  kc_i32 half;\n}\n", "")
check(failed == nil and kind == "build" and why:find("^test.k:2: 'half'") and text:find("half"), why)
failed, why, kind = device:kernel { dialect = "cuda", source = "", entry = "k" }
check(failed == nil and kind == "unsupported" and why:find("cpu"), why)
raises(function() device:kernel { entry = "k" } end, "'source' is missing")
raises(function() device:kernel { source = "" } end, "'entry' is missing")
raises(function() device:kernel { source = "", entry = "k", dialect = "ptx" } end,
  "expected kc, c, cuda, opencl or library", "ptx")
raises(function() device:kernel { source = "", entry = "k", params = { { name = "x", format = "f31" } } } end,
  "parameter 1", "f31")
raises(function() device:kernel { source = "", entry = "k", params = { 3 } } end, "parameter 1", "expected a table")
raises(function() device:kernel { source = "", entry = "k", params = 3 } end, "params", "list")
raises(function() device:kernel { source = "", entry = "k", flush = 1 } end, "flush", "boolean")
raises(function() device:kernel { source = "", entry = "k; abort", dialect = "c" } end, "identifier")
raises(function() kernel("KC_KERNEL void k(void) {}", "", { defines = "N=1.5" }) end, "defines", "1.5")

-- ---- launching ----

local x, y = core.buffer("f32", { 100 }), core.buffer("f32", { 100 })
for i = 1, 100 do x[i], y[i] = i, 0.5 end
local record = device:launch(axpy, { x, y, 2, 100 }, { grid = { 4 }, group = { 32 } })
for i = 1, 100 do check(y[i] == 2 * i + 0.5) end
check(math.type(record.seconds) == "float" and record.seconds >= 0)
check(record.fp_changed == false and record.local_damaged == false)
check(record.divergent_barrier == false and record.evidence == nil and record.result == nil)
check(not y:guards() or not y:guards().damaged)

raises(function() device:launch(axpy, { x, y, 2 }) end, "4 arguments, got 3")
raises(function() device:launch(axpy, { x, 1, 2, 100 }) end, "argument 2 %('y'%)", "expected a buffer of f32, got number")
raises(function() device:launch(axpy, { x, core.buffer("f64", { 4 }), 2, 100 }) end,
  "argument 2", "expected a buffer of f32, got one of f64")
raises(function() device:launch(axpy, { x, y, 0.1, 100 }) end, "argument 3 %('a', f32%)", "0.1 is not a number of this format")
raises(function() device:launch(axpy, { x, y, 1e300, 100 }) end, "argument 3")
raises(function() device:launch(axpy, { x, y, 16777217, 100 }) end, "argument 3")
raises(function() device:launch(axpy, { x, y, 1, 1.5 }) end, "argument 4", "integer")
raises(function() device:launch(axpy, { x, y, 1, 1 << 31 }) end, "argument 4", "out of range")
raises(function() device:launch(axpy, { x, y, 1, "7" }) end, "argument 4", "expected a number, got string")
raises(function() device:launch(axpy, { x, y, x, 7 }) end, "argument 3", "userdata")
raises(function() device:launch(axpy, { x, y, 1, 1 }, { grid = { 1, 1, 1, 1 } }) end, "grid", "3 dimensions")
raises(function() device:launch(axpy, { x, y, 1, 1 }, { grid = { -1 } }) end, "grid", ">= 0")
raises(function() device:launch(axpy, { x, y, 1, 1 }, { group = { 0 } }) end, "group", ">= 1")
raises(function() device:launch(axpy, { x, y, 1, 1 }, { group = 4 }) end, "group", "list")
raises(function() device:launch(axpy, { x, y, 1, 1 }, { schedule = "x" }) end, "schedule")
raises(function() device:launch(x, {}) end, "kc.kernel")

-- Special values are numbers of their formats, or not.
local special = kernel("KC_KERNEL void k(KC_GLOBAL kc_f32 *y, kc_f32 a) { y[0] = a; }", "y:f32[] a:f32")
for _, value in ipairs { 1 / 0, -1 / 0, -0.0, 0x1p-149 } do
  device:launch(special, { y, value })
  check(y[1] == value and 1 / y[1] == 1 / value)
end
device:launch(special, { y, 0 / 0 })
check(y[1] ~= y[1])
raises(function() device:launch(special, { y, 0x1p-150 }) end, "not a number of this format")
local narrow = kernel("KC_KERNEL void k(KC_GLOBAL kc_u8 *y, kc_u8 a) { y[0] = a; }", "y:e4m3fn[] a:e4m3fn")
local small = core.buffer("e4m3fn", { 1 })
device:launch(narrow, { small, 448 })
check(small[1] == 448)
raises(function() device:launch(narrow, { small, 1 / 0 }) end, "not a number of this format")
local unsigned = kernel("KC_KERNEL void k(KC_GLOBAL kc_i64 *y, kc_u64 a, kc_i8 b) { y[0] = (kc_i64)a; y[1] = b; }",
  "y:i64[] a:u64 b:i8")
local wide = core.buffer("i64", { 2 })
device:launch(unsigned, { wide, math.maxinteger, -128 })
check(wide[1] == math.maxinteger and wide[2] == -128)
raises(function() device:launch(unsigned, { wide, -1, 0 }) end, "argument 2", "out of range")
raises(function() device:launch(unsigned, { wide, 0, 128 }) end, "argument 3", "out of range")

-- Evidence and schedules.
local divergent = kernel("KC_KERNEL void k(KC_GLOBAL kc_f32 *y) {\n  if (kc_lid(0) == 0) { kc_barrier(); }\n" ..
  "  y[kc_gid(0)] = 1.0f;\n}", "y:f32[]")
record = device:launch(divergent, { y }, { group = { 4 } })
check(record.divergent_barrier == true and record.evidence:find("line 2 was reached by 1 of 4"), record.evidence)
local order = kernel("KC_KERNEL void k(KC_GLOBAL kc_i32 *next, KC_GLOBAL kc_i32 *at) {\n" ..
  "  at[kc_gid(0)] = kc_atomic_add_i32_global(next, 1);\n}",
  "next:i32[] at:i32[]")
local function drawn(schedule)
  local next, at, list = core.buffer("i32", { 1 }), core.buffer("i32", { 32 }), {}
  next[1] = 0
  device:launch(order, { next, at }, { grid = { 4 }, group = { 8 }, schedule = schedule })
  for i = 1, 32 do list[i] = at[i] end
  return table.concat(list, " ")
end
check(drawn(7) == drawn(7) and drawn(7) ~= drawn(8) and drawn(0):find("^0 1 2 3"))

-- A sealed buffer can be read by a kernel.
x:seal()
record = device:launch(axpy, { x, y, 0, 100 }, { grid = { 1 }, group = { 1 } })
check(record)

-- ---- host functions and libraries ----

local sum, note = device:kernel { dialect = "c", entry = "k", params = params "x:f32[] n:i32", result = "f32",
  source = "float k(const float *x, int n) { float s = 0; while (n--) s += *x++; return s; }", file = "sum.c" }
check(sum, note)
check(device:launch(sum, { x, 10 }).result == 55.0)
local negative = device:kernel { dialect = "c", source = "signed char k(void) { return -3; }", entry = "k", result = "i8" }
local result = device:launch(negative, {}).result
check(result == -3 and math.type(result) == "integer")
failed, why, kind = device:kernel { dialect = "library", source = "libm.so.6", entry = "cos" }
check(failed == nil and kind == "build" and why:find("full path"))

-- ---- closing ----

do
  local second = core.device("cpu")
  local k <close> = second:kernel { source = "KC_KERNEL void k(void) {}", entry = "k" }
  raises(function() device:launch(k, {}) end, "another device")
  second:close()
  second:close()
  raises(function() second:launch(k, {}) end, "closed device")
  raises(function() second:fingerprint() end, "closed device")
  check(tostring(second):find("closed") and tostring(k):find("closed"))
end
axpy:close()
raises(function() device:launch(axpy, { x, y, 1, 1 }) end, "closed kernel")
local closed = core.buffer("f32", { 1 })
closed:close()
raises(function() device:launch(special, { closed, 1 }) end, "argument 1", "closed buffer")

-- A kernel keeps its device.
local orphan
do
  local temporary = core.device("cpu")
  orphan = temporary:kernel { source = "KC_KERNEL void k(void) {}", entry = "k" }
end
collectgarbage()
collectgarbage()
orphan:close()

print(passed .. " passed")
