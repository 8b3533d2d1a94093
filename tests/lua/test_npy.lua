-- .npy files from Lua: what is written is read, what a file says, what is refused. Bytes of headers: tests/unit/test_npy.c.
local kc = require "kc"
local core = require "kc.core"
local path = os.tmpname()

local a = kc.buffer("f32", { 2, 3 }, { 1, -2, 3.5, 0 / 0, -0.0, 1e-40 })
assert(kc.npy.write(path, a))
local b = assert(kc.npy.read(path))
assert(tostring(b) == "kc.buffer f32[2,3]")
for i = 1, 6 do assert(a:code(i) == b:code(i), "element " .. i) end
local info = assert(kc.npy.info(path))
assert(info.format == "f32" and info.itemsize == 4 and info.count == 6 and not info.fortran and not info.bigendian)
assert(#info.shape == 2 and info.shape[1] == 2 and info.shape[2] == 3)

-- The bytes, by hand: NumPy 1.0 header, 128 bytes, then the data.
local file = assert(io.open(path, "rb"))
local bytes = file:read "a"
file:close()
local head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
assert(bytes:sub(1, 10) == "\x93NUMPY\1\0" .. string.pack("<I2", 118) and bytes:sub(11, 10 + #head) == head, bytes:sub(1, 80))
assert(#bytes == 128 + 24 and bytes:sub(128, 132) == "\n" .. string.pack("<f", 1))

-- A format that NumPy lacks.
assert(kc.npy.write(path, kc.buffer("bf16", 2, { 1, -3 })))
assert(kc.npy.read(path):format() == "u16" and kc.npy.read(path)[1] == 0x3f80)
local raw = assert(kc.npy.read(path, { format = "bf16" }))
assert(raw[1] == 1 and raw[2] == -3)

local function fails(text, code, ...)
  local result, message, got = kc.npy.read(...)
  assert(result == nil and message:find(text, 1, true) and got == code, tostring(message) .. " " .. tostring(got))
end
fails("as f32", "unsupported", path, { format = "f32" })
fails("No such file", "io", path .. ".none")
fails("a device, expected a regular file", "io", "/dev/zero")
local ok, message = pcall(kc.npy.read, path, { format = "f17" })
assert(not ok and message:find "no format called 'f17'", message)
ok, message = pcall(kc.npy.read, path, 7)
assert(not ok and message:find "table expected", message)
ok, message = pcall(kc.npy.write, path, { 1, 2 })
assert(not ok and message:find "kc.buffer expected", message)
raw:close()
ok, message = pcall(kc.npy.write, path, raw)
assert(not ok and message:find "closed buffer", message)
local none, why, code = kc.npy.write("/no/such/directory/x.npy", a)
assert(none == nil and why:find "/no/such/directory/x.npy" and code == "io")

-- core.npydiff: the figures as a table; positions from 0.
local other = path .. ".other"
assert(kc.npy.write(path, kc.buffer("f32", { 2, 2 }, { 1, 2, 0 / 0, 4 })))
assert(kc.npy.write(other, kc.buffer("f32", { 2, 2 }, { 1, 2.5, 7, 4 })))
local s = assert(core.npydiff(path, other))
assert(s.count == 4 and s.equal == 2 and s.different == 2 and s.class_differences == 1 and s.beyond == 1 and s.finite == 3)
assert(s.worst.abs.error == 0.5 and s.worst.rel.error == 0.2 and s.worst.ulp.error == 0.25 * 2 ^ 23)
assert(s.worst.abs.index[1] == 0 and s.worst.abs.index[2] == 1 and s.worst.abs.got.value == 2 and s.worst.abs.reference.code == 0x40200000)
assert(#s.classes == 1 and s.classes[1].got == "nan" and s.classes[1].reference == "+finite" and s.classes[1].count == 1)
assert(s.first_class.index[1] == 1 and s.first_class.index[2] == 0 and s.format == "f32" and s.ulps_of == nil)
assert(core.npydiff(path, other, { abs = 0.25 }).beyond == 2)
ok, message = pcall(core.npydiff, path, other, { abs = -1 })
assert(not ok and message:find "field 'abs'", message)
s, why, code = core.npydiff(path, other .. ".none")
assert(s == nil and why:find "none" and code == "io")
os.remove(path)
os.remove(other)
print("npy: passed")
