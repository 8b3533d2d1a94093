---@module kc.watch
-- `kc watch`: the same run again whenever a contract or a file beside it changes. Files are looked at ten times a second, by path, so that
-- editors which write a new file and rename it are seen too.
local core = require "kc.core"
local paths = require "kc.paths"
local verdict = require "kc.verdict"
local words = require "kc.words"
local M = {}

local PAUSE = 0.1 -- seconds between two looks

-- What editors leave beside a file: hidden files and backups.
local function passing(name) return name:match("^%.") or name:match("~$") or name:match("^#.*#$") end

--- What lies in directories: path -> size and time.
---@param directories table
---@return table files
function M.look(directories)
  local files = {}
  for _, directory in ipairs(directories) do
    for _, name in ipairs(core.listdir(directory) or {}) do
      local path = directory .. "/" .. name
      local stat = not passing(name) and core.stat(path)
      if stat and stat.type == "file" then files[path] = ("%d %.9f"):format(stat.size, stat.mtime) end
    end
  end
  return files
end

--- Paths that differ between two looks, in order.
---@param before table
---@param after table
---@return table paths
function M.changed(before, after)
  local list = {}
  for _, path in ipairs(words.keys(after)) do
    if before[path] ~= after[path] then list[#list + 1] = path end
  end
  for _, path in ipairs(words.keys(before)) do
    if not after[path] then list[#list + 1] = path end
  end
  return list
end

-- Waits until something differs from `before` and nothing has moved for one look; nil when a signal came.
local function wait_for_change(directories, before)
  local last = before
  repeat
    core.sleep(PAUSE)
    if core.interrupted() then return nil end
    local now = M.look(directories)
    local settled = #M.changed(last, now) == 0
    last = now
  until settled and #M.changed(before, now) > 0
  return last, M.changed(before, last)
end

-- Directories of the contract files that the command line names.
local function directories_of(o)
  local reply = require("kc.run").ask(o, { cmd = "files", targets = o.targets, roots = paths.contract_roots() })
  if reply.error then return nil, reply end
  local seen, list = {}, {}
  for _, path in ipairs(reply.files) do
    local directory = path:match("^(.*)/[^/]*$") or "."
    if not seen[directory] then list[#list + 1] = directory end
    seen[directory] = true
  end
  return list
end

-- A file that a contract names lies at its path; the line before each run says which changed.
local function separator(write, why) write(("---- %s %s ----\n"):format(os.date("%H:%M:%S"), why)) end

local function names(list)
  local out = {}
  for i, path in ipairs(list) do out[i] = path:match("[^/]+$") end
  return table.concat(out, ", ")
end

--- Runs once, and again after every change until a signal ends it.
---@param o table {targets=, ...} of the command line
---@param run function judges once
---@param write function
---@return integer exit code
function M.run(o, run, write)
  if #o.targets == 0 then return verdict.refused { error = "watch: expected a contract or a directory", code = "usage" } end
  core.catch_signals()
  local directories, refusal = directories_of(o)
  if not directories then return verdict.refused(refusal) end
  local state, why = M.look(directories), { "first run" }
  while state do
    separator(write, why[1] == "first run" and why[1] or names(why) .. " changed")
    run()
    if core.interrupted() then break end
    state, why = wait_for_change(directories, state)
  end
  return verdict.exit.interrupted
end

return M
