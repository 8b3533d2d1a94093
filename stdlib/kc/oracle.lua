---@module kc.oracle
-- Oracles: descriptions of mathematics that C evaluates to enclosures. kc.oracle.NAME(input, ..., {parameters}).
local core = require "kc.core"
local words = require "kc.words"
local M = {}

local Oracle = {}
Oracle.__index = Oracle
Oracle.__name = "kc.oracle"
Oracle.__metatable = false

-- Name -> {arity, doc, evaluate}. The exact ones need MPFR and Arb, which are loaded when the first of them is evaluated; so
-- their names are listed here and checked against the module by a test.
local exact_arity = {
  exp = 1, exp2 = 1, log = 1, log2 = 1, log1p = 1, expm1 = 1, tanh = 1, erf = 1, sigmoid = 1, gelu = 1, silu = 1, rsqrt = 1,
  sqrt = 1, sin = 1, cos = 1, cbrt = 1, div = 2, pow = 2,
}
local core_arity = {}
for _, row in ipairs(core.oracles and core.oracles() or {}) do core_arity[row.name] = row.arity end

--- Names of all oracles, sorted.
---@return table names
function M.names()
  local all = {}
  for name in next, exact_arity do all[name] = true end -- sorted below
  for name in next, core_arity do all[name] = true end -- sorted below
  return words.keys(all)
end

--- Names of the oracles that kc.exact provides, sorted.
---@return table names
function M.exact_names() return words.keys(exact_arity) end

local function arity(name) return exact_arity[name] or core_arity[name] end

--- True for an oracle description.
function M.is(value)
  return type(value) == "table" and type(rawget(value, "operation")) == "string" and rawget(value, "arguments") ~= nil
end

local function describe(name, ...)
  local arguments, params = { ... }, {}
  if type(arguments[#arguments]) == "table" then params = table.remove(arguments) end
  if #arguments ~= arity(name) then
    error(("kc.oracle.%s: expected %d input names, got %d"):format(name, arity(name), #arguments), 3)
  end
  for i, argument in ipairs(arguments) do
    if type(argument) ~= "string" then
      error(("kc.oracle.%s: argument %d: expected an input's name, got %s"):format(name, i, words.show(argument)), 3)
    end
  end
  return setmetatable({ operation = name, arguments = arguments, params = params }, Oracle)
end

--- Evaluates a description over inputs.
---@param oracle table description
---@param inputs table input name -> buffer
---@return userdata enclosure
function M.evaluate(oracle, inputs)
  local buffers = {}
  for i, name in ipairs(oracle.arguments) do buffers[i] = inputs[name] end
  local evaluate = exact_arity[oracle.operation] and require("kc.exact").oracle or core.oracle
  local enclosure, message = evaluate(oracle.operation, buffers, oracle.params)
  if not enclosure then error(("oracle %s: %s"):format(oracle.operation, message), 0) end
  return enclosure
end

function Oracle:__tostring()
  local parts = {}
  for i, name in ipairs(self.arguments) do parts[i] = name end
  for _, key in ipairs(words.keys(self.params)) do parts[#parts + 1] = ("%s=%s"):format(key, tostring(self.params[key])) end
  return ("%s(%s)"):format(self.operation, table.concat(parts, ", "))
end

return setmetatable(M, {
  __index = function(_, name)
    if arity(name) then return function(...) return describe(name, ...) end end
    error(("no oracle called '%s'; %s"):format(tostring(name), words.hint(tostring(name), M.names())), 2)
  end,
})
