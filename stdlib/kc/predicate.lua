---@module kc
-- Predicates for clause functions: each answers with a check that carries its evidence.
local check = require "kc.check"
local core = require "kc.core"
local json = require "kc.json"
local words = require "kc.words"
local M = {}

-- Misuse is reported where the clause calls, not where the library notices.
local function demand(ok, where, i, expected, got)
  if not ok then error(("%s: argument %d: expected %s, got %s"):format(where, i, expected, words.show(got)), 4) end
end

local function is_type(value, name) return type(value) == "userdata" and tostring(value):sub(1, #name) == name end

local function demand_decidable(where, output, enclosure, t)
  demand(is_type(output, "kc.buffer"), where, 1, "an output, such as y.NAME", output)
  demand(is_type(enclosure, "enclosure"), where, 2, "a reference, such as ref.NAME", enclosure)
  demand(type(t) == "table" and type(t.core) == "function", where, 3, "the tolerance, the clause's fourth argument", t)
end

-- Denormals undeclared: right with both policies is right, wrong with the laxer one is wrong; what only flushing explains is undeclared.
local function decide_both(output, enclosure, options)
  options.denormals = "preserve"
  local kept = core.decide(output, enclosure, options)
  if kept.class_no + kept.value_no == 0 then return kept end
  options.denormals = "flush"
  local flushed = core.decide(output, enclosure, options)
  local depends = math.max(kept.class_no - flushed.class_no, kept.value_no - flushed.value_no)
  flushed.why, flushed.undeclared = "tolerance, field 'denormals': preserve or flush", flushed.undeclared + depends
  flushed.class_unknown, flushed.value_unknown = flushed.class_unknown + depends, flushed.value_unknown + depends
  return flushed
end

-- One decision per (output, enclosure, tolerance): same_class and within look at the same one.
local decisions = setmetatable({}, { __mode = "k" })

local function decide(output, enclosure, tolerance)
  local memo = decisions[enclosure]
  if memo and memo.output == output and memo.tolerance == tolerance then return memo.decision end
  local options = tolerance:core(enclosure)
  local decision = (options.denormals == "undeclared" and decide_both or core.decide)(output, enclosure, options)
  decisions[enclosure] = { output = output, tolerance = tolerance, decision = decision }
  return decision
end

local function at(output, i)
  if not i then return "" end
  local got = output[i]
  local text = math.type(got) == "integer" and ("%d"):format(got) or json.float(got)
  return (" at element %d: got %s (code 0x%x)"):format(i, text, output:code(i))
end

-- Nothing is unknown but what the contract does not say.
local function undeclared(d, data)
  data.undeclared = true
  return check.unknown(("what %d elements should be is not declared"):format(d.undeclared), data)
end

--- Is every element's class (NaN, infinities, zeros with sign, finite) one that the exact value allows?
---@param output userdata buffer
---@param enclosure userdata from the oracle
---@param tolerance table
---@return table check
function M.same_class(output, enclosure, tolerance)
  demand_decidable("kc.same_class", output, enclosure, tolerance)
  local d = decide(output, enclosure, tolerance)
  local data = { decision = d, output = output }
  if d.class_no > 0 then
    return check.no(("%d of %d elements have an inadmissible class, first%s"):format(d.class_no, d.count,
      at(output, d.first_class_no)), data)
  end
  if d.class_unknown > 0 and d.class_unknown == d.undeclared then return undeclared(d, data) end
  if d.class_unknown > 0 then return check.unknown(("the class of %d elements cannot be told"):format(d.class_unknown), data) end
  return check.yes("every class is admissible", data)
end

--- Is every element's error within the tolerance?
---@param output userdata buffer
---@param enclosure userdata from the oracle
---@param tolerance table
---@return table check
function M.within(output, enclosure, tolerance)
  demand_decidable("kc.within", output, enclosure, tolerance)
  local d = decide(output, enclosure, tolerance)
  local data = { decision = d, output = output }
  local beyond = d.value_no - d.class_no -- an inadmissible class counts as a wrong value too
  if beyond > 0 then
    return check.no(("%d of %d elements exceed the tolerance, worst %.4g times (error %.3g, allowed %.3g)%s"):format(beyond, d.count,
      d.worst_ratio_hi, d.worst_error, d.worst_allowed, at(output, d.worst)), data)
  end
  if d.value_no > 0 then return check.no("the rest is within the tolerance", data) end
  if d.value_unknown > 0 and d.value_unknown == d.undeclared then return undeclared(d, data) end
  if d.value_unknown > 0 then return check.unknown(("%d elements cannot be decided"):format(d.value_unknown), data) end
  return check.yes("every error is within the tolerance", data)
end

--- Are all elements finite?
--- > kc.finite(kc.buffer("f32", 2, { 1, 2 })).answer
--- "yes"
--- > kc.finite(kc.buffer("f32", 2, { 1, math.huge })).answer
--- "no"
---@param buffer userdata
---@return table check
function M.finite(buffer)
  demand(is_type(buffer, "kc.buffer"), "kc.finite", 1, "an input or output, such as x.NAME", buffer)
  local classes = buffer:classes()
  local bad = (classes["nan"] or 0) + (classes["+inf"] or 0) + (classes["-inf"] or 0)
  if bad > 0 then return check.no(("%d elements are not finite"):format(bad)) end
  return check.yes("all elements are finite")
end

--- Is every element of an index buffer in lo, lo + 1, ... hi - 1?
--- > kc.inside(kc.buffer("i32", 3, { 0, 1, 5 }), 0, 5).answer
--- "no"
---@param buffer userdata of an integer format
---@param lo integer
---@param hi integer
---@return table check
function M.inside(buffer, lo, hi)
  demand(is_type(buffer, "kc.buffer"), "kc.inside", 1, "an input or output, such as x.NAME", buffer)
  demand(math.type(lo) == "integer", "kc.inside", 2, "an integer", lo)
  demand(math.type(hi) == "integer", "kc.inside", 3, "an integer", hi)
  local count, first = buffer:outside(lo, hi)
  if count == 0 then return check.yes(("all of %d indices are in [%d, %d)"):format(#buffer, lo, hi)) end
  return check.no(("%d of %d indices are outside of [%d, %d), the first is %d at element %d"):format(count, #buffer, lo, hi, buffer[first],
    first))
end

--- Did the candidate raise an error? Only under the policy RAISE does a postcondition see one that did.
---@param y table the outputs, the clause's second argument
---@return table check
function M.raised(y)
  demand(type(y) == "table", "kc.raised", 1, "the outputs, the clause's second argument", y)
  if y.raised then return check.yes("raised: " .. y.raised) end
  return check.no("returned, and did not raise", { silent = true })
end

--- The postcondition of the policy RAISE: where the condition is yes the candidate must have raised; where it is no (the control run) it
--- must not, and what `otherwise` returns must hold.
---@param condition table check of the inputs
---@param y table the outputs, the clause's second argument
---@param otherwise function without arguments: returns checks, as a clause does
---@return table check
function M.raises_when(condition, y, otherwise)
  condition = check.of(condition, "kc.raises_when: argument 1")
  demand(type(otherwise) == "function", "kc.raises_when", 3, "a function that returns checks", otherwise)
  if condition.answer == "yes" then return M.raised(y) end
  if condition.answer == "unknown" then return check.unknown("whether it must raise cannot be told: " .. condition.text) end
  if y.raised then
    return check.no(("raised although it must not (%s): %s"):format(condition.text, y.raised))
  end
  return check.clause(otherwise(), "kc.raises_when: argument 3")
end

--- Yes for any value: states that a precondition restricts nothing.
---@param buffer userdata
---@return table check
function M.any_value(buffer)
  demand(is_type(buffer, "kc.buffer"), "kc.any_value", 1, "an input or output, such as x.NAME", buffer)
  return check.yes(("%d elements of any value"):format(#buffer))
end

return M
