---@module kc
-- Expressions: a Lua function over tensors, called once with traced values and then evaluated in C with certified bounds
-- (spec/oracles.md). On plain numbers the same words compute nearest doubles.
local words = require "kc.words"
local M = {}

-- A traced value is an empty table; its node stands beside it, so that no index of it means anything.
local nodes = setmetatable({}, { __mode = "k" })
local Traced = { __name = "kc.traced", __metatable = false }

local function is_traced(v) return nodes[v] ~= nil end

local function make(op, args, more)
  local node = more or {}
  node.op, node.args = op, args
  local value = setmetatable({}, Traced)
  nodes[value] = node
  return value
end

-- ---- constants ------------------------------------------------------------------------------------------------------------

local function text_of_number(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  if x ~= x then return "nan" end
  if x == math.huge then return "inf" elseif x == -math.huge then return "-inf" end
  if x == 0 then return 1 / x < 0 and "-0" or "0" end
  return ("%a"):format(x)
end

local function constant_text(v)
  if type(v) == "number" then return text_of_number(v) end
  if type(v) == "userdata" and getmetatable(v) == false and pcall(function() return v:hex() end) then return v:hex() end
end

-- The traced value of an operand: itself, or a number or real as an exact constant.
local function operand(v, where, i)
  if is_traced(v) then return v end
  local text = constant_text(v)
  if text then return make("constant", {}, { text = text }) end
  error(("%s: argument %d: expected a traced value or a number, got %s"):format(where, i, words.show(v)), 3)
end

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

-- ---- words ----------------------------------------------------------------------------------------------------------------

local function real(x) return require("kc.exact").real(x, 200) end

-- A nearest double, as the same word gives for a plain number.
local function numeric(name, x) return require("kc.exact")[name](real(x)):tonumber() end

local function truth(b) return b and 1 or 0 end

local function identity(x) return x end

-- Words of one argument that C knows under the same name: what they do to a plain number.
local unary = {
  "exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf", "sqrt", "rsqrt", "sin", "cos", "cbrt", "abs", "floor",
}
local plain_unary = { abs = math.abs, floor = function(x) return math.floor(x) + 0.0 end,
                      rsqrt = function(x) return (real(1) / require("kc.exact").sqrt(real(x))):tonumber() end }

for _, name in ipairs(unary) do
  M[name] = function(x)
    if type(x) == "number" then return plain_unary[name] and plain_unary[name](x) or numeric(name, x) end
    if type(x) == "userdata" then return require("kc.exact")[name](x) end
    return make(name, { operand(x, "kc." .. name, 1) })
  end
end

local function larger(a, b) return (a ~= a or b ~= b) and a + b or math.max(a, b) end
local function smaller(a, b) return (a ~= a or b ~= b) and a + b or math.min(a, b) end

-- Words of two arguments, with what they do to plain numbers.
local binary = {
  { "lt", function(a, b) return truth(a < b) end }, { "le", function(a, b) return truth(a <= b) end },
  { "gt", function(a, b) return truth(a > b) end }, { "ge", function(a, b) return truth(a >= b) end },
  { "eq", function(a, b) return truth(a == b) end }, { "ne", function(a, b) return truth(a ~= b) end },
  { "max", larger }, { "min", smaller }, { "matmul", function(a, b) return a * b end },
}
for _, row in ipairs(binary) do
  local name, plain = row[1], row[2]
  M[name] = function(a, b)
    if type(a) == "number" and type(b) == "number" then return plain(a, b) end
    return make(name, { operand(a, "kc." .. name, 1), operand(b, "kc." .. name, 2) })
  end
end

-- Words along an axis, which reduce it to size 1; a plain number is a tensor of one element.
local reductions = { sum = identity, reduce_max = identity, reduce_min = identity, cumsum = identity, size = function() return 1 end }
for _, name in ipairs(words.keys(reductions)) do
  M[name] = function(x, axis)
    if math.type(axis) ~= "integer" then
      error(("kc.%s: expected a tensor and the axis (from 0, negative from the end), got axis %s"):format(name, words.show(axis)), 2)
    end
    if type(x) == "number" then return reductions[name](x) end
    return make(name, { operand(x, "kc." .. name, 1) }, { number = axis })
  end
end

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
---@param condition table traced
---@param a table|number
---@param b table|number
---@return table traced
function M.where(condition, a, b)
  if type(condition) == "boolean" then
    error("kc.where: the condition is a plain boolean: Lua decided it; use kc.lt, kc.le, kc.eq, kc.ne, kc.isnan ...", 2)
  end
  if type(condition) == "number" then return condition ~= 0 and a or b end
  return make("where", { operand(condition, "kc.where", 1), operand(a, "kc.where", 2), operand(b, "kc.where", 3) })
end

local class_bits = { ["nan"] = 1, ["-inf"] = 2, ["-finite"] = 4, ["-0"] = 8, ["+0"] = 16, ["+finite"] = 32, ["+inf"] = 64 }

local function is_class(x, mask) return make("isclass", { operand(x, "kc.isclass", 1) }, { number = mask }) end

--- 1 where x is NaN, else 0.
---@param x table|number
---@return table traced
function M.isnan(x)
  if type(x) == "number" then return truth(x ~= x) end
  return is_class(x, class_bits["nan"])
end

--- 1 where x is infinite, else 0.
---@param x table|number
---@return table traced
function M.isinf(x)
  if type(x) == "number" then return truth(x == math.huge or x == -math.huge) end
  return is_class(x, class_bits["+inf"] | class_bits["-inf"])
end

--- 1 / (1 + e^-x).
---@param x table|number
---@return table traced
function M.sigmoid(x) return 1 / (1 + M.exp(-x)) end

--- x / (1 + e^-x); NaN at -inf, where the operations give -inf * 0 (the oracle silu has the limit).
---@param x table|number
---@return table traced
function M.silu(x) return x * M.sigmoid(x) end

--- x (1 + erf(x / sqrt 2)) / 2; NaN at -inf, where the operations give -inf * 0 (the oracle gelu has the limit).
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

-- ---- operators ------------------------------------------------------------------------------------------------------------

for _, row in ipairs { { "__add", "add" }, { "__sub", "sub" }, { "__mul", "mul" }, { "__div", "div" } } do
  Traced[row[1]] = function(a, b)
    return make(row[2], { operand(a, "'" .. row[2] .. "'", 1), operand(b, "'" .. row[2] .. "'", 2) })
  end
end

function Traced.__unm(a) return make("neg", { a }) end

function Traced.__pow(a, n)
  if not is_traced(a) or type(n) ~= "number" or n ~= math.floor(n) or math.abs(n) > 1024 then
    error("a traced value: '^' takes a constant integer exponent; for others use kc.exp(n * kc.log(x)) or kc.sqrt", 2)
  end
  return make("power", { a }, { number = math.tointeger(n) })
end

-- What would mislead: Lua would decide, or give something that is no expression.
local forbidden = {
  __lt = "'<' would be decided by Lua; use kc.lt or kc.gt with kc.where",
  __le = "'<=' would be decided by Lua; use kc.le or kc.ge with kc.where",
  __eq = "'==' would be decided by Lua; use kc.eq with kc.where", __idiv = "'//' has no meaning here; use kc.floor(a / b)",
  __mod = "'%' has no meaning here; use a - b * kc.floor(a / b)", __len = "'#' is not known; use kc.size(x, axis)",
  __concat = "'..' makes text; a traced value has none", __call = "it is no function",
  __index = "it has no fields and cannot be indexed; reductions and kc.where work on whole tensors",
  __newindex = "it cannot be changed",
  __band = "'&' works on integers; use kc.where", __bor = "'|' works on integers; use kc.where",
  __bxor = "'~' works on integers; use kc.ne", __bnot = "'~' works on integers; use 1 - x",
  __shl = "'<<' works on integers; multiply by 2.0^n", __shr = "'>>' works on integers; multiply by 2.0^-n",
}
for _, event in ipairs(words.keys(forbidden)) do
  Traced[event] = function() error("a traced value: " .. forbidden[event], 2) end
end

-- ---- text -----------------------------------------------------------------------------------------------------------------

local infix = { add = "+", sub = "-", mul = "*", div = "/" }

local function show(value)
  local node = nodes[value]
  local parts = {}
  for i, arg in ipairs(node.args) do parts[i] = show(arg) end
  if node.op == "input" then return node.name end
  if node.op == "constant" then return node.text end
  if infix[node.op] then return ("(%s %s %s)"):format(parts[1], infix[node.op], parts[2]) end
  if node.op == "neg" then return "-" .. parts[1] end
  if node.op == "power" then return ("%s^%d"):format(parts[1], node.number) end
  if node.number then parts[#parts + 1] = ("%d"):format(node.number) end
  return ("%s(%s)"):format(node.op, table.concat(parts, ", "))
end

function Traced.__tostring(value) return show(value) end

-- ---- tracing --------------------------------------------------------------------------------------------------------------

local function input_proxy(make_input)
  local made, order = {}, {}
  local proxy = setmetatable({}, {
    __index = function(_, name)
      if type(name) ~= "string" then error("an oracle's inputs are known by name, e.g. x.A; got " .. words.show(name), 2) end
      if made[name] == nil then
        made[name] = make_input(name)
        order[#order + 1] = name
      end
      return made[name]
    end,
    __newindex = function(_, name) error(("an oracle's inputs cannot be changed: '%s'"):format(tostring(name)), 2) end,
    __metatable = false,
  })
  return proxy, order
end

-- The list of nodes that C takes; inputs are numbered in the order of `names`.
local function flatten(result, names)
  local numbers, list, ids = {}, {}, {}
  for i, name in ipairs(names) do numbers[name] = i - 1 end
  local function visit(value)
    if ids[value] then return ids[value] end
    local node, args = nodes[value], {}
    for i, arg in ipairs(node.args) do args[i] = visit(arg) end
    list[#list + 1] = { op = node.op, args = args, number = node.op == "input" and numbers[node.name] or node.number, text = node.text }
    ids[value] = #list
    return #list
  end
  visit(result)
  return list
end

local Expression = { __name = "kc.expression", __metatable = false }
Expression.__index = Expression

local function apply_special(result, proxy, special)
  for i, row in ipairs(special or {}) do
    local name, class, value = row[1], row[2], row[3]
    local mask = class_bits[class]
    if type(name) ~= "string" or not mask or type(value) ~= "number" then
      error(("special %d: expected { input name, class, value }, with one of the classes %s"):format(i,
        table.concat(words.keys(class_bits), " ")), 3)
    end
    result = M.where(is_class(proxy[name], mask), value, result)
  end
  return result
end

--- Traces a function of named tensors.
---@param fn function called with a table of traced values, x.NAME
---@param options table|nil {special = {{input, class, value}, ...}: results for exceptional inputs, where the operations' own do not serve}
---@return table expression
function M.trace(fn, options)
  require("kc.expression_source").check(fn)
  local special = options and options.special
  local proxy, names = input_proxy(function(name) return make("input", {}, { name = name }) end)
  local result = fn(proxy)
  if type(result) == "number" then result = operand(result, "result", 1) end
  if not is_traced(result) then error("the function returned " .. words.show(result) .. "; expected an expression of its inputs", 2) end
  local whole = apply_special(result, proxy, special)
  return setmetatable({ fn = fn, names = names, own = result, result = whole, text = show(whole), special = special }, Expression)
end

--- The expression of traced operands that the caller names, without a function: for formulas of the library's own.
---@param result table traced
---@param names table input names in order
---@return table expression
function M.of(result, names)
  return setmetatable({ names = names, own = result, result = result, text = show(result) }, Expression)
end

--- A traced input.
---@param name string
---@return table traced
function M.input(name) return make("input", {}, { name = name }) end

--- True for an expression.
function M.is(value) return type(value) == "table" and rawget(value, "names") ~= nil and is_traced(rawget(value, "result")) end

function Expression:__tostring() return self.text end

local function graph_of(self)
  self.graph = self.graph or require("kc.exact").graph(flatten(self.result, self.names))
  return self.graph
end

--- Evaluates the expression.
---@param inputs table name -> buffer, or {enclosure, shape}
---@param options table|nil {precision=, rising=}
---@return userdata enclosure, table shape
function Expression:evaluate(inputs, options)
  if self.fn and not self.checked then
    self.checked = true
    require("kc.expression_source").compare(self)
  end
  local operands = {}
  for i, name in ipairs(self.names) do
    operands[i] = inputs[name]
    if operands[i] == nil then error(("the expression reads '%s', which is not given"):format(name), 0) end
  end
  local enclosure, shape = graph_of(self):evaluate(operands, options)
  if not enclosure then error(shape, 0) end
  return enclosure, shape
end

--- The function on plain numbers: its own result, without special cases.
---@param values table name -> number
---@return number
function Expression:plain(values)
  local proxy = input_proxy(function(name) return values[name] end)
  return self.fn(proxy)
end

--- The part that the function itself traced, as an expression.
function Expression:own_part() return M.of(self.own, self.names) end

return M
