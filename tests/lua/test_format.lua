-- Formats, codes, random words and the floating-point state as Lua sees them.
local core = require "kc.core"
local passed = 0

local function same(got, expected, what)
  passed = passed + 1
  if got ~= expected or math.type(got) ~= math.type(expected) then
    error(("%s: got %s, expected %s"):format(what or "value", tostring(got), tostring(expected)), 2)
  end
end

local function raises(pattern, f, ...)
  passed = passed + 1
  local ok, message = pcall(f, ...)
  assert(not ok, "expected an error: " .. pattern)
  assert(tostring(message):find(pattern), ("expected %q in: %s"):format(pattern, message))
end

-- the list and the facts
local names = core.formats()
same(#names, 22)
same(names[1], "f64")
for _, name in ipairs(names) do same(core.format(name).name, name) end
same(core.format("f33"), nil)
local f16 = core.format("f16")
same(f16.kind, "float")
same(f16.bits, 16)
same(f16.storage, 2)
same(f16.max, 65504.0)
same(f16.min_normal, 0x1p-14)
same(f16.min_subnormal, 0x1p-24)
same(f16.has_inf, true)
same(core.format("e4m3fn").max, 448.0)
same(core.format("e4m3fn").has_inf, false)
same(core.format("e4m3fnuz").nan_rule, "negative_zero")
same(core.format("e2m1").has_nan, false)
same(core.format("e8m0").has_zero, false)
same(core.format("i8").kind, "int")
same(core.format("i8").min_normal, nil)
same(core.format("u64").max_code, -1)

-- encode
same(core.encode("f32", 1.0), 0x3f800000)
same(core.encode("bf16", 1 + 2^-8 + 2^-40), 0x3f81)
same(core.encode("f16", 65520), 0x7c00)
same(core.encode("f16", 65520, { saturate = true }), 0x7bff)
same(core.encode("f16", 65519, { rounding = "RU" }), 0x7c00)
same(core.encode("f16", -65519, { rounding = "RU" }), 0xfbff)
same(core.encode("f32", 2^-130, { flush = true }), 0)
same(core.encode("bf16", 1 + 2^-9, { rounding = "SR", random = 3, random_bits = 2 }), 0x3f81)
same(core.encode("bf16", 1 + 2^-9, { rounding = "SR", random = 2, random_bits = 2 }), 0x3f80)
same(core.encode("i64", math.maxinteger), math.maxinteger, "integers keep all bits")
same(core.encode("f64", math.maxinteger), 0x43e0000000000000)
same(core.encode("u8", -1, { saturate = true }), 0)
same(core.encode("f64", -0.0), math.mininteger)
raises("has no NaN", core.encode, "e2m1", 0 / 0)
raises("did you mean 'bf16'", core.encode, "bf17", 1)
raises("number expected, got string", core.encode, "f32", "1")
raises("expected one of RNE RZ", core.encode, "f32", 1, { rounding = "up" })
raises("random_bits", core.encode, "f32", 1, { rounding = "SR" })
raises("field 'saturate': expected a boolean", core.encode, "f32", 1, { saturate = 1 })

-- decode
same(core.decode("f16", 0x3c01), 1 + 2^-10)
same(core.decode("f32", 1), 2^-149)
same(core.decode("i8", 0xff), -1)
same(core.decode("i64", -1), -1)
same(core.decode("u32", 0xffffffff), 4294967295)
same(core.decode("u64", -1), 2.0^64)
same(core.decode("e4m3fnuz", 0x08), 2^-7)
assert(core.decode("e4m3fnuz", 0x80) ~= core.decode("e4m3fnuz", 0x80))
raises("expected a code of 8 bits, got 256", core.decode, "e5m2", 256)
raises("expected a code of 8 bits", core.decode, "i8", -1)

-- classes, order, spacing
same(core.classify("f16", 0x7c00), "+inf")
same(core.classify("f16", 0xfc00), "-inf")
same(core.classify("f16", 0x7e00), "nan")
same(core.classify("f16", 0x8000), "-0")
same(core.classify("f16", 0), "+0")
same(core.classify("e4m3fnuz", 0x80), "nan")
same(core.classify("i32", 0x80000000), "-finite")
same(core.classify("u8", 1), "+finite")
same(core.ordered("f16", 0x8001), -1)
same(core.ordered("f16", 0x8000), 0)
same(core.ordered("f16", 0x7e00), nil)
same(core.ulp_at("f32", 1), 2^-23)
same(core.ulp_at("f16", 0), 2^-24)
same(core.roundoff("bf16"), 2^-8)
same(core.ulp_distance("f32", core.encode("f32", 1), core.encode("f32", 1 + 2^-22)), 2)
same(core.ulp_distance("f16", 0x8001, 0x0001), 2, "through zero")
same(core.ulp_distance("f16", 0x7e00, 0), nil)
same(core.ulp_distance("i64", math.mininteger, math.maxinteger), 2.0^64)
same(core.next("f16", 0x7bff, 1), 0x7c00)
same(core.next("f16", 0x7c00, 1), nil)
same(core.next("f16", 0xfc00, 1), 0xfbff)
same(core.next("f16", 0x8001, 1), 0)
same(core.next("f16", 0, -1), 0x8001)
same(core.next("f16", 0x7e00, 1), nil)
same(core.next("e4m3fn", 0x7e, 1), nil)
same(core.next("i8", 0x7f, 1), nil)
same(core.next("i8", 0xff, 1), 0)
same(core.next("u64", 0, -1), nil)
same(core.next("u64", -1, 1), nil)
raises("expected 1 or %-1", core.next, "f16", 0, 2)

-- every code of a narrow format, there and back
for _, name in ipairs { "e4m3fn", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e8m0", "i8", "u8" } do
  for code = 0, (1 << core.format(name).bits) - 1 do
    if core.classify(name, code) ~= "nan" then same(core.encode(name, core.decode(name, code)), code, name) end
  end
end

-- random words and state
local words = core.philox({ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 })
same(("%08x %08x %08x %08x"):format(table.unpack(words)), "d16cfe09 94fdcceb 5001e420 24126ea1")
raises("word 4", core.philox, { 1, 2, 3 }, { 4, 5 })
raises("word 1", core.philox, { -1, 2, 3, 4 }, { 4, 5 })
same(core.fpstate().text, "")

print(passed .. " passed")
