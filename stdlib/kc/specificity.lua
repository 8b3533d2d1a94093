---@module kc.specificity
-- Are signatures specific? Each must recognise the bad implementations of its own contract (calibration asks that) and none of
-- another class: otherwise it names nothing.
local json = require "kc.json"
local measurement = require "kc.measurement"
local signature = require "kc.signature"
local M = {}

local function count(row, class, recognised)
  row[class] = row[class] or { recognised = 0, of = 0 }
  row[class].of = row[class].of + 1
  if recognised then row[class].recognised = row[class].recognised + 1 end
end

-- Restored once for all signatures.
local function restore(contracts)
  for _, item in ipairs(contracts) do
    for _, bad in ipairs(item.bads) do bad.restored = measurement.restore(bad.measurement) end
  end
end

--- Tries the signature of every contract on the bads of its own and of all other classes.
---@param contracts table list of {path=, contract=id, class=, bads=list of {name=, measurement=data}}
---@param load function path -> contract
---@param seconds number limit for one test
---@return table matrix {classes=sorted list, rows=class -> class -> {recognised=, of=}, faults=list of {contract=, bad=, text=}}
function M.cross(contracts, load, seconds)
  local matrix, known = { classes = {}, rows = {}, faults = json.list {} }, {}
  restore(contracts)
  for _, item in ipairs(contracts) do
    local contract = load(item.path)
    if not known[item.class] then table.insert(matrix.classes, item.class) end
    known[item.class] = true
    matrix.rows[item.class] = matrix.rows[item.class] or {}
    for _, other in ipairs(contracts) do
      for _, bad in ipairs((other == item or other.class ~= item.class) and other.bads or {}) do
        local recognised, text = signature.recognise(contract, bad.restored, seconds)
        count(matrix.rows[item.class], other.class, recognised)
        if other ~= item and (recognised or text) then
          table.insert(matrix.faults, { contract = item.contract, bad = ("%s %s"):format(other.contract, bad.name), text = text })
        end
      end
    end
  end
  table.sort(matrix.classes)
  return matrix
end

return M
