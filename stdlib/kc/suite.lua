---@module kc
-- kc.suite: a named list of contracts that run together.
local words = require "kc.words"
local M = {}

local Suite = { __name = "kc.suite", __metatable = false, kc_type = "suite" }
Suite.__index = Suite

--- A suite: contracts by path, relative to the suite's file.
---@param fields table {name=text, contracts={paths of contract.lua files or of directories that hold them}}
---@return table suite
function M.suite(fields)
  local known = { "name", "contracts" }
  if type(fields) ~= "table" then error("kc.suite: expected a table, got " .. words.show(fields), 2) end
  for _, key in ipairs(words.keys(fields)) do
    if key ~= "name" and key ~= "contracts" then
      error(("kc.suite: unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), known)), 2)
    end
  end
  if type(fields.name) ~= "string" then error("kc.suite: field 'name': expected text, got " .. words.show(fields.name), 2) end
  if type(fields.contracts) ~= "table" or #fields.contracts == 0 then
    error("kc.suite: field 'contracts': expected a list of paths, got " .. words.show(fields.contracts), 2)
  end
  local copy = {}
  for i, path in ipairs(fields.contracts) do
    if type(path) ~= "string" then error(("kc.suite: contract %d: expected a path, got %s"):format(i, words.show(path)), 2) end
    copy[i] = path
  end
  return setmetatable({ name = fields.name, contracts = copy }, Suite)
end

return M
