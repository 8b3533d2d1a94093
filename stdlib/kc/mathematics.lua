---@module kc
-- The words of expressions: functions of traced values (kc.expression). Of plain numbers they give the nearest double, of reals a real.
local expression = require "kc.expression"
local words = require "kc.words"
local M = {}

local make, operand, is_traced = expression.make, expression.operand, expression.is_traced

-- ---- plain numbers ----------------------------------------------------------------------------------------------------------

local function real(x) return require("kc.exact").real(x, 200) end

-- What a comparison of plain numbers gives: 1 or 0, as of traced values. While a function is compared with its own trace it is also run
-- with true and false: a traced comparison is true for `if` and `and`, whatever it compares, and so are 1 and 0.
local booleans = false

local function truth(b)
  if booleans then return b end
  return b and 1 or 0
end

--- Calls fn(...) with comparisons of plain numbers that give true and false.
---@param fn function
---@return boolean ok, any result as pcall
function M.with_booleans(fn, ...)
  booleans = true
  local ok, result = pcall(fn, ...)
  booleans = false
  return ok, result
end

local plain = {
  abs = math.abs, floor = function(x) return math.floor(x) + 0.0 end,
  rsqrt = function(x) return (real(1) / require("kc.exact").sqrt(real(x))):tonumber() end,
  lt = function(a, b) return truth(a < b) end, le = function(a, b) return truth(a <= b) end,
  gt = function(a, b) return truth(a > b) end, ge = function(a, b) return truth(a >= b) end,
  eq = function(a, b) return truth(a == b) end, ne = function(a, b) return truth(a ~= b) end,
  max = function(a, b) return (a ~= a or b ~= b) and a + b or math.max(a, b) end,
  min = function(a, b) return (a ~= a or b ~= b) and a + b or math.min(a, b) end,
  matmul = function(a, b) return a * b end, size = function() return 1 end,
}

local function unary(name, x)
  if type(x) == "number" then return plain[name] and plain[name](x) or require("kc.exact")[name](real(x)):tonumber() end
  if type(x) == "userdata" then return name == "rsqrt" and 1 / require("kc.exact").sqrt(x) or require("kc.exact")[name](x) end
  return make(name, { operand(x, "kc." .. name, 1, 4) })
end

local function binary(name, a, b)
  if type(a) == "number" and type(b) == "number" then return plain[name](a, b) end
  return make(name, { operand(a, "kc." .. name, 1, 4), operand(b, "kc." .. name, 2, 4) })
end

-- A plain number is a tensor of one element.
local function along(name, x, axis)
  if math.type(axis) ~= "integer" then
    error(("kc.%s: expected a tensor and the axis (from 0, negative from the end), got axis %s"):format(name, words.show(axis)), 3)
  end
  if type(x) == "number" then return plain[name] and plain[name](x) or x end
  return make(name, { operand(x, "kc." .. name, 1, 4) }, { number = axis })
end

-- ---- constants ------------------------------------------------------------------------------------------------------------

--- An exact constant of an expression: a decimal, a hexadecimal float, a quotient p/q, "pi" or "e".
---@param text string
---@return table traced
function M.constant(text)
  if type(text) ~= "string" then error("kc.constant: expected text such as \"0.1\", \"1/3\" or \"pi\", got " .. words.show(text), 2) end
  return make("constant", {}, { text = text })
end

--- The exact quotient of two integers as a constant of an expression.
---@param p integer
---@param q integer not 0
---@return table traced
function M.ratio(p, q)
  if math.type(p) ~= "integer" or math.type(q) ~= "integer" or q == 0 then
    error("kc.ratio: expected two integers, the second not 0", 2)
  end
  return make("constant", {}, { text = ("%d/%d"):format(p, q) })
end

-- ---- element by element -----------------------------------------------------------------------------------------------------

--- e^x.
--- > kc.exp(0)
--- 1.0
---@param x table|number traced, or a number
---@return table traced
function M.exp(x) return unary("exp", x) end

--- 2^x.
--- > kc.exp2(3)
--- 8.0
---@param x table|number traced, or a number
---@return table traced
function M.exp2(x) return unary("exp2", x) end

--- e^x - 1.
---@param x table|number traced, or a number
---@return table traced
function M.expm1(x) return unary("expm1", x) end

--- The natural logarithm; -inf at 0, NaN below.
--- > kc.log(0)
--- -inf
---@param x table|number traced, or a number
---@return table traced
function M.log(x) return unary("log", x) end

--- The logarithm to base 2; -inf at 0, NaN below.
--- > kc.log2(8)
--- 3.0
---@param x table|number traced, or a number
---@return table traced
function M.log2(x) return unary("log2", x) end

--- log(1 + x).
---@param x table|number traced, or a number
---@return table traced
function M.log1p(x) return unary("log1p", x) end

--- The hyperbolic tangent.
---@param x table|number traced, or a number
---@return table traced
function M.tanh(x) return unary("tanh", x) end

--- The error function.
---@param x table|number traced, or a number
---@return table traced
function M.erf(x) return unary("erf", x) end

--- The square root; NaN below 0.
--- > kc.sqrt(2)
--- 1.4142135623730951
---@param x table|number traced, or a number
---@return table traced
function M.sqrt(x) return unary("sqrt", x) end

--- 1 / sqrt(x).
--- > kc.rsqrt(4)
--- 0.5
---@param x table|number traced, or a number
---@return table traced
function M.rsqrt(x) return unary("rsqrt", x) end

--- The sine of x radians.
---@param x table|number traced, or a number
---@return table traced
function M.sin(x) return unary("sin", x) end

--- The cosine of x radians.
---@param x table|number traced, or a number
---@return table traced
function M.cos(x) return unary("cos", x) end

--- The cube root, also of negative numbers.
--- > kc.cbrt(-27)
--- -3.0
---@param x table|number traced, or a number
---@return table traced
function M.cbrt(x) return unary("cbrt", x) end

--- The magnitude.
---@param x table|number traced, or a number
---@return table traced
function M.abs(x) return unary("abs", x) end

--- The largest integer that is not above x.
--- > kc.floor(-1.5)
--- -2.0
---@param x table|number traced, or a number
---@return table traced
function M.floor(x) return unary("floor", x) end

-- Rounding modes in the order of kc_rounding.
local modes = { RNE = 0, RZ = 1, RU = 2, RD = 3, RNA = 4 }

local function rounded_plain(x, format, mode)
  local core = require "kc.core"
  if type(x) == "userdata" then return real(core.decode(format, x:round(format, mode))) end
  return x ~= x and x or core.decode(format, core.encode(format, x, { rounding = mode }))
end

--- x rounded once into a format, so that the result of a rounded operation is kc.rounded(a * b, "f32").
--- > kc.rounded(0.1, "f16")
--- 0.0999755859375
--- > kc.rounded(0.1, "f16", "RU")
--- 0.10003662109375
---@param x table|number traced, or a number
---@param format string a floating-point format
---@param mode string|nil "RNE" (when absent), "RZ", "RU", "RD" or "RNA"
---@return table traced
function M.rounded(x, format, mode)
  local known = type(format) == "string" and require("kc.core").format(format)
  if not known or known.kind ~= "float" then
    error("kc.rounded: argument 2: expected a floating-point format such as \"f32\", got " .. words.show(format), 2)
  end
  mode = mode or "RNE"
  if not modes[mode] then error("kc.rounded: argument 3: expected RNE, RZ, RU, RD or RNA, got " .. words.show(mode), 2) end
  if type(x) == "number" or type(x) == "userdata" then return rounded_plain(x, format, mode) end
  return make("rounded", { operand(x, "kc.rounded", 1) },
    { number = modes[mode], text = format, shown = mode == "RNE" and format or format .. ", " .. mode })
end

--- 1 where a < b, else 0.
--- > kc.lt(1, 2), kc.lt(2, 2)
--- 1
--- 0
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.lt(a, b) return binary("lt", a, b) end

--- 1 where a <= b, else 0.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.le(a, b) return binary("le", a, b) end

--- 1 where a > b, else 0.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.gt(a, b) return binary("gt", a, b) end

--- 1 where a >= b, else 0.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.ge(a, b) return binary("ge", a, b) end

--- 1 where a = b, else 0; undecided unless both are known exactly or differ.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.eq(a, b) return binary("eq", a, b) end

--- 1 where a and b differ or one is NaN, else 0.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.ne(a, b) return binary("ne", a, b) end

--- The larger one; NaN where one is NaN.
--- > kc.max(1, 2), kc.max(1, 0/0)
--- 2
--- nan
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.max(a, b) return binary("max", a, b) end

--- The smaller one; NaN where one is NaN.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.min(a, b) return binary("min", a, b) end

--- The product of matrices [..,M,K] and [..,K,N]; leading sizes broadcast.
---@param a table|number traced, or a number
---@param b table|number
---@return table traced
function M.matmul(a, b) return binary("matmul", a, b) end

-- ---- along an axis -----------------------------------------------------------------------------------------------------------

--- The sum along an axis, which becomes 1.
---@param x table traced
---@param axis integer from 0, negative from the end
---@return table traced
function M.sum(x, axis) return along("sum", x, axis) end

--- The largest element along an axis, which becomes 1; NaN where one is NaN.
---@param x table traced
---@param axis integer from 0, negative from the end
---@return table traced
function M.reduce_max(x, axis) return along("reduce_max", x, axis) end

--- The smallest element along an axis, which becomes 1; NaN where one is NaN.
---@param x table traced
---@param axis integer from 0, negative from the end
---@return table traced
function M.reduce_min(x, axis) return along("reduce_min", x, axis) end

--- The sums of the first, the first two, ... elements along an axis.
---@param x table traced
---@param axis integer from 0, negative from the end
---@return table traced
function M.cumsum(x, axis) return along("cumsum", x, axis) end

--- The size of an axis.
---@param x table traced
---@param axis integer from 0, negative from the end
---@return table traced
function M.size(x, axis) return along("size", x, axis) end

--- Mean along an axis, which becomes 1.
---@param x table traced
---@param axis integer from 0, negative from the end
---@return table traced
function M.mean(x, axis) return M.sum(x, axis) / M.size(x, axis) end

--- The last two axes exchanged.
---@param x table traced
---@return table traced
function M.transpose(x)
  if type(x) == "number" then return x end
  return make("transpose", { operand(x, "kc.transpose", 1) })
end

--- `a` where the condition (a comparison such as kc.lt) holds, else `b`; the hull of both where it cannot be decided.
--- > kc.where(kc.lt(1, 2), 10, 20)
--- 10
---@param condition table traced
---@param a table|number
---@param b table|number
---@return table traced
function M.where(condition, a, b)
  if type(condition) == "boolean" and booleans then return condition and a or b end
  if type(condition) == "boolean" then
    error("kc.where: the condition is a plain boolean: Lua decided it; use kc.lt, kc.le, kc.eq, kc.ne, kc.isnan ...", 2)
  end
  if type(condition) == "number" then return condition ~= 0 and a or b end
  return make("where", { operand(condition, "kc.where", 1), operand(a, "kc.where", 2), operand(b, "kc.where", 3) })
end

local class_bits = expression.class_bits

local function is_class(where, x, mask) return make("isclass", { operand(x, where, 1, 4) }, { number = mask }) end

--- 1 where x is NaN, else 0.
--- > kc.isnan(0/0), kc.isnan(1)
--- 1
--- 0
---@param x table|number
---@return table traced
function M.isnan(x)
  if type(x) == "number" then return truth(x ~= x) end
  return is_class("kc.isnan", x, class_bits["nan"])
end

--- 1 where x is infinite, else 0.
---@param x table|number
---@return table traced
function M.isinf(x)
  if type(x) == "number" then return truth(x == math.huge or x == -math.huge) end
  return is_class("kc.isinf", x, class_bits["+inf"] | class_bits["-inf"])
end

--- 1 / (1 + e^-x).
--- > kc.sigmoid(0)
--- 0.5
---@param x table|number
---@return table traced
function M.sigmoid(x) return 1 / (1 + M.exp(-x)) end

--- x / (1 + e^-x); NaN at -inf, where the operations give -inf * 0 (the oracle silu has the limit).
---@param x table|number
---@return table traced
function M.silu(x) return x * M.sigmoid(x) end

--- x (1 + erf(x / sqrt 2)) / 2; NaN at -inf, where the operations give -inf * 0 (the oracle gelu has the limit).
--- > kc.gelu(0)
--- 0.0
---@param x table|number
---@return table traced
function M.gelu(x)
  local root = type(x) == "number" and 2 ^ 0.5 or make("sqrt", { M.constant "2" })
  return x * (1 + M.erf(x / root)) / 2
end

--- Says that a value is known when the function is traced and may be used in `if`, `and`, `or`, `not`, `==`.
---@param value any not a traced value
---@return any value
function M.static(value)
  if is_traced(value) then error("kc.static: this value is traced: it is not known before the tensors are; use kc.where", 2) end
  return value
end

return M
