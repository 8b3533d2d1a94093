---@module kc
-- kc.view: a tensor's elements otherwise than as decimals: bits, codes, hexadecimal floats, ulps from another tensor.
local core = require "kc.core"
local show = require "kc.show"
local words = require "kc.words"
local M = {}

local function bits(format, code)
  local f, digits = core.format(format), {}
  for i = f.bits - 1, 0, -1 do digits[#digits + 1] = tostring(code >> i & 1) end
  local text = table.concat(digits)
  if f.kind ~= "float" then return text end
  local sign = f.has_sign and 1 or 0
  local parts = { text:sub(1, sign), text:sub(sign + 1, sign + f.exp_bits), text:sub(sign + f.exp_bits + 1) }
  return (table.concat(parts, " "):gsub("^ ", ""):gsub(" $", ""))
end

--- The bits of a code: sign, exponent and fraction apart.
---@param format string
---@param code integer
---@return string text
function M.bits(format, code) return bits(format, code) end

-- How element i of a buffer is shown.
local ways = {
  bits = function(t, i) return bits(t:format(), t:code(i)) end,
  codes = function(t, i) return ("0x%0" .. (core.format(t:format()).bits + 3) // 4 .. "x"):format(t:code(i)) end,
  hex = function(t, i)
    local x = t[i]
    return math.type(x) == "integer" and ("0x%x"):format(x) or ("%a"):format(x)
  end,
  class = function(t, i) return core.classify(t:format(), t:code(i)) end,
  ulps = function(t, i, reference)
    local a, b = core.ordered(t:format(), t:code(i)), core.ordered(t:format(), reference:code(i))
    if not a or not b then return a == b and "0" or "nan" end
    return a == b and "0" or ("%s%s"):format(a > b and "+" or "-", tostring(core.ulp_distance(t:format(), t:code(i), reference:code(i))))
  end,
}

local function demand_alike(buffer, reference)
  if type(reference) ~= "userdata" then
    error("kc.view: argument 3: expected the buffer that ulps are counted from, got " .. words.show(reference), 3)
  end
  local count, format = #buffer, buffer:format()
  if reference:format() ~= format or #reference ~= count then
    error(("kc.view: argument 3: expected %d elements of %s, got %d of %s"):format(count, format, #reference, reference:format()), 3)
  end
end

--- The elements of a tensor as "bits" (sign, exponent, fraction), "codes", "hex" floats, "class", or "ulps": by how many numbers of the
--- format each lies above (+) or below (-) that of a reference. Long rows and many rows are shown by their ends.
---@param buffer userdata
---@param how string
---@param reference userdata|nil of "ulps": a buffer of the same format and as many elements
---@return table page printed as text
function M.view(buffer, how, reference)
  local names = words.keys(ways)
  if not ways[how] then
    error(("kc.view: argument 2: expected one of %s; %s"):format(table.concat(names, ", "), words.hint(tostring(how), names)), 2)
  end
  if type(buffer) ~= "userdata" then error("kc.view: argument 1: expected a buffer, got " .. words.show(buffer), 2) end
  if how == "ulps" then demand_alike(buffer, reference) end
  return show.page(show.tensor(buffer, function(t, i) return ways[how](t, i, reference) end))
end

return M
