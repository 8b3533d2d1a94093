-- Tensors in files for programs outside of kc: round trips of every format, bytes by hand, what is refused; directories.
local kc = require "kc"
local core = require "kc.core"
local exchange = require "kc.exchange"
local json = require "kc.json"
local directory = assert(core.tempdir("/tmp/kc_exchange."))

local function file(name, text)
  local out = assert(io.open(directory .. "/" .. name, "wb"))
  out:write(text)
  out:close()
end

local function read(name)
  local from = assert(io.open(directory .. "/" .. name, "rb"))
  local text = from:read("a")
  from:close()
  return text
end

local function remove(name) assert(core.remove(directory .. "/" .. name)) end

-- ---- every format of kc through every kind of file, each bit kept: all codes of narrow ones, NaN payloads of wide ones ----------

local function full(format)
  local facts = core.format(format)
  local b = kc.buffer(format, { 16, 16 })
  for i = 1, #b do
    local code = facts.bits <= 8 and (i - 1) & ((1 << facts.bits) - 1) or core.key(format .. i) & ((1 << (facts.bits - 1)) - 1)
    b:setcode(i, code)
  end
  if facts.kind == "float" and facts.has_nan and facts.bits > 8 then b:setcode(1, (1 << (facts.bits - 1)) - 3) end -- a NaN with a payload
  return b
end

for _, kind in ipairs(exchange.formats) do
  local inputs = {}
  for i, format in ipairs(kc.formats()) do inputs[i] = { name = "x" .. i, buffer = full(format) } end
  inputs[#inputs + 1] = { name = "empty", buffer = kc.buffer("f32", { 0, 3 }) }
  inputs[#inputs + 1] = { name = "scalar", buffer = kc.buffer("f64", {}, { 0.1 }) }
  assert(exchange.write(directory, kind, inputs, { n = 16 }))
  assert(read "sizes.json" == '{"n":16}\n')
  if kind ~= "npy" then
    assert(os.rename(("%s/inputs.%s"):format(directory, kind), ("%s/outputs.%s"):format(directory, kind)))
  end
  local outputs = {}
  for i, input in ipairs(inputs) do outputs[i] = { name = input.name, buffer = kc.buffer(input.buffer:format(), input.buffer:shape()) } end
  assert(exchange.read(directory, kind, outputs))
  for i, input in ipairs(inputs) do
    assert(outputs[i].buffer:digest() == input.buffer:digest(), ("%s: %s"):format(kind, input.buffer:format()))
  end
end

-- ---- .safetensors by hand, as their specification lays them out ---------------------------------------------------------------

local function safetensors(header, data, length)
  file("outputs.safetensors", string.pack("<I8", length or #header) .. header .. data)
end
local function reads(kind, format, shape)
  local y = kc.buffer(format, shape)
  local ok, message, code = exchange.read(directory, kind, { { name = "y", buffer = y } }, "out")
  return ok and y, message, code
end
local entry = '"y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}'
local other = '"a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}'
safetensors(('{"__metadata__":{"by":"hand"},%s,%s}  '):format(entry, other), "\0\0\0\0" .. string.pack("<ff", 1.5, -2))
local y = assert(reads("safetensors", "f32", { 2 }))
assert(y[1] == 1.5 and y[2] == -2)
for format, dtype in next, { bf16 = "BF16", e4m3fn = "F8_E4M3", e5m2 = "F8_E5M2", e4m3fnuz = "U8", tf32 = "U32", e2m1 = "U8", f16 = "F16",
                             i64 = "I64" } do
  assert(exchange.dtype(format) == dtype, format)
end

local function refused(text, kind, format, shape)
  local ok, message, code = reads(kind, format or "f32", shape or { 2 })
  assert(not ok and message:find(text, 1, true), ("expected '%s', got '%s'"):format(text, tostring(message)))
  return code
end
local eight = string.pack("<ff", 1, 2)
local function header(text, data, length)
  return function() safetensors(text, data or eight, length) end
end
local good = '{"y":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
for _, case in ipairs {
  { "holds f32[2], expected f32[3]", header(good), "f32", { 3 } },
  { "holds f32[2], expected f32[2,1]", header(good), "f32", { 2, 1 } },
  { "tensor 'y' is F32, expected F16", header(good), "f16" },
  { "has 7 for them", header(good, eight:sub(2)) },
  { "has 9 for them", header(good, eight .. "\0") },
  { "a header of 18446744073709551615 bytes", header(good, eight, -1) },
  { "a header of 1048577 bytes, expected at most", header(good, eight, 1048577) },
  { "a header of 999 bytes in a file of", header(good, eight, 999) },
  { "expected at least 8", function() file("outputs.safetensors", "\1\2") end },
  { "header:", header('{"y":') },
  { "header:", header('[1]') },
  { "dtype", header('{"y":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}') },
  { "dtype", header('{"y":{"dtype":7,"shape":[2],"data_offsets":[0,8]}}') },
  { "shape", header('{"y":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}') },
  { "shape", header('{"y":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}}') },
  { "shape", header('{"y":{"dtype":"F32","shape":"2","data_offsets":[0,8]}}') },
  { "shape", header('{"y":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,8]}}') },
  { "data_offsets", header('{"y":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}') },
  { "data_offsets", header('{"y":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}') },
  { "data_offsets", header('{"y":{"dtype":"F32","shape":[2]}}') },
  { "data_offsets", header('{"y":7}') },
  { "span 8 bytes, dtype and shape need 12", header('{"y":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}') },
  { "without gap or overlap", header('{"y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}', eight .. "\0\0\0\0") },
  { "without gap or overlap", header('{"y":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"z":{"dtype":"F32","shape":[1],' ..
      '"data_offsets":[4,8]}}') },
  { "for them", header(good:sub(1, -2) .. ',"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}') }, -- a name twice
  { "has 9 dimensions", header('{"y":{"dtype":"F32","shape":[2,1,1,1,1,1,1,1,1],"data_offsets":[0,8]}}') },
} do
  case[2]()
  assert(refused(case[1], "safetensors", case[3], case[4]) == "output")
end
header('{"z":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}')()
assert(refused("left output 'y' unwritten: 'out/outputs.safetensors' has no tensor 'y'", "safetensors") == "absent")

-- ---- .npy and .npz: whatever is cut short, and every byte of an archive's structure changed, is refused or read right -------------

local two = kc.buffer("f32", { 2 }, { 1, 2 })
assert(kc.npy.write(directory .. "/y.npy", two))
local whole = read "y.npy"
for n = 0, #whole - 1 do
  file("y.npy", whole:sub(1, n))
  assert(refused("'out/y.npy'", "npy") == "output")
end
remove "y.npy"
assert(refused("left output 'y' unwritten: 'out/y.npy' is not there", "npy") == "absent")
assert(reads("npy", "f32", { 0 }), "nothing to write, nothing missing")

remove "outputs.npz"
assert(require("kc.zip").create(directory .. "/outputs.npz", { { name = "y", buffer = two } }))
whole = read "outputs.npz"
local right = two:digest()
for n = 0, #whole - 1 do
  file("outputs.npz", whole:sub(1, n))
  refused("outputs.npz", "npz")
  file("outputs.npz", whole:sub(1, n) .. string.char(whole:byte(n + 1) ~ 0x55) .. whole:sub(n + 2))
  local got = reads("npz", "f32", { 2 })
  assert(not got or got:digest() == right, ("byte %d changed, and other elements were read"):format(n))
end
local none, message = require("kc.zip").create(directory .. "/outputs.npz", {})
assert(none == nil and message:find "it exists", message)

-- Integers are not floats of their size; what NumPy lacks is unsigned integers, not signed ones.
assert(kc.npy.write(directory .. "/y.npy", kc.buffer("u16", { 2 }, { 0x3f80, 0 })))
refused("holds u16[2], expected f16[2]", "npy", "f16")
assert(assert(reads("npy", "bf16", { 2 }))[1] == 1)
assert(kc.npy.write(directory .. "/y.npy", kc.buffer("i16", { 2 })))
refused("holds i16[2], expected bf16[2] as unsigned integers of its size", "npy", "bf16")
assert(kc.npy.write(directory .. "/y.npy", kc.buffer("u8", { 2 }, { 255, 0 })))
refused("0xff, no code of e2m1", "npy", "e2m1")

-- ---- directories --------------------------------------------------------------------------------------------------------------------

assert(core.stat(directory).type == "directory")
local outside = assert(core.tempdir("/tmp/kc_exchange."))
local kept = assert(io.open(outside .. "/kept", "w"))
kept:close()
assert(os.execute(("cd %s && ln -s %s/kept link && ln -s %s away && mkfifo pipe"):format(directory, outside, outside)))
for name, text in next, { link = "is a link", away = "is a link", pipe = "is a pipe", [".."] = "is a directory" } do
  local fd, why, code = core.openinside(directory, name)
  assert(not fd and why:find(text, 1, true) and code == "io", name)
end
local fd, why = core.openinside(directory .. "/away", "kept")
assert(not fd and why:find("links are not followed", 1, true), why)
assert(not pcall(core.openinside, directory, "../kept"), "a name, no path")
local _, _, code = core.openinside(directory, "none")
assert(code == "absent")

-- A tree deeper than paths and descriptors allow, with a directory that is shut: gone, and what a link points to is not.
local script = "import os\nfor _ in range(1100):\n os.mkdir('dddd')\n os.chdir('dddd')\nos.mkdir('shut', 0)\nos.chmod('.', 0)\n"
local deep = assert(core.spawn { argv = { "/usr/bin/env", "-C", directory, "/usr/bin/python3", "-c", script } })
local state, status = deep:wait(60)
assert(state == "exited" and status == 0)
assert(core.removetree(directory))
assert(not core.stat(directory) and core.stat(outside .. "/kept"))
assert(core.removetree(outside))
none, message = core.removetree(outside)
assert(none == nil and message:find(outside, 1, true))
assert(json.encode(exchange.formats) == '["npy","npz","safetensors"]')
print("exchange: passed")
