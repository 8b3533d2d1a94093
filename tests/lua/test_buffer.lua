-- Buffers as Lua sees them: elements, shapes, guards, poison, sealing, filling, and what misuse says.
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

-- elements
local b = core.buffer("f32", { 2, 3 })
same(#b, 6)
same(b:format(), "f32")
same(table.concat(b:shape(), "x"), "2x3")
same(b:bytes(), 24)
same(b:guardbytes() % 4096, 0)
same(tostring(b), "kc.buffer f32[2,3]")
same(b:writable(), true)
b[1], b[6] = 1.5, -2
same(b[1], 1.5)
same(b[6], -2.0)
same(b:code(1), 0x3fc00000)
b:setcode(2, 0x80000000)
same(b:code(2), 0x80000000)
same(1 / b[2], -math.huge)
b[3] = 1 + 2^-24 + 2^-50
same(b[3], 1 + 2^-23, "rounded once, to nearest")
same(b.nonsense, nil)
raises("index 7, expected 1..6", function() return b[7] end)
raises("index 0, expected 1..6", function() b[0] = 1 end)
raises("index %-1", b.code, b, -1)
raises("number expected, got string", function() b[1] = "x" end)
raises("number expected", function() b.x = 1 end)
raises("expected a code of 32 bits", b.setcode, b, 1, 1 << 32)
raises("did you mean 'f32'", core.buffer, "f3", { 1 })
raises("dimension 2", core.buffer, "f32", { 1, -1 })
raises("at most 8", core.buffer, "f32", { 1, 1, 1, 1, 1, 1, 1, 1, 1 })
raises("overflows", core.buffer, "f32", { 1 << 40, 1 << 40 })
raises("'guard'", core.buffer, "f32", { 1 }, { guard = -1 })

-- integers stay integers
local ints = core.buffer("i64", { 2 })
ints[1], ints[2] = math.mininteger, 7
same(ints[1], math.mininteger)
same(ints[2], 7)
raises("has no NaN", function() ints[1] = 0 / 0 end)
local bytes = core.buffer("u8", {})
same(#bytes, 1, "a scalar")
bytes[1] = 255
same(bytes[1], 255)
same(tostring(bytes), "kc.buffer u8")
same(#core.buffer("f64", { 0, 3 }, { guard = 0 }), 0)

-- memory that is not there
local none, message, code = core.buffer("f64", { 1 << 50 })
same(none, nil)
same(code, "no-memory")
assert(message:find("memory of this machine"), message)

-- poison
local p = core.buffer("f16", { 10 })
local count, first = p:unwritten(0)
same(count, 10)
same(first, 1)
p:poison(1)
same((p:unwritten(0)), 0)
for i = 1, 10 do if i ~= 4 and i ~= 9 then p[i] = 0 end end
count, first = p:unwritten(1)
same(count, 2)
same(first, 4)
p[4], p[9] = 0, 0
count, first = p:unwritten(1)
same(count, 0)
same(first, nil)
raises("poison 0 or 1", p.poison, p, 2)

-- guards: damage done through another mapping whose data reach into this buffer's trailing guard
local g = core.buffer("u8", { 100 })
same(g:guards(), nil)
local alias, why = core.attach(g:fd(), "u8", { 4000 }, { guard = g:guardbytes(), writable = true })
assert(alias, why)
alias[103] = alias[103] ~ 0xff -- the third byte past the end
local report = g:guards()
same(report.after, true)
same(report.nearest, 102)
same(report.offset, 102)
same(report.count, 1)
same(report.expected, report.found ~ 0xff)
same(report.text, ("1 damaged byte, the nearest 3 bytes past the end of the data (expected 0x%02x, found 0x%02x)"):format(
  report.expected, report.found))
g:poison(0)
same(g:guards(), nil)

-- raw bytes, copies, digests
local r = core.buffer("u16", { 3 })
r:setraw("\1\0\2\0\3\0")
same(r[2], 2)
same(r:raw(), "\1\0\2\0\3\0")
raises("expected 6 bytes, got 1", r.setraw, r, "x")
local c = r:copy()
c[1] = 9
same(r[1], 1)
same(c[1], 9)
same(c[3], 3)
local abc = core.buffer("u8", { 3 })
abc:setraw("abc")
same(abc:digest(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "FIPS 180-4")

-- sealing
local s = core.buffer("f32", { 4 })
s:fillvalue(3)
same(s:seal(), true)
same(s:seal(), true)
same(s:writable(), false)
same(s[4], 3.0)
same(tostring(s), "kc.buffer f32[4] read-only")
raises("read%-only", function() s[1] = 1 end)
raises("read%-only", s.poison, s, 0)
raises("read%-only", s.setraw, s, s:raw())
raises("read%-only", s.fill, s, 1, { kind = "bits" })
raises("read%-only", s.fillvalue, s, 1)
same(s:copy():writable(), true)
local held = core.buffer("f32", { 4 })
local writer = core.attach(held:fd(), "f32", { 4 }, { guard = 4096, writable = true })
local ok
ok, message, code = held:seal()
assert(message, "a refusal has a message")
same(ok, nil)
same(code, "io")
writer[2] = 8
same(held[2], 8.0)

-- attaching what does not fit
none, message, code = core.attach(held:fd(), "f32", { 1 << 20 }, { guard = 4096 })
same(none, nil)
same(code, "io")
assert(message:find("the layout needs"), message)
raises("expected a descriptor", core.attach, -1, "f32", { 1 })

-- filling
local function filled(format, n, key, distribution, from)
  local out = core.buffer(format, { n })
  out:fill(key, distribution, from)
  return out
end
local uniform = { kind = "uniform", a = 0, b = 1 }
same(filled("f32", 50, 7, uniform):digest(), filled("f32", 50, 7, uniform):digest())
assert(filled("f32", 50, 7, uniform):digest() ~= filled("f32", 50, 8, uniform):digest())
same(filled("f32", 50, 7, uniform)[21], filled("f32", 5, 7, uniform, 20)[1], "by position")
for _, kind in ipairs { "constant", "uniform", "normal", "log_uniform", "integers", "bits", "finite_bits", "subnormal", "exhaustive",
                        "exceptional" } do
  same(#filled("f32", 3, 1, { kind = kind, a = 0, b = 1 }), 3, kind)
end
same(filled("u16", 3, 0, { kind = "exhaustive", a = 65535 })[2], 0)
same(filled("f32", 3, -1, { kind = "constant", a = 0.5 })[3], 0.5)
raises("unknown distribution 'normall'; nearest: normal", b.fill, b, 1, { kind = "normall" })
raises("expected mean 0 and a power of two", b.fill, b, 1, { kind = "normal", b = 3 })
raises("table expected", b.fill, b, 1)
raises("field 'a': expected a number", b.fill, b, 1, { kind = "uniform", a = "0" })

local x, y = core.buffer("f64", { 100 }), core.buffer("f64", { 100 })
x:filldot(y, 5, 1e12)
local magnitude, sum = 0.0, 0.0
for i = 1, 100 do
  sum, magnitude = sum + x[i] * y[i], magnitude + math.abs(x[i] * y[i])
end
assert(magnitude > 1e9 * math.abs(sum), "cancels")
raises("another buffer", x.filldot, x, x, 5, 1e12)
raises("same format", x.filldot, x, core.buffer("f32", { 100 }), 5, 1e12)
raises("same size", x.filldot, x, core.buffer("f64", { 99 }), 5, 1e12)
raises("condition of at least 1", x.filldot, x, y, 5, 0)

-- tiling, clamping
local function of(...)
  local out = core.buffer("f32", { select("#", ...) })
  for i, value in ipairs { ... } do out[i] = value end
  return out
end
local row = of(1, 2, 3, 0, 0, 0, 0)
row:tile(3)
same(row:digest(), of(1, 2, 3, 1, 2, 3, 1):digest())
raises("expected 1 to the number of elements", row.tile, row, 0)
raises("expected 1 to the number of elements", row.tile, row, 8)
local quarter, two = 0x3e800000, 0x40000000
local range = of(-3, 0.5, 0 / 0, math.huge, 2.5, -0.0)
range:clamp(quarter, two)
same(range[1], 0.25)
same(range[2], 0.5)
assert(range[3] ~= range[3] and range[4] == math.huge, "infinities and NaN stay")
same(range[5], 2.0)
same(range[6], 0.25)
raises("not below the other", range.clamp, range, two, quarter)

-- classes
local k = core.buffer("f16", { 6 })
for i, item in ipairs { 0x0000, 0x8000, 0x7c00, 0x7e00, 0x3c00, 0xbc01 } do k:setcode(i, item) end
local classes = k:classes()
for _, name in ipairs { "+0", "-0", "+inf", "nan", "+finite", "-finite" } do same(classes[name], 1, name) end
same(classes["-inf"], nil)

-- closing
local closed = core.buffer("f32", { 1 })
closed:close()
closed:close()
same(tostring(closed), "kc.buffer (closed)")
raises("closed buffer", function() return closed[1] end)
raises("closed buffer", function() return #closed end)
raises("closed buffer", closed.format, closed)
raises("closed buffer", x.filldot, x, closed, 1, 10)
do
  local scoped <close> = core.buffer("f32", { 1 })
  closed = scoped
end
raises("closed buffer", closed.raw, closed)
raises("buffer expected", b.raw, 5)
same(getmetatable(b), false)
for _ = 1, 2000 do core.buffer("f32", { 1000 }) end -- descriptors come back with the garbage
collectgarbage()

print(passed .. " passed")
