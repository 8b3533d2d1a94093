-- Devices of cuda and hip as kc shows and judges them, on GPUs that the host emulates (tests/device/fake): nothing is shown about a GPU.
local core = require "kc.core"
if not os.execute("command -v c++ >/dev/null") then
  print("skipped: no c++, which emulates kernels of cuda and hip")
  return 77
end
local t = dofile "tests/cli/harness.lua"()

local built, here = core.exe():match("^(.*)/[^/]*$") .. "/tests/", core.realpath "tests/device/fake"
local env = { "KC_CUDA=" .. built .. "libfake_gpu_cuda.so", "KC_NVRTC=" .. built .. "libfake_rtc_cuda.so",
              "KC_HIP=" .. built .. "libfake_gpu_hip.so", "KC_HIPRTC=" .. built .. "libfake_rtc_hip.so",
              "KC_COMGR=" .. built .. "libfake_rtc_hip.so", "FAKE_RTC_EMULATE=" .. here .. "/emulate.h" }
for _, word in ipairs(env) do assert(core.stat(word:match("=(.*)")), word .. " is not there") end

t:expect({ "devices" }, { code = 0, out = { "Fake GPU 0, sm_90; CUDA 12345; nvrtc 99.1 for sm_90; denormals kept, contraction off",
                                            "Fake GPU 0, gfx90a:sramecc+:xnack-; HIP 12345; hiprtc 99.1" } }, env)
t:expect({ "devices" },
  { code = 0, out = { "cuda     absent: no CUDA runtime: /nowhere.so", "hip      absent: no HIP runtime: /nowhere.so" } },
  { "KC_CUDA=/nowhere.so", "KC_HIP=/nowhere.so" })
t:expect({ "devices" }, { code = 0, out = { "cuda:0   absent: ", "KC_NVRTC names a library that does not load: /nowhere.so" } },
  { env[1], "KC_NVRTC=/nowhere.so" })

-- A verdict, and beside it what the code says. A trap is a crash of the candidate; the author's own CUDA C++ is built too.
t:file("traps.cu", "extern \"C\" __global__ void relu(const float *x, float *y, int n) { __trap(); }\n")
t:file("right.cu", [[
template <class T> __device__ T positive(T x) { return x < 0 ? T(0) : x; }
extern "C" __global__ void relu(const float *x, float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = positive(x[i]);
}]])
t:file("wrong_type.cu", "extern \"C\" __global__ void relu(const double *x, float *y, int n) {}\n")
local suite = t:file("suite.lua", [[local kc = require "kc"
local function k(name, file)
  return kc.kernel { name = name, file = file, entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end
return kc.suite { name = "gpu", judge = { { contract = "C-EXC-01/relu.f32", implementations = {
  k("right", "right.cu"), k("traps", "traps.cu"), k("wrong_type", "wrong_type.cu") } } } }
]])
local evidence = "static evidence: of 2 instructions in the "
local trace = t.directory .. "/trace"
t:expect({ "run", suite, "--impl", "right", "--device", "cuda", "--trace", trace },
  { code = 0, out = { "held", evidence .. "ptx for sm_90: 1 fused" } }, env)
assert(t.read(trace):find('"static":{"arch":"sm_90","counts":[{"count":1,"name":"fused"}],"instructions":2,"language":"ptx"}', 1, true),
  "the trace lacks the static evidence")
t:expect({ "run", suite, "--impl", "right", "--device", "hip:1" }, { code = 0, out = { "held", evidence .. "amdgcn for gfx90a" } }, env)
t:expect({ "run", suite, "--impl", "traps", "--device", "cuda" }, { code = 1, out = { "violated", "running the kernel", "(719)" } }, env)
t:expect({ "run", suite, "--impl", "wrong_type", "--device", "cuda" },
  { code = 3, out = { "unknown", "does not build", "parameter 1 is declared as x f32[]" } }, env)

-- A contract of the portable kind, calibrated on cpu, on two devices beside each other.
t:expect({ "run", "contracts/C-EXC-01.relu.f32", "--device", "cpu", "--device", "cuda:1" }, { code = 0,
  out = { "relu.f32  on cuda:1\n", "on cpu beside cuda:1\n  pair       less_else_x              the same bits in one run of each" } }, env)

-- In a script: code of a kernel in a runner and in this process.
t:expect({ "-e", [[
  local axpy = { source = "KC_KERNEL void axpy(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_f32 a, kc_i32 n) " ..
    "{ kc_i32 i = kc_gid(0); if (i < n) y[i] += a * x[i]; }", entry = "axpy", params = { "x: f32[]", "y: f32[]", "a: f32", "n: i32" } }
  for _, how in ipairs { {}, { isolation = "none" } } do
    local device = kc.device("cuda:1", how)
    local kernel = device:kernel(axpy)
    local x, y = kc.buffer("f32", 3), kc.buffer("f32", 3)
    for i = 1, 3 do x[i], y[i] = i, 10 end
    device:launch(kernel, { x, y, 2, 3 }, { grid = { 1 }, group = { 4 } })
    print(y[1], y[2], y[3], kernel:ptx():match("%.entry [%w_]+"), kernel:code().language, kernel:code().arch)
    device:close()
    device = kc.device("hip", how)
    print(select(2, device:kernel(axpy):ptx()))
    device:close()
  end
  local cpu = kc.device("cpu")
  print(cpu:kernel(axpy):code())
  print(table.concat(kc.archs("cuda"), " "), kc.compile("cuda", "sm_80", axpy).entry)
  cpu:close()]] }, { code = 0, out = { "12.0\t14.0\t16.0\t.entry kc__axpy\tptx\tsm_90\n" ..
                                       "the kernel's text is amdgcn, not PTX; kernel:code() gives it\tunsupported\n12.0\t",
                                       "nil\tdriver 'cpu' does not show the code of its kernels\tunsupported",
                                       "sm_75 sm_80 sm_90\tkc__axpy" } }, env)

-- Without a device.
local axpy = t:file("axpy.k", [[
KC_KERNEL void axpy(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_f32 a, kc_i32 n) { y[0] += a * x[0]; }
]])
t:expect({ "compile", axpy, "--arch", "sm_80", "--arch", "gfx906" },
  { code = 0, out = { "axpy: of 2 instructions in the ptx for sm_80: 1 fused", "axpy: of 2 instructions in the amdgcn for gfx906" } }, env)
t:expect({ "compile", axpy, "--arch", "sm_80", "--code" },
  { code = 0, out = { ".visible .entry kc__axpy", "--fmad=false" } }, env)
t:expect({ "compile", t:file("none.k", "/* nothing */\n"), "--arch", "sm_80" },
  { code = 64, err = { "none.k: no kernel: expected KC_KERNEL" } }, env)
t:expect({ "compile", axpy }, { code = 64, err = { "--arch", "cuda: sm_75 sm_80 sm_90", "hip: gfx906 gfx90a" } }, env)
t:expect({ "compile", axpy, "--arch", "sm_10" }, { code = 64, err = { "compiles for no 'sm_10'" } }, env)
t:expect({ "compile", axpy, "--arch", "vega" }, { code = 64, err = { "'vega' is no architecture" } }, env)
t:expect({ "compile", suite, "--arch", "sm_80" }, { code = 64, err = { "expected a file called .k" } }, env)
t:expect({ "compile", axpy, "--arch", "sm_80" }, { code = 4, err = { "no nvrtc", "/nowhere.so" } }, { "KC_NVRTC=/nowhere.so" })
t:expect({ "compile", t:file("bad.k", "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  x[0] = half;\n}\n"), "--arch", "sm_80" },
  { code = 3, err = { "bad.k:2: 'half'" } }, env)
t:done "gpu"
