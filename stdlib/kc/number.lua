---@module kc
-- One number of a format, to look at: kc.f16(0.1), kc.bf16(x), ... for every format.
local core = require "kc.core"
local M = {}

local Number = { __name = "kc.number", __metatable = false }

local methods = {}

Number.__index = function(_, key) return methods[key] end

-- What arithmetic sees is the double that the number is.
local function double(x) return getmetatable(x) == false and type(x) == "table" and rawget(x, "value") or x end

for name, f in pairs { __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end,
                       __mul = function(a, b) return a * b end, __div = function(a, b) return a / b end } do
  Number[name] = function(a, b)
    local format = type(a) == "table" and rawget(a, "format") or rawget(b, "format")
    return M.number(format, f(double(a), double(b)))
  end
end

function Number.__unm(a) return M.number(a.format, -a.value) end
function Number.__eq(a, b) return a.value == b.value end
function Number.__lt(a, b) return double(a) < double(b) end
function Number.__le(a, b) return double(a) <= double(b) end

-- Decimal, hexadecimal float and code: each of them exact.
function Number.__tostring(number)
  local digits = (core.format(number.format).bits + 3) // 4
  local value = number.value
  if math.type(value) == "integer" then return ("%d (%s, code 0x%0" .. digits .. "x)"):format(value, number.format, number.code) end
  return ("%s (%a, %s, code 0x%0" .. digits .. "x)"):format(require("kc.show").decimal(value), value, number.format, number.code)
end

local function of_code(format, code)
  return setmetatable({ format = format, code = code, value = core.decode(format, code) }, Number)
end

--- A number of a format: x rounded once. Fields format, code, value (the double that it is); next(steps) gives a neighbour. `+ - * /`
--- compute in doubles and round once more; `kc.f16(x)` is kc.number("f16", x), and so for every format.
--- > kc.f16(0.1)
--- 0.0999755859375 (0x1.998p-4, f16, code 0x2e66)
--- > kc.bf16(1) + kc.bf16(2^-8)
--- 1.0 (0x1p+0, bf16, code 0x3f80)
--- > kc.number("f16", 0.1, { rounding = "RU" })
--- 0.10003662109375 (0x1.99cp-4, f16, code 0x2e67)
---@param format string
---@param x number|userdata a number or a kc.real
---@param options table|nil as of kc.encode: {rounding=, ...}
---@return table number
function M.number(format, x, options)
  local words = require "kc.words"
  if type(format) ~= "string" or not core.format(format) then
    error("kc.number: " .. words.unknown("format", format, core.formats()), 2)
  end
  if type(double(x)) ~= "number" and type(x) ~= "userdata" then
    error(("kc.%s: expected a number or a real, got %s"):format(format, words.show(x)), 2)
  end
  return of_code(format, require("kc.numbers").encode(format, double(x), options))
end

--- The number `steps` further up (down when negative) in the format.
--- > kc.f16(1):next()
--- 1.0009765625 (0x1.004p+0, f16, code 0x3c01)
--- > kc.f16(1):next(-1)
--- 0.99951171875 (0x1.ffcp-1, f16, code 0x3bff)
function methods.next(number, steps)
  local code, direction = number.code, (steps or 1) < 0 and -1 or 1
  for _ = 1, math.abs(steps or 1) do code = core.next(number.format, code, direction) end
  return of_code(number.format, code)
end

-- ---- explaining -----------------------------------------------------------------------------------------------------------

local function neighbour(number, direction)
  local ok, other = pcall(number.next, number, direction)
  return ok and other or nil
end

--- What a number of a format is: its bits, class, value, the distance to its neighbours, and what rounding x cost.
--- > print(kc.explain(kc.e4m3fn(0.3)))
--- 0.3125 (0x1.4p-2, e4m3fn, code 0x2a)
---   bits        0 0101 010  (sign, exponent, fraction)
---   class       +finite
---   ulp         0x1p-5
---   below       0.28125 (0x1.2p-2, e4m3fn, code 0x29)
---   above       0.34375 (0x1.6p-2, e4m3fn, code 0x2b)
---@param x table|number kc.f16(0.1), or a number of f64
---@return table page printed as text
function M.explain(x)
  local number = type(x) == "table" and rawget(x, "format") and x or M.number("f64", x)
  local f = core.format(number.format)
  local parts = f.kind == "float" and "  (sign, exponent, fraction)" or ""
  local lines = { tostring(number), ("  bits        %s%s"):format(require("kc.view").bits(number.format, number.code), parts),
                  ("  class       %s"):format(core.classify(number.format, number.code)) }
  local value = number.value
  if f.kind == "float" and value == value and math.abs(value) ~= math.huge then
    lines[#lines + 1] = ("  ulp         %a"):format(core.ulp_at(number.format, value))
    local down, up = neighbour(number, -1), neighbour(number, 1)
    if down then lines[#lines + 1] = "  below       " .. tostring(down) end
    if up then lines[#lines + 1] = "  above       " .. tostring(up) end
  end
  return require("kc.show").page(table.concat(lines, "\n"))
end

--- One number in several formats, and in every rounding of them: what a cast makes of it.
--- > print(kc.roundings(0.1, { "f16" }))
---           RNE                     RNA                     RZ                      RU                      RD
--- f16       0.0999755859375         0.0999755859375         0.0999755859375         0.10003662109375        0.0999755859375
---@param x number|userdata
---@param formats table|nil names; f32, f16, bf16, e4m3fn and e5m2 when omitted
---@return table page a table, printed as text
function M.roundings(x, formats)
  local modes = { "RNE", "RNA", "RZ", "RU", "RD" }
  local lines = { ("%-10s"):format "" }
  for i, mode in ipairs(modes) do lines[1] = lines[1] .. (i < #modes and ("%-24s"):format(mode) or mode) end
  for _, format in ipairs(formats or { "f32", "f16", "bf16", "e4m3fn", "e5m2" }) do
    local line = ("%-10s"):format(format)
    for i, mode in ipairs(modes) do
      local text = require("kc.show").decimal(M.number(format, x, { rounding = mode }).value + 0.0)
      line = line .. (i < #modes and ("%-24s"):format(text) or text)
    end
    lines[#lines + 1] = line
  end
  return require("kc.show").page(table.concat(lines, "\n"))
end

return M
