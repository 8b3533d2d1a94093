---@module kc
-- Number formats, buffers, metrics and reals for exploration at a prompt or in a script.
local core = require "kc.core"
local words = require "kc.words"
local M = {}

--- Names of all number formats.
--- > kc.formats()[1]
--- "f64"
---@return table names
function M.formats() return core.formats() end

local function demand_format(where, format)
  if type(format) == "string" and core.format(format) then return end
  error(("%s: %s"):format(where, words.unknown("format", format, core.formats())), 3)
end

local function demand_number(where, x)
  if type(x) ~= "number" then error(("%s: expected a number, got %s"):format(where, words.show(x)), 3) end
end

--- The code of x in a format, rounded once.
--- > kc.encode("e4m3fn", 448)
--- 126
--- > kc.encode("bf16", 1 + 2^-8, { rounding = "RU" }) == 0x3f81
--- true
---@param format string
---@param x number|userdata a number or a kc.real
---@param options table|nil {rounding="RNE"|"RZ"|"RU"|"RD"|"RNA"|"SR", saturate=false, flush=false, random=, random_bits=}
---@return integer code
function M.encode(format, x, options)
  demand_format("kc.encode", format)
  if type(x) == "userdata" then return x:round(format, options and options.rounding) end
  return core.encode(format, x, options)
end

--- The value of a code.
--- > kc.decode("f16", 0x7bff)
--- 65504.0
--- > kc.decode("e2m1", 7)
--- 6.0
---@param format string
---@param code integer
---@return number x
function M.decode(format, code) return core.decode(format, code) end

--- Class of a code: "nan" "-inf" "-finite" "-0" "+0" "+finite" "+inf".
--- > kc.classify("f32", 0x80000000)
--- "-0"
--- > kc.classify("bf16", 0x7f80)
--- "+inf"
---@param format string
---@param code integer
---@return string class
function M.classify(format, code) return core.classify(format, code) end

--- How many numbers of a format lie between x and y: the distance of their codes on the ordered line, x and y rounded to
--- nearest first. nil when one of them is NaN.
--- > kc.ulp(1.0, 1.5, "bf16")
--- 64
--- > kc.ulp(1, 2, "f32") == 2^23
--- true
---@param x number
---@param y number
---@param format string
---@return integer|nil distance
function M.ulp(x, y, format)
  demand_format("kc.ulp", format)
  demand_number("kc.ulp", x)
  demand_number("kc.ulp", y)
  return core.ulp_distance(format, core.encode(format, x), core.encode(format, y))
end

--- Spacing of a format's numbers at |x| (Muller, "On the definition of ulp(x)", INRIA RR-5504, 2005).
--- > kc.ulp_at(1024, "f16")
--- 1.0
--- > kc.ulp_at(0, "f16") == 2^-24
--- true
---@param x number
---@param format string
---@return number ulp
function M.ulp_at(x, format)
  demand_format("kc.ulp_at", format)
  demand_number("kc.ulp_at", x)
  return core.ulp_at(format, x)
end

--- The next number of a format above x, or below when `direction` is negative.
--- > kc.next(1, "bf16")
--- 1.0078125
--- > kc.next(65504, "f16")
--- inf
---@param x number
---@param format string
---@param direction integer|nil 1 (default) or -1
---@return number neighbour
function M.next(x, format, direction)
  demand_format("kc.next", format)
  demand_number("kc.next", x)
  return core.decode(format, core.next(format, core.encode(format, x), direction or 1))
end

--- A buffer of a format and shape; elements are read and written as b[i], i from 1, in row-major order.
--- > b = kc.buffer("f16", { 2, 2 }, { 1, 2, 3, 65504 })
--- > b
--- f16[2,2]: 4 elements, from 1.0 to 65504.0
---   1.0 2.0
---   3.0 65504.0
--- > #b, b[3]
--- 4
--- 3.0
---@param format string
---@param shape table|integer dimensions
---@param values table|nil numbers to fill it with
---@return userdata buffer
function M.buffer(format, shape, values)
  demand_format("kc.buffer", format)
  local buffer = assert(core.buffer(format, type(shape) == "number" and { shape } or shape, { guard = 4096 }))
  if values and #values ~= #buffer then
    error(("kc.buffer: %d values for %d elements"):format(#values, #buffer), 2)
  end
  for i, x in ipairs(values or {}) do buffer[i] = x end
  if not values then buffer:fillvalue(0) end
  return buffer
end

--- Names, units and one line on each metric.
--- > kc.metrics()[1].name
--- "ulp"
---@return table rows
function M.metrics() return core.metrics() end

--- Compares a buffer with a reference.
--- > a = kc.buffer("f16", 3, { 1, 2, 4 })
--- > b = kc.buffer("f16", 3, { 1, kc.next(2, "f16"), 4 })
--- > m = kc.metric("ulp", a, b)
--- > m.max, m.worst
--- 1.0
--- 2
---@param name string a metric: ulp abs rel denom bits bitwise class
---@param got userdata buffer
---@param reference userdata buffer of the same format and shape
---@param options table|nil {as=format, denominator=buffer}
---@return table summary
function M.metric(name, got, reference, options) return core.metric(name, got, reference, options) end

--- An MPFR number.
--- > kc.real("0.1"):tonumber()
--- 0.1
--- > kc.real("0.1") == kc.real(0.1)
--- false
--- > kc.real(2):round("f16") == 0x4000
--- true
---@param x number|string|userdata
---@param precision integer|nil bits, 128 when omitted
---@return userdata real
function M.real(x, precision) return require("kc.exact").real(x, precision) end

-- Functions on reals (exp, log, erf, ...): the module that holds them, loaded on first use.
M.reals = setmetatable({}, { __index = function(_, name) return require("kc.exact")[name] end, __metatable = false })

return M
