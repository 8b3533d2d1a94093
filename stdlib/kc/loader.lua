---@module kc.loader
-- Loads contract files: text only, in an environment that cannot reach files, processes or the judge.
local core = require "kc.core"
local words = require "kc.words"
local M = {}

local allowed = { "assert", "error", "ipairs", "next", "pairs", "pcall", "select", "tonumber", "tostring", "type", "xpcall",
                  "rawequal", "rawlen", "setmetatable", "getmetatable" }

local function copy(library, without)
  local out = {}
  for key, value in next, library do out[key] = value end -- a copy
  for _, key in ipairs(without or {}) do out[key] = nil end
  return out
end

-- The judge's own tables, as a file may see them. What one lacks is named with what comes near, where `called` says what to call it;
-- kc.oracle does so itself.
local function read_only(t, called)
  local function known(_, name)
    local value = t[name]
    if value == nil then error(("%s has no '%s'; %s"):format(called, tostring(name), words.hint(tostring(name), words.keys(t))), 2) end
    return value
  end
  return setmetatable({}, { __index = called and known or t, __metatable = false,
    __newindex = function(_, name) error(("kc cannot be changed: '%s'"):format(tostring(name)), 2) end })
end

-- kc as the file sees it: contracts made here know where they were written.
local function view(kc, path)
  local function contract(clauses) return require("kc.contract").make(clauses, { path = path, line = 1 }) end
  return setmetatable({ sample = read_only(kc.sample, "kc.sample"), tolerance = read_only(kc.tolerance, "kc.tolerance"),
                        oracle = read_only(kc.oracle), reals = read_only(kc.reals),
                        signature = read_only(kc.signature, "kc.signature"), contract = contract }, {
    __index = kc, __metatable = false,
    __newindex = function(_, name) error(("kc cannot be changed: '%s'"):format(tostring(name)), 2) end,
  })
end

-- A fresh environment for each file. string.rep and friends stay: time and memory are bounded by the process.
local function environment(kc)
  local env = { math = copy(math, { "random", "randomseed" }), string = copy(string, { "dump" }), table = copy(table), utf8 = copy(utf8) }
  for _, name in ipairs(allowed) do env[name] = _G[name] end
  -- The metatable of strings leads to the judge's own string library.
  env.getmetatable = function(value) return type(value) ~= "string" and getmetatable(value) or nil end
  env.print = function(...)
    local parts = table.pack(...)
    for i = 1, parts.n do parts[i] = tostring(parts[i]) end
    io.stderr:write(table.concat(parts, "\t"), "\n")
  end
  env.require = function(name)
    if name ~= "kc" then error(("a contract may only require \"kc\", not %q"):format(tostring(name)), 2) end
    return kc
  end
  env._G = env
  return setmetatable(env, { __index = function(_, key)
    local hint = _G[key] ~= nil and "is not available in a contract" or "is not defined"
    error(("'%s' %s"):format(tostring(key), hint), 2)
  end })
end

local function read(path)
  local stat = core.stat(path)
  if stat and stat.type == "other" then return nil, path .. " is neither a file nor a directory (a pipe or device is not read)" end
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text, why = file:read("a")
  file:close()
  if not text then return nil, ("%s: %s"):format(path, why) end
  return text
end

--- Reads a whole file.
---@param path string
---@return string|nil text, string|nil message
M.read = read

--- A file named in a contract or suite: relative to it, unless absolute. Of a list the first that exists, else the first.
---@param directory string
---@param file string|table
---@return string path
function M.resolve(directory, file)
  if type(file) == "string" then return file:sub(1, 1) == "/" and file or directory .. "/" .. file end
  for _, candidate in ipairs(file) do
    local path = M.resolve(directory, candidate)
    if core.stat(path) then return path end
  end
  return M.resolve(directory, file[1])
end

-- Libraries are large and each cell names one: a digest is kept for as long as size and time of the file are the same.
local digests = {}

--- SHA-256 of a file, or nil when it cannot be read.
---@param path string
---@return string|nil digest
function M.file_digest(path)
  local stat = core.stat(path)
  if not stat or stat.type ~= "file" then return nil end
  local known = digests[path]
  if not known or known.size ~= stat.size or known.mtime ~= stat.mtime then
    known = { size = stat.size, mtime = stat.mtime, digest = core.sha256file(path) }
    digests[path] = known
  end
  return known.digest
end

-- Text that identifies the judge: a contract's record is void when the judge changes, or an oracle that it was given.
local function judge_identity()
  local parts = { "kc " .. core.version }
  for _, extension in ipairs(core.extensions()) do
    if #extension.oracles + #extension.metrics > 0 then
      parts[#parts + 1] = extension.path and M.file_digest(extension.path) or "the program's own"
    end
  end
  return table.concat(parts, " + ")
end

--- Digest of a file's contract: its text, the text of every kernel file it names, and the judge's version.
---@param text string
---@param implementations table
---@param directory string
---@return string digest 64 hex digits
function M.digest(text, implementations, directory)
  local parts = { judge_identity(), core.sha256(text) }
  for _, item in ipairs(implementations) do
    for _, file in ipairs(item.implementation:files()) do parts[#parts + 1] = M.file_digest(M.resolve(directory, file)) or "-" end
  end
  return core.sha256(table.concat(parts, "\n"))
end

-- What a contract's digest stands for beside its text: its implementations, and the peer of its tolerance.
local function made_of(contract)
  local list = contract:implementations()
  if contract.tolerance.peer then list[#list + 1] = { implementation = contract.tolerance.peer } end
  return list
end

-- An error value of a file's own: text that already says where it comes from, other text, or anything else.
local function describe(value)
  if type(value) == "string" then return value end
  return ("raised a %s instead of a message"):format(type(value))
end

--- Runs the file and returns what it returned: a contract or a suite.
---@param path string
---@return table|nil value, string|nil message
function M.load(path)
  local text, message = read(path)
  if not text then return nil, message end
  local kc, contracts, limit = require "kc", require "kc.contract", require "kc.limit"
  local chunk, syntax = load(text, "@" .. path, "t", environment(view(kc, path)))
  if not chunk then return nil, syntax end
  local ok, value = pcall(chunk)
  if not ok and limit.is(value) then error(value, 0) end
  if not ok and contracts.is_error(value) then return nil, tostring(value) end
  if not ok then
    local raised = describe(value)
    return nil, raised:find(path, 1, true) and raised or path .. ": " .. raised
  end
  if not contracts.is(value) and not require("kc.suite").is(value) then
    return nil, ("%s: expected the file to return a kc.contract or a kc.suite, got %s"):format(path, type(value))
  end
  return { value = value, path = path, text = text }
end

--- Loads a contract file.
---@param path string
---@return table|nil loaded {contract=, path=, directory=, digest=}
---@return string|nil message
function M.contract(path)
  local loaded, message = M.file(path)
  if loaded and not loaded.contract then return nil, ("%s: expected a kc.contract, got a kc.suite"):format(path) end
  return loaded, message
end

--- Loads a contract or a suite file.
---@param path string
---@return table|nil loaded {contract=, digest=} or {suite=, text=}, with path and directory
---@return string|nil message
function M.file(path)
  local loaded, message = M.load(path)
  if not loaded then return nil, message end
  local value, directory = loaded.value, path:match("^(.*)/[^/]*$") or "."
  if value.kc_type == "suite" then return { suite = value, path = path, directory = directory, text = loaded.text } end
  return { contract = value, path = path, reference = path,
           directory = directory, digest = M.digest(loaded.text, made_of(value), directory) }
end

--- A contract that stands in a suite itself, as if it were a file of its own: called SUITE#ID, told apart by the suite's whole text.
---@param suite table what loader.file returned
---@param id string
---@return table|nil loaded {contract=, path=, directory=, digest=, reference=}
function M.member(suite, id)
  for _, item in ipairs(suite.suite.judge) do
    local contract = item.contract
    if type(contract) == "table" and contract.id == id then
      return { contract = contract, path = suite.path, directory = suite.directory, reference = M.reference(suite.path, id),
               digest = M.digest(id .. "\n" .. suite.text, made_of(contract), suite.directory) }
    end
  end
end

--- What a contract in a suite is called.
---@param path string
---@param id string
---@return string reference
function M.reference(path, id) return path .. "#" .. id end

--- Takes the name of a contract in a suite apart.
---@param reference string
---@return string|nil path, string|nil id
function M.split(reference) return reference:match("^(.+)#(C%-%u%u%u%-%d%d/[%w_.%-]+)$") end

--- Every implementation that a contract or suite file holds.
---@param file table what loader.file returned
---@return table list of {role=, implementation=}
function M.implementations(file)
  if file.contract then return file.contract:implementations() end
  local list = {}
  for _, item in ipairs(file.suite.judge) do
    for _, implementation in ipairs(item.implementations) do list[#list + 1] = { role = "candidate", implementation = implementation } end
    local contract = type(item.contract) == "table" and item.contract
    if contract then table.move(contract:implementations(), 1, #contract:implementations(), #list + 1, list) end
  end
  return list
end

return M
