---@module kc.lint.clauses
-- Findings in what the clauses say: classes, checks that Lua combines, outputs and inputs that nobody reads, shapes that do not fit.
local limit = require "kc.limit"
local measure = require "kc.measure"
local oracle = require "kc.oracle"
local protocol = require "kc.protocol"
local scope = require "kc.scope"
local tokens = require "kc.tokens"
local words = require "kc.words"
local M = {}

--- A class that spec/classes does not have.
function M.class(c, report)
  local classes, class = words.keys(require "kc.classes"), c.contract.identifier.class
  if not words.holds(classes, class) then
    report("identifier", ("no class '%s'; %s"):format(class, words.hint(class, classes)), "class")
  end
end

local advice = { ["and"] = "&, or a list", ["or"] = "| or kc.any", ["not"] = "~" }

-- A function and those of its file that it calls: the local functions that it sees.
local function with_helpers(fn, list)
  list = list or {}
  if words.holds(list, fn) then return list end
  list[#list + 1] = fn
  local source, i = debug.getinfo(fn, "S").source, 1
  local name, value = debug.getupvalue(fn, i)
  while name do
    if type(value) == "function" and debug.getinfo(value, "S").source == source then with_helpers(value, list) end
    i = i + 1
    name, value = debug.getupvalue(fn, i)
  end
  return list
end

local conditions = { ["if"] = "then", ["elseif"] = "then", ["while"] = "do" }

-- Tokens without conditions: a helper asks there for numbers.
local function without_conditions(body)
  local list, stop = {}, nil
  for _, token in ipairs(body) do
    if not stop then list[#list + 1] = token end
    stop = stop or conditions[token.text]
    if token.text == stop then stop = nil end
  end
  return list
end

local function scan_one(fn, clause, report, is_helper)
  local body = tokens.body(fn) or {}
  local found = tokens.outside_static(is_helper and without_conditions(body) or body, function(token)
    return token.kind == "word" and advice[token.text]
  end)
  for _, token in ipairs(found) do
    report(clause, ("'%s' sees only that a check is not nil: use %s, or kc.static(...) for what is no check"):format(token.text,
      advice[token.text]), debug.getinfo(fn, "S").linedefined + token.line)
  end
end

local function scan(fn, clause, report)
  for _, own in ipairs(with_helpers(fn)) do scan_one(own, clause, report, own ~= fn) end
end

--- Checks that are combined by Lua's `and`, `or` and `not`.
function M.combined(c, report)
  scan(c.contract.precondition, "precondition", report)
  scan(c.contract.postcondition, "postcondition", report)
  for _, relation in ipairs(c.contract.protocol.relations or {}) do scan(relation.holds, "protocol", report) end
end

-- Does a function read a field of this name? What indexes by a variable, or hands whole tables on, may read any.
local function reads(fn, name)
  local fields = tokens.fields(fn)
  return not fields or fields[name] or next(fields) == nil
end

--- Outputs that the postcondition does not mention: whatever they hold is accepted.
function M.unjudged(c, report)
  for _, output in ipairs(c.contract.scope.outputs) do
    if not reads(c.contract.postcondition, output.name) then
      report("postcondition", ("output '%s' is not mentioned: whatever it holds is accepted"):format(output.name))
    end
  end
end

local function in_args(c, name)
  for _, item in ipairs(c.contract:implementations()) do
    local implementation = item.implementation
    if not implementation.args or words.holds(implementation.args, name) then return true end
  end
  return false
end

-- An input's name is an argument of the oracle, or the value of one of its parameters (alpha = "alpha").
local function in_oracle(c, name)
  for _, output in ipairs(c.contract.scope.outputs) do
    local o = c.contract.oracle[output.name]
    if words.holds(o.arguments, name) then return true end
    for _, key in ipairs(words.keys(o.params)) do if o.params[key] == name then return true end end
  end
  return false
end

-- What a clause or an oracle says of an input; `kc.any_value(x.NAME)` in the precondition says that it may be anything.
local function in_clauses(c, name)
  return in_oracle(c, name) or reads(c.contract.postcondition, name) or reads(c.contract.precondition, name)
end

-- An input of integers may say how the tensors lie in memory: implementations of a suite take it, and no oracle.
local function may_be_layout(input) return require("kc.core").format(input.format).kind ~= "float" end

--- Inputs that no implementation takes, or of which no clause says anything.
function M.unread(c, report)
  for _, input in ipairs(c.contract.scope.inputs) do
    local misuse = not in_args(c, input.name) and "is an argument of no implementation"
      or not in_clauses(c, input.name) and "is read by no oracle and no clause"
    if misuse and not may_be_layout(input) then report("scope", ("input '%s' %s"):format(input.name, misuse), "inputs") end
  end
end

-- ---- shapes ---------------------------------------------------------------------------------------------------------------------

local function elements(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

local function fits(c, output, inputs, sizes)
  local shape = scope.shape(output, sizes)
  local ok, got = pcall(limit.call, c.limit, c.contract.path .. ": oracle", oracle.evaluate, c.contract.oracle[output.name], inputs, shape)
  if not ok then return tostring(type(got) == "table" and got.message or got) end
  local n = #got
  got:close()
  if n ~= elements(shape) then
    return ("the oracle gives %d elements, the scope's %s[%s] has %d"):format(n, output.name, table.concat(output.dims, ","),
      elements(shape))
  end
end

--- Shapes of inputs and outputs that the oracles do not unify, tried on one small sample; and a precondition that refuses it.
function M.shapes(c, report)
  local spec = protocol.trial(c.contract, c.samples)
  if not spec then return end
  local list, why = measure.draw(c.contract, spec, { seed = 0, limit = c.limit })
  if not list then
    report("precondition", ("sample '%s': %s"):format(spec.label, why))
    return
  end
  local inputs = {}
  for _, item in ipairs(list) do inputs[item.name] = item.buffer end
  for _, output in ipairs(c.contract.scope.outputs) do
    local misfit = fits(c, output, inputs, spec.sizes)
    if misfit then
      report("scope", ("output '%s' does not fit its oracle for %s: %s"):format(output.name,
        scope.sizes_text(c.contract.scope.dims, spec.sizes), misfit), "outputs")
    end
  end
  for _, item in ipairs(list) do item.buffer:close() end
end

--- The rules in the order in which they are asked.
M.rules = { M.class, M.combined, M.unjudged, M.unread, M.shapes }

return M
