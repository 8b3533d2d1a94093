-- Expressions: what Lua could decide silently is refused; values, classes and shapes are those of the mathematics.
local kc = require "kc"
local expression = require "kc.expression"
local passed = 0

local function check(ok, text)
  assert(ok, text)
  passed = passed + 1
end

local function refused(text, fn)
  local ok, message = pcall(expression.trace, fn)
  check(not ok and tostring(message):find(text, 1, true), ("expected '%s', got %s"):format(text, tostring(message)))
end

-- Every trap of Lua, each named with the word to use.
refused("use kc.lt", function(v) return v.x < 1 end)
refused("use kc.lt", function(v) return 1 > v.x end)
refused("use kc.le", function(v) return v.x <= v.x end)
refused("'=='", function(v) return v.x == v.x end)
refused("'~='", function(v) return v.x ~= 0 end)
refused("'and'", function(v) return v.x and 1 end)
refused("'or'", function(v) return v.x or 1 end)
refused("'not'", function(v) return not v.x end)
refused("'if'", function(v)
  if v.x then return v.x end
  return 1
end)
refused("'while'", function(v)
  local y = v.x
  while v.x do y = y + 1 end
  return y
end)
refused("kc.floor(a / b)", function(v) return v.x // 2 end)
refused("a - b * kc.floor", function(v) return v.x % 2 end)
refused("use kc.size", function(v) return #v.x end)
refused("makes text", function(v) return v.x .. "" end)
refused("works on integers", function(v) return v.x & 1 end)
refused("works on integers", function(v) return ~v.x end)
refused("cannot be indexed", function(v) return v.x[1] end)
refused("cannot be indexed", function(v) return v.x.y end)
refused("cannot be changed", function(v) v.x.y = 1 end)
refused("no function", function(v) return v.x(1) end)
refused("constant integer exponent", function(v) return v.x ^ 0.5 end)
refused("constant integer exponent", function(v) return 2 ^ v.x end)
refused("plain boolean", function(v) return kc.where(v.n, v.x, kc.where(1 < 2, 1, 2)) end)
refused("it is not known before", function(v) return kc.static(v.x) end)
refused("expected a traced value or a number, got the string \"a\"", function(v) return v.x + "a" end)
refused("the function returned nothing", function() end)
refused("the axis", function(v) return kc.sum(v.x) end)

-- What is known beforehand may be decided, and words inside strings and comments are words only.
local n = 3
check(tostring(expression.trace(function(v) -- if and or not
  if kc.static(n == 3) then return v.x + kc.constant "0.5" end
  return kc.static(n > 2 and v.x or 2)
end)) == "(x + 0.5)", "static")

local function sneaky(x) return x == 0 and 7 or x end
local hidden = expression.trace(function(v) return sneaky(v.x) * 1 end)
local ok, message = pcall(hidden.evaluate, hidden, { x = kc.buffer("f32", 1, { 3 }) })
check(not ok and message:find("differ at x = 0", 1, true), tostring(message))

-- A branch at a number that the text names; one behind an axis that needs two dimensions.
local function safe(d)
  if d == 0 then return 1e9 end
  return d
end
for _, fn in ipairs { function(v) return safe(v.x - 7) end, function(v) return safe(kc.sum(kc.transpose(v.x), -2)) end } do
  hidden = expression.trace(fn)
  ok, message = pcall(hidden.evaluate, hidden, { x = kc.buffer("f32", { 1, 1 }, { 3 }) })
  check(not ok and message:find("differ at", 1, true), "a helper that branches: " .. tostring(message))
end
-- What only doubles overflow or cancel is no difference.
for _, fn in ipairs { function(v) return kc.log(1 + kc.exp(50 * v.x)) / 50 end, function(v) return kc.sin(1e12 * v.x) end,
                      function(v) return kc.exp(1000 * v.x) / kc.exp(1000 * v.x) end } do
  hidden = expression.trace(fn)
  check(pcall(hidden.evaluate, hidden, { x = kc.buffer("f32", 1, { 3 }) }))
end
refused("cannot be listed", function(v)
  local sum = 0
  for _, x in pairs(v) do sum = sum + x end -- what the file itself writes
  return sum
end)
refused("returned 2 values", function(v) return v.x, 7 end)

local function pick(condition, a, b) return condition and a or b end
for _, fn in ipairs {
  function(v) return pick(kc.lt(v.x, 0), 0.1 * v.x, v.x) end,
  function(v) return kc.static(kc.lt(v.x, 0) and 0.1 or 1) * v.x end,
} do
  hidden = expression.trace(fn)
  ok, message = pcall(hidden.evaluate, hidden, { x = kc.buffer("f32", 1, { 3 }) })
  check(not ok and message:find("differ at", 1, true), "a comparison that Lua took for true: " .. tostring(message))
end

-- ---- values ---------------------------------------------------------------------------------------------------------------

local inf, nan = math.huge, 0 / 0

local function evaluate(fn, inputs, options) return expression.trace(fn, options):evaluate(inputs) end

local function one(fn, x, options)
  local lo, hi, classes = evaluate(fn, { x = kc.buffer("f64", 1, { x }) }, options):at(1)
  return lo, hi, table.concat(classes, " ")
end

local function gives(fn, x, value, class, options)
  local lo, hi, classes = one(fn, x, options)
  local at = ("at %g: [%a, %a] %s"):format(x, lo, hi, classes)
  check(classes == class, at .. ", expected " .. class)
  if value then check(lo == value and hi == value, at) end
end

-- Exact arithmetic stays exact, constants are exact.
gives(function(v) return v.x * 3 - 1 end, 0.5, 0.5, "+finite")
gives(function(v) return kc.ratio(1, 3) * 3 * v.x end, 1, nil, "+finite")
gives(function(v) return v.x ^ -2 end, 0.5, 4, "+finite")
gives(function(v) return kc.real "0.25" * v.x end, 2, 0.5, "+finite")
gives(function(v) return kc.where(kc.lt(v.x, 1), 5, 6) end, 1, 6, "+finite")
gives(function(v) return kc.where(kc.le(v.x, 1), 5, 6) end, 1, 5, "+finite")
gives(function(v) return kc.floor(v.x) end, -1.5, -2, "-finite")
local lo, hi = one(function(v) return kc.constant "0.1" + 0 * v.x end, 1)
check(lo < 0.1 and hi == 0.1, "0.1 the decimal lies below 0.1 the double")
-- log(1 + 1e-30) needs 100 bits before anything remains of it; the series is the reference.
lo, hi = one(function(v) return kc.log(1 + v.x) end, 1e-30)
check(lo <= 1e-30 and 1e-30 <= hi and hi - lo < 1e-45, "cancellation is met with precision")
-- An equality of inexact values cannot be told: the hull of both arms, whatever the precision.
lo, hi = one(function(v) return kc.where(kc.eq(kc.exp(kc.log(v.x)), v.x), 1, 2) end, 3)
check(lo <= 1 and hi >= 2, "the hull of both arms")

-- Exceptional values follow the tables of the operations.
gives(function(v) return v.x - v.x end, inf, nil, "nan")
gives(function(v) return v.x + 1 end, -inf, -inf, "-inf")
gives(function(v) return v.x * 0 end, inf, nil, "nan")
gives(function(v) return 1 / v.x end, -0.0, -inf, "-inf")
gives(function(v) return 1 / v.x end, -inf, 0, "-0")
gives(function(v) return kc.log(v.x) end, -1, nil, "nan")
gives(function(v) return kc.sqrt(v.x) end, -0.0, 0, "-0")
gives(function(v) return kc.exp(v.x) end, -inf, 0, "+0")
gives(function(v) return kc.exp(v.x) end, 1e6, nil, "+finite") -- beyond the doubles, but finite
gives(function(v) return kc.exp(v.x) / kc.exp(v.x) end, 1e6, nil, "+finite")
gives(function(v) return kc.max(v.x, 1) end, nan, nil, "nan")
gives(function(v) return kc.min(v.x, 1) end, -inf, -inf, "-inf")
gives(function(v) return kc.where(kc.isnan(v.x), 7, v.x) end, nan, 7, "+finite")
gives(function(v) return kc.where(kc.isinf(v.x), 7, v.x) end, -inf, 7, "+finite")
gives(function(v) return v.x ^ 3 end, -inf, -inf, "-inf")
gives(function(v) return kc.gelu(v.x) end, inf, inf, "+inf")
gives(function(v) return kc.sigmoid(v.x) end, -inf, 0, "+0")
gives(function(v) return v.x ^ 0 end, nan, 1, "+finite")
gives(function(v) return v.x / (1 + kc.abs(v.x)) end, inf, nil, "nan")
gives(function(v) return v.x / (1 + kc.abs(v.x)) end, inf, 1, "+finite", { special = { { "x", "+inf", 1 }, { "x", "-inf", -1 } } })
gives(function(v) return v.x / (1 + kc.abs(v.x)) end, -inf, -1, "-finite", { special = { { "x", "+inf", 1 }, { "x", "-inf", -1 } } })

-- ---- shapes ---------------------------------------------------------------------------------------------------------------

local a = kc.buffer("f32", { 2, 3 }, { 1, 2, 3, 4, 5, 6 })
local b = kc.buffer("f32", { 3 }, { 10, 20, 30 })

local function values(fn, inputs)
  local e, shape = evaluate(fn, inputs)
  local list = {}
  for i = 1, #e do
    local low, high = e:at(i)
    check(low == high, "exact")
    list[i] = ("%g"):format(low)
  end
  return table.concat(list, " "), table.concat(shape, "x")
end

local function equals(want, shape, fn, inputs)
  local got, got_shape = values(fn, inputs)
  check(got == want and got_shape == shape, ("%s of %s, expected %s of %s"):format(got, got_shape, want, shape))
end

equals("11 22 33 14 25 36", "2x3", function(v) return v.a + v.b end, { a = a, b = b })
equals("6 15", "2x1", function(v) return kc.sum(v.a, -1) end, { a = a })
equals("5 7 9", "1x3", function(v) return kc.sum(v.a, 0) end, { a = a })
equals("3 6", "2x1", function(v) return kc.reduce_max(v.a, 1) end, { a = a })
equals("1 2 3", "1x3", function(v) return kc.reduce_min(v.a, 0) end, { a = a })
equals("1 3 6 4 9 15", "2x3", function(v) return kc.cumsum(v.a, 1) end, { a = a })
equals("2 5", "2x1", function(v) return kc.mean(v.a, 1) end, { a = a })
equals("1 4 2 5 3 6", "3x2", function(v) return kc.transpose(v.a) end, { a = a })
equals("14 32 32 77", "2x2", function(v) return kc.matmul(v.a, kc.transpose(v.a)) end, { a = a })
equals("3", "", function(v) return kc.size(v.a, 1) end, { a = a })
local c = kc.buffer("f32", { 2, 2, 2 }, { 1, 0, 0, 1, 2, 0, 0, 2 })
equals("1 2 3 4 2 4 6 8", "2x2x2", function(v) return kc.matmul(v.c, v.d) end, { c = c, d = kc.buffer("f32", { 2, 2 }, { 1, 2, 3, 4 }) })

local function fails(text, fn, inputs)
  local good, why = pcall(evaluate, fn, inputs)
  check(not good and why:find(text, 1, true), ("expected '%s', got %s"):format(text, tostring(why)))
end
fails("do not broadcast", function(v) return v.a + v.b end, { a = a, b = kc.buffer("f32", 2) })
fails("[..,K,N]", function(v) return kc.matmul(v.a, v.a) end, { a = a })
fails("axis 2", function(v) return kc.sum(v.a, 2) end, { a = a })
fails("reads 'b', which is not given", function(v) return v.a + v.b end, { a = a })

-- An exact tie: 1 + 2^-24 lies between two f32; both are half an ulp away, and a tolerance of just less convicts both.
local core = require "kc.core"
local tie = evaluate(function(v) return v.x + kc.constant "0x1p-24" end, { x = kc.buffer("f32", 1, { 1 }) })
for _, got in ipairs { 1, 1 + 2.0 ^ -23 } do
  local y = kc.buffer("f32", 1, { got })
  check(core.decide(y, tie, { kind = "ulp", value = 0.5 }).value_yes == 1, "half an ulp is held")
  check(core.decide(y, tie, { kind = "ulp", value = 0.5 - 2.0 ^ -50 }).value_no == 1, "less is violated")
end
-- Refinement: the first bounds straddle half an ulp, the difference decides.
local near = evaluate(function(v) return v.x + kc.constant "0x1p-24" + kc.exp(-v.y) end,
  { x = kc.buffer("f32", 1, { 1 }), y = kc.buffer("f32", 1, { 38 }) })
check(core.decide(kc.buffer("f32", 1, { 1 }), near, { kind = "ulp", value = 0.5 }).value_no == 1, "just beyond half an ulp")
print(("expression: %d passed"):format(passed))
