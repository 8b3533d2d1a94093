-- Messages between roles: numbers survive, a peer that sends nonsense is an error.
local core = require "kc.core"
local wire = require "kc.wire"

for _, x in ipairs { 0, -1, math.maxinteger, math.mininteger, (1 << 53) + 1, 0.1, -0.0, 5e-324, 1 / 0, -1 / 0, 1e300 } do
  local back = wire.tonumber(wire.number(x))
  assert(back == x and math.type(back) == math.type(x), wire.number(x))
end
assert(1 / wire.tonumber(wire.number(-0.0)) == -math.huge)
local nan = wire.tonumber(wire.number(0 / 0))
assert(nan ~= nan)

local a, b = core.channel()
assert(wire.send(a, { op = "x", list = { 1, 2 } }))
local message = assert(wire.receive(b, 1))
assert(message.op == "x" and message.list[2] == 2)
for _, text in ipairs { "", "7", "nonsense", '{"a":', '"text"' } do
  a:send(text)
  local none, why, code = wire.receive(b, 1)
  assert(none == nil and code == "io" and why:find("malformed", 1, true), text)
end

-- A 64-bit scalar reaches a kernel unharmed.
local kc = require "kc"
local device = kc.device "cpu"
local kernel = device:kernel { entry = "copy", params = { "y: i64[]", "x: i64" },
  source = "KC_KERNEL void copy(KC_GLOBAL kc_i64 *y, kc_i64 x) { y[0] = x; }\n" }
local y = kc.buffer("i64", 1)
device:launch(kernel, { y, (1 << 53) + 1 })
assert(y[1] == (1 << 53) + 1, tostring(y[1]))
device:close()
print("wire: passed")
