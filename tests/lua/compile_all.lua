-- Every portable kernel that ships, compiled without a device. As a script, compile_all.lua BACKEND ARCH does so for one architecture;
-- loaded by a test, it gives what starts one process for each, as many at a time as there are processors.
local core = require "kc.core"
local evidence = require "kc.evidence"
local source = require "kc.source"
local M = {}

local directory = arg[0]:match("^(.*)/tests/lua/[^/]*$") or "."

local function files()
  local pipe, list = assert(io.popen(("find '%s/contracts' -name '*.k' | LC_ALL=C sort"):format(directory))), {}
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

-- The text must hold the kernel, and the compiler must have nothing to say.
local function compile_all(backend, arch)
  local count, started = 0, core.clock()
  for _, path in ipairs(files()) do
    local text = assert(source.read(path))
    for _, kernel in ipairs(source.kernels(text)) do
      local code, message, _, log = core.compile(backend, arch, { source = text, file = path, entry = kernel.entry,
        params = kernel.params, cache = require("kc.paths").cache_dir("kernels") })
      assert(code, ("%s for %s: %s\n%s"):format(path, arch, message, log or ""))
      assert(message == nil, ("%s for %s compiles with remarks:\n%s"):format(path, arch, message))
      assert(code.entry == "kc__" .. kernel.entry and code.arch == arch and #code.binary > 0)
      assert(evidence.of(code).instructions > 0, ("%s for %s: no instruction of %s is seen"):format(path, arch, kernel.entry))
      count = count + 1
    end
  end
  assert(count > 200, "the kernels of contracts/ were not found")
  print(("%d kernels compile for %s, in %.1f s"):format(count, arch, core.clock() - started))
end

--- The architectures that the backend's compiler knows; none: says why and ends as a skip.
function M.archs(backend)
  local names, why = core.archs(backend)
  if names then return names end
  print(("skipped: nothing compiles for %s here: %s"):format(backend, why))
  os.exit(77)
end

local function reap(running)
  local how, code = running.process:wait(800)
  assert(how == "exited" and code == 0, ("%s: %s %s"):format(running.arch, how, code))
end

--- Compiles for each of the architectures; fails with the first that does not work out.
function M.run(backend, archs)
  local waiting = {}
  for i, arch in ipairs(archs) do
    if i > core.cpus() then reap(table.remove(waiting, 1)) end
    local process = assert(core.spawn { argv = { core.exe(), directory .. "/tests/lua/compile_all.lua", backend, arch },
                                        stdout = "inherit", stderr = "inherit" })
    waiting[#waiting + 1] = { process = process, arch = arch }
  end
  for _, running in ipairs(waiting) do reap(running) end
  print(#archs .. " passed")
end

if arg[1] then return compile_all(arg[1], arg[2]) end
return M
