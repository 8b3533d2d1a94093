---@module kc
-- kc.suite: contracts that run together, and implementations to be judged against contracts that others wrote.
local contracts = require "kc.contract"
local implementation = require "kc.implementation"
local words = require "kc.words"
local M = {}

-- What this module made: a table that a file dresses up as a suite is none.
local made = setmetatable({}, { __mode = "k" })

local Suite = { __name = "kc.suite", __metatable = false, kc_type = "suite" }
Suite.__index = Suite

local function only(where, t, known)
  if type(t) ~= "table" then error(("%s: expected a table, got %s"):format(where, words.show(t)), 3) end
  for _, key in ipairs(words.keys(t)) do
    local found = false
    for _, name in ipairs(known) do found = found or name == key end
    if not found then error(("%s: unknown field '%s'; %s"):format(where, tostring(key), words.hint(tostring(key), known)), 3) end
  end
end

local function list(where, value, is, expected)
  if type(value) ~= "table" or #value == 0 then
    error(("%s: expected a list of %s, got %s"):format(where, expected, words.show(value)), 3)
  end
  local copy = {}
  for i, item in ipairs(value) do
    if not is(item) then error(("%s, item %d: expected %s, got %s"):format(where, i, expected, words.show(item)), 3) end
    copy[i] = item
  end
  return copy
end

local function is_string(value) return type(value) == "string" and value ~= "" end

-- What is known of a finding: globs of the case (a sample's label) and of the implementation, and the text.
local function explanations(where, given)
  local copy = {}
  for i, item in ipairs(given) do
    local at = ("%s: field 'explain', item %d"):format(where, i)
    only(at, item, { "case", "implementation", "text" })
    for _, key in ipairs { "case", "implementation", "text" } do
      if not is_string(item[key]) then error(("%s: field '%s': expected text, got %s"):format(at, key, words.show(item[key])), 4) end
    end
    copy[i] = item
  end
  return copy
end

-- A contract written in the suite itself; its Lua implementations are found by name alone.
local function own_contract(where, contract, seen)
  if seen[contract.id] then error(("%s: two contracts are called '%s'"):format(where, contract.id), 4) end
  seen[contract.id] = true
  for _, item in ipairs(contract:implementations()) do
    local name = item.implementation.kind == "lua" and item.implementation.name
    if name and seen[name] then error(("%s: two implementations are called '%s'; give one a name"):format(where, name), 4) end
    if name then seen[name] = true end
  end
end

local function entry(where, given, seen)
  only(where, given, { "contract", "implementations", "matrix", "explain", "row", "column" })
  if contracts.is(given.contract) then
    own_contract(where, given.contract, seen)
  elseif not is_string(given.contract) then
    error(("%s: field 'contract': expected a path, an id or a kc.contract, got %s"):format(where, words.show(given.contract)), 3)
  end
  for _, key in ipairs { "matrix", "row", "column" } do
    if given[key] ~= nil and not is_string(given[key]) then
      error(("%s: field '%s': expected text, got %s"):format(where, key, words.show(given[key])), 3)
    end
  end
  local items = list(where .. ": field 'implementations'", given.implementations, implementation.is, "implementations")
  for _, item in ipairs(items) do
    if seen[item.name] then error(("%s: two implementations are called '%s'; give one a name"):format(where, item.name), 3) end
    seen[item.name] = true
  end
  return { contract = given.contract, implementations = items, matrix = given.matrix, row = given.row, column = given.column,
           explain = explanations(where, given.explain or {}) }
end

--- A suite. `contracts`: files or directories, relative to the suite, whose own good implementations run. `judge`: implementations,
--- with files relative to the suite, against contracts named by path or id, or written in the suite. Entries of one `matrix` share the
--- table of cases that a report shows of them; `explain` = {{case=glob, implementation=glob, text=}, ...} says why findings in it are
--- as they are. An entry's `row` and `column` say where its result stands in the table that a report ends with. `timeout`: seconds
--- that a cell of `judge` may take where the command line says nothing.
---@param fields table {name=text, contracts={paths}|nil, timeout=number|nil,
---  judge={{contract=, implementations={...}, matrix=, explain=, row=, column=}, ...}|nil}
---@return table suite
function M.suite(fields)
  only("kc.suite", fields, { "name", "contracts", "judge", "timeout" })
  if not is_string(fields.name) then error("kc.suite: field 'name': expected text, got " .. words.show(fields.name), 2) end
  if fields.contracts == nil and fields.judge == nil then error("kc.suite: one of the fields 'contracts' and 'judge' is needed", 2) end
  local timeout = fields.timeout
  if timeout ~= nil and not (type(timeout) == "number" and timeout > 0) then
    error("kc.suite: field 'timeout': expected seconds for one cell, got " .. words.show(timeout), 2)
  end
  local suite, seen = { name = fields.name, contracts = {}, judge = {}, timeout = timeout and timeout + 0.0 }, {}
  if fields.contracts then suite.contracts = list("kc.suite: field 'contracts'", fields.contracts, is_string, "paths") end
  if fields.judge then
    for i, given in ipairs(list("kc.suite: field 'judge'", fields.judge, function(v) return type(v) == "table" end, "tables")) do
      suite.judge[i] = entry(("kc.suite: judge %d"):format(i), given, seen)
    end
  end
  made[suite] = true
  return setmetatable(suite, Suite)
end

--- True for a suite.
function M.is(value) return made[value] == true end

return M
