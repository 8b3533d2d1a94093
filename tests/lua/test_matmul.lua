-- Certified matrix products from Lua: integers against the sum in Lua's own 64-bit integers, parameters, decisions, refusals.
local kc = require "kc"
local core = require "kc.core"
local exact = require "kc.exact"
local passed = 0

-- Products of integers, exactly representable: every element's bounds are the integer itself.
local function integers(m, n, k, a_format, b_format)
  local a, b = kc.buffer(a_format, { m, k }), kc.buffer(b_format, { k, n })
  a:fill(1, { kind = "integers", a = -31, b = 31 })
  b:fill(2, { kind = "integers", a = -31, b = 31 })
  local e = assert(exact.oracle("matmul", { a, b }))
  assert(#e == m * n)
  for i = 1, m do
    for j = 1, n do
      local sum = 0
      for l = 1, k do sum = sum + math.tointeger(a[(i - 1) * k + l]) * math.tointeger(b[(l - 1) * n + j]) end
      local lo, hi, classes = e:at((i - 1) * n + j)
      assert(lo == sum and hi == sum, ("row %d, column %d: [%a, %a], expected %d"):format(i, j, lo, hi, sum))
      assert(#classes == (sum == 0 and 2 or 1))
    end
  end
  passed = passed + 1
end
integers(7, 5, 33, "f16", "f32")
integers(1, 1, 0, "f16", "f32")

-- Parameters by name, and through a contract's description.
local a, b = kc.buffer("f64", { 2, 2 }, { 1, 2, 3, 4 }), kc.buffer("f64", { 2, 2 }, { 5, 6, 7, 8 })
local c = kc.buffer("f64", { 2, 2 }, { 1, 1, 1, 1 })
local function expect(params, want, ...)
  local e = assert(exact.oracle("matmul", { a, b, ... }, params))
  for i = 1, 4 do assert(e:at(i) == want[i], ("element %d: %g, expected %g"):format(i, e:at(i), want[i])) end
  passed = passed + 1
end
expect({}, { 19, 22, 43, 50 })
expect({ transpose_a = true }, { 26, 30, 38, 44 })
expect({ transpose_b = true }, { 17, 23, 39, 53 })
expect({ alpha = -2, beta = 10 }, { -28, -34, -76, -90 }, c)
expect({ alpha = -2, beta = -10, magnitude = true }, { 48, 54, 96, 110 }, c)
local described = kc.oracle.matmul("A", "B", "C", { alpha = 0.5, beta = "s" })
local oracle = require "kc.oracle"
local e = oracle.evaluate(described, { A = a, B = b, C = c, s = kc.buffer("f64", 1, { 3 }) })
assert(e:at(1) == 12.5 and e:at(4) == 28)

-- A tie is settled: 1 + 2^-24 half-way between two f32 numbers.
local x, y = kc.buffer("f64", { 1, 2 }, { 1, 2.0 ^ -12 }), kc.buffer("f64", { 2, 1 }, { 1, 2.0 ^ -12 })
local function decide(got, limit)
  local half = { kind = "ulp", value = limit, denormals = "preserve" }
  return core.decide(kc.buffer("f32", 1, { got }), exact.oracle("matmul", { x, y }), half)
end
assert(decide(1, 0.5).value_yes == 1 and decide(1, 0.4999).value_no == 1)
-- 2^-24 + 2^-60 above 1: only the refined difference tells that this is more than half an ulp.
x, y = kc.buffer("f64", { 1, 3 }, { 1, 2.0 ^ -12, 2.0 ^ -30 }), kc.buffer("f64", { 3, 1 }, { 1, 2.0 ^ -12, 2.0 ^ -30 })
assert(decide(1, 0.5).value_no == 1 and decide(1 + 2.0 ^ -23, 0.5).value_yes == 1)

local function raises(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:find(text, 1, true), tostring(message))
  passed = passed + 1
end
raises("oracle matmul: expected 2 to 3 inputs, got 1", exact.oracle, "matmul", { a })
raises("it reads no parameter 'transposed'", kc.oracle.matmul, "A", "B", { transposed = true })
raises("input 2: expected 2 rows, got 3", oracle.evaluate, kc.oracle.matmul("A", "B"), { A = a, B = kc.buffer("f64", { 3, 2 }) })
raises("beta is 1: expected a third input", exact.oracle, "matmul", { a, b }, { beta = 1 })
-- The same bits by whatever dgemm: OpenBLAS's kernels for several processors, with one thread and two, and none at all.
local t = dofile "tests/cli/harness.lua"()
local script = t:file("digest.lua", [[
  local kc, core, exact = require "kc", require "kc.core", require "kc.exact"
  local function product(format, m, n, k, key, params)
    local a, b, out = kc.buffer(format, { m, k }), kc.buffer(format, { k, n }), {}
    a:fill(key, { kind = "normal", a = 0, b = 1 })
    b:fill(key + 1, { kind = "normal", a = 0, b = 1 })
    local e = assert(exact.oracle("matmul", { a, b }, params))
    for i = 1, #e do out[i] = string.pack("<dd", e:at(i)) end
    return core.sha256(table.concat(out))
  end
  print(product("f16", 150, 170, 129, 1), product("f32", 33, 65, 1111, 3), product("f64", 90, 40, 300, 5, { alpha = 0.7 }))
]])
local function digest(...) return t:run({ script }, { ... }) end
local flags = io.open("/proc/cpuinfo"):read("a"):match("flags[^\n]*") or ""
local summed = digest("KC_OPENBLAS=none")
assert(summed.code == 0 and #summed.stdout == 3 * 65, summed.stdout .. summed.stderr)
local seen = {}
for _, core_type in ipairs { { "Prescott", "pni" }, { "Nehalem", "sse4_2" }, { "Sandybridge", "avx " }, { "Haswell", "avx2" },
                             { "Zen", "avx2" }, { "SkylakeX", "avx512f" } } do
  if flags:find(core_type[2], 1, true) then
    for threads = 1, 2 do
      local got = digest("OPENBLAS_CORETYPE=" .. core_type[1], "OPENBLAS_NUM_THREADS=" .. threads, "OPENBLAS_VERBOSE=2")
      assert(got.stdout:find(summed.stdout, 1, true),
             ("%s, %d threads: %s%s, expected %s"):format(core_type[1], threads, got.stdout, got.stderr, summed.stdout))
      seen[#seen + 1] = got.stderr:match("Core: (%w+)")
      passed = passed + 1
    end
  else
    print(("skipped: no %s on this processor, so OpenBLAS's %s kernels are not tried"):format(core_type[2], core_type[1]))
  end
end
t.passed = #seen
t:done("matmul by kernels (" .. (#seen > 0 and table.concat(seen, " ") or "OpenBLAS is not installed, or does not say") .. ")")

print(("matmul: %d passed"):format(passed))
