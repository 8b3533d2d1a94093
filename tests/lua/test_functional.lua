-- The stored functional test: what its two forms accept.
local kc = require "kc"
local accepts = require("kc.calibrate").accepts
local passed = 0
local inf, nan = math.huge, 0 / 0

local function is(want, got, ref, test)
  assert(accepts(got, ref, test) == want, ("%s against %s: expected %s"):format(table.concat(got, " "), table.concat(ref, " "),
    tostring(want)))
  passed = passed + 1
end

-- Element by element: |got - want| <= atol + rtol |want|.
local each = { rtol = 0.25, atol = 0.5 }
is(true, { 1.75, -5.5 }, { 1, -4 }, each)
is(false, { 1.875, -4 }, { 1, -4 }, each)
is(true, { inf, nan, -0.0 }, { inf, nan, 0 }, each)
is(false, { inf }, { 1e300 }, each)
is(false, { nan }, { 1 }, each)
is(false, { 1 }, { nan }, each)
is(false, { -inf }, { inf }, { rtol = 0.25, atol = 0.5 })

-- By the norm: 3-4-5, so that the sum of all is what counts.
local whole = { norm = 0.5 }
is(true, { 3 + 1.5, 4 + 2 }, { 3, 4 }, whole)
is(false, { 3 + 1.5, 4 + 2.0625 }, { 3, 4 }, whole)
is(true, { 0, 1000 }, { 1, 1000 }, { norm = 1e-3 }) -- a small element may be lost
is(false, { 0, 0.5 }, { 1, 0.5 }, { norm = 1e-3 })
is(true, { 0, 0 }, { 0, 0 }, whole)
is(false, { 0, 2.0 ^ -1074 }, { 0, 0 }, whole)
is(true, { inf, nan, 2 }, { inf, nan, 2 }, whole)
is(false, { inf, 2 }, { 1, 2 }, whole)
is(false, { nan, 2 }, { 1, 2 }, whole)
is(false, { 1, 2 }, { inf, 2 }, whole)
-- Squares that leave the doubles.
is(true, { 4.5e200, 6e200 }, { 3e200, 4e200 }, { norm = 0.5001 })
is(false, { 4.5e200, 6e200 }, { 3e200, 4e200 }, { norm = 0.4999 })
is(true, { 4.5e-200, 6e-200 }, { 3e-200, 4e-200 }, { norm = 0.5001 })
is(false, { 4.5e-200, 6e-200 }, { 3e-200, 4e-200 }, { norm = 0.4999 })
-- Buffers are taken as lists are.
assert(accepts(kc.buffer("f32", 2, { 3, 4 }), { 3, 4 }, whole) and not accepts(kc.buffer("f32", 2, { 9, 4 }), { 3, 4 }, whole))
print(("functional: %d passed"):format(passed + 2))
