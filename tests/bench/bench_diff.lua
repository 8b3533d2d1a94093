-- kc diff of two f32 files, against cmp of two equal ones of that size; used by bench.lua.
local core = require "kc.core"
local kc = require "kc"

local function spawn(...)
  local argv = { ... }
  return function() assert(core.spawn { argv = argv }):wait(120) end
end

-- Seconds of `kc diff` and of cmp as medians: files that differ in every element, then files that are equal.
return function(mib, versus)
  local directory = os.tmpname()
  os.remove(directory)
  assert(core.mkdirs(directory))
  local function tensor(name, key)
    local b = kc.buffer("f32", mib * 262144)
    b:fill(key, { kind = "normal", a = 0, b = 1 })
    assert(kc.npy.write(directory .. name, b))
    b:close()
    return directory .. name
  end
  local a, same, other = tensor("/a.npy", 1), tensor("/same.npy", 1), tensor("/other.npy", 2)
  local cmp = spawn("/usr/bin/cmp", a, same)
  local different, compared = versus(7, spawn(core.exe(), "diff", a, other), cmp)
  local equal, again = versus(7, spawn(core.exe(), "diff", a, same), cmp)
  os.execute("rm -rf " .. directory)
  return different, compared, equal, again
end
