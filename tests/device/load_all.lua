-- load_all.lua DEVICE: builds every portable kernel of ./contracts on a device, and launches nothing. Run by gpu.sh.
local core = require "kc.core"
local source = require "kc.source"
local device, count = assert(core.device(arg[1])), 0
for path in io.popen("find contracts -name '*.k' | LC_ALL=C sort"):lines() do
  local text = assert(source.read(path))
  for _, declared in ipairs(source.kernels(text)) do
    local kernel, message = device:kernel { source = text, file = path, entry = declared.entry, params = declared.params,
                                            cache = require("kc.paths").cache_dir("kernels") }
    assert(kernel, ("%s: %s: %s"):format(path, declared.entry, message)):close()
    count = count + 1
  end
end
device:close()
print(("%d kernels load on %s"):format(count, arg[1]))
