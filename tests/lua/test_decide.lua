-- Deciding: every rule of spec/verdicts.md on cases worked by hand, and the exact oracles of tier 1.
local kc = require "kc"
local core = require "kc.core"
local inf, nan = math.huge, 0 / 0
local passed = 0

-- Decides one element of format f: got (a number or {code}) against {lo, hi, classes}.
local function one(f, got, exact, tolerance)
  local y = kc.buffer(f, 1)
  if type(got) == "table" then y:setcode(1, got[1]) else y[1] = got end
  local e = core.enclosure({ exact[1] }, { exact[2] or exact[1] }, { exact[3] })
  tolerance.denormals = tolerance.denormals or "preserve"
  return core.decide(y, e, tolerance)
end

local function expect(class, value, f, got, exact, tolerance, what)
  local d = one(f, got, exact, tolerance)
  local function answer(prefix) return d[prefix .. "_yes"] == 1 and "yes" or d[prefix .. "_no"] == 1 and "no" or "unknown" end
  assert(answer "class" == class and answer "value" == value,
    ("%s: class %s, value %s; expected %s, %s"):format(what, answer "class", answer "value", class, value))
  passed = passed + 1
  return d
end

local function ulp(n, denormals) return { kind = "ulp", value = n + 0.0, denormals = denormals } end
local function abs(a) return { kind = "abs", value = a } end
local function rel(r) return { kind = "rel", value = r } end
local exact = { kind = "exact" }
local u = 2.0 ^ -23 -- ulp of f32 in [1, 2)

-- Values. A tolerance that is just met is met; one that is just missed is missed.
expect("yes", "yes", "f32", 1, { 1, 1, "+finite" }, exact, "equal")
expect("yes", "no", "f32", 1 + u, { 1, 1, "+finite" }, exact, "one ulp off, exact")
expect("yes", "yes", "f32", 1 + u, { 1, 1, "+finite" }, ulp(1), "one ulp off, 1 ulp")
expect("yes", "no", "f32", 1 + 2 * u, { 1, 1, "+finite" }, ulp(1), "two ulps off, 1 ulp")
expect("yes", "yes", "f32", 1, { 1 + u / 2, 1 + u / 2, "+finite" }, ulp(0.5), "a tie is within half an ulp")
expect("yes", "no", "f32", 1, { 1 + u / 2, 1 + u / 2, "+finite" }, ulp(0.4999999), "a tie is not within less")
expect("yes", "no", "f32", 1, { 2, 2, "+finite" }, ulp(4), "the ulp is that of the exact value")
expect("yes", "yes", "f32", 2 - u, { 2, 2, "+finite" }, ulp(0.5), "at a power of two the ulp is the larger one")
expect("yes", "yes", "f32", 1.5, { 1, 1, "+finite" }, abs(0.5), "absolute")
expect("yes", "no", "f32", 1.5, { 1, 1, "+finite" }, abs(0.4375), "absolute, too far")
expect("yes", "yes", "f32", 3, { 2, 2, "+finite" }, rel(0.5), "relative to the exact value")
expect("yes", "no", "f32", 3, { 2, 2, "+finite" }, rel(0.25), "relative, too far")

-- Enclosures: yes needs the worst case, no the best case.
expect("yes", "yes", "f32", 1, { 1 - u, 1 + u, "+finite" }, ulp(2), "the whole enclosure fits")
expect("yes", "unknown", "f32", 1, { 1, 1 + 4 * u, "+finite" }, ulp(2), "part of the enclosure fits")
expect("yes", "no", "f32", 1, { 1 + 3 * u, 1 + 4 * u, "+finite" }, ulp(2), "nothing of the enclosure fits")
expect("yes", "unknown", "f32", 1 + 2 * u, { 1 - 3 * u, 1 + 3 * u, "+finite" }, ulp(1), "no refiner: unknown, not held")

-- Classes come before values.
expect("no", "no", "f32", nan, { 1, 1, "+finite" }, abs(1e300), "NaN for a number, whatever the tolerance")
expect("no", "no", "f32", 1, { 0, 0, "nan" }, abs(1e300), "a number for NaN")
expect("yes", "yes", "f32", nan, { 0, 0, "nan" }, exact, "NaN for NaN")
expect("yes", "yes", "f32", { 0xffc00001 }, { 0, 0, "nan" }, exact, "any NaN for NaN")
expect("no", "no", "f32", inf, { 0, 0, "nan" }, exact, "infinity for NaN")
expect("no", "no", "f32", nan, { inf, inf, "+inf" }, exact, "NaN for infinity")
expect("no", "no", "f32", -inf, { inf, inf, "+inf" }, exact, "infinity of the wrong sign")
expect("yes", "yes", "f32", inf, { inf, inf, "+inf" }, ulp(1), "infinity for infinity")
expect("no", "no", "f32", 3.4e38, { inf, inf, "+inf" }, ulp(1e6), "a number for infinity")
expect("yes", "yes", "f32", 0, { 0, 0, "+0" }, exact, "+0 for +0")
expect("no", "no", "f32", -0.0, { 0, 0, "+0" }, exact, "-0 for +0")
expect("yes", "yes", "f32", -0.0, { 0, 0, "-0 +0" }, exact, "either zero")
expect("no", "no", "f32", 1, { 0, 0, "+0" }, ulp(4), "a number for zero")

-- Overflow: the largest number has ulp 2^104; 2^128 stands for infinity.
local max = 2.0 ^ 128 - 2.0 ^ 104
expect("yes", "yes", "f32", inf, { 2.0 ^ 128 - 2.0 ^ 103, nil, "+finite" }, ulp(0.5), "rounds to infinity")
expect("no", "no", "f32", inf, { max, nil, "+finite" }, ulp(0.5), "does not round to infinity")
expect("yes", "yes", "f32", inf, { max, nil, "+finite" }, ulp(1), "overflow inside the bound")
expect("yes", "yes", "f32", inf, { 2.0 ^ 200, nil, "+finite" }, ulp(1), "infinity far beyond the format")
expect("yes", "no", "f32", max, { 2.0 ^ 200, nil, "+finite" }, ulp(1), "the largest number far beyond the format")
expect("no", "no", "f32", -inf, { 2.0 ^ 200, nil, "+finite" }, ulp(1), "infinity of the other sign")
expect("no", "no", "f32", inf, { 1, nil, "+finite" }, exact, "an infinity is never exact")

-- Underflow: spacing 2^-149. A finite value may round to a zero of its own sign.
local s = 2.0 ^ -149
expect("yes", "yes", "f32", 0, { s / 2, nil, "+finite" }, ulp(0.5), "rounds to zero")
expect("no", "no", "f32", 0, { 3 * s / 4, nil, "+finite" }, ulp(0.5), "does not round to zero")
expect("no", "no", "f32", -0.0, { s / 4, nil, "+finite" }, ulp(0.5), "a zero of the wrong sign")
expect("no", "no", "f32", 0, { 1, nil, "+finite" }, ulp(4), "zero for one")
local either = { kind = "ulp", value = 2.0, either_zero = true }
expect("yes", "yes", "f32", 0, { -s, nil, "-finite" }, either, "a zero of the other sign, where it is near enough")
expect("no", "no", "f32", 0, { -s, nil, "-finite" }, ulp(2), "the same, where the sign counts")
expect("no", "no", "f32", 0, { -3 * s, nil, "-finite" }, either, "a zero of the other sign, too far")
expect("no", "no", "f32", 0, { 0, 0, "-0" }, either, "the sign of an exact zero counts")
expect("no", "no", "f32", 0, { 2.0 ^ -130, nil, "+finite" }, ulp(1), "flushed, denormals preserved")
expect("yes", "yes", "f32", 0, { 2.0 ^ -130, nil, "+finite" }, ulp(1, "flush"), "flushed, flushing declared")
expect("no", "no", "f32", -0.0, { 2.0 ^ -130, nil, "+finite" }, ulp(1, "flush"), "flushed to the wrong sign")
expect("no", "no", "f32", 0, { 2.0 ^ -120, nil, "+finite" }, ulp(1, "flush"), "a normal number is not flushed")

-- Vacuous elements: zero would pass.
assert(expect("yes", "yes", "f32", 1e-3, { 1e-3, nil, "+finite" }, abs(1e-2), "small").vacuous == 1)
assert(expect("yes", "yes", "f32", 1, { 1, nil, "+finite" }, abs(1e-2), "large").vacuous == 0)
assert(expect("yes", "yes", "f32", 0, { 0, nil, "+0" }, abs(1e-2), "zero itself").vacuous == 0)

-- Ratios of error and tolerance.
local d = expect("yes", "yes", "f32", 1 + u, { 1, nil, "+finite" }, ulp(4), "ratio")
assert(d.worst_ratio_lo <= 0.25 and d.worst_ratio_hi >= 0.25 and d.worst_ratio_hi < 0.2500001 and d.worst == 1)
d = expect("no", "no", "f32", nan, { 1, nil, "+finite" }, ulp(4), "confusion")
assert(d.confusion["+finite"].nan == 1 and d.first_class_no == 1 and d.first_value_no == 1)

-- Narrow formats without infinity: what overflow gives is not declared by a tolerance.
expect("yes", "yes", "e4m3fn", 448, { 448, nil, "+finite" }, exact, "the largest e4m3fn")
assert(one("e4m3fn", { 0x7f }, { 1000, 1000, "+finite" }, ulp(1)).class_yes == 0, "NaN on overflow is not proven right")

-- ---- oracles ----------------------------------------------------------------------------------------------------------------

local function at(e, i)
  local lo, hi, classes = e:at(i)
  return lo, hi, table.concat(classes, " ")
end

local function point(oracle, inputs, params, lo, classes)
  local buffers = {}
  for i, x in ipairs(inputs) do buffers[i] = kc.buffer("f32", 1, { x }) end
  local got_lo, got_hi, got = at(assert(core.oracle(oracle, buffers, params)), 1)
  local text = ("%s(%s): [%s, %s] %s"):format(oracle, table.concat(inputs, ", "), got_lo, got_hi, got)
  assert(got == classes, text .. ", expected " .. classes)
  if lo then assert(got_lo <= lo and lo <= got_hi, text) end
  passed = passed + 1
end

point("relu", { 2 }, nil, 2, "+finite")
point("relu", { -2 }, nil, 0, "+0")
point("relu", { -0.0 }, nil, 0, "-0 +0")
point("relu", { nan }, nil, nil, "nan")
point("relu", { -inf }, nil, 0, "+0")
point("relu", { inf }, nil, nil, "+inf")
point("clamp", { 7 }, { a = -1, b = 1 }, 1, "+finite")
point("clamp", { -inf }, { a = -1, b = 1 }, -1, "-finite")
point("clamp", { nan }, { a = -1, b = 1 }, nil, "nan")
point("clamp", { nan }, { a = -1, b = 1, nan = "ignore" }, -1, "-finite")
point("max", { 1, 2 }, nil, 2, "+finite")
point("max", { nan, 2 }, nil, nil, "nan")
point("max", { nan, 2 }, { nan = "ignore" }, 2, "+finite")
point("max", { -0.0, 0 }, nil, 0, "-0 +0")
point("sqrt", { 2 }, nil, nil, "+finite")
point("sqrt", { 4 }, nil, 2, "+finite")
point("sqrt", { -0.0 }, nil, 0, "-0")
point("sqrt", { -1 }, nil, nil, "nan")
point("div", { 1, 0 }, nil, nil, "+inf")
point("div", { 1, -0.0 }, nil, nil, "-inf")
point("div", { 0, 0 }, nil, nil, "nan")
point("div", { inf, inf }, nil, nil, "nan")
point("div", { 1, -inf }, nil, 0, "-0")
point("div", { 6, 3 }, nil, 2, "+finite")
point("rsqrt", { -0.0 }, nil, nil, "-inf")
point("rsqrt", { 4 }, nil, 0.5, "+finite")

-- Reductions along an axis, index sets, gather.
local x = kc.buffer("f32", { 2, 3 }, { 1, 5, 5, 2, nan, 0 })
local rows = assert(core.oracle("reduce_max", { x }, { axis = 1 }))
assert(#rows == 2 and select(1, rows:at(1)) == 5 and select(3, rows:at(2))[1] == "nan")
for _, params in ipairs { { axis = -1 }, {} } do -- the last
  local last = assert(core.oracle("reduce_max", { x }, params))
  assert(#last == 2 and select(1, last:at(1)) == 5)
end
local columns = assert(core.oracle("reduce_max", { x }, { axis = -2 }))
assert(#columns == 3 and select(1, columns:at(1)) == 2)
local function index(params, row, list)
  params.axis = 1
  local e = assert(core.oracle("argmax", { x }, params))
  for _, item in ipairs(list) do
    local y = kc.buffer("i32", { 2 }, { 0, 0 })
    y[row] = item[1]
    local decided = core.decide(y, e, { kind = "exact", denormals = "preserve" })
    -- Only the row in question is looked at; the other one holds 0.
    local before = core.decide(kc.buffer("i32", { 2 }, { -1, -1 }), e, { kind = "exact", denormals = "preserve" }).value_yes
    assert(before == 0)
    assert((decided.value_yes >= 1) == item[2], ("argmax %s: index %d"):format(params.tie or "first", item[1]))
    passed = passed + 1
  end
end
x[5] = 0 -- rows: 1 5 5 / 2 0 0
index({}, 1, { { 1, true } })
index({ tie = "last" }, 1, { { 2, true } })
index({ tie = "any" }, 1, { { 1, true }, { 2, true } })
local strict = core.decide(kc.buffer("i32", { 2 }, { 2, 0 }), core.oracle("argmax", { x }, { axis = 1 }), { kind = "exact" })
assert(strict.value_no == 1 and strict.value_yes == 1 and strict.first_value_no == 1)
local g = assert(core.oracle("gather", { kc.buffer("f32", 3, { 10, 20, 30 }), kc.buffer("i32", 2, { 2, 0 }) }))
assert(g:at(1) == 30 and g:at(2) == 10)

local function raises(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:find(text, 1, true), tostring(message))
  passed = passed + 1
end
raises("did you mean 'relu'?", core.oracle, "rellu", { x })
raises("expected 1 inputs, got 2", core.oracle, "relu", { x, x })
raises("a <= b", core.oracle, "clamp", { x }, { a = 1, b = 0 })
raises("'tie'", core.oracle, "argmax", { x }, { tie = "frist" })
raises("unknown class", core.enclosure, { 0 }, { 0 }, { "positive" })
raises("differ in length", core.enclosure, { 0 }, { 0, 1 }, { "+0" })
rows:close()
raises("closed", core.decide, x, rows, { kind = "exact" })
print(("decide: %d passed"):format(passed))
