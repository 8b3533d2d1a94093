-- The canonical encoder: equal values give equal bytes, nothing is lost on the way back.
local json = require "kc.json"

local function encodes(value, text)
  local got = json.encode(value)
  assert(got == text, ("expected %s, got %s"):format(text, got))
end

encodes({ b = 1, a = { 2, 3 } }, '{"a":[2,3],"b":1}')
encodes((1 << 53) + 1, "9007199254740993")
encodes(0.1, '"0x1.999999999999ap-4"')
encodes(1.0, '"0x1p+0"')
encodes(1 / 0, '"inf"')
encodes(-1 / 0, '"-inf"')
encodes(0 / 0, '"nan"')
encodes(-0.0, '"-0x0p+0"')
encodes({}, "{}")
encodes(json.list {}, "[]")
encodes("a\"\\\n\0\xff", '"a\\"\\\\\\n\\u0000\\u00ff"')
assert(not pcall(json.encode, { [1.5] = 1 }), "a key that is not a string is refused")
assert(not pcall(json.encode, { print }), "a function is refused")

local all = {}
for i = 0, 255 do all[#all + 1] = string.char(i) end
local bytes = table.concat(all)
assert(json.decode(json.encode { s = bytes }).s == bytes, "every byte survives")
assert(json.decode("7") == 7 and math.type(json.decode("7")) == "integer", "integers stay integers")
for _, x in ipairs { 0.1, -2.5e-310, 1 / 0, 12345.678 } do
  assert(json.tofloat(json.decode(json.encode(x))) == x, "floats survive: " .. x)
end
local value, message = json.decode('{"a":')
assert(value == nil and message, "bad text is an error, not a crash")
print("json: passed")
