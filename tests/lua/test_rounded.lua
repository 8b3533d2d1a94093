-- kc.rounded: tensors, plain numbers and reals against the codec in every format and mode; compositions of rounded operations against
-- the same operations of doubles, which round once more innocuously; what is refused.
local kc = require "kc"
local core = require "kc.core"
local expression = require "kc.expression"
local passed = 0

local function check(ok, text)
  assert(ok, text)
  passed = passed + 1
end

local modes = { "RNE", "RZ", "RU", "RD", "RNA" }
local function floats()
  local list = {}
  for _, name in ipairs(core.formats()) do
    if core.format(name).kind == "float" then list[#list + 1] = name end
  end
  return list
end

-- Numbers of the format, those half-way between neighbours and beside these, subnormals, overflow, and what is no number.
local function arguments(format)
  local f = core.format(format)
  local list = { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, f.max, -f.max, f.max * 1.0625, f.max * 4 }
  local buffer = kc.buffer("f64", 400)
  buffer:fill(7, { kind = "stratified", a = f.emin - f.frac_bits - 2.0, b = f.emax + 2.0 })
  for i = 1, #buffer do
    local x = buffer[i]
    local near = core.encode(format, x, { rounding = "RZ" })
    local beside = core.next(format, near, x < 0 and -1 or 1)
    list[#list + 1] = x
    if beside and format ~= "f64" then -- of doubles no half can be written
      local tie = (core.decode(format, near) + core.decode(format, beside)) / 2
      list[#list + 1], list[#list + 2], list[#list + 3] = tie, tie * (1 + 2.0 ^ -52), tie * (1 - 2.0 ^ -52)
    end
  end
  return list
end

local function same(a, b) return a == b and 1 / a == 1 / b or a ~= a and b ~= b end

-- The value of an element that is known exactly, with the sign of its zero.
local function exact(enclosure, i)
  local lo, hi, classes = enclosure:at(i)
  if #classes > 1 or lo ~= hi then return nil, table.concat(classes, " ") end
  if classes[1] == "nan" then return 0 / 0 end
  return classes[1] == "-0" and -0.0 or classes[1] == "+0" and 0.0 or lo
end

local function want(x, format, mode)
  if x ~= x then return x end
  return core.decode(format, core.encode(format, x, { rounding = mode }))
end

for _, format in ipairs(floats()) do
  local list = arguments(format)
  local x = kc.buffer("f64", #list, list)
  for _, mode in ipairs(modes) do
    local got = expression.trace(function(v) return kc.rounded(v.x, format, mode) end):evaluate { x = x }
    for i = 1, #list do
      local y, classes = exact(got, i)
      local where = ("%a in %s, %s"):format(list[i], format, mode)
      check(y and same(y, want(list[i], format, mode)), ("%s: %s, expected %a"):format(where, tostring(y or classes),
        want(list[i], format, mode)))
      check(same(kc.rounded(list[i], format, mode), y), "plain: " .. where)
    end
    got:close()
  end
end
check(kc.rounded(0.1, "f32") == 0x1.99999ap-4 and kc.rounded(3, "bf16") == 3.0, "to nearest where nothing is said")
check(kc.rounded(kc.real("0x1.00000000000000001p-25", 200) + 1, "f32", "RU"):tonumber() == 1 + 2.0 ^ -23, "a real")

-- ---- compositions ---------------------------------------------------------------------------------------------------------

local function f32(x) return core.decode("f32", core.encode("f32", x)) end

local function filled(format, n, key, dist)
  local b = kc.buffer(format, n)
  b:fill(key, dist)
  return b
end

-- A product or sum of two f32 in a double, rounded to f32, is the correctly rounded one (53 >= 2 * 24 + 2).
local wide = { kind = "log_uniform", a = -40.0, b = 40.0, c = 0.0 }
local a, b, x = filled("f32", 2000, 1, wide), filled("f32", 2000, 2, wide), filled("f32", 2000, 3, wide)
local sum = expression.trace(function(v)
  return kc.rounded(kc.rounded(v.a * v.x, "f32") + kc.rounded(v.b * v.x, "f32"), "f32")
end)
local got = sum:evaluate { a = a, b = b, x = x }
for i = 1, #a do
  check(exact(got, i) == f32(f32(a[i] * x[i]) + f32(b[i] * x[i])), ("element %d: %a %a %a"):format(i, a[i], b[i], x[i]))
end
check(tostring(sum) == "rounded((rounded((a * x), f32) + rounded((b * x), f32)), f32)", tostring(sum))
check(tostring(expression.trace(function(v) return kc.rounded(v.x, "f16", "RZ") end)) == "rounded(x, f16, RZ)", "the mode is shown")

-- Rounding twice is not rounding once: a tie of f16 that f32 makes.
local tie = kc.buffer("f64", 1, { 1 + 2.0 ^ -11 + 2.0 ^ -40 })
check(exact(expression.trace(function(v) return kc.rounded(v.x, "f16") end):evaluate { x = tie }, 1) == 1 + 2.0 ^ -10, "once")
check(exact(expression.trace(function(v) return kc.rounded(kc.rounded(v.x, "f32"), "f16") end):evaluate { x = tie }, 1) == 1, "twice")

-- A value so close to a tie that the first precisions leave both neighbours possible, and one that lies on it: bounds are one number.
local close = expression.trace(function(v) return kc.rounded(1 + kc.constant "0x1p-24" + kc.exp(v.x), "f32") end)
check(exact(close:evaluate { x = kc.buffer("f32", 1, { -200 }) }, 1) == 1 + 2.0 ^ -23, "above the tie, by 2^-288")
-- What no precision tells stays open: the hull of both neighbours.
local lo, hi, classes = expression.trace(function(v) return kc.rounded(kc.exp(kc.log(v.x)), "f16", "RD") end):evaluate {
  x = kc.buffer("f32", 1, { 3 }) }:at(1)
check(lo <= 3 - 2.0 ^ -9 and hi >= 3 and #classes == 1, ("[%a, %a]"):format(lo, hi))
-- NaN, infinities, and the sign of what rounds to zero, through a composition.
for _, row in ipairs { { 0 / 0, "nan" }, { 1 / 0, "nan" }, { -1e-30, "-0" }, { 1e-30, "+0" }, { 1e30, "+inf" }, { -1e30, "-inf" } } do
  local _, _, names = expression.trace(function(v)
    return kc.rounded(kc.rounded(v.x * kc.where(kc.isinf(v.x), 0, 1e-10), "f16") * 0.5, "f16")
  end):evaluate { x = kc.buffer("f64", 1, { row[1] }) }:at(1)
  check(#names == 1 and names[1] == row[2], ("%g: %s"):format(row[1], table.concat(names, " ")))
end

-- ---- deciding -------------------------------------------------------------------------------------------------------------

local oracle = expression.trace(function(v) return kc.rounded(v.x * v.x, "f16") end):evaluate {
  x = kc.buffer("f32", 4, { 1.1, 300, 1e-6, -0x1.01p0 }) }
local exactly = { kind = "exact", denormals = "preserve" }
local function codes(list)
  local y = kc.buffer("f16", 4, list)
  return core.decide(y, oracle, exactly)
end
local right = { 1.2099609375, 1 / 0, 0.0, 0x1.02p0 }
check(codes(right).value_yes == 4, "the rounded products")
for i, wrong in ipairs { 1.208984375, 65504.0, -0.0, 0x1.024p0 } do
  local list = table.move(right, 1, 4, 1, {})
  list[i] = wrong
  check(codes(list).value_no == 1, ("%a is not %a"):format(wrong, right[i]))
end

-- An integer output: how many elements overflow, and whether any does.
local overflowing = kc.buffer("f32", 3, { 1e5, 1, -65520 })
for _, row in ipairs { { function(v) return kc.sum(kc.isinf(kc.rounded(v.x, "f16")), 0) end, 2 },
                       { function(v) return kc.reduce_max(kc.isinf(kc.rounded(v.x, "f16")), 0) end, 1 },
                       { function(v) return kc.reduce_max(kc.isinf(kc.rounded(v.x, "f32")), 0) end, 0 } } do
  local count = expression.trace(row[1]):evaluate { x = overflowing }
  for _, format in ipairs { "i32", "u8", "i64" } do
    for n = 0, 3 do
      local d = core.decide(kc.buffer(format, 1, { n }), count, exactly)
      check(d.value_yes == (n == row[2] and 1 or 0) and d.value_no == 1 - d.value_yes, ("%s %d against %d"):format(format, n, row[2]))
    end
  end
end

-- ---- what is refused ------------------------------------------------------------------------------------------------------

local function refused(text, fn)
  local ok, message = pcall(fn)
  check(not ok and tostring(message):find(text, 1, true) and tostring(message):find("test_rounded.lua:", 1, true),
    ("expected '%s', got %s"):format(text, tostring(message)))
end
refused("a floating-point format such as \"f32\", got the string \"i32\"", function() kc.rounded(1, "i32") end)
refused("a floating-point format", function() kc.rounded(1) end)
refused("expected RNE, RZ, RU, RD or RNA, got the string \"SR\"", function() kc.rounded(1, "f32", "SR") end)
refused("expected a traced value or a number, got the string \"x\"", function() kc.rounded("x", "f32") end)
local exact_module = require "kc.exact"
for _, row in ipairs { { { text = "i8" }, "expected a floating-point format, got 'i8'" }, { {}, "format, got ''" },
                       { { text = "f32", number = 5 }, "expected a rounding mode from 0 to 4, got 5" } } do
  row[1].op, row[1].args = "rounded", { 1 }
  local ok, message = pcall(exact_module.graph, { { op = "input" }, row[1] })
  check(not ok and message:find(row[2], 1, true), tostring(message))
end
print(("rounded: %d passed"):format(passed))
