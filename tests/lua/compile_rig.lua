-- Every portable kernel that ships, compiled without a device for architectures of one backend.
local core = require "kc.core"
local evidence = require "kc.evidence"
local source = require "kc.source"
local M = {}

local directory = arg and arg[0] and arg[0]:match("^(.*)/tests/lua/[^/]*$") or "."

local function files()
  local pipe, list = assert(io.popen(("find '%s/contracts' -name '*.k' | LC_ALL=C sort"):format(directory))), {}
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

--- The architectures, or the exit code of a skip after saying why.
function M.archs(backend)
  local names, why = core.archs(backend)
  if names then return names end
  print(("skipped: nothing compiles for %s here: %s"):format(backend, why))
  os.exit(77)
end

--- Compiles all kernels for one architecture; the text must hold the kernel, and nothing may be said about it.
---@return integer kernels
function M.all(backend, arch)
  local count, started = 0, core.clock()
  for _, path in ipairs(files()) do
    local text = assert(source.read(path))
    for _, kernel in ipairs(source.kernels(text)) do
      local code, message, _, log = core.compile(backend, arch, { source = text, file = path, entry = kernel.entry,
        params = kernel.params, cache = require("kc.paths").cache_dir("kernels") })
      assert(code, ("%s for %s: %s\n%s"):format(path, arch, message, log or ""))
      assert(message == nil, ("%s for %s compiles with remarks:\n%s"):format(path, arch, message))
      assert(code.entry == kernel.entry and code.arch == arch and #code.binary > 0)
      assert(evidence.of(code).instructions > 0, ("%s for %s: no instruction of %s is seen"):format(path, arch, kernel.entry))
      count = count + 1
    end
  end
  assert(count > 200, "the kernels of contracts/ were not found")
  print(("%d kernels compile for %s, in %.1f s"):format(count, arch, core.clock() - started))
  return count
end

return M
