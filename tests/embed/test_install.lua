-- An installation, moved elsewhere: what lies where, what it exports, headers by themselves, and the examples built with pkg-config
-- and with CMake and run, in C, Python and stock Lua.
local core = require "kc.core"

local build = core.exe():match "^(.*)/"
local work = os.tmpname()
os.remove(work)
assert(core.mkdirs(work))
local root = work .. "/moved" -- where the installation stands in the end
local passed = 0

local function quoted(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

-- Runs a shell command with the cache of this test and nothing that would find another kc; returns what it printed, and its success.
local function shell(command)
  local pipe = assert(io.popen(("cd %s && { %s; } 2>&1"):format(quoted(work), command)))
  local text = pipe:read "a"
  return text, pipe:close()
end

local function must(command)
  local text, ok = shell(command)
  if not ok then error(("%s\n%s"):format(command, text), 2) end
  passed = passed + 1
  return text
end

local function present(program) return select(2, shell("command -v " .. program)) end

if shell("nm -D " .. quoted(build .. "/libkc.so")):find "__asan" then
  print "skipped: programs without the sanitizer cannot load a libkc.so that has it"
  os.exit(77)
end

local here = core.realpath "tests/embed"
local environment = ("KC_CACHE=%s/cache LD_LIBRARY_PATH=%s/lib PKG_CONFIG_PATH=%s/lib/pkgconfig "):format(work, root, root)

-- ---- what lies where ----------------------------------------------------------------------------------------------------------

must(("DESTDIR=%s/dest cmake --install %s --prefix /opt/kc --strip && mv dest/opt/kc moved"):format(work, quoted(build)))
for _, path in ipairs { "bin/kc", "lib/kc/kc-runner", "lib/kc/kc-rtc", "lib/kc/exact.so", "lib/libkc.so", "lib/lua/5.4/kc.so",
                        "include/kc/kc_embed.h", "share/kc/contracts/C-EXC-01.relu.f32/contract.lua", "lib/pkgconfig/kc.pc",
                        "lib/cmake/kc/kcConfig.cmake" } do
  assert(core.stat(root .. "/" .. path), path .. " is not installed")
end
assert(must("cat moved/lib/pkgconfig/kc.pc"):find("Version: " .. core.version, 1, true))
for _, place in ipairs { build, "dest/opt" } do
  local found = shell(("grep -rlF %s moved"):format(quoted(place)))
  assert(found == "", "the path '" .. place .. "' is in: " .. found)
end

-- ---- the library --------------------------------------------------------------------------------------------------------------

local dynamic = must "readelf -d moved/lib/libkc.so"
assert(dynamic:find("Library soname: [libkc.so.0.1]", 1, true), dynamic)
for _, heavy in ipairs { "mpfr", "gmp", "flint", "blas", "edit", "libzip" } do
  assert(not dynamic:find(heavy, 1, true), "libkc.so needs " .. heavy)
end

local declared = {}
for _, name in ipairs(core.listdir(root .. "/include/kc")) do
  local text = assert(io.open(root .. "/include/kc/" .. name)):read "a"
  for statement in text:gmatch "\nKC_API[^;]*;" do declared[statement:match "([%w_]+)%("] = true end
end
assert(declared.kc_embed_run and declared.kc_decode and declared.kc_npy_save)
local exported = {}
for kind, name in must("nm -D --defined-only moved/lib/libkc.so"):gmatch "%x+ (%a) ([%w_.]+)" do
  assert(kind == "T" and declared[name], ("libkc.so exports %s (%s), which no installed header declares"):format(name, kind))
  exported[name] = true
end
declared.kc_extension_entry = nil -- an extension's, not the library's
for name in next, declared do assert(exported[name], "libkc.so lacks " .. name) end
passed = passed + 1

-- ---- headers, each by itself --------------------------------------------------------------------------------------------------

local compilers = { { "cc -std=c99 -xc" }, { "cc -std=c11 -xc" }, { "c++ -std=c++11 -xc++", "c++" }, { "c++ -std=c++20 -xc++", "c++" } }
for _, row in ipairs(compilers) do
  if row[2] and not present(row[2]) then
    print("skipped: no " .. row[2] .. ", so headers are not compiled as C++")
  else
    for _, name in ipairs(core.listdir(root .. "/include/kc")) do
      must(("echo '#include <kc/%s>' | %s -Wall -Wextra -pedantic -Werror -Imoved/include -fsyntax-only -"):format(name, row[1]))
    end
  end
end

-- ---- the installed program ----------------------------------------------------------------------------------------------------

local said = must(environment .. "moved/bin/kc run C-EXC-01/relu.f32 --impl less_else_x")
assert(said:find("1 held, 0 violated", 1, true), said)
assert(must(environment .. "moved/bin/kc -e 'print(kc.real \"0.1\")'"):find "^0%.1000")

-- ---- examples, with pkg-config ------------------------------------------------------------------------------------------------

local outputs = {
  check_rsqrt = "4096 of 4096 within 2 ulp", check_softmax = "stable: 1024 elements right, 0 wrong", judge = "stopped: cancelled",
}
for _, name in ipairs { "check_rsqrt", "check_softmax", "judge" } do
  must(environment .. ("cc -std=c11 -O1 -Wall -Wextra -pedantic -Werror %s/examples/%s.c -o %s $(%spkg-config --cflags --libs kc) -lm")
    :format(quoted(here), name, name, environment))
  local text = must(("%s./%s"):format(environment, name))
  assert(text:find(outputs[name], 1, true), text)
end

-- ---- the same with CMake ------------------------------------------------------------------------------------------------------

local project = assert(io.open(work .. "/CMakeLists.txt", "w"))
project:write(([[
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES C)
find_package(kc 0.1 REQUIRED)
add_executable(mine %s/examples/judge.c)
target_link_libraries(mine PRIVATE kc::kc)
message(STATUS "program: ${kc_PROGRAM}")
]]):format(here))
project:close()
local configured = must "cmake -G Ninja -S . -B cmake -DCMAKE_PREFIX_PATH=$PWD/moved && ninja -C cmake"
assert(configured:find("program: " .. root .. "/bin/kc", 1, true), configured)
assert(must(("KC_CACHE=%s/cache cmake/mine"):format(work)):find("greater_else_zero on cpu: violated", 1, true))
assert(not select(2, shell "sed -i 's/kc 0.1/kc 0.2/' CMakeLists.txt && cmake -S . -B cmake2 -DCMAKE_PREFIX_PATH=$PWD/moved"),
  "a package of another version was taken")

-- ---- Python and stock Lua -----------------------------------------------------------------------------------------------------

if select(2, shell "/usr/bin/python3 -c 'import numpy'") then
  local text = must(("%s/usr/bin/python3 %s/examples/check_numpy.py"):format(environment, quoted(here)))
  assert(text:find("exp: 1000 of 1000 proven within 4 ulp", 1, true), text)
else
  print "skipped: no python3 with numpy, so check_numpy.py is not run"
end
local lua = ("KC_CACHE=%s/cache LUA_CPATH='%s/lib/lua/5.4/?.so;;' lua5.4 "):format(work, root)
assert(must(lua .. quoted(here .. "/examples/numbers.lua")):find("less_else_x\theld", 1, true))

-- ---- a backend, an oracle and a metric in a shared object ----------------------------------------------------------------------

must(environment .. ("cc -shared -fPIC -std=c99 -Wall -Wextra -pedantic -Werror %s/my_extension.c -o mine.so -Wl,-rpath,%s/lib " ..
  "$(%spkg-config --cflags --libs kc) -lm"):format(quoted(here), root, environment))
local mine = environment .. ("KC_EXTENSIONS=%s/mine.so moved/bin/kc "):format(work)
assert(must(mine .. "devices"):find "mine +a device of mine")
local judged = must(mine .. ("run %s/scale --device mine"):format(quoted(here)))
assert(judged:find("twice.f32  on mine", 1, true) and judged:find("1 held, 0 violated", 1, true), judged)
local script = ([[local r = require "kc".judge("%s/scale", { device = "mine", impl = "*", extensions = { "%s/mine.so" } })
for _, cell in ipairs(r) do print(cell.implementation, cell.device, cell.verdict.name) end]]):format(here, work)
local cells = must(lua .. "-e " .. quoted(script))
assert(cells:find "twice\tmine\theld" and cells:find "nearly\tmine\tviolated", cells)
local refused = shell(lua .. "-e " .. quoted "require 'kc'.judge('C-EXC-01/relu.f32', { extensions = { '/none.so' } })")
assert(refused:find("/none.so: cannot open shared object", 1, true), refused)
for path, why in next, { ["none.so"] = "expected a full path", ["/none.so"] = "cannot open shared object",
                         [root .. "/lib/libkc.so"] = "exports no function kc_extension_entry",
                         [("%s/mine.so:%s/mine.so"):format(work, work)] = "driver 'mine': another of this name is known" } do
  local text, ok = shell(environment .. ("KC_EXTENSIONS=%s moved/bin/kc devices"):format(path))
  assert(not ok and text:find(why, 1, true), text)
end

-- A contract whose oracle is the extension's: judged with it, refused without; its digest is that of the oracle too.
must(("cp -r %s/scale given && sed -i 's/function(x) return x.x + x.x end/kc.oracle.scaled(\"x\", { a = 2 })/' given/contract.lua")
  :format(quoted(here)))
judged = must(mine .. "run given --impl '*'; true")
assert(judged:find("1 held, 2 violated", 1, true), judged)
local token = judged:match "kc replay (%S+)"
judged = shell(mine .. "replay " .. token)
assert(judged:find("same bits", 1, true), judged)
local lacking = shell(environment .. "moved/bin/kc run given")
assert(lacking:find("no oracle called 'scaled'", 1, true), lacking)
assert(must(mine .. "help oracle scaled"):find("a x, of formats", 1, true))
local said_of = ("kc.metric('percent', kc.buffer('f32', 2, { 102, 50 }), kc.buffer('f32', 2, { 100, 50 }))")
assert(must(mine .. "-e " .. quoted(("print(%s.max, %s.unit)"):format(said_of, "kc.metrics()[8]"))):find "^2.0%s+%%")

-- ---- the rock -----------------------------------------------------------------------------------------------------------------

local rock = {}
assert(loadfile("kc-scm-1.rockspec", "t", rock))()
assert(rock.package == "kc" and rock.rockspec_format == "3.0" and rock.build.type == "cmake" and core.stat "CMakeLists.txt")
assert(rock.build.variables.KC_MODULE_RPATH == rock.build.variables.CMAKE_INSTALL_PREFIX .. "/lib")
if present "luarocks" then
  must("luarocks lint " .. quoted(core.realpath "kc-scm-1.rockspec"))
else
  print "skipped: no luarocks, so the rockspec is not linted"
end

core.removetree(work)
print(("%d commands succeeded"):format(passed))
