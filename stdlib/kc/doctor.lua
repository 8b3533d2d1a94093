---@module kc.doctor
-- `kc doctor`: what kc uses, whether it is there and works, and how to get it on Debian.
local core = require "kc.core"
local json = require "kc.json"
local paths = require "kc.paths"
local M = {}

-- ---- probes -------------------------------------------------------------------------------------------------------------------

-- Loading a library may crash or hang: it happens in a child, which writes a line to the file it is given.
local CHILD = [[
local path, code = ...
local function mapped(stem)
  for line in io.lines "/proc/self/maps" do
    local file = line:match("(/.*)$") or ""
    if file:match("([^/]*)$"):sub(1, #stem) == stem then return file end
  end
end
local ok, detail, why = pcall(assert(load(code)), mapped, table.unpack({ ... }, 3))
local out = assert(io.open(path, "w"))
out:write(ok and detail and "+" or "-", (tostring(ok and detail or ok and why or detail):gsub("^[%w_/.-]+:%d+: ", "")))
out:close()
]]

local function in_child(code, ...)
  local answer = os.tmpname()
  local process, message = core.spawn { argv = { "/usr/bin/env", "KC_CACHE=", core.exe(), "-e", CHILD, answer, code, ... } }
  local state, number, name = "failed", nil, nil
  if process then
    state, number, name = process:wait(60)
    if state == "running" then core.killtree(process:pid()) end
  end
  local file = io.open(answer, "r")
  local text = file and file:read("a") or ""
  if file then file:close() end
  os.remove(answer)
  if text:sub(1, 1) == "+" then return text:sub(2) end
  local fate = state == "running" and "it hangs" or ("a child was %s %s"):format(state, name or number or message)
  return nil, text ~= "" and text:sub(2):match("[^\n]*") or fate
end

local LOAD = [[
local mapped, symbol = ...
local why
for _, name in ipairs { select(3, ...) } do
  local found, message = package.loadlib(name, symbol)
  if found then return mapped(name:match("([^/]*)%.so")) or name end
  why = why or message:gsub(": cannot open shared object file: No such file or directory", " is not there")
end
return nil, why
]]

local probes = {}

-- The first of the libraries that loads and has the symbol.
function probes.library(row) return in_child(LOAD, row.symbol, table.unpack(row.libraries)) end

function probes.kernel()
  return in_child [[
    local device = kc.device "cpu"
    local source = "KC_KERNEL void answer(KC_GLOBAL kc_i32 *x, kc_i32 n) { if ((kc_i32)kc_gid(0) < n) x[kc_gid(0)] = 42; }"
    local kernel = device:kernel { source = source, entry = "answer", params = { "x: i32[]", "n: i32" } }
    local x = kc.buffer("i32", 1)
    device:launch(kernel, { x, 1 }, { grid = { 1 }, group = { 1 } })
    local compiler = device:fingerprint().compiler
    device:close()
    if x[1] ~= 42 then return nil, "a kernel that stores 42 stored " .. x[1] end
    return compiler]]
end

function probes.runner()
  local path = paths.runner()
  local stat, message = core.stat(path)
  if stat and stat.type == "file" then return path end
  return nil, stat and ("'%s' is no file"):format(path) or message
end

function probes.exact()
  return in_child [[
    local mapped = ...
    require "kc.exact"
    local list = {}
    for _, stem in ipairs { "libmpfr", "libflint.", "libflint-arb", "libarb", "libgmp" } do
      local path = mapped(stem)
      if path then list[#list + 1] = path:match("[^/]*$") end
    end
    return table.concat(list, ", ")]]
end

function probes.zip()
  return in_child [[
    local mapped = ...
    require "kc.zip"
    return mapped("libzip"):match("[^/]*$")]]
end

function probes.line()
  return in_child [[
    local mapped = ...
    require "kc.line"
    return mapped("libedit"):match("[^/]*$")]]
end

function probes.cjson()
  return in_child [[
    local cjson = require "cjson"
    return ("%s, cjson %s"):format(_VERSION, cjson._VERSION)]]
end

-- A program that says its version.
function probes.program(row)
  local pipe = io.popen(("command -v %s >/dev/null && %s --version 2>/dev/null"):format(row.program, row.program))
  local line = pipe and pipe:read("l")
  if pipe then pipe:close() end
  return line, "it is not on the PATH"
end

-- At least one vendor's library must load; the loader alone finds no device.
function probes.icd()
  local why = "no vendor in /etc/OpenCL/vendors"
  for _, name in ipairs(core.listdir "/etc/OpenCL/vendors" or {}) do
    local file = name:match("%.icd$") and io.open("/etc/OpenCL/vendors/" .. name)
    local library = file and file:read("l")
    if file then file:close() end
    local found, message = in_child(LOAD, "clGetExtensionFunctionAddress", library or "") -- every ICD exports it
    if found then return found end
    why = message
  end
  return nil, why
end

-- Which architectures a runtime compiler knows; it is asked in a process of its own.
function probes.archs(row)
  local names, why = core.archs(row.backend)
  return names and ("%s to %s, %d architectures"):format(names[1], names[#names], #names), why
end

function probes.cache()
  local cache = require "kc.cache"
  local directory = paths.cache_dir "kernels"
  if not directory then return nil, "no directory: neither KC_CACHE, XDG_CACHE_HOME nor HOME names one that can be made" end
  local path = ("%s/.doctor.%d"):format(directory, core.pid())
  local file, message = io.open(path, "w")
  if not file then return nil, message end
  file:close()
  os.remove(path)
  local bytes, files = cache.size()
  return ("%s: %d files, %.1f MiB of at most %.0f MiB"):format(paths.cache(), files, bytes / 2^20, cache.LIMIT / 2^20)
end

function probes.driver(row)
  local f = row.device.fingerprint
  if f then return ("%s, %s"):format(f.name, f.driver) end
  return nil, row.device.why
end

-- One that cannot be loaded ends kc at its start.
function probes.extension(row) return require("kc.report.lines").extension(row.extension) end

-- ---- what kc uses ---------------------------------------------------------------------------------------------------------------

local rows = {
  { "kc-runner", needed = true, probe = "runner", purpose = "runs candidates in a process of their own",
    get = "it is built beside kc: ninja -C build; KC_RUNNER names another" },
  { "C compiler", needed = true, probe = "kernel", purpose = "compiles kernels for the cpu device (KC_CC names it)",
    get = "apt-get install gcc libc6-dev" },
  { "kc.exact", needed = true, probe = "exact", purpose = "certified oracles, on MPFR and Arb",
    get = "apt-get install libmpfr6 libflint17 libflint-arb2; built with kc: ninja -C build" },
  { "Lua and cjson", needed = true, probe = "cjson", purpose = "everything written in Lua; reading JSON",
    get = "apt-get install liblua5.4-0 lua-cjson" },
  { "kc.zip", probe = "zip", purpose = "exchanges .npz archives with commands",
    get = "apt-get install libzip4; built with kc: ninja -C build" },
  { "kc.line", probe = "line", purpose = "edits lines at the prompt",
    get = "apt-get install libedit2; built with kc: ninja -C build" },
  { "gnuplot", probe = "program", program = "gnuplot", purpose = "draws plots into .svg and .png", get = "apt-get install gnuplot-nox" },
  { "cache", probe = "cache", purpose = "compiled kernels and calibrations are kept", get = "make it writable, or set KC_CACHE" },
  { "OpenBLAS", probe = "library", symbol = "cblas_dgemm", libraries = { "libopenblas.so.0" },
    purpose = "certifies matrix products fast", get = "apt-get install libopenblas0-pthread" },
  { "BLIS", probe = "library", symbol = "cblas_dgemm", libraries = { "libblis.so.4", "libblis.so.3" },
    purpose = "a BLAS to judge", get = "apt-get install libblis4-pthread" },
  { "ATLAS", probe = "library", symbol = "ATL_dgemm", libraries = { "libatlas.so.3" },
    purpose = "a BLAS to judge", get = "apt-get install libatlas3-base" },
  { "system BLAS", probe = "library", symbol = "dgemm_", libraries = { "libblas.so.3" },
    purpose = "a BLAS to judge; which one, Debian's alternatives choose", get = "apt-get install libblas3" },
  { "SLEEF", probe = "library", symbol = "Sleef_expf4_u10", libraries = { "libsleef.so.3" },
    purpose = "vectorised functions to judge", get = "apt-get install libsleef3" },
  { "OpenCL", probe = "library", symbol = "clGetPlatformIDs", libraries = { "libOpenCL.so.1" },
    purpose = "loader of the opencl device", get = "apt-get install ocl-icd-libopencl1" },
  { "OpenCL ICD", probe = "icd", purpose = "an implementation for it", get = "apt-get install pocl-opencl-icd, or the GPU vendor's" },
  { "CUDA driver", probe = "library", symbol = "cuInit", libraries = { "libcuda.so.1" },
    purpose = "the cuda device", get = "apt-get install libcuda1 (non-free), with an NVIDIA GPU" },
  { "NVRTC", probe = "archs", backend = "cuda", purpose = "compiles kernels for cuda, also without a GPU (KC_NVRTC names it)",
    get = "apt-get install nvidia-cuda-toolkit (non-free), pip install nvidia-cuda-nvrtc, or NVIDIA's own; CUDA_HOME says where" },
  { "HIP", probe = "library", symbol = "hipInit",
    libraries = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so" },
    purpose = "the hip device", get = "apt-get install libamdhip64-5, with an AMD GPU" },
  { "hipRTC", probe = "archs", backend = "hip", purpose = "compiles kernels for hip, also without a GPU (KC_HIPRTC names it)",
    get = "apt-get install libamdhip64-5 libhiprtc-builtins5, or AMD's own; ROCM_PATH says where" },
}

local function all_rows()
  local list = table.move(rows, 1, #rows, 1, {})
  for _, extension in ipairs(core.extensions()) do
    list[#list + 1] = { "extension", probe = "extension", extension = extension, purpose = "what KC_EXTENSIONS names" }
  end
  for _, device in ipairs(require("kc.device").devices()) do
    list[#list + 1] = { "device " .. device.name, needed = device.driver == "cpu", probe = "driver", device = device,
                        purpose = "runs kernels", get = "see above" }
  end
  return list
end

-- ---- the command ------------------------------------------------------------------------------------------------------------------

local function examine(row)
  local detail, why = probes[row.probe](row)
  return { name = row[1], needed = row.needed or false, ok = detail ~= nil, detail = detail or why or "unknown reason",
           purpose = row.purpose, get = row.get }
end

local function clean(text) return (text:gsub("%c", " ")) end

local function line(r)
  if r.ok then return ("ok       %-14s %s: %s\n"):format(r.name, r.purpose, clean(r.detail)) end
  return ("missing  %-14s (%s) %s: %s; %s\n"):format(r.name, r.needed and "needed" or "optional", r.purpose, clean(r.detail), r.get)
end

--- Examines everything and writes a line on each.
---@param o table {format = "text"|"json"}
---@param write function
---@return integer exit code: 4 when something needed is missing
function M.run(o, write)
  local results, lacking = json.list {}, 0
  core.subreaper()
  for _, row in ipairs(all_rows()) do
    local r = examine(row)
    results[#results + 1] = r
    lacking = lacking + (r.needed and not r.ok and 1 or 0)
    if o.format ~= "json" and not (o.quiet and r.ok) then write(line(r)) end
  end
  if o.format == "json" then write(json.encode { kc = core.version, checks = results } .. "\n") end
  return lacking == 0 and 0 or 4
end

return M
