-- Writing a contract: kc new, lint, explain, diff-contract, watch.
local core = require "kc.core"
local t = dofile "tests/cli/harness.lua"()

local function path(name) return t.directory .. "/" .. name end

-- ---- new ------------------------------------------------------------------------------------------------------------------------

-- A scaffold is right at once: clean, and it calibrates.
local gelu, dot = path "C-PRC-02.gelu.f32", path "C-PRC-01.dot.f16"
t:expect({ "new", "contract", gelu }, { code = 0, out = { "C-PRC-02/gelu.f32", "kc calibrate " .. gelu }, no = { "chosen" } })
t:expect({ "new", "contract", dot .. "/" }, { code = 0, out = { "C-PRC-01/dot.f16" } })
t:expect({ "new", "contract", path "C-EXC-01.relu.bf16" }, { code = 0 })
t:expect({ "new", "contract", path "mish" }, { code = 0,
  out = { "class C-PRC-02", "format f32 were chosen", "nothing here is called 'mish'" } })
t:expect({ "new", "contract", path "sum" }, { code = 0, out = { "C-PRC-01/sum.f32", "class C-PRC-01" }, no = { "nothing here" } })
assert(t:expect({ "lint", t.directory }, { code = 0 }).stdout == "")
t:expect({ "calibrate", gelu, dot, path "C-EXC-01.relu.bf16" }, { code = 0, out = { "3 calibrated, 0 mistrusted" } })
for _, name in ipairs { "C-PRC-02.gelu.f32", "C-PRC-01.dot.f16", "C-EXC-01.relu.bf16", "mish" } do
  local directory = path(name)
  assert(t.read(directory .. "/contract.lua"):find("CHANGE", 1, true) and t.read(directory .. "/README.md"):find("kc calibrate", 1, true))
end

-- What is refused, and that nothing is left behind.
local before = table.concat(core.listdir(t.directory), " ")
for _, row in ipairs {
  { { "contract", gelu }, "exists" }, { { "contract", path "C-PRC-92.a.f32" }, "did you mean 'C-PRC-02'?" },
  { { "contract", path "C-PRC-03.a.f32" }, "no scaffold for C-PRC-03; there are C-EXC-01" },
  { { "contract", path "C-PRC-02.gelu.f33" }, "no format 'f33' in 'gelu.f33'; did you mean 'f32'?" },
  { { "contract", path "C-PRC-02.gelu.f64" }, "there are f32, f16, bf16" }, { { "contract", path "C-PRC-02" }, "CLASS.OPERATION.FORMAT" },
  { { "contract", path "no/such/gelu" }, "is no directory" }, { { "contract", path "9 lives" }, "'9 lives' is no name" },
  { { "contract" }, "expected one name, got 0" }, { { "contarct", "x" }, "did you mean 'contract'?" },
  { { "kernel", path "half" }, "'half' is reserved in OpenCL C" }, { { "kernel", path "a-b!" }, "is no name" } } do
  t:expect({ "new", table.unpack(row[1]) }, { code = 64, err = { row[2] } })
end
-- The last step fails: no directory can have so long a name.
t:expect({ "new", "contract", path("C-PRC-02." .. ("a"):rep(260) .. ".f32") }, { code = 4, err = { "cannot create '", "aaa.f32': " } })
assert(table.concat(core.listdir(t.directory), " ") == before)

-- A kernel: its comment's own lines run it.
t:expect({ "new", "kernel", path "twice" }, { code = 0, out = { "twice.k: kernel twice" } })
t:expect({ "new", "kernel", path "twice.k" }, { code = 64, err = { "exists" } })
assert(t:expect({ "lint", path "twice.k" }, { code = 0 }).stdout == "")
local text = t.read(path "twice.k")
local lines = {}
for line in text:gmatch("\n     ([^\n]*)") do lines[#lines + 1] = line:gsub("%s+%(or .*$", "") end
lines[#lines] = "print(y[1], y[4])"
t:expect({ "-e", table.concat(lines, "\n") }, { code = 0, out = { "2.0\t8.0" } })

-- ---- lint -----------------------------------------------------------------------------------------------------------------------

local sources = { gelu = t.read(gelu .. "/contract.lua"), dot = t.read(dot .. "/contract.lua") }
local origin = { gelu = gelu, dot = dot }

-- A scaffold with some text replaced, in a directory of its own: text, replacement, ...
local function variant_in(folder, base, ...)
  local directory, changed, swaps = path(folder), sources[base], { ... }
  for i = 1, #swaps, 2 do
    local at, stop = changed:find(swaps[i], 1, true)
    assert(at, "nothing replaced: " .. swaps[i])
    changed = changed:sub(1, at - 1) .. swaps[i + 1] .. changed:sub(stop + 1)
  end
  for _, name in ipairs(core.listdir(origin[base])) do t:file(folder .. "/" .. name, t.read(origin[base] .. "/" .. name)) end
  t:file(folder .. "/contract.lua", changed)
  return directory, changed
end
local function variant(base, ...) return variant_in("variant." .. base, base, ...) end

-- The line on which a text stands.
local function line_with(whole, part)
  local number = 1
  for line in (whole .. "\n"):gmatch("(.-)\n") do
    if line:find(part, 1, true) then return number end
    number = number + 1
  end
  error("no line has " .. part)
end

-- What is expected of many contracts, which are checked in one go: a line that begins FILE:LINE: CLAUSE: and has the message.
local expected, targets = {}, { "lint" }

local function expect_line(base, swaps, marker, clause, message)
  local directory, changed = variant_in(("many/%02d"):format(#targets), base, table.unpack(swaps))
  targets[#targets + 1] = directory
  expected[#expected + 1] = { ("%s/contract.lua:%d: %s"):format(directory, line_with(changed, marker), clause), message }
end

local function check_lines(code)
  local found = t:expect(targets, { code = code }).stdout
  for _, row in ipairs(expected) do
    local seen = false
    for line in found:gmatch("[^\n]+") do seen = seen or line:sub(1, #row[1]) == row[1] and line:find(row[2], 1, true) ~= nil end
    assert(seen, ("expected '%s...%s', got\n%s"):format(row[1], row[2], found))
  end
  for i = 2, #targets do assert(found:find(targets[i], 1, true), targets[i]) end
  expected, targets = {}, { "lint" }
end

local post = "kc.within(y.y, ref.y, t) }"
local ratio = "m:ratio(whole.label)"
for _, row in ipairs {
  { "gelu", { '"C-PRC-02"', '"C-PRC-92"' }, "identifier  ", "identifier", "no class 'C-PRC-92'; did you mean 'C-PRC-02'?" },
  { "gelu", { "kc.finite(x.x)", "kc.finite(x.x)\n and kc.any_value(x.x)" }, " and kc.any_value", "precondition", "'and' sees only" },
  { "gelu", { "return kc.finite(x.x)", "return fine(x.x)", "local function kernel",
              "local function fine(x)\n  return kc.finite(x) and kc.any_value(x) end\nlocal function kernel" }, "  return kc.finite(x) and",
    "precondition", "'and' sees only" },
  { "gelu", { post, "not kc.within(y.y, ref.y, t) }" }, "postcondition", "postcondition", "'not' sees only" },
  { "gelu", { post, "kc.within(y.y, ref.y, t) or kc.finite(y.y) }" }, "postcondition", "postcondition", "use | or kc.any" },
  { "gelu", { "{ kc.same_class(y.y, ref.y, t), " .. post, "kc.finite(kc.buffer('f32', 1))" }, "postcondition", "postcondition",
    "output 'y' is not mentioned" },
  { "gelu", { '"y: f32[n]"', '"y: f32[m]"', "n = kc.range(0, 1024)", "n = kc.range(0, 1024), m = kc.range(1, 8)" }, "outputs = ", "scope",
    "output 'y' does not fit its oracle for n = 2, m = 3" },
  { "gelu", { "limit = 2.0", "limit = 0.25" }, "limit = 0.25", "tolerance", "less than rounding to nearest" },
  { "gelu", { "budget = 1e5", "budget = 1" }, "budget = 1,", "protocol", "the smallest shape takes 1" },
  { "gelu", { "samples = 1024", "samples = 1 << 30" }, "budget = 1e5", "protocol", "ends before 1073741824 elements" },
  { "gelu", { "kc.range(0, 1024)", "kc.choice { 0 }" }, "samples = 1024", "protocol", "no shape that is drawn has an element" },
  { "gelu", { "vacuous = 0.1", "vacuous = 1.0" }, "vacuous = 1.0", "protocol", "nothing need be shown" },
  { "gelu", { "tolerance <= 1", "tolerance <= 2" }, "pass = ", "protocol", "says error / tolerance <= 2" },
  { "gelu", { "kc.range(0, 1024)", "kc.range(0, 1 << 31)" }, "bad = {", "calibration", "dimension 'n' reaches 2147483648" },
  { "gelu", { "repeats = 1", "repeats = 3" }, "repeats = 3", "protocol", "3 runs, and no 'determinism'" },
  { "gelu", { ratio, 'm:ratio("the domain of gelo")' }, "test = function", "signature", "did you mean 'the domain of gelu'?" },
  { "gelu", { ratio, "m:ratoi()" }, "test = function", "signature", "did you mean 'ratio'?" },
  { "gelu", { ratio, 'm:slope("k")' }, "test = function", "signature", "did you mean 'n'?" },
  { "gelu", { ratio, 'm:slope("n")', "kc.range(0, 1024)", "kc.choice { 8 }" }, "test = function", "signature", "never varies 'n'" },
  { "gelu", { ratio, "m:distinct()" }, "test = function", "signature", "protocol.repeats is 1" },
  { "gelu", { '{ "x", "y", "n" }', '{ "x", "y", "nn" }' }, "baseline = ", "calibration",
    "argument 'nn' is neither a tensor nor a dimension" },
  { "gelu", { '{ "x", "y", "n" }', '{ "x", "n" }' }, "bad = {", "calibration", "output 'y' is no argument" },
  { "gelu", { '{ "x", "y", "n" }', '{ "x", "y" }' }, "bad = {", "calibration", "takes 3 parameters, 'args' names 2" },
  { "gelu", { '{ "x", "y", "n" }', '{ "n", "y", "x" }' }, "bad = {", "calibration",
    "parameter 'x' is a buffer, argument 'n' is a dimension" },
  { "gelu", { 'grid = { "n" }', 'grid = { "m" }' }, "bad = {", "calibration", "the grid names dimension 'm'" },
  { "gelu", { '"gelu_f32"', '"gelu_f23"' }, "bad = {", "calibration", "has no kernel 'gelu_f23'; did you mean 'gelu_f32'?" },
  { "gelu", { 'kernel "double" }', 'kernel "dubble" }' }, "good = {", "calibration", "dubble.k" },
  { "gelu", { 'good = { kernel "double"', 'good = { kernel "double", kernel "zeros2"', 'file = name',
              'name = name, file = (name == "zeros2" and "zeros" or name)' }, "good = {", "calibration",
    "good 'zeros2' is the same kernel as baseline 'zeros'" },
  { "dot", { 'terms = "k"', 'terms = "n"' }, "terms = ", "tolerance", "names dimension 'n', which is not reduced; that is 'k'" },
  { "dot", { 'height = "k - 1"', 'height = "1"' }, "height = ", "tolerance", "no order of" },
  { "dot", { 'height = "k - 1"', 'height = "k * k"' }, "height = ", "tolerance", "looser bound" },
  { "dot", { 'terms = "k"', 'terms = "k + 1"' }, "terms = ", "tolerance", "the operation sums over 'k'" },
  { "dot", { 'inputs = { "x', 'inputs = { "z: f32[n]", "x' }, "inputs = { \"z", "scope", "input 'z' is an argument of no implementation" },
} do expect_line(row[1], row[2], row[3], row[4] .. ": ", row[5]) end
check_lines(1)

-- What only looks like a finding is none.
local clean = variant("gelu", "kc.finite(x.x)", "kc.finite(x.x) --[[ and ]] -- or not\n")
assert(t:expect({ "lint", clean }, { code = 0 }).stdout == "")
clean = variant("gelu", "return kc.finite(x.x)", "local _ = kc.static(true and 'not') return kc.finite(x.x)")
assert(t:expect({ "lint", clean }, { code = 0 }).stdout == "")

-- Findings stand in the order of lines, the same every time.
local both = variant("gelu", "vacuous = 0.1", "vacuous = 1", "limit = 2.0", "limit = 0.1")
local got = t:expect({ "lint", both }, { code = 1 }).stdout
assert(got:find("tolerance:.*protocol:") and got == t:run({ "lint", both }).stdout, got)

-- A file that is no contract is a finding with its line, and 64; the others are checked all the same.
for _, row in ipairs {
  { { "  tolerance  ", "  tolerence  " }, "tolerence     = ", "unknown clause; did you mean 'tolerance'?" },
  { { '  oracle        = kc.oracle.gelu("x"),\n', "" }, "return kc.contract", "clause 'oracle' is missing" },
  { { 'shapes = { n = kc', 'shapes = { m = kc' }, "inputs = {", "dimension 'n' of 'x' has no entry in 'shapes'" },
  { { "tol.ulp {", "tol.ulps {" }, "tol.ulps", "did you mean 'ulp'?" },
  { { "tol.ulp {", "tol.softmax {" }, "tol.softmax", "unknown field 'limit'" },
  { { "repeats = 1", "repeets = 1" }, "repeets", "unknown field 'repeets'; did you mean 'repeats'?" },
  { { 'good = { kernel "double" }', "good = {}" }, "good = {}", "expected a list of implementations, got an empty table" },
  { { "probes = { whole }", "probes = {}" }, "probes = {}", "expected a list of samples" },
  { { "kc.oracle.gelu", "kc.oracle.gelo" }, "kc.oracle.gelo", "did you mean 'gelu'?" },
  { { "pattern = ", "pattern = = " }, "pattern = =", "unexpected symbol near '='" } } do
  expect_line("gelu", row[1], row[2], "", row[3])
end
expect_line("gelu", { "vacuous = 0.1", "vacuous = 1.0" }, "vacuous = 1.0", "protocol: ", "nothing need be shown")
check_lines(64)
t:expect({ "lint", (variant("dot", "tol.dot {", "tol.variance {", 'kind = "proved", terms = "k",', 'algorithm = "two_pass",')) },
  { code = 64, out = { "is for variance, not for the oracle dot" } })
t:expect({ "lint", (variant("gelu", "local function kernel", "while true do end\nlocal function kernel")), "--timeout", "1" },
  { code = 4, out = { "did not return within 1 s" } })
t:expect({ "lint", path "nothing" }, { code = 64, err = { "no file and no contract is called" } })
t:file("reserved.k", "KC_KERNEL void f(KC_GLOBAL kc_f32 *x) {\n  x[0] = half;\n}\n")
t:expect({ "lint", path "reserved.k" }, { code = 1, out = { "reserved.k:2: kernel f: 'half' is reserved" } })

-- A kernel that fits by its text and does not compile is found with its own line.
local uncompiled = variant("gelu", "", "")
t:file("variant.gelu/double.k", (t.read(gelu .. "/double.k"):gsub("y%[i%] =", "y[i] = unknown *")))
t:expect({ "lint", uncompiled }, { code = 1, out = { "good 'double': ", "double.k:", "unknown" } })

-- ---- explain --------------------------------------------------------------------------------------------------------------------

-- Of 2048 products of f16 (exact in f32) 2047 additions round: gamma = r u / (1 - r u), u = 2^-24.
local r = 2047 * 2.0 ^ -24
local said = t:expect({ "explain", dot, "--clause", "tolerance" }, { code = 0, out = {
  "u = 2^-24", "eta = 2^-150", "at the smallest shape, n = 1, k = 1: height h = 0, r = 0 roundings",
  "k = 2048: height h = 2047, r = 2047 roundings", ("= %.4g\n"):format(r / (1 - r)), "spec/tolerances.md, section T-DOT" } }).stdout
local terms, s1, allowed = said:match("k = (%d+): s%[%d+%] has y%* = %S+ S1 = (%S+): allowed (%S+),")
local g = (tonumber(terms) - 1) * 2.0 ^ -24
assert(math.abs(tonumber(allowed) / (g / (1 - g) * tonumber(s1)) - 1) < 1e-3, said)
said = t:expect({ "explain", gelu }, { code = 0, out = { "2 times its ulp of f32", "spec/tolerances.md, T-ULP", "oracle" } }).stdout
local y, limit = said:match("y%* = ([^:]+): allowed (%S+),")
local exponent = math.floor(math.log(math.abs(tonumber(y)), 2))
assert(math.abs(tonumber(limit) / (2 * 2.0 ^ (exponent - 23)) - 1) < 1e-3, said)
t:expect({ "explain", gelu, "--clause", "tolerence" }, { code = 64, err = { "did you mean 'tolerance'?" } })

-- ---- diff-contract --------------------------------------------------------------------------------------------------------------

local other = variant("gelu")
t:expect({ "diff-contract", gelu, other }, { code = 0, out = { "the same in every clause" } })
variant("gelu", "-- CHANGE: where the operation is used", "-- Anything")
t:expect({ "diff-contract", gelu, other }, { code = 0, out = { "the same in every clause" } })
variant("gelu", "local whole", "local unused = 1\nlocal whole")
t:expect({ "diff-contract", gelu, other }, { code = 1, out = { "text: the files differ in code outside of the clauses" } })
variant("gelu", 'version = "0.1"', 'version = "0.2"', "local whole", "local unused = 1\nlocal whole")
t:expect({ "diff-contract", gelu, other }, { code = 1, out = {
  "version 0.1 -> 0.2", "text: the files differ in code outside of the clauses" } })
variant("gelu", 'version = "0.1"', 'version = "0.2"')
t:expect({ "diff-contract", gelu, other }, { code = 1, out = { "version 0.1 -> 0.2" }, no = { "text:" } })
variant("gelu", "sample.log_uniform(-8, 0)", "sample.log_uniform(-9, 0)", "limit = 2.0", "limit = 2.0000001")
t:expect({ "diff-contract", gelu, other }, { code = 1, out = {
  "'small arguments: log_uniform(-9,0)' added", "limit 2 -> 2.0000001 (looser)" } })
variant("gelu", "limit = 2.0", "limit = 5.0", "kc.range(0, 1024)", "kc.range(0, 4096)", "samples = 1024", "samples = 512",
  "inputs = { whole, small }", "inputs = { whole }", ', kernel "drops_tail" }', " }", "kc.finite(x.x)", "kc.any_value(x.x)")
t:file("variant.gelu/double.k", t.read(gelu .. "/double.k") .. "/* again */\n")
local function digest(directory) return core.sha256file(directory .. "/double.k"):sub(1, 12) end
t:expect({ "diff-contract", gelu, other }, { code = 1, out = {
  "tolerance: T-ULP limit 2 -> 5 (looser)", "scope: shapes n 0..1024 -> 0..4096 (wider)", "protocol: samples 1024 -> 512 (fewer)",
  "protocol: inputs: 'small arguments: log_uniform(-8,0)' removed", "calibration: bad 'drops_tail' removed", "precondition: text ",
  ("calibration: good 'double': double.k %s -> %s"):format(digest(gelu), digest(other)) },
  no = { "signature", "oracle", "truncated" } })
t:expect({ "diff-contract", other, gelu },
  { code = 1, out = { "limit 5 -> 2 (tighter)", "(narrower)", "'drops_tail' added: drops_tail.k" } })
t:expect({ "diff-contract", gelu, dot }, { code = 1, out = { "tolerance: T-ULP: ", " -> T-DOT: " } })
t:expect({ "diff-contract", "tanh.f32", "tahn.f32" }, { code = 64, err = { "did you mean 'tanh.f32'?" } })
t:expect({ "diff-contract", gelu }, { code = 64, err = { "expected two contracts, got 1" } })

-- ---- watch ----------------------------------------------------------------------------------------------------------------------

t:expect({ "watch" }, { code = 64, err = { "expected a contract or a directory" } })
local watched = variant("gelu", "samples = 1024", "samples = 16")
local arguments = { "watch", watched }
local process = t:start(arguments)

-- Waits until the output has a text `count` times.
local function wait_for(what, count, where)
  for _ = 1, 600 do
    local n = select(2, t.read(path(where or "stdout")):gsub(what, ""))
    if n >= count then return end
    core.sleep(0.05)
  end
  process:kill()
  error(("'%s' did not appear %d times:\n%s\n%s"):format(what, count, t.read(path "stdout"), t.read(path "stderr")))
end

wait_for("1 held, 0 violated", 1)
-- As editors do: a new file under another name, then renamed.
t:file("variant.gelu/.double.k.new", t.read(gelu .. "/truncated.k"))
assert(os.rename(watched .. "/.double.k.new", watched .. "/double.k"))
wait_for("double.k changed", 1)
wait_for("mistrusted", 1)
-- A contract that does not load is reported, and the watch goes on.
t:file("variant.gelu/contract.lua", "return 1")
wait_for("contract.lua changed", 1)
wait_for("expected the file to return", 1, "stderr")
t:file("variant.gelu/double.k", t.read(gelu .. "/double.k"))
variant("gelu", "samples = 1024", "samples = 16")
wait_for("1 held, 0 violated", 2)
process:kill(2)
got = t:finish(process, arguments)
assert(got.code == 130 and got.stdout:match("^%-%-%-%- %d%d:%d%d:%d%d first run %-%-%-%-\n"), got.stdout .. tostring(got.code))
t:done "author"
