-- Reals: exact entry of Lua numbers, precision, operators, text, one rounding into formats.
local kc = require "kc"
local real, reals = kc.real, kc.reals

-- Lua's == never asks a metamethod when the types differ; <= does.
local function eq(a, b) return a <= b and b <= a end

assert(real(0.1):hex() == "0x1.999999999999ap-4", "a float enters exactly")
assert(real("0.1"):hex() ~= real(0.1):hex(), "text is the decimal number")
assert(real((1 << 53) + 1):decimal(20) == "9007199254740993", "an integer enters exactly")
assert(real(7):prec() == 128 and real(7, 53):prec() == 53)
assert((real(1, 100) + real(1, 300)):prec() == 300 and (real(1, 100) + 1):prec() == 100)
assert(real("0.1", 200):decimal(30) == "0.1")
assert(eq(real("0x1.8p1"), 3) and real("1e400") > 1e308 and eq(real("inf"), math.huge))
assert(eq(real(2) ^ 10, 1024) and eq(real(7) - 9, -2) and eq(1 / real(4), 0.25) and eq(-real(3), -3) and eq(2 * real(3), 6))
assert(real(3) == real("3") and real(3) ~= real(4))
assert(real(1) < 2 and real(2) <= 2 and real(3) > 2 and 1 < real(2))
assert(real("nan") ~= real("nan"))
local below = real("nan") < 1
assert(not below)
-- Decimal digits of constants as every table has them.
assert(reals.const("pi", 200):decimal(50) == "3.1415926535897932384626433832795028841971693993751")
assert(reals.const("e", 200):decimal(50) == "2.7182818284590452353602874713526624977572470937")
assert(reals.log(real(2, 200)):decimal(40) == "0.6931471805599453094172321214581765680755")
assert(reals.sqrt(real(2, 200)):decimal(40) == "1.41421356237309504880168872420969807857")
assert(eq(reals.fma(real(0.1), 10, -1), 2.0 ^ -54), "rounded once")
assert(reals.ratio(1, 3, 53):hex() == "0x1.5555555555555p-2")
assert(eq(reals.floor(real("-1.5")), -2) and eq(reals.ceil(real("-1.5")), -1) and eq(reals.trunc(real("-1.5")), -1))
assert(eq(reals.round(real("2.5")), 2) and eq(reals.round(real("3.5")), 4))
assert(tostring(real(1, 53)) == "1" and tostring(real("0.5")) == "0.5")
assert(real("-0"):class() == "-0" and real("nan"):class() == "nan" and real("-inf"):class() == "-inf" and real(-3):class() == "-finite")

-- One rounding: 1 + 2^-8 + 2^-40 lies above the middle between 1 and the next bf16; through f32 it would become a tie.
local x = real(1) + real(2) ^ -8 + real(2) ^ -40
assert(x:round "bf16" == 0x3f81 and kc.encode("bf16", x) == 0x3f81)
assert(kc.encode("bf16", kc.decode("f32", x:round "f32")) == 0x3f80, "and this is what two roundings give")
assert(eq(real(1) + real(2) ^ -200, 1), "128 bits end somewhere")
local y = real(1, 400) + real(2, 400) ^ -200
assert(y:round("f32", "RU") == 0x3f800001 and y:round("f32", "RZ") == 0x3f800000, "sticky bits far below are seen")
assert(real("1e-60"):round("f32", "RU") == 1 and real("1e60"):round("f32", "RZ") == 0x7f7fffff and real("1e60"):round "f32" == 0x7f800000)

local function raises(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), tostring(message))
end
raises("'1.2.3'", real, "1.2.3")
raises("as text", real, "1\0002")
raises("as text", real, "")
raises("2 to 1000000", real, 1, 1)
raises("2 to 1000000", real, 1, 2000000)
raises("real or number", reals.exp, {})
raises("f17", function() return x:round "f17" end)
raises("real or number", function() return x < "1" end)
x:close()
x:close()
for _, f in ipairs { "sin", "cos", "tan" } do raises("2^1048576", reals[f], real "-0x1p1000000000") end
raises("closed", function() return x:hex() end)
print("real: passed")
