---@module kc.explain
-- A contract as prose.
local protocol = require "kc.protocol"
local tokens = require "kc.tokens"
local worked = require "kc.worked"
local M = {}

local function list(items, text)
  local out = {}
  for i, item in ipairs(items) do out[i] = text and text(item) or tostring(item) end
  return table.concat(out, ", ")
end

-- Samples by label, each once, with how many share it.
local function labels(samples)
  local order, count, out = {}, {}, {}
  for _, item in ipairs(samples) do
    if not count[item.label] then order[#order + 1] = item.label end
    count[item.label] = (count[item.label] or 0) + 1
  end
  for i, label in ipairs(order) do out[i] = count[label] > 1 and ("%s (%d)"):format(label, count[label]) or label end
  return table.concat(out, ", ")
end

local function tensor(t) return ("%s: %s[%s]"):format(t.name, t.format, list(t.dims)) end

local function domain(name, d)
  if d.kind == "range" then return ("%s from %d to %d"):format(name, d.lo, d.hi) end
  return ("%s one of %s"):format(name, list(d.sizes))
end

local parts = {}

function parts.identifier(c) return ("%s, version %s, of class %s"):format(c.identifier.name, c.identifier.version, c.identifier.class) end

function parts.scope(c)
  local shapes = {}
  for i, name in ipairs(c.scope.dims) do shapes[i] = domain(name, c.scope.shapes[name]) end
  return ("%s from %s to %s, for %s"):format(c.scope.operation, list(c.scope.inputs, tensor), list(c.scope.outputs, tensor),
    table.concat(shapes, ", "))
end

--- The text of a function on one line; where it stands when its source cannot be read.
---@param f function
---@return string text
function M.function_text(f)
  local text = tokens.lines(f)
  return text and (text:gsub("^%s+", ""):gsub("%s*\n%s*", " ")) or debug.getinfo(f, "S").short_src
end

function parts.precondition(c) return M.function_text(c.precondition) end
function parts.postcondition(c) return M.function_text(c.postcondition) end
function parts.tolerance(c, seconds)
  return table.concat({ tostring(c.tolerance), table.unpack(worked.lines(c, seconds)) }, "\n" .. (" "):rep(15))
end

function parts.oracle(c)
  return list(c.scope.outputs, function(output) return ("%s = %s"):format(output.name, tostring(c.oracle[output.name])) end)
end

function parts.protocol(c)
  local p = c.protocol
  local samples, complete = protocol.samples(c, 0)
  local relations = p.relations and ("; relations %s"):format(list(p.relations)) or ""
  return ("%d %ss or more of each of %s%s; %d repeat%s, statistic %s, pass when %s; at most %.0f %% vacuous; %d launches under seed 0%s")
    :format(p.samples, p.judged, labels(p.inputs), relations, p.repeats, p.repeats == 1 and "" or "s", p.statistic, p.pass, 100 * p.vacuous,
      #samples, complete and "" or ", which the budget cuts short")
end

function parts.signature(c) return c.signature.pattern end

function parts.calibration(c)
  local k = c.calibration
  local function name(item) return item.name end
  local f = k.functional
  local limits = f.norm and ("a relative error of %g in the norm"):format(f.norm) or ("rtol %g and atol %g"):format(f.rtol, f.atol)
  return ("baseline %s; bad %s; good %s; probes %s; functional test %s with %s"):format(k.baseline.name, list(k.bad, name),
    list(k.good, name), list(k.probes), list(f.inputs), limits)
end

--- A contract as prose: all clauses, or one.
---@param loaded table
---@param clause string|nil
---@param seconds number limit for the contract's own functions
---@return string text
function M.contract(loaded, clause, seconds)
  local clauses = require("kc.contract").clauses
  local c = loaded.contract
  if clause and not parts[clause] then
    error({ code = "usage", message = ("no clause '%s'; %s"):format(clause, require("kc.words").hint(clause, clauses)) }, 0)
  end
  local lines = { ("%s %s  (%s)"):format(c.id, c.identifier.version, loaded.path) }
  for _, name in ipairs(clauses) do
    if not clause or clause == name then lines[#lines + 1] = ("%-14s %s"):format(name, parts[name](c, seconds)) end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
