---@module kc
-- kc.incident: a documented failure as a script. Modelled kernels stand for what ran; a contract judges them, beside the test that they
-- passed at the time; the report tells the incident. See spec/incidents.md.
local implementation = require "kc.implementation"
local suite = require "kc.suite"
local words = require "kc.words"
local M = {}

local function is_text(v) return type(v) == "string" and v ~= "" end

local function event(where, given)
  if type(given) ~= "table" then error(("%s: expected a table {when=, text=, source=}, got %s"):format(where, words.show(given)), 4) end
  for _, key in ipairs(words.keys(given)) do
    if key ~= "when" and key ~= "text" and key ~= "source" then
      error(("%s: unknown field '%s'; %s"):format(where, tostring(key), words.hint(tostring(key), { "when", "text", "source" })), 4)
    end
  end
  for _, key in ipairs { "when", "text", "source" } do
    if not is_text(given[key]) then error(("%s: field '%s': expected text, got %s"):format(where, key, words.show(given[key])), 4) end
  end
  return { when = given.when, text = given.text, source = given.source }
end

local known = { "name", "summary", "timeline", "judge", "lesson", "timeout" }

-- An entry is a suite's, and says besides what ran, by which clause it is wrong, and which modelled kernels are the remedy.
local function entry(where, given)
  if type(given) ~= "table" then error(("%s: expected a table, got %s"):format(where, words.show(given)), 4) end
  for _, key in ipairs { "ran", "clause" } do
    if not is_text(given[key]) then error(("%s: field '%s': expected text, got %s"):format(where, key, words.show(given[key])), 4) end
  end
  if type(given.remedy) ~= "table" or #given.remedy == 0 then
    error(("%s: field 'remedy': expected a list of implementations that are right, got %s"):format(where, words.show(given.remedy)), 4)
  end
  for i, item in ipairs(given.remedy) do
    if not implementation.is(item) then
      error(("%s: field 'remedy', item %d: expected an implementation, got %s"):format(where, i, words.show(item)), 4)
    end
  end
  local own = {}
  for _, key in ipairs(words.keys(given)) do
    if key ~= "ran" and key ~= "clause" and key ~= "remedy" and key ~= "usual" then own[key] = given[key] end
  end
  local all = {}
  for _, item in ipairs(given.implementations or {}) do all[#all + 1] = item end
  for _, item in ipairs(given.remedy) do all[#all + 1] = item end
  own.implementations = #(given.implementations or {}) > 0 and all or {}
  return own, { ran = given.ran, clause = given.clause, remedies = #given.remedy, usual = given.usual }
end

--- An incident. `judge` lists { contract, implementations, remedy, ran, clause, usual }: implementations are modelled kernels of what ran,
--- which `kc run` judges; `remedy` those that are right, which `--impl` chooses; `ran` and `clause` say in words what the kernels
--- do and which clause they break; `usual`, in the form of a contract's functional test, is the test that they passed
--- (the contract's own when absent).
---@param fields table {name=text, summary=text, timeline={{when=, text=, source=}, ...}, judge={...}, lesson=text, timeout=number|nil}
---@return table incident
function M.incident(fields)
  if type(fields) ~= "table" then error("kc.incident: expected a table, got " .. words.show(fields), 2) end
  for _, key in ipairs(words.keys(fields)) do
    if not words.holds(known, key) then
      error(("kc.incident: unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), known)), 2)
    end
  end
  for _, key in ipairs { "name", "summary", "lesson" } do
    if not is_text(fields[key]) then error(("kc.incident: field '%s': expected text, got %s"):format(key, words.show(fields[key])), 2) end
  end
  for _, key in ipairs { "timeline", "judge" } do
    if type(fields[key]) ~= "table" or #fields[key] == 0 then
      error(("kc.incident: field '%s': expected a list, got %s"):format(key, words.show(fields[key])), 2)
    end
  end
  local story = { name = fields.name, summary = fields.summary, lesson = fields.lesson, timeline = {} }
  for i, given in ipairs(fields.timeline) do story.timeline[i] = event(("kc.incident: timeline %d"):format(i), given) end
  local judge, more = {}, {}
  for i, given in ipairs(fields.judge) do judge[i], more[i] = entry(("kc.incident: judge %d"):format(i), given) end
  local made = suite.suite { name = fields.name, judge = judge, timeout = fields.timeout }
  for i, item in ipairs(made.judge) do
    for key, value in next, more[i] do item[key] = value end -- each by itself
    if item.usual then
      local functional = require("kc.contract").functional
      functional(function(message) error(("kc.incident: judge %d: field 'usual': %s"):format(i, message), 0) end, item.usual)
    end
  end
  made.story = story
  return made
end

return M
