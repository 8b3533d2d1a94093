-- Contracts and suites on an OpenCL device: PoCL, or whatever driver is installed.
local core = require "kc.core"
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local relu, sum = "contracts/C-EXC-01.relu.f32", "contracts/C-ORD-02.sum.d0.f32"

local devices = t:run({ "devices" }).stdout
local absent = devices:match("opencl +absent: ([^\n]*)")
if absent then
  print("skipped: no OpenCL device: " .. absent)
  os.exit(77)
end
local name, driver = devices:match("\nopencl[:%d]* +([^,]*), [^;]*; (%S+)")
assert(name and driver, devices)

-- The contract is calibrated where an order of work-items can be chosen, and once for all devices; each device is judged.
local got = t:expect({ "run", sum, relu, "--device", "opencl", "--device", "cpu", "--format", "json" }, { code = 0 })
local document = assert(json.decode(got.stdout))
assert(#document.calibrations == 2 and document.calibrations[1].device == "cpu" and document.calibrations[2].device == "cpu")
local count, bits = {}, {}
for _, r in ipairs(document.results) do
  assert(r.verdict.name == "held", r.implementation)
  count[r.device] = (count[r.device] or 0) + 1
  local key = r.contract .. r.implementation
  local output = r.replay:match("[^:]*$")
  assert(bits[key] == nil or bits[key] == output, key .. " gives other bits on the second device")
  bits[key] = output
end
assert(count.opencl == 4 and count.cpu == 4)
t:expect({ "run", relu, "--device", "opencl", "--device", "cpu" },
  { code = 0, out = { "relu.f32  on opencl\n  calibrated on cpu (cached): ", "relu.f32  on cpu\n  held" } })

-- Where they differ, the pair says by how much, where first, and which is nearer the exact value.
local hinge = t.read(relu .. "/bitwise.k")
local extra = "#ifdef KC_DEVICE_OPENCL\n#define EXTRA 1\n#else\n#define EXTRA 0\n#endif\nKC_KERNEL"
local apart = hinge:gsub("KC_KERNEL", extra, 1)
  :gsub("}%s*$", "  if (i < n && x[i] == 1.5f) y[i] = kc_f32_of_bits(kc_bits_of_f32(x[i]) + EXTRA);\n}\n")
for _, file in ipairs(core.listdir(relu)) do t:file("apart/" .. file, t.read(relu .. "/" .. file)) end
t:file("apart/bitwise.k", apart)
local clauses = t.read(relu .. "/contract.lua"):gsub("inputs = { among", "inputs = { kc.sample.values { 1.5, 2.5 }, among", 1)
t:file("apart/contract.lua", clauses)
t:expect({ "run", t.directory .. "/apart", "--impl", "bitwise", "--device", "cpu", "--device", "opencl" }, { code = 1, out = {
  "on cpu\n", "on opencl\n", "on cpu beside opencl\n  pair       bitwise                  other bits in ",
  "distance: 1 ulp ", "at most 1", "at x = 1.5 (0x1.8p+0): cpu 1.5 (0x3fc00000), opencl 1.50000012 (0x3fc00001), exact 1.5",
  "nearer the exact value: cpu in ", ", opencl in 0\n" } })

-- A wrong kernel is as wrong there, and its token replays it.
got = t:expect({ "run", relu, "--device", "opencl", "--impl", "flushes" }, { code = 1, out = { "violated" } })
t:expect({ "replay", (got.stdout:match("kc replay (%S+)")) }, { code = 1, out = { "the same bits as recorded" } })

-- `calibrate` measures on the device that it is told.
t:expect({ "calibrate", relu, "--device", "opencl" }, { code = 0, out = { "relu.f32  on opencl\n  calibrated: " } })

-- By number, and by a word of what it says of itself.
t:expect({ "run", relu, "--device", "opencl:0" }, { code = 0, out = { "2 held" } })
t:expect({ "run", relu, "--device", "opencl:" .. driver:lower() }, { code = 0, out = { "2 held" } })
t:expect({ "run", relu, "--device", "opencl:no such" }, { code = 4, err = { "opencl:no such", "mentions that text" } })

-- What is made for the host is skipped there, with the reason.
t:expect({ "run", "contracts/C-PRC-03.fingerprint.f32", "--device", "opencl", "--impl", "leaves_ftz" },
  { code = 5, out = { "skipped", "a host function in C runs on the device cpu only" } })
t:expect({ "run", "contracts/suites/libm.lua", "--impl", "*sinf*", "--device", "opencl" },
  { code = 5, out = { "a library of the host runs on the device cpu only" } })

-- What a kernel does wrong is seen there too.
got = t:run({ "run", "tests/cli/hostile/suite.lua", "--device", "opencl", "--timeout", "20", "--format", "json" })
local found = {}
for _, r in ipairs(assert(json.decode(got.stdout)).results) do found[r.implementation] = r.verdict end
for what, want in pairs { right = "held", lua_right = "held", no_compile = "unknown does not build", exits = "skipped host function",
                          past_the_end = "violated past the end of the data", before_the_start = "violated before the data",
                          unwritten_tail = "violated unwritten", reads_output = "violated", races = "violated",
                          no_such_entry = "unknown does not build", lua_raises = "violated on purpose" } do
  local verdict, text = want:match("^(%w+) ?(.*)$")
  local reason = found[what].reason or ""
  assert(found[what].name == verdict and reason:find(text, 1, true), ("%s is %s: %s"):format(what, found[what].name, reason))
  t.passed = t.passed + 1
end

-- What never ends is killed, what crashes takes its runner along, and the next one is judged as if nothing had been.
local head = "KC_KERNEL void relu(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_i32 n) {\n  kc_i32 i = kc_gid(0);\n"
t:file("endless.k", head .. "  if (i < n) for (;;) y[i] = x[i];\n}\n")
t:file("wild.k", head .. "  if (i < n) y[i + 2000000000] = x[i];\n}\n")
t:file("right.k", t.read(relu .. "/bitwise.k"))
t:file("three.lua", [[local kc = require "kc"
local function k(name)
  return kc.kernel { file = name .. ".k", entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end
return kc.suite { name = "three", judge = { { contract = "C-EXC-01/relu.f32", implementations = { k "endless", k "wild", k "right" } } } }
]])
t:expect({ "run", t.directory .. "/three.lua", "--device", "opencl", "--timeout", "6", "--jobs", "1" }, { code = 1,
  out = { "unknown    endless                  time-out", "violated   wild                     crashed: SIGSEGV", "held       right" } })

-- Contraction is what the build options say.
t:expect({ "run", "contracts/suites/contraction.lua", "--device", "opencl" }, { code = 1, out = { "f0/separate", "F1) on opencl",
  "The compiler was allowed to contract", "b = -a: wrong value (contracted", "4 held, 2 violated" } })

-- The device's own mathematics: some of the suite.
local builtins = "contracts/suites/opencl_builtins.lua"
t:expect({ "run", builtins, "--device", "opencl", "--filter", "*f32_to_f16.rt*" }, { code = 0, out = { "vstore_half_rtz", "4 held" } })
t:expect({ "run", builtins, "--device", "opencl", "--filter", "*/fma.exact*" }, { code = 0, out = { "1 held", "fma  exact" } })
t:expect({ "run", builtins, "--device", "opencl", "--filter", "*/log1p.f32.opencl" }, { out = { " ulp of 2 at x = ", "log1p" }, code = 0 })
if not core.device("opencl"):fingerprint().features:find("cl_khr_fp16", 1, true) then
  t:expect({ "run", builtins, "--device", "opencl", "--filter", "*/exp.f16.*" }, { code = 5, out = { "the device has no cl_khr_fp16" } })
end
t:expect({ "run", builtins, "--filter", "*/fma.exact*" }, { code = 5, out = { "OpenCL C runs on the device opencl only" } })

-- A scratch contract's own OpenCL C.
local text = t.read(relu .. "/contract.lua"):gsub('good%s*=%s*{', 'good = { kc.kernel { file = "own.cl", entry = "own", ' ..
  'args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }, ', 1)
for _, file in ipairs(core.listdir(relu)) do t:file("own/" .. file, t.read(relu .. "/" .. file)) end
t:file("own/contract.lua", text)
t:file("own/own.cl", "__kernel void own(__global const float *x, __global float *y, int n) {\n" ..
  "  int i = get_global_id(0);\n  if (i < n) y[i] = x[i] < 0 ? 0 : x[i];\n}\n")
t:expect({ "run", t.directory .. "/own", "--device", "opencl" }, { code = 0, out = { "calibrated: ", "own " } })
t:expect({ "run", t.directory .. "/own", "--impl", "own" }, { out = { "OpenCL C runs on the device opencl only" }, code = 5 })
t:done "opencl"
