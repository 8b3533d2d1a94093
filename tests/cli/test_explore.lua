-- One-liners of exploration: sweeps against exact values, plots, devices side by side, an operation over formats, other views of a tensor.
local t = dofile "tests/cli/harness.lua"()
local kc = require "kc"
local core = require "kc.core"

local function check(condition, text)
  if not condition then error(text or "check failed", 2) end
  t.passed = t.passed + 1
end

local function equal(got, expected) check(got == expected, ("expected\n%s\ngot\n%s"):format(expected, got)) end

local function fails(expected, f, ...)
  local ok, message = pcall(f, ...)
  check(not ok and message:find(expected, 1, true), ("expected an error with '%s', got %s"):format(expected, tostring(message)))
end

-- ---- sweeps ---------------------------------------------------------------------------------------------------------------------

local function same(x) return x end

-- What is exact has no error; all numbers are all codes, NaNs among them.
for format, count in pairs { f16 = 1 << 16, bf16 = 1 << 16, e4m3fn = 256, e5m2 = 256, e4m3fnuz = 256 } do
  local s = kc.sweep(same, same, format)
  check(s.count == count and s.every and s.worst == 0 and s.classes == 0 and s.undecided == 0, ("%s: %s"):format(format, s))
end

-- The next number up is off by one ulp everywhere in a binade; 2^10 numbers of f16 lie in [1, 2), and 2 itself.
local up = kc.sweep(function(x) return kc.f16(x):next() end, same, "f16", { from = 1, to = 2 })
check(up.count == 1025 and up.worst == 1.0 and up.histogram[34] == 1025 and up.classes == 0, tostring(up))

-- One wrong element among 65,536 is found and named; so is one of another class.
local lie = kc.sweep(function(x) return x == 3 and 3.0078125 or x end, same, "f16")
check(lie.worst == 4.0 and lie.worst_at.x == 3 and lie.worst_at.got == 3.0078125, tostring(lie))
local nan = kc.sweep(function(x) return x == 3 and 0 / 0 or x end, same, "bf16")
check(nan.classes == 1 and nan.class_at.x == 3 and nan.class_at.got ~= nan.class_at.got and nan.worst == 0, tostring(nan))
check(tostring(nan):find("  1 of another class (NaN, infinity, zero or number), the first at x = 3.0 (0x1.8p+1): got nan (0x7fc0), " ..
  "exact 3.0", 1, true), tostring(nan))

-- Overflow of a format without infinities is not declared, and hides nothing else: squares beyond 464, halfway to the next number.
local square = kc.sweep(function(x) return x * x end, function(x) return x * x end, "e4m3fn")
local beyond = 0
for code = 0, 126 do if kc.decode("e4m3fn", code) ^ 2 > 464 then beyond = beyond + 2 end end
check(square.undecided == beyond and square.classes == 0 and square.worst <= 0.5, tostring(square))

-- glibc's exp in double rounds correctly to f16 but for double rounding; a truncated series does not.
check(kc.sweep(math.exp, kc.exp, "f16").worst < 0.501)
local function sinh(x) return (math.exp(x) - math.exp(-x)) / 2 end
check(kc.sweep(sinh, kc.oracle.sinh "x", "f16", { from = 0.001, to = 0.01 }).worst < 0.51)
check(kc.sweep(function(x) return 1 + x end, kc.exp, "f32", { from = 0.5, to = 1, count = 100 }).worst > 1e6)

-- Thinned: evenly on the line of numbers, both ends in.
local thin = kc.sweep(same, same, "f32", { from = -1, to = 1, count = 1000 })
check(thin.count == 1000 and not thin.every and thin.x[1] == -1, tostring(thin))

-- A kernel on a device: the same numbers, computed there.
local device = kc.device "cpu"
local text = "KC_KERNEL void f(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_i32 n) {\n  kc_i32 i = (kc_i32)kc_gid(0);\n" ..
  "  if (i < n) y[i] = %s;\n}\n"
local function kernel(expression)
  return device:kernel { source = text:format(expression), entry = "f", params = { "x: f32[]", "y: f32[]", "n: i32" } }
end
local double = kc.sweep(kernel "x[i] + x[i]", function(x) return 2 * x end, "f32", { from = 1, to = 1000 })
check(double.count == 1 << 16 and double.worst == 0, tostring(double))
check(kc.sweep(kernel "x[i] * 1.0000001f", same, "f32", { from = 1, to = 2 }).worst >= 1)

fails("unknown format 'f17'; did you mean 'f16'?", kc.sweep, same, same, "f17")
fails("expected a format of signed floats, got i32", kc.sweep, same, same, "i32")
fails("no number of f16 lies from 2 to 1", kc.sweep, same, same, "f16", { from = 2, to = 1 })
fails("unknown field 'form'; did you mean 'from'?", kc.sweep, same, same, "f16", { form = 2 })
fails("argument 3: expected the name of a format, such as", kc.sweep, same, same)
fails("argument 4: expected a table of options, got the number 3", kc.sweep, same, same, "f16", 3)
fails("more than 2^40 numbers of f64", kc.sweep, same, same, "f64")
check(kc.sweep(same, same, "f64", { from = 1, to = 1 + 0x1p-40 }).count == 4097)
fails("argument 1: expected a function of a number or a kernel", kc.sweep, "exp", same, "f16")
fails("argument 2: expected the exact function", kc.sweep, same, "exp", "f16")
fails("at x = 1.0 the function gave nothing; expected a number", kc.sweep, function() end, same, "f16", { from = 1, to = 1 })
fails("at x = 1.0: ", kc.sweep, function(x) return x.y end, same, "f16", { from = 1, to = 1 })

-- ---- plots ----------------------------------------------------------------------------------------------------------------------

-- Three points on a canvas of 10 x 3 characters: left below, in the middle, right above.
local three = "print(kc.plot{ y = { 1, 2, 3 }, columns = 20, rows = 3, title = 'three' })"
equal(t:run({ "-e", three }, { "LC_ALL=C" }).stdout, "three\n3|         *\n |     *\n1|*\n  1        3\n")
-- In braille 20 x 12 dots; the middle is at dot 10, 6: left column of its character, third dot from below in the second line.
equal(t:run({ "-e", three }, { "LC_ALL=C.UTF-8" }).stdout, "three\n3│         ⠈\n │     ⠂\n1│⡀\n  1        3\n")
-- Bars are to scale: 4 of 4 is the whole width.
equal(t:run({ "-e", "print(kc.plot{ x = {1,2}, y = {4,1}, kind = 'bars', columns = 23, title = 'bars' })" }, { "LC_ALL=C" }).stdout,
  "bars\n1 ######## 4\n2 ## 1\n")
local logarithmic = tostring(kc.plot { x = { 1, 10, 100 }, y = { 0, 1, 1 / 0 }, logx = true, logy = true, title = "log" })
check(logarithmic:find("log: (log) against (log)", 1, true) and logarithmic:find("2 points have no place", 1, true), logarithmic)
check(tostring(kc.plot { up }):find("worst error of 147 pieces of f16", 1, true), tostring(kc.plot { up }))
check(tostring(kc.plot { up, kind = "bars" }):find("<= 2^0 .* 1025"), tostring(kc.plot { up, kind = "bars" }))

-- Verdicts: error against a dimension, each implementation a curve.
local results = kc.judge("C-EXC-01/relu.f32", { impl = "flushes" })
fails("results need 'x'", kc.plot, { results })
fails("no sample of these results has a number for the string \"k\"", kc.plot, { results, x = "k" })
local measured = { contract = "c", implementation = "i", samples = {
  { label = "offset 10", sizes = { k = 2 }, worst = 0.5, scaled = 0x1p-11 },
  { label = "offset 1e3", sizes = { k = 8 }, worst = 4.0, scaled = 0x1p-8 } } }
local curve = kc.plot { { measured }, x = "k", y = "bits" }.series[1]
check(curve.x[1] == 2 and curve.x[2] == 8 and curve.y[1] == 11 and curve.y[2] == 8 and curve.label == "i")
curve = kc.plot { measured, label = "offset (%S+)" }.series[1]
check(curve.x[1] == 10 and curve.x[2] == 1000 and curve.y[1] == 0.5 and curve.y[2] == 4)

-- What has no place on the axes is counted, and a file says so: results of another class, failed runs, infinite errors.
local failing = { contract = "c", implementation = "f", samples = { { label = "", sizes = { k = 1 }, worst = 0.5, class_no = 1 },
  { label = "", sizes = { k = 2 }, answer = "failed" }, { label = "", sizes = { k = 3 }, worst = "inf" },
  { label = "", sizes = { k = 4 }, worst = 0.25 } } }
local told = kc.plot { failing, x = "k", file = t.directory .. "/told.svg" }
check(tostring(told):find("3 points have no place on these axes", 1, true), tostring(told))
check(t.read(t.directory .. "/told.svg"):find("3 points have no place on these axes", 1, true))
check(tostring(kc.plot { nan }):find("1 of another class are NOT drawn", 1, true), tostring(kc.plot { nan }))
check(tostring(kc.plot { y = { 1e308, -1e308, 0 } }):find("1e+308", 1, true))
fails("field 'series': expected a list", kc.plot, { series = {}, kind = "bars" })
fails("field 'logx': a sweep is drawn evenly", kc.plot, { up, logx = true })
fails("No such file or directory", kc.plot, { y = { 1 }, file = t.directory .. "/none/x.svg" })
fails("unknown field 'devcie'; did you mean 'device'?", kc.judge, "C-EXC-01/relu.f32", { devcie = "cpu" })
fails("kc.ulp: expected the name of a format", kc.ulp, 1, 2)
fails("such as \"u64\", got nothing", kc.ulp, 1, 2)
fails("kc.ulp: unknown format 'bf17'; did you mean 'bf16'?", kc.ulp, 1, 2, "bf17")
fails("test_explore.lua:", function() return (kc.device "gpu") end)
fails("kc.number: unknown format 'e4m3'", kc.number, "e4m3", 1)
fails("kc.f64: expected a number or a real, got the string", kc.explain, "abc")
fails("unknown field 'titel'; did you mean 'title'?", kc.plot, { y = { 1 }, titel = "x" })
fails("expected as many x as y, got 1 and 2", kc.plot, { x = { 1 }, y = { 1, 2 } })
fails("series 1, point 2: expected a number, got the string \"b\"", kc.plot, { y = { 1, "b" } })
fails("field 'kind': expected one of points, line, bars", kc.plot, { y = { 1 }, kind = "pie" })
fails("expected a file called .svg or .png, got the string \"x.jpg\"", kc.plot, { y = { 1 }, file = "x.jpg" })

-- In a file, by gnuplot; what it says of a title is text, quotes and all.
local svg = t.directory .. "/it's a plot.svg"
kc.plot { y = { 1, 4, 2, 0 / 0, 3 }, title = "it's <b>", kind = "line", file = svg }
local file = assert(io.open(svg))
local drawn = file:read("a")
file:close()
check(drawn:find("<svg", 1, true) and drawn:find("it's &lt;b", 1, true) and not drawn:find("<b>", 1, true), drawn:sub(1, 300))
local png = t.directory .. "/bars.png"
kc.plot { up, kind = "bars", file = png }
file = assert(io.open(png, "rb"))
check(file:read(8) == "\137PNG\r\n\26\n")
file:close()
-- Without gnuplot: a message, no file, and a plot that is there stays.
t:file("kept.svg", "a plot")
for _, name in ipairs { "kept.svg", "new.svg" } do
  local absent = t:run({ "-e", ("kc.plot{ y = { 1 }, file = '%s/%s' }"):format(t.directory, name) }, { "PATH=" .. t.directory })
  check(absent.code == 4 and absent.stderr:find("gnuplot cannot be started.*apt%-get install gnuplot"), absent.stderr)
end
check(t.read(t.directory .. "/kept.svg") == "a plot")
check(not table.concat(core.listdir(t.directory), " "):find("new.svg", 1, true))
fails("control characters", kc.plot, { y = { 1 }, file = "a\nb.svg" })
kc.plot { y = { 1, 2 }, file = t.directory .. "/a.svg" }
check(not core.stat "a.svg")

-- ---- two devices, several formats, other views ---------------------------------------------------------------------------------------

local plus = { source = text:format "x[i] + 1.0f", entry = "f", params = { "x: f32[]", "y: f32[]", "n: i32" }, grid = { 1 },
               group = { 64 } }
local x, y = kc.buffer("f32", 4, { 1, 2, 3, 4 }), kc.buffer("f32", 4)
local same_bits = kc.compare("cpu", device, plus, { x = x, y = y, n = 4 })
check(#same_bits == 1 and same_bits[1].name == "y" and same_bits[1].different == 0, tostring(same_bits))
check(same_bits[1].first[4] == 5 and y[1] == 0, "what was given is left alone")
fails("no value for the parameter 'n'", kc.compare, "cpu", "cpu", plus, { x = x, y = y })
fails("the kernel has no parameter 'm'", kc.compare, "cpu", "cpu", plus, { x = x, y = y, n = 4, m = 1 })

-- A launch that writes beside its buffers is an error, once, wherever the kernel ran; what it wrote inside stays.
for _, isolation in ipairs { "process", "none" } do
  local d = kc.device("cpu", isolation == "none" and { isolation = "none" } or nil)
  local k, short = d:kernel { source = plus.source, entry = plus.entry, params = plus.params }, kc.buffer("f32", 4)
  local long = kc.buffer("f32", 8, { 1, 2, 3, 4, 5, 6, 7, 8 })
  fails("the kernel wrote outside argument 2: 16 damaged bytes, the nearest 1 byte past the end", d.launch, d, k, { long, short, 8 },
    { grid = { 1 }, group = { 64 } })
  check(short[4] == 5)
  check(d:launch(k, { long, short, 4 }, { grid = { 1 }, group = { 64 } }).seconds >= 0)
  d:close()
end

-- A device whose last element is one ulp off.
local liar = { fingerprint = function() return { name = "liar" } end, kernel = function(_, options) return device:kernel(options) end }
function liar.launch(_, k, args, options)
  local record = device:launch(k, args, options)
  args[2]:setcode(4, args[2]:code(4) + 1)
  return record
end
local apart = kc.compare("cpu", liar, plus, { x = x, y = y, n = 4 })
check(apart[1].different == 1 and apart[1].worst == 1 and apart[1].worst_at == 4 and apart[1].a == 5, tostring(apart))
equal(tostring(apart), "y: f32, other bits in 1 of 4 elements (25 %)\n  at most 1 ulp, at [4]: cpu 5.0, liar 5.000000476837158")
check(tostring(kc.plot { apart[1] }):find("<= 2^0", 1, true), tostring(apart))

equal(tostring(kc.across(function(a, b) return a * b end, { 0.1, 0.3 }, { "f16", "e5m2" })),
  "format  result             code    error in ulp\nf16     0.029998779296875  0x27ae  0.08\ne5m2    0.03125            0x28    0.16")
fails("expected a function by + - * /", kc.across, function() return 1 end, { 1 })

local h = kc.buffer("f16", { 2, 2 }, { 1, -2, 0 / 0, 1 / 0 })
local function lines(how, ...) return tostring(kc.view(h, how, ...)):gsub("^[^\n]*\n", "") end
equal(lines "bits", "  0 01111 0000000000  1 10000 0000000000\n  0 11111 1000000000  0 11111 0000000000")
equal(lines "codes", "  0x3c00  0xc000\n  0x7e00  0x7c00")
equal(lines "hex", "  0x1p+0  -0x1p+1\n  nan  inf")
equal(lines "class", "  +finite  -finite\n  nan  +inf")
local g = kc.buffer("f16", 4, { 1.0009765625, -2, 0 / 0, 65504 })
equal(lines("ulps", g), "  -1  0\n  0  +1")
fails("did you mean 'bits'?", kc.view, h, "bit")
fails("argument 3: expected 4 elements of f16, got 3 of f32", kc.view, h, "ulps", kc.buffer("f32", 3))

t:done "explore"
