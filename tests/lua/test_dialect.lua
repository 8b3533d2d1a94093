-- Every kernel that ships is a text of the portable dialect and builds without a warning; the dialect's document names every
-- word that the prelude offers and no other.
local core = require "kc.core"
local passed, directory = 0, arg and arg[0] and arg[0]:match("^(.*)/tests/lua/[^/]*$") or "."

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function lines(command)
  local pipe, list = assert(io.popen(command)), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- ---- kernels ----

local device = core.device("cpu")
for _, path in ipairs(lines(("find '%s/contracts' -name '*.k' 2>/dev/null | LC_ALL=C sort"):format(directory))) do
  local source = read(path)
  for _, declared in ipairs(require("kc.source").kernels(source)) do
    local kernel, message, _, log = device:kernel { source = source, file = path, entry = declared.entry, params = declared.params }
    assert(kernel, ("%s\n%s"):format(message, log or ""))
    assert(message == nil, ("%s builds with warnings:\n%s"):format(path, message))
    kernel:close()
    passed = passed + 1
  end
end

-- ---- words ----

local function words(text, pattern)
  local set = {}
  for word in text:gmatch(pattern) do set[word] = true end
  return set
end

local document = words(read(directory .. "/spec/dialect.md"), "[kK][cC]_[%w_]+")

-- Words that are an author's to use: everything a device's prelude defines but its own scaffolding.
local internal = { "^KC_MATH", "^KC_AXIS", "^KC_BY_TYPE", "^KC_ATOMIC", "^KC_UNUSED", "^KC_OVERLOAD", "^KC_NO_F64", "^KC_CONTRACT",
                   "^KC_PLACE", "^KC_EACH", "^KC_DEFINE", "^kc_narrow_", "^kc_arguments_", "^kc_cpu", "^kc_local_", "^kc_magnitude_",
                   "^kc_is%a+_f%d+$", "^kc_signbit_f%d+$" }
local patterns = { "#define%s+(kc_[%w_]+)", "#define%s+(KC_[%w_]+)", "\n%s*typedef%s+[%w_ ]+%s(kc_%w+);",
                   "\nKC_FN%s+kc_%w+%s+(kc_[%w_]+)%(", "\nstatic inline kc_%w+ (kc_[%w_]+)%(", "KC_OVERLOAD%s+kc_%w+%s+(kc_%w+)%(",
                   "KC_OVERLOAD%s+(kc_%w+)%(", "\nKC_PLACE%((kc_%w+),", "\nKC_EACH%(KC_DEFINE[%w_]+, (kc_%w+)," }

local function is_internal(word)
  for _, pattern in ipairs(internal) do if word:find(pattern) then return true end end
  return false
end

-- The atomics are made by macros, which every prelude uses for the same lists.
local function atomics(offered)
  for _, space in ipairs { "global", "local" } do
    for _, type in ipairs { "i32", "u32" } do
      for _, op in ipairs { "add", "sub", "and", "or", "xor", "exch", "max", "min", "cas" } do
        offered[("kc_atomic_%s_%s_%s"):format(op, type, space)] = true
      end
    end
    for _, op in ipairs { "add", "exch" } do offered[("kc_atomic_%s_f32_%s"):format(op, space)] = true end
  end
end

local function offered_by(header)
  local offered = {}
  for _, file in ipairs { header, "kc_common.h" } do
    local text = read(directory .. "/devices/prelude/" .. file)
    for _, pattern in ipairs(patterns) do
      for word in text:gmatch(pattern) do
        if not is_internal(word) then offered[word] = true end
      end
    end
    for word in text:gmatch("\nKC_MATH[%w_]*%((%w+), ") do offered["kc_" .. word] = true end -- kc_cuda.h makes overloads of functions
  end
  atomics(offered)
  return offered
end

local function demand_none(words_of, unless, what)
  local missing = {}
  for word in pairs(words_of) do
    if not unless[word] then missing[#missing + 1] = word end
  end
  table.sort(missing)
  assert(#missing == 0, what .. table.concat(missing, " "))
end

-- Each device offers what the document names, and names itself.
local headers = { ["kc_cpu.h"] = { "KC_DEVICE_CPU" }, ["kc_opencl.h"] = { "KC_DEVICE_OPENCL" },
                  ["kc_cuda.h"] = { "KC_DEVICE_CUDA", "KC_DEVICE_HIP" } }
for header, names in pairs(headers) do
  local offered = offered_by(header)
  demand_none(offered, document, "spec/dialect.md does not name what is in " .. header .. ": ")
  for _, name in ipairs(names) do assert(offered[name], header .. " does not define " .. name) end
  for word in pairs(document) do if word:find "^KC_DEVICE_" then offered[word] = true end end
  demand_none(document, offered, "spec/dialect.md names what is not in " .. header .. ": ")
  for _ in pairs(offered) do passed = passed + 1 end
end

print(passed .. " passed")
