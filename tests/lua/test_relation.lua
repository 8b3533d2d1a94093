-- Metamorphic relations: the predicates, the changes, and what a contract with a relation does.
local kc = require "kc"
local n = 0
local function check(ok, text)
  n = n + 1
  assert(ok, text)
end
local function raises(pattern, f, ...)
  local ok, message = pcall(f, ...)
  check(not ok and tostring(message):find(pattern), ("expected %q, got %s"):format(pattern, tostring(message)))
end
local function buffer(format, shape, values)
  local b = kc.buffer(format, shape)
  for i, x in ipairs(values) do b[i] = x end
  return b
end
local nan, inf = 0 / 0, math.huge

-- equal: numbers, whatever the format; signs of zeros and classes count.
local a = buffer("f32", { 4 }, { 1, -0.0, nan, inf })
check(kc.equal(a, buffer("f16", { 4 }, { 1, -0.0, nan, inf })).answer == "yes")
check(kc.equal(a, buffer("f64", { 4 }, { 1, 0.0, nan, inf })).text == "1 of 4 elements differ, first at element 2: -0x0p+0 and 0x0p+0")
check(kc.equal(a, buffer("f32", { 4 }, { 1, -0.0, 7, -inf })).data.differing == 2)
local b = buffer("f32", { 1 }, { nan })
b:setcode(1, 0xffc00001)
check(kc.equal(b, buffer("f32", { 1 }, { nan })).answer == "yes", "the payload of a NaN is no number")
raises("4 and 1 elements", kc.equal, a, b)
raises("kc.equal: argument 2: expected a buffer", kc.equal, a, 3)
check(kc.all_equal(buffer("f32", { 2 }, { 0, 0 }), 0).answer == "yes")
check(kc.all_equal(buffer("f32", { 2 }, { 0, -0.0 }), 0).text == "element 2 is -0x0p+0, not 0")

-- scaled: exact or refused.
check(kc.equal(kc.scaled(buffer("f32", { 3 }, { 1, -3, 0.5 }), 0x1p-3), buffer("f32", { 3 }, { 0.125, -0.375, 0.0625 })).answer == "yes")
raises("element 2: 0x1p%+127 times 0x1p%+3 is not exact in f32", kc.scaled, buffer("f32", { 2 }, { 1, 0x1p127 }), 8.0)
raises("not exact in f16", kc.scaled, buffer("f16", { 1 }, { 0x1p-24 }), 0.5)
raises("expected a power of two, got the number 3", kc.scaled, buffer("f16", { 1 }, { 1 }), 3)

-- reversed: along each axis, by a plain loop.
local m = buffer("f32", { 2, 3, 4 }, {})
for i = 1, 24 do m[i] = i end
for axis, size in ipairs { 2, 3, 4 } do
  for _, spelled in ipairs { axis - 1, axis - 4 } do
    local r = kc.reversed(m, spelled)
    for i = 0, 1 do for j = 0, 2 do for k = 0, 3 do
      local at = { i, j, k }
      at[axis] = size - 1 - at[axis]
      check(r[i * 12 + j * 4 + k + 1] == m[at[1] * 12 + at[2] * 4 + at[3] + 1], "axis " .. spelled)
    end end end
  end
end
check(#kc.reversed(buffer("f32", { 0, 3 }, {}), 0) == 0)
raises("expected an axis of a buffer of 3 dimensions", kc.reversed, m, 3)

-- Misuse names the field.
raises("unknown field 'hold'; did you mean 'holds'%?", kc.relation, { name = "a", inputs = { kc.sample.normal() }, hold = print })
raises("field 'inputs': expected a list of samples", kc.relation, { name = "a", inputs = {}, holds = print })
raises("field 'draws': expected an integer >= 1", kc.relation,
  { name = "a", inputs = { kc.sample.normal() }, holds = print, draws = 0 })
raises("field 'holds'", kc.relation, { name = "a", inputs = { kc.sample.normal() } })
print(("relation: %d passed"):format(n))
