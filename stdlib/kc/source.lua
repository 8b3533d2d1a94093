---@module kc.source
-- Files of kernels: which dialect a name stands for, and their text.
local loader = require "kc.loader"
local M = {}

local dialects = { k = "kc", c = "c", cu = "cuda", cl = "opencl" }

--- The dialect of a file by its name: "library" for shared objects; nil for a name that says nothing.
---@param path string
---@return string|nil dialect
function M.dialect(path)
  if path:match("%.so$") or path:match("%.so%.[%d.]+$") then return "library" end
  return dialects[path:match("%.([^./]*)$") or ""]
end

-- What a digest does not cover would make two different kernels the same one.
local function includes(text)
  local number = 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    if line:match("^%s*#%s*include%s*\"") then return number end
  end
end

--- Text of a kernel file. A file of its own that it includes is refused: digests and caches stand for the one file.
---@param path string
---@return string|nil text, string|nil message
function M.read(path)
  local text, message = loader.read(path)
  if not text then return nil, message end
  local line = includes(text)
  if line then
    return nil, ("%s:%d: a kernel includes no files of its own (only <system> headers): its digest would not cover them"):format(path, line)
  end
  return text
end

local words = { float = "f32", double = "f64", int = "i32" }

-- Other names that the text gives to the dialect's types: of several the last, which is what holds without defines.
local function names_of_types(text)
  local known = setmetatable({}, { __index = words })
  for name, format in text:gmatch("#define%s+([%w_]+)%s+kc_(%w+)%s") do known[name] = format end
  for format, name in text:gmatch("typedef%s+kc_(%w+)%s+([%w_]+)%s*;") do known[name] = format end
  return known
end

-- "KC_GLOBAL const kc_f32 *x": nil for what is no parameter in the dialect's words.
local function parameter(text, known)
  local word, star, name = text:match("([%w_]+)%s*(%*?)%s*([%w_]+)%s*$")
  local format = word and (word:match("^kc_(%w+)$") or known[word])
  return format and { name = name, format = format, buffer = star == "*" }
end

--- The kernels of a portable text with the parameters that it declares itself.
---@param text string
---@return table kernels {{entry=, params={{name=, format=, buffer=}, ...}}, ...}
function M.kernels(text)
  local list, known = {}, names_of_types(text)
  for entry, declared in text:gmatch("KC_KERNEL%s+void%s+([%w_]+)%s*(%b())") do
    local params = {}
    for part in declared:sub(2, -2):gmatch("[^,]+") do params[#params + 1] = parameter(part, known) end
    list[#list + 1] = { entry = entry, params = params }
  end
  return list
end

return M
