---@module kc.oracle
-- Oracles: descriptions of mathematics that C evaluates to enclosures. kc.oracle.NAME(input, ..., {parameters}).
local core = require "kc.core"
local words = require "kc.words"
local M = {}

local Oracle = {}
Oracle.__index = Oracle
Oracle.__name = "kc.oracle"
Oracle.__metatable = false

-- The exact ones need MPFR and Arb, which are loaded when the first of them is evaluated; so the number of their inputs (least, most)
-- is listed here and checked against the module by a test.
local elementwise = { 1, 1 }
local exact_inputs = {
  exp = elementwise, exp2 = elementwise, log = elementwise, log2 = elementwise, log1p = elementwise, expm1 = elementwise,
  tanh = elementwise, erf = elementwise, sigmoid = elementwise, gelu = elementwise, silu = elementwise, rsqrt = elementwise,
  sqrt = elementwise, sin = elementwise, cos = elementwise, cbrt = elementwise, log10 = elementwise, tan = elementwise,
  sinh = elementwise, cosh = elementwise, asin = elementwise, acos = elementwise, atan = elementwise, asinh = elementwise,
  acosh = elementwise, atanh = elementwise, erfc = elementwise, div = { 2, 2 }, pow = { 2, 2 }, hypot = { 2, 2 },
  matmul = { 2, 3 },
  sum = { 1, 1 }, mean = { 1, 1 }, dot = { 2, 2 }, cumsum = { 1, 1 }, softmax = { 1, 1 }, log_softmax = { 1, 1 }, logsumexp = { 1, 1 },
  variance = { 1, 1 }, layernorm = { 1, 3 }, rmsnorm = { 1, 2 },
}

-- The parameters that an oracle reads; any other is refused. Those of core are in its own table.
local exact_reads = {
  matmul = { "alpha", "beta", "transpose_a", "transpose_b", "magnitude" },
  sum = { "axis", "magnitude" }, mean = { "axis", "magnitude" }, dot = { "axis", "magnitude" }, cumsum = { "axis", "magnitude" },
  softmax = { "axis" }, log_softmax = { "axis" }, logsumexp = { "axis" }, variance = { "axis", "ddof" },
  layernorm = { "axis", "epsilon" }, rmsnorm = { "axis", "epsilon" },
}

-- The row of an oracle of core, or of an extension, which may come at any time.
local function core_row(name)
  for _, row in ipairs(core.oracles()) do if row.name == name then return row end end
end

local function reads(name)
  local row = not exact_reads[name] and core_row(name)
  if not row then return exact_reads[name] or {} end
  local list = {}
  for word in row.parameters:gmatch "%S+" do list[#list + 1] = word end
  return list
end

-- Policies: parameters that no convention settles. Left out, the policy is undeclared, and so is what depends on it.
local policies = {
  clamp = { { "nan", "propagate or ignore" } }, max = { { "nan", "propagate or ignore" } },
  reduce_max = { { "nan", "propagate or ignore" } }, gather = { { "outside", "clamp, zero, wrap, fill or anything" } },
  scatter = { { "outside", "drop, clamp or wrap" }, { "tie", "first or last" } },
}

--- Names of all oracles, sorted.
---@return table names
function M.names()
  local all = {}
  for name in next, exact_inputs do all[name] = true end -- sorted below
  for _, row in ipairs(core.oracles()) do all[row.name] = true end
  return words.keys(all)
end

--- Names of the oracles that kc.exact provides, sorted.
---@return table names
function M.exact_names() return words.keys(exact_inputs) end

--- Least and largest number of inputs of an oracle; nil for an unknown one.
---@param name string
---@return integer|nil least, integer|nil most
function M.inputs(name)
  local range = exact_inputs[name]
  if range then return range[1], range[2] end
  local row = core_row(name)
  if row then return row.arity, row.arity end
end

--- The parameters that an oracle reads, each with what it may say where no convention settles it.
---@param name string
---@return table texts
function M.parameters(name)
  local list, said = {}, {}
  for _, policy in ipairs(policies[name] or {}) do said[policy[1]] = (" (%s)"):format(policy[2]) end
  for i, key in ipairs(reads(name)) do list[i] = key .. (said[key] or "") end
  return list
end

--- True for an oracle description.
function M.is(value)
  return type(value) == "table" and type(rawget(value, "operation")) == "string" and rawget(value, "arguments") ~= nil
end

-- The levels: who called kc.oracle.NAME, which calls describe in its tail.
local function check_params(name, params)
  local known = reads(name)
  for _, key in ipairs(words.keys(params)) do
    local found = false
    for _, other in ipairs(known) do found = found or other == key end
    if not found then
      error(("kc.oracle.%s: it reads no parameter '%s'; %s"):format(name, tostring(key),
        #known > 0 and words.hint(tostring(key), known) or "it has none"), 3)
    end
  end
end

local function describe(name, ...)
  local arguments, params = { ... }, {}
  if type(arguments[#arguments]) == "table" then params = table.remove(arguments) end
  local least, most = M.inputs(name)
  if #arguments < least or #arguments > most then
    error(("kc.oracle.%s: expected %s input names, got %d; parameters go into a table behind them"):format(name,
      least == most and least or least .. " to " .. most, #arguments), 2)
  end
  for i, argument in ipairs(arguments) do
    if type(argument) ~= "string" then
      error(("kc.oracle.%s: argument %d: expected an input's name, got %s"):format(name, i, words.show(argument)), 2)
    end
  end
  check_params(name, params)
  local own = {}
  for _, key in ipairs(words.keys(params)) do own[key] = params[key] end
  for _, policy in ipairs(policies[name] or {}) do own[policy[1]] = own[policy[1]] or "undeclared" end
  params = own
  return setmetatable({ operation = name, arguments = arguments, params = params }, Oracle)
end

-- A parameter may be the name of an input of one element.
local function resolved(oracle, inputs)
  local params = {}
  for _, key in ipairs(words.keys(oracle.params)) do
    local value = oracle.params[key]
    local input = (key == "alpha" or key == "beta") and inputs[value]
    params[key == "fill" and "a" or key] = input and input[1] or value
  end
  return params
end

--- An oracle written as a Lua function of the inputs, x.NAME; it is traced once (spec/oracles.md, "Expressions").
---@param fn function
---@param options table|nil {special = {{input name, class, value}, ...}}
---@return table oracle
function M.expression(fn, options)
  local expression = require("kc.expression").trace(fn, options)
  return setmetatable({ operation = "expression", arguments = expression.names, params = {}, expression = expression }, Oracle)
end

--- An oracle of one input "x", written as a Lua function of it.
---@param fn function e.g. kc.exp
---@return table oracle
function M.of_one(fn)
  local expression = require("kc.expression").of_one(fn)
  return setmetatable({ operation = "expression", arguments = { "x" }, params = {}, expression = expression }, Oracle)
end

--- The cosine of the angle between the rows (last axis) of two tensors of one shape: sum x y / (|x| |y|).
---@param x string input name
---@param y string input name
---@return table oracle
function M.cosine(x, y, ...)
  if type(x) ~= "string" or type(y) ~= "string" or select("#", ...) > 0 then
    error("kc.oracle.cosine: expected the names of two inputs and nothing else", 2)
  end
  local X, expression = require "kc.mathematics", require "kc.expression"
  local a, b = expression.input(x), expression.input(y)
  local value = X.sum(a * b, -1) / X.sqrt(X.sum(a * a, -1) * X.sum(b * b, -1))
  return setmetatable({ operation = "cosine", arguments = { x, y }, params = {}, expression = expression.of(value, { x, y }) }, Oracle)
end

-- Shapes agree when they do without the dimensions of size 1, which reductions leave behind.
local function shown_shape(shape)
  local sizes = {}
  for _, n in ipairs(shape) do if n ~= 1 then sizes[#sizes + 1] = ("%d"):format(n) end end
  return "[" .. table.concat(sizes, ",") .. "]"
end

-- An expression would repeat a row of one element.
local function demand_one_shape(oracle, inputs)
  local a, b = oracle.arguments[1], oracle.arguments[2]
  local x, y = table.concat(inputs[a]:shape(), ","), table.concat(inputs[b]:shape(), ",")
  if x ~= y then error(("oracle cosine: '%s' has shape [%s], '%s' [%s]; expected one shape"):format(a, x, b, y), 0) end
end

local function evaluate_expression(oracle, inputs, shape)
  if oracle.operation == "cosine" then demand_one_shape(oracle, inputs) end
  local enclosure, got = oracle.expression:evaluate(inputs)
  if shape and shown_shape(shape) ~= shown_shape(got) then
    error(("the oracle gives shape %s (sizes of 1 left out), the output has %s"):format(shown_shape(got), shown_shape(shape)), 0)
  end
  return enclosure
end

--- Evaluates a description over inputs.
---@param oracle table description
---@param inputs table input name -> buffer
---@param shape table|nil of the output, checked against an expression's
---@return userdata enclosure
function M.evaluate(oracle, inputs, shape)
  if oracle.expression then return evaluate_expression(oracle, inputs, shape) end
  local buffers = {}
  for i, name in ipairs(oracle.arguments) do buffers[i] = inputs[name] end
  local evaluate = exact_inputs[oracle.operation] and require("kc.exact").oracle or core.oracle
  -- Misuse is raised, with the place of this call, which is no author's.
  local ok, enclosure, message = pcall(evaluate, oracle.operation, buffers, resolved(oracle, inputs))
  if not ok then message = enclosure end
  if not ok or not enclosure then
    error(message:find("^oracle ") and message or ("oracle %s: %s"):format(oracle.operation, message), 0)
  end
  return enclosure
end

--- The policies that this oracle leaves undeclared.
---@return table list of texts: parameter and what it may say
function Oracle:undeclared()
  local list = {}
  for _, policy in ipairs(policies[self.operation] or {}) do
    if self.params[policy[1]] == "undeclared" then
      list[#list + 1] = ("oracle %s, parameter '%s': %s"):format(self.operation, policy[1], policy[2])
    end
  end
  return list
end

--- The same sum or product over absolute values: the S1 of error bounds.
---@return table oracle
function Oracle:magnitude()
  if self.expression then
    local expression = self.expression:magnitude()
    return setmetatable({ operation = "expression", arguments = self.arguments, params = {}, expression = expression }, Oracle)
  end
  local params = { magnitude = true }
  for _, key in ipairs(words.keys(self.params)) do params[key] = self.params[key] end
  return setmetatable({ operation = self.operation, arguments = self.arguments, params = params }, Oracle)
end

function Oracle:__tostring()
  if self.expression then return tostring(self.expression) end
  local parts = {}
  for i, name in ipairs(self.arguments) do parts[i] = name end
  for _, key in ipairs(words.keys(self.params)) do parts[#parts + 1] = ("%s=%s"):format(key, tostring(self.params[key])) end
  return ("%s(%s)"):format(self.operation, table.concat(parts, ", "))
end

return setmetatable(M, {
  __index = function(_, name)
    if M.inputs(name) then return function(...) return describe(name, ...) end end
    error(("no oracle called '%s'; %s"):format(tostring(name), words.hint(tostring(name), M.names())), 2)
  end,
})
