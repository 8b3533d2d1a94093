---@module kc
-- A check is the three-valued answer of a predicate with its evidence. Clause functions return one check or a list of them.
local M = {}

local Check = {}
Check.__index = Check
Check.__name = "kc.check"
Check.__metatable = false

local rank = { no = 1, unknown = 2, yes = 3 }
local answer_of = { "no", "unknown", "yes" }
local opposite = { no = "yes", unknown = "unknown", yes = "no" }

local function new(answer, text, data)
  return setmetatable({ answer = answer, text = text or answer, data = data, parts = {} }, Check)
end

local function is_check(value) return type(value) == "table" and rank[rawget(value, "answer") or ""] ~= nil end

--- A check from a check or a boolean; anything else is an error.
---@param value any
---@param where string what returned it, for the message
---@return table check
function M.of(value, where)
  if is_check(value) then return value end
  if value == true then return new("yes", where) end
  if value == false then return new("no", where) end
  error(("%s: expected a check or a boolean, got %s"):format(where, value == nil and "nil (a forgotten return?)"
    or type(value)), 0)
end

local function combine(list, pick, joiner)
  local rank_now = pick == math.min and 3 or 1
  local out = new("yes")
  local texts = {}
  for i, item in ipairs(list) do
    local c = M.of(item, "item " .. i)
    rank_now = pick(rank_now, rank[c.answer])
    out.parts[i] = c
  end
  out.answer = answer_of[rank_now]
  for _, c in ipairs(out.parts) do
    if c.answer == out.answer then texts[#texts + 1] = c.text end
  end
  out.text = #texts > 0 and table.concat(texts, joiner) or out.answer
  return out
end

--- Yes when every check is yes, no when one is no, else unknown.
--- > kc.all({ kc.yes "a", kc.unknown "b" }).answer
--- "unknown"
--- > kc.all({ kc.no "a", kc.unknown "b" }).answer
--- "no"
---@param list table checks or booleans
---@return table check
function M.all(list)
  if #list == 0 then error("kc.all: an empty list proves nothing", 2) end
  return combine(list, math.min, "; ")
end

--- Yes when one check is yes, no when all are no, else unknown.
--- > kc.any({ kc.yes "a", kc.unknown "b" }).answer
--- "yes"
--- > (kc.yes "a" & ~kc.yes "b").answer
--- "no"
---@param list table checks or booleans
---@return table check
function M.any(list)
  if #list == 0 then error("kc.any: an empty list proves nothing", 2) end
  return combine(list, math.max, "; ")
end

--- The check "yes" with its evidence.
--- > kc.yes "all equal"
--- yes (all equal)
---@param text string
---@param data table|nil
---@return table check
function M.yes(text, data) return new("yes", text, data) end

--- The check "no" with its evidence.
---@param text string
---@param data table|nil
---@return table check
function M.no(text, data) return new("no", text, data) end

--- The check "cannot tell" with its reason.
---@param text string
---@param data table|nil
---@return table check
function M.unknown(text, data) return new("unknown", text, data) end

--- All checks that a clause function returned, as one: a single check, a boolean, or a list whose members must all be yes.
---@param value any
---@param where string
---@return table check
function M.clause(value, where)
  if type(value) == "table" and not is_check(value) then
    if #value == 0 then error(where .. ": returned an empty list, which proves nothing", 0) end
    for i = 1, #value do M.of(value[i], ("%s, item %d"):format(where, i)) end
    return M.all(value)
  end
  return M.of(value, where)
end

--- Calls visit(check) for the check and everything it was combined from.
---@param c table
---@param visit function
function M.each(c, visit)
  visit(c)
  for _, part in ipairs(c.parts) do M.each(part, visit) end
end

function Check.__band(a, b) return M.all { a, b } end
function Check.__bor(a, b) return M.any { a, b } end

function Check.__bnot(a)
  local out = new(opposite[a.answer], "not: " .. a.text, a.data)
  out.parts[1] = a
  return out
end

function Check.__tostring(a) return ("%s (%s)"):format(a.answer, a.text) end

return M
