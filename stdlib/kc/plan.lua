---@module kc.plan
-- Plan mode of a judge: from files named on the command line to cells. No candidate runs here.
local core = require "kc.core"
local loader = require "kc.loader"
local M = {}

--- Pattern of a shell-like glob: * and ? only.
---@param glob string
---@return string pattern
function M.pattern(glob)
  return "^" .. glob:gsub("[%^%$%(%)%%%.%[%]%+%-]", "%%%0"):gsub("%*", ".*"):gsub("%?", ".") .. "$"
end

local function matches(text, glob) return not glob or text:match(M.pattern(glob)) ~= nil end

-- contract.lua files below a directory, in byte order.
local function contracts_below(directory, found)
  for _, name in ipairs(core.listdir(directory) or {}) do
    local path = directory .. "/" .. name
    local stat = core.stat(path)
    if stat and stat.type == "directory" then
      contracts_below(path, found)
    elseif name == "contract.lua" then
      found[#found + 1] = path
    end
  end
  return found
end

local function stop(message) error({ code = "usage", message = message }, 0) end

-- An argument names a directory, a file, or a contract by id or name in the contract roots.
local function files_of(target, roots)
  local stat = core.stat(target)
  if stat and stat.type == "directory" then
    local found = contracts_below(target:gsub("(.)/+$", "%1"), {})
    if #found == 0 then stop(("'%s' holds no contract.lua"):format(target)) end
    return found
  end
  if stat then return { target } end
  return M.by_id(target, roots)
end

--- Files of the contracts whose id, class or name is `id`; raises naming the nearest when there is none.
function M.by_id(id, roots)
  local found, known = {}, {}
  for _, root in ipairs(roots) do
    if #found == 0 then
      for _, path in ipairs(contracts_below(root, {})) do
        local loaded = loader.contract(path)
        local c = loaded and loaded.contract
        if c then
          known[#known + 1] = c.identifier.name
          if c.id == id or c.identifier.name == id or c.identifier.class == id then found[#found + 1] = path end
        end
      end
    end
  end
  if #found == 0 then
    local words = require "kc.words"
    stop(("no file and no contract is called '%s'%s"):format(id, #known > 0 and "; " .. words.hint(id, known) or ""))
  end
  return found
end

local function chosen(entry, request)
  if request.impl then return matches(entry.implementation.name, request.impl) end
  return entry.role == "good"
end

local function add_cells(out, loaded, request)
  local contract = loaded.contract
  for _, entry in ipairs(contract:implementations()) do
    for _, device in ipairs(request.devices) do
      if chosen(entry, request) then
        out.cells[#out.cells + 1] = { path = loaded.path, contract = contract.id, digest = loaded.digest,
                                      implementation = entry.implementation.name, role = entry.role, device = device }
      end
    end
  end
end

--- Contracts and cells for the targets. Files that do not load are returned as errors; the rest goes on.
---@param judge table
---@param request table {targets=, devices=, filter=glob|nil, impl=glob|nil, roots=}
---@return table reply {contracts=, cells=, errors=}
function M.make(judge, request)
  local out = { contracts = {}, cells = {}, errors = {} }
  local seen = {}
  for _, target in ipairs(request.targets) do
    for _, path in ipairs(files_of(target, request.roots)) do
      if not seen[path] then
        seen[path] = true
        local ok, loaded = pcall(judge.load, judge, path)
        if not ok then
          out.errors[#out.errors + 1] = loaded.message
        elseif matches(loaded.contract.id, request.filter) then
          local c = loaded.contract
          out.contracts[#out.contracts + 1] = { id = c.id, version = c.identifier.version, path = path, digest = loaded.digest,
                                                operation = c.scope.operation, tolerance = tostring(c.tolerance) }
          add_cells(out, loaded, request)
        end
      end
    end
  end
  return out
end

return M
