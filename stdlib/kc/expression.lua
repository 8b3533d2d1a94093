---@module kc.expression
-- Expressions: a Lua function over tensors, called once with traced values and then evaluated in C with certified bounds
-- (spec/oracles.md). The words that such a function uses are in kc.mathematics.
local words = require "kc.words"
local M = {}

-- A traced value is an empty table; its node stands beside it, so that no index of it means anything.
local nodes = setmetatable({}, { __mode = "k" })
local Traced = { __name = "kc.traced", __metatable = false }

--- True for a traced value.
function M.is_traced(v) return nodes[v] ~= nil end
local is_traced = M.is_traced

--- A traced value: an operation of traced values.
---@param op string operation of exact.graph
---@param args table traced values
---@param more table|nil {number=, text=, shown=what the text of the expression says of these two}
---@return table traced
function M.make(op, args, more)
  local node = more or {}
  node.op, node.args = op, args
  local value = setmetatable({}, Traced)
  nodes[value] = node
  return value
end
local make = M.make

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

--- The traced value of an operand: itself, or a number or real as an exact constant. Raises in the name of the caller's caller.
---@param v any
---@param where string
---@param i integer argument number
---@param level integer|nil of the error, 3 when absent
---@return table traced
function M.operand(v, where, i, level)
  if is_traced(v) then return v end
  local text = constant_text(v)
  if text then return make("constant", {}, { text = text }) end
  error(("%s: argument %d: expected a traced value or a number, got %s"):format(where, i, words.show(v)), level or 3)
end
local operand = M.operand

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

-- A node that is used many times is written out each time: the text stops after this many.
local SHOWN_NODES = 400

local function show(value, left)
  left = left or { SHOWN_NODES }
  left[1] = left[1] - 1
  if left[1] < 0 then return "..." end
  local node = nodes[value]
  local parts = {}
  for i, arg in ipairs(node.args) do parts[i] = show(arg, left) end
  if node.op == "input" then return node.name end
  if node.op == "constant" then return node.text end
  if infix[node.op] then return ("(%s %s %s)"):format(parts[1], infix[node.op], parts[2]) end
  if node.op == "neg" then return "-" .. parts[1] end
  if node.op == "power" then return ("%s^%d"):format(parts[1], node.number) end
  if node.shown then parts[#parts + 1] = node.shown elseif node.number then parts[#parts + 1] = ("%d"):format(node.number) end
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
    __pairs = function() error("an oracle's inputs are known by name, e.g. x.A; they cannot be listed", 2) end,
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

-- Classes by name, as bits of kc_class.
M.class_bits = { ["nan"] = 1, ["-inf"] = 2, ["-finite"] = 4, ["-0"] = 8, ["+0"] = 16, ["+finite"] = 32, ["+inf"] = 64 }
local class_bits = M.class_bits

local function apply_special(result, proxy, special)
  for i, row in ipairs(special or {}) do
    if type(row) ~= "table" then row = {} end
    local name, class, value = row[1], row[2], row[3]
    local mask = class_bits[class]
    if type(name) ~= "string" or not mask or type(value) ~= "number" then
      error(("special %d: expected { input name, class, value }, with one of the classes %s"):format(i,
        table.concat(words.keys(class_bits), " ")), 3)
    end
    local here = make("isclass", { proxy[name] }, { number = mask })
    result = make("where", { here, operand(value, "special", i), result })
  end
  return result
end

--- Traces a function of named tensors.
---@param fn function called with a table of traced values, x.NAME
---@param options table|nil {special = {{input, class, value}, ...}: results for exceptional inputs, where the operations' own do not serve}
---@return table expression
function M.trace(fn, options)
  require("kc.expression_source").check(fn)
  for _, key in ipairs(words.keys(options or {})) do
    if key ~= "special" then error(("unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), { "special" })), 2) end
  end
  local special = options and options.special
  local proxy, names = input_proxy(function(name) return make("input", {}, { name = name }) end)
  local results = table.pack(fn(proxy))
  if results.n > 1 then error(("the function returned %d values; expected one expression"):format(results.n), 2) end
  local result = results[1]
  if type(result) == "number" then result = operand(result, "result", 1) end
  if not is_traced(result) then error("the function returned " .. words.show(result) .. "; expected an expression of its inputs", 2) end
  local whole = apply_special(result, proxy, special)
  return setmetatable({ fn = fn, names = names, own = result, result = whole, text = show(whole), special = special }, Expression)
end

--- Traces a function of one tensor, called "x": one of kc's own words, or an author's function, which is read and compared with its trace
--- as by trace.
---@param fn function called with a traced value
---@return table expression
function M.of_one(fn)
  local own = debug.getinfo(fn, "S").source:find("^@stdlib/kc/")
  if not own then require("kc.expression_source").check(fn) end
  local result = fn(M.input("x"))
  if not is_traced(result) then error("the function returned " .. words.show(result) .. "; expected an expression of its argument", 2) end
  local expression = M.of(result, { "x" })
  expression.fn, expression.written = function(values) return fn(values.x) end, not own and fn or nil
  return expression
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

-- The name of an input, with or without a minus.
local function input_name(value)
  local node = nodes[value]
  if node.op == "neg" then return input_name(node.args[1]) end
  return node.op == "input" and node.name or nil
end

-- Adds the terms of a sum to a list; false where it is no sum of inputs and of products of two inputs.
local function add_terms(list, value)
  local node = nodes[value]
  if node.op == "neg" then return add_terms(list, node.args[1]) end
  if node.op == "add" or node.op == "sub" then return add_terms(list, node.args[1]) and add_terms(list, node.args[2]) end
  local first = input_name(node.op == "mul" and node.args[1] or value)
  local second = node.op == "mul" and input_name(node.args[2])
  list[#list + 1] = { first, second or nil }
  return first ~= nil and second ~= nil
end

--- The terms of an expression that is a sum or difference of inputs and of products of two inputs, without their signs.
---@return table|nil terms list of lists of one or two input names; nil for any other expression
function Expression:terms()
  local list = {}
  return add_terms(list, self.result) and list or nil
end

--- The sum of the magnitudes of its terms, for an expression that has `terms`.
---@return table expression
function Expression:magnitude()
  local sum
  for _, names in ipairs(self:terms()) do
    local term
    for _, name in ipairs(names) do
      local factor = make("abs", { M.input(name) })
      term = term and term * factor or factor
    end
    sum = sum and sum + term or term
  end
  return M.of(sum, self.names)
end

--- The part that the function itself traced, as an expression.
function Expression:own_part() return M.of(self.own, self.names) end

return M
