---@module kc.plan
-- Plan mode of a judge: from files named on the command line to cells. No candidate runs here.
local core = require "kc.core"
local external = require "kc.external"
local implementations = require "kc.implementation"
local loader = require "kc.loader"
local manifest = require "kc.manifest"
local words = require "kc.words"
local M = {}

--- Pattern of a shell-like glob: * and ? only.
---@param glob string
---@return string pattern
function M.pattern(glob)
  return "^" .. glob:gsub("[%^%$%(%)%%%.%[%]%+%-]", "%%%0"):gsub("%*", ".*"):gsub("%?", ".") .. "$"
end

--- True when the text matches the glob; without a glob everything does.
---@param text string
---@param glob string|nil
---@return boolean
function M.matches(text, glob) return not glob or text:match(M.pattern(glob)) ~= nil end

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

-- A suite stands for the files it names, relative to itself.
local function expand(path, found)
  local loaded = loader.load(path)
  if not loaded or loaded.value.kc_type ~= "suite" then
    found[#found + 1] = path
    return
  end
  local directory = path:match("^(.*)/[^/]*$") or "."
  if #loaded.value.judge > 0 then found[#found + 1] = path end
  for _, entry in ipairs(loaded.value.contracts) do
    local target = entry:sub(1, 1) == "/" and entry or directory .. "/" .. entry
    local stat = core.stat(target)
    if not stat then stop(("%s: the suite names '%s', which does not exist"):format(path, entry)) end
    local inner = stat.type ~= "directory" and loader.load(target)
    if inner and inner.value.kc_type == "suite" then
      stop(("%s: the suite names '%s', which is a suite; name contracts"):format(path, entry))
    end
    if stat.type == "directory" then contracts_below(target, found) else found[#found + 1] = target end
  end
end

--- Files of the contracts whose id, class or name is `id`; raises naming the nearest when there is none.
---@param id string
---@param roots table directories
---@return table paths
function M.by_id(id, roots)
  local found, known = {}, {} -- known: a set, as two classes may have contracts of one name
  for _, root in ipairs(roots) do
    for _, path in ipairs(#found == 0 and contracts_below(root, {}) or {}) do
      local loaded = loader.contract(path)
      local c = loaded and loaded.contract
      if c then
        known[id:find("/", 1, true) and c.id or c.identifier.name] = true
        if c.id == id or c.identifier.name == id or c.identifier.class == id then found[#found + 1] = path end
      end
    end
  end
  if #found == 0 then
    local names = words.keys(known)
    stop(("no file and no contract is called '%s'%s"):format(id, #names > 0 and "; " .. words.hint(id, names) or ""))
  end
  return found
end

-- An argument names a directory, a file, or a contract by id, class or name in the contract roots.
local function files_of(target, roots, found)
  local stat = core.stat(target)
  if not stat and core.stat(loader.split(target) or "") then -- a contract that stands in a suite
    found[#found + 1] = target
  elseif not stat then
    for _, path in ipairs(M.by_id(target, roots)) do found[#found + 1] = path end
  elseif stat.type == "directory" then
    local before = #found
    contracts_below((target:gsub("(.)/+$", "%1")), found)
    if #found == before then stop(("'%s' holds no contract.lua"):format(target)) end
  else
    expand(target, found)
  end
end

--- Contract files that the targets name, each once, in order.
---@param targets table
---@param roots table directories searched for contracts named by id
---@return table paths
function M.files(targets, roots)
  local found, seen, out = {}, {}, {}
  for _, target in ipairs(targets) do files_of(target, roots, found) end
  for _, path in ipairs(found) do
    if not seen[path] then out[#out + 1] = path end
    seen[path] = true
  end
  return out
end

local function chosen(entry, request)
  if request.impl then return M.matches(entry.implementation.name, request.impl) end
  if entry.chosen ~= nil then return entry.chosen end
  return entry.role == "good" or entry.role == "candidate"
end

--- Role of the i-th implementation of a suite's entry: in an incident's, what ran is bad and the remedy is good.
---@param item table
---@param i integer
---@return string role
function M.role(item, i)
  if not item.remedies then return "candidate" end
  return i > #item.implementations - item.remedies and "good" or "bad"
end

-- Contracts with equal inputs and oracles may share enclosures, when one judge takes them one after another.
local function affinity(contract)
  local parts = {}
  for _, output in ipairs(contract.scope.outputs) do parts[#parts + 1] = tostring(contract.oracle[output.name]) end
  return table.concat(parts, " ")
end

local function describe(loaded, path, digest_of, entries, request, directory)
  local c = loaded.contract
  if not M.matches(c.id, request.filter) then return nil end
  local states, cells = {}, {}
  for i, entry in ipairs(entries) do
    local item = entry.implementation
    local outside = external.is(item)
    states[i] = { role = entry.role, name = item.name, run = outside and item.run ~= item.name and item.run or nil }
    for d, device in ipairs(request.devices) do
      if chosen(entry, request) and not (outside and d > 1) then -- no device of kc's runs a command: the first has the calibration
        cells[#cells + 1] = { path = path, contract = c.id, digest = digest_of(entry), implementation = entry.implementation.name,
                              role = entry.role, device = outside and external.DEVICE or device, on = device,
                              given = entry.given, matrix = entry.matrix, row = entry.row, column = entry.column,
                              timeout = entry.timeout,
                              absent = implementations.absent(entry.implementation, directory, device) }
      end
    end
  end
  return { contract = { id = c.id, version = c.identifier.version, path = loaded.reference, digest = loaded.digest,
                        affinity = affinity(c), operation = c.scope.operation, tolerance = tostring(c.tolerance),
                        implementations = states },
           cells = cells }
end

-- What the command line gives to be judged.
local function given_entries(loaded, request)
  local entries = {}
  for i, given in ipairs(request.given) do
    local implementation = implementations.given(given.name, given)
    if implementation.kind == "dumped" then manifest.check(implementation, loaded, request) end
    entries[i] = { role = "candidate", implementation = implementation, given = { kind = given.kind, with = given.with } }
  end
  return entries
end

--- A contract file planned: what it is, and the cells that the request selects.
---@param loaded table
---@param request table {devices=, filter=glob|nil, impl=glob|nil, given={{name=, kind=, with=}, ...} (judged instead of the good ones)|nil}
---@return table plans one {contract=, cells=}, or none when the filter excludes it
function M.contract(loaded, request)
  if request.given then
    return { describe(loaded, loaded.reference, function(entry) return external.digest(loaded, entry.implementation, ".") end,
      given_entries(loaded, request), request, ".") }
  end
  return { describe(loaded, loaded.reference, function() return loaded.digest end, loaded.contract:implementations(),
    request, loaded.directory) }
end

--- A suite's entries planned, each with its contract.
---@param suite table what loader.suite returned
---@param load function contract file -> loaded
---@param request table
---@return table plans
function M.suite(suite, load, request)
  if request.given then stop(suite.path .. " is a suite and says itself what is judged; name contracts") end
  local plans = {}
  for _, item in ipairs(suite.suite.judge) do
    local entries = {}
    for i, implementation in ipairs(item.implementations) do
      local role = M.role(item, i)
      entries[i] = { role = role, implementation = implementation, matrix = item.matrix, row = item.row, column = item.column,
                     timeout = suite.suite.timeout, chosen = role ~= "good" } -- an incident shows what ran
    end
    local loaded = load(M.contract_of(suite, item, request.roots))
    local described = describe(loaded, suite.path, function(entry) return M.digest(suite, loaded, entry.implementation) end, entries,
      request, suite.directory)
    if described then described.story = suite.suite.story end
    plans[#plans + 1] = described
  end
  return plans
end

--- The file of the contract that a suite's entry names, or how one that it holds is called.
function M.contract_of(suite, item, roots)
  if type(item.contract) == "table" then return loader.reference(suite.path, item.contract.id) end
  for _, path in ipairs { item.contract, suite.directory .. "/" .. item.contract } do
    local stat = core.stat(path)
    if stat and stat.type == "file" then return path end
    if stat and core.stat(path .. "/contract.lua") then return path .. "/contract.lua" end
  end
  return M.by_id(item.contract, roots)[1]
end

--- Identity of a suite's implementation under a contract: both texts and the kernel's.
function M.digest(suite, loaded, implementation)
  return core.sha256(loaded.digest .. loader.digest(suite.text, { { implementation = implementation } }, suite.directory))
end

return M
