-- kc doctor: one line each, and 4 only when something needed is missing.
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()

local got = t:expect({ "doctor" }, { code = 0, out = { "ok       kc-runner", "ok       C compiler", "ok       kc.exact", "libmpfr.so",
                                                       "libflint", "ok       Lua and cjson", "ok       kc.zip", "libzip.so",
                                                       "ok       kc.line", "libedit.so",
                                                       "ok       cache", "256 MiB", "ok       device cpu" } })
local names = { "OpenBLAS", "BLIS", "ATLAS", "system BLAS", "SLEEF", "OpenCL", "OpenCL ICD", "CUDA driver", "NVRTC", "HIP", "hipRTC" }
for _, name in ipairs(names) do
  assert(got.stdout:find("\nok       " .. name, 1, true) or got.stdout:find("\nmissing  " .. name, 1, true), name .. " has no line")
end
for line in got.stdout:gmatch "[^\n]*\n" do
  assert(line:match "^ok       %S.*: %S" or line:match "^missing  %S.*%(optional%).*: .*; .*%S", "no line of the doctor's: " .. line)
end

-- Missing: named, with its reason and its cure.
t:expect({ "doctor" }, { code = 4, out = { "missing  C compiler", "(needed)", "/bin/false", "apt-get install gcc" } },
  { "KC_CC=/bin/false" })
t:expect({ "doctor" }, { code = 4, out = { "missing  kc-runner", "/no/such/runner", "KC_RUNNER" } }, { "KC_RUNNER=/no/such/runner" })
t:expect({ "doctor" }, { code = 4, out = { "missing  Lua and cjson", "apt-get install" } },
  { "LUA_CPATH=/no/such/?.so", "LUA_CPATH_5_4=/no/such/?.so" })
t:expect({ "doctor", "--quiet" }, { code = 0, out = { "missing  cache          (optional)" }, no = { "ok  " } },
  { "KC_CACHE=/proc/no" })

-- For programs.
local d = assert(json.decode(t:expect({ "doctor", "--format", "json" }, { code = 0 }).stdout))
assert(#d.checks >= #names + 6 and d.checks[1].name == "kc-runner" and d.checks[1].ok and d.checks[1].needed)
t:expect({ "doctor", "now" }, { code = 64, err = { "doctor: expected nothing" } })
t:done "doctor"
