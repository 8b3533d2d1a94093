-- kc diff: exit codes, what a person reads, what a program reads, and that a printed tolerance is the smallest one.
local kc = require "kc"
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local nan = 0 / 0

local function tensor(name, format, shape, values)
  local path = t:file(name, "")
  assert(kc.npy.write(path, kc.buffer(format, shape, values)))
  return path
end

-- A file written byte by byte.
local function bytes(name, descr, fortran, shape, data)
  local head = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"):format(descr, fortran and "True" or "False", shape)
  return t:file(name, "\x93NUMPY\1\0" .. string.pack("<s2", head) .. data)
end

-- Equal.
local a = tensor("a.npy", "f32", { 2, 3 }, { 1, 2, 3, nan, -0.0, 1e-3 })
t:expect({ "diff", a, a }, { code = 0, out = { "f32[2,3]", "reference", "equal: all 6 elements" } })
t:expect({ "diff", a, a, "--bits" }, { code = 0, out = { "equal" } })
t:expect({ "diff", a, a, "--quiet" }, { code = 0, no = { "equal" } })

-- Different: counts, classes, the worst elements with their places, the histogram.
local b = tensor("b.npy", "f32", { 2, 3 }, { 1, 2 + 2 ^ -22, 3.5, 7, 0, 1e-3 })
t:expect({ "diff", a, b }, { code = 1, out = {
  "6: 2 (33.3 %) equal, 4 (66.7 %) different",
  "first difference at [0, 1]  got 2 (0x1p+1, code 0x40000000), reference 2.0000002 (0x1.000002p+1, code 0x40000001)",
  "2 (33.3 %) elements are of another class",
  "nan      for +finite", "-0       for +0",
  "first at [1, 0]  got nan (nan, code 0x7fc00000), reference 7 (0x1.cp+2, code 0x40e00000)",
  "worst ulp   2097152 at [0, 2]  got 3 (", "worst abs   0.5 at [0, 2]", "worst rel   0.14285714285714288 at [0, 2]",
  "1048577..2097152         1 (20 %)", "others need --ulp 2097152", "different: 4 (66.7 %) of 6 elements" } })

-- Tolerances: all that are given must hold; a class difference is never accepted.
local x = tensor("x.npy", "f32", { 3 }, { 1, 2, 1e-3 })
local y = tensor("y.npy", "f32", { 3 }, { 1 + 2 ^ -23, 2 - 2 ^ -22, 1.1e-3 })
t:expect({ "diff", x, y, "--abs", "0.001" }, { code = 0, out = { "accepted: 3 different elements, all within --abs 0.001" } })
t:expect({ "diff", x, y, "--abs", "0.001", "--ulp", "2" },
  { code = 1, out = { "refused: 1 (33.3 %) of 3 elements are not within --ulp 2 and --abs" } })
t:expect({ "diff", x, y, "--rel", "0x1p-3" }, { code = 0, out = { "accepted" } })
t:expect({ "diff", a, b, "--abs", "10" }, { code = 1, out = { "refused: 2 " } })

-- What is printed as accepted is accepted, and nothing smaller is.
local function smallest(got, reference, ...)
  local out = t:expect({ "diff", got, reference, ... }, { code = 1 }).stdout
  for _, kind in ipairs { "ulp", "abs", "rel" } do
    local text, hex = out:match(" %-%-" .. kind .. " (%S+)  %((%S-)[;)]")
    assert(text and tonumber(text) == tonumber(hex), kind .. ": " .. out)
    local value = tonumber(hex)
    t:expect({ "diff", got, reference, "--" .. kind, text, ... }, { code = 0 })
    local below = string.unpack("<d", string.pack("<i8", string.unpack("<i8", string.pack("<d", value)) - 1))
    t:expect({ "diff", got, reference, "--" .. kind, ("%a"):format(below), ... }, { code = 1 })
  end
end
smallest(x, y)
smallest(x, y, "--as", "bf16")
smallest(tensor("d1.npy", "f64", { 2 }, { 1e300, 0.1 }), tensor("d2.npy", "f64", { 2 }, { 3, 0.3 }))
smallest(tensor("i1.npy", "i64", { 2 }, { 1 << 60, 3 }), tensor("i2.npy", "i64", { 2 }, { 7, -(1 << 62) - 1 }))

-- NaNs equal each other, but for --bits; infinities are of a class of their own.
local quiet = bytes("q.npy", "<f4", false, "(2,)", string.pack("<I4I4", 0x7fc00000, 0x7f800000))
local loud = bytes("l.npy", "<f4", false, "(2,)", string.pack("<I4I4", 0xffc00001, 0x7f800000))
t:expect({ "diff", quiet, loud }, { code = 0, out = { "equal: all 2 elements, but for the bits of 1 NaNs" } })
t:expect({ "diff", quiet, loud, "--bits" }, { code = 1, out = { "code 0x7fc00000", "code 0xffc00001", "different: 1 (50 %)" } })
local top = tensor("top.npy", "f32", { 2 }, { nan, 3.4028234663852886e38 })
t:expect({ "diff", quiet, top, "--rel", "1e9" }, { code = 1, out = { "+inf     for +finite", "refused: 1" } })

-- Order and byte order do not matter; the reference divides.
local rows = bytes("rows.npy", "<i2", false, "(2, 3)", string.pack("<i2i2i2i2i2i2", 1, 2, 3, 4, 5, 6))
local columns = bytes("columns.npy", ">i2", true, "(2, 3)", string.pack(">i2i2i2i2i2i2", 1, 4, 2, 5, 3, 6))
t:expect({ "diff", rows, columns }, { code = 0, out = { "i16[2,3], Fortran order, big-endian" } })
local zero, one = tensor("zero.npy", "f32", { 1 }, { 0 }), tensor("one.npy", "f32", { 1 }, { 1 })
t:expect({ "diff", one, zero }, { code = 1, out = { "no --rel: a reference is 0" } })
t:expect({ "diff", zero, one }, { code = 1, out = { "--rel 1  (0x1p+0" } })

-- Other formats: values are compared exactly; ulps are those of the coarser one, or of --as.
local half, single = tensor("h.npy", "f16", { 2 }, { 1, 2 }), tensor("s.npy", "f32", { 2 }, { 1, 2 + 2 ^ -10 })
t:expect({ "diff", half, single }, { code = 1, out = { "f16[2]", "f32[2]", "worst ulp   0.5 of f16 at [1]", "<= 2^-1" } })
t:expect({ "diff", half, single, "--as", "bf16" }, { code = 1, out = { "0.0625 of bf16" } })
local raw = tensor("raw.npy", "bf16", { 2 }, { 1, 2 })
t:expect({ "diff", raw, single, "--format", "bf16" }, { code = 1, out = { "bf16[2]", "0.0625 of bf16", "got 2 (0x1p+1, code 0x4000)" } })
t:expect({ "diff", raw, raw, "--format", "bf16", "--format", "json" }, { code = 0, out = { '"format":"bf16"' } })
local void = bytes("void.npy", "|V2", false, "(2,)", string.pack("<I2I2", 0x3f80, 0x4000))
t:expect({ "diff", void, raw, "--format", "bf16" }, { code = 0 })
t:expect({ "diff", void, single }, { code = 64, err = { "raw elements of 2 bytes", "--format bf16" } })

-- Empty and zero-dimensional tensors.
t:expect({ "diff", tensor("e1.npy", "f32", { 0, 4 }), tensor("e2.npy", "f32", { 0, 4 }) }, { code = 0, out = { "equal: all 0 elements" } })
t:expect({ "diff", tensor("z1.npy", "f64", {}, { 3 }), tensor("z2.npy", "f64", {}, { 4 }) },
  { code = 1, out = { "f64[]", "at []", "--abs 1 " } })

-- JSON: measured values as hex floats with decimals beside; the same in a report file.
local report = t.directory .. "/report.json"
local got = t:expect({ "diff", x, y, "--abs", "0.001", "--format", "json", "--report", report }, { code = 0 })
assert(got.stdout == t.read(report), "the report on stdout and in the file are the same")
local d = assert(json.decode(got.stdout))
assert(d.accepted == true and d.different == 3 and d.elements == 3 and d.got.shape[1] == 3 and d.reference.format == "f32")
assert(d.worst.ulp.index[1] == 2 and d.worst.ulp.got.code == "0x3a83126f" and d.worst.ulp.got.class == "+finite")
assert(tonumber(d.worst.ulp.got.hex) == string.unpack("<f", string.pack("<f", 1e-3)) and d.worst.ulp.got.decimal == "0.001")
assert(d.worst.abs.error.hex:match "^0x1%.%x+p%-14$" and tonumber(d.worst.abs.error.decimal) == tonumber(d.worst.abs.error.hex))
assert(tonumber(d.limits.abs.hex) == 0.001 and d.limits.ulp == nil and d.histogram[1].ulps == "1" and d.histogram[1].elements == 1)
t:expect({ "diff", x, y, "--report", t.directory .. "/report.txt" }, { code = 1 })
assert(t.read(t.directory .. "/report.txt"):find "different: 3")

-- What cannot be compared: one line, 1; what cannot be read: 4; what was asked wrongly: 64.
t:expect({ "diff", a, x }, { code = 1, err = { "shapes differ: [2,3] in '" .. a .. "', [3] in '" .. x .. "'" } })
t:expect({ "diff", half, single, "--bits" }, { code = 1, err = { "formats differ: f16 in " } })
t:expect({ "diff", x, tensor("wide.npy", "i64", { 3 }, { 1, 2, 3 }) },
  { code = 1, err = { "f32 and i64: no format holds the values of both" } })
t:expect({ "diff", a, t.directory .. "/none.npy" }, { code = 4, err = { "none.npy", "No such file" } })
t:expect({ "diff", "/dev/zero", a }, { code = 4, err = { "/dev/zero", "regular file" } })
t:expect({ "diff", t.directory, a }, { code = 4, err = { "a directory" } })
t:expect({ "diff", t:file("text.npy", "hello"), a }, { code = 4, err = { "text.npy' is not a .npy file" } })
t:expect({ "diff", bytes("short.npy", "<f4", false, "(2, 3)", "abcd"), a },
  { code = 4, err = { "holds 4 bytes of data, its shape needs 24" } })
t:expect({ "diff", bytes("objects.npy", "|O", false, "(2, 3)", "abcd"), a }, { code = 4, err = { "Python objects" } })
t:expect({ "diff", a }, { code = 64, err = { "expected two files, got 1" } })
t:expect({ "diff", a, b, x }, { code = 64, err = { "got 3" } })
t:expect({ "diff", a, b, "--ulp", "-1" }, { code = 64, err = { "'--ulp'", "a number >= 0", "'-1'" } })
t:expect({ "diff", a, b, "--abs", "nan" }, { code = 64, err = { "'--abs'" } })
t:expect({ "diff", a, b, "--as", "i8" }, { code = 64, err = { "'--as'", "floats", "'i8'" } })
t:expect({ "diff", a, b, "--as", "f17" }, { code = 64, err = { "'--as'", "'f17'" } })
t:expect({ "diff", a, b, "--bits", "--ulp", "1" }, { code = 64, err = { "--bits and a tolerance exclude each other" } })
t:expect({ "diff", a, b, "--format", "xml" }, { code = 64, err = { "'--format'", "'xml'" } })
t:expect({ "diff", a, b, "--format", "e4m3fn" }, { code = 64, err = { "neither file", "e4m3fn" } })
t:expect({ "diff", a, b, "--report", "r.pdf" }, { code = 64, err = { "r.pdf" } })
t:expect({ "diff", a, b, "--report", "/no/such/r.txt" }, { code = 4, err = { "/no/such/r.txt" } })
t:expect({ "run", "--format", "bf16" }, { code = 64, err = { "text, json", "'bf16'" } })
t:expect({ "diff", a, t:file("odd\27[31m\n.npy", "x") }, { code = 4, no = { "\27", "\n.npy" } })
t:done "diff"
