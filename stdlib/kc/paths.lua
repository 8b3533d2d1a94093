---@module kc.paths
-- Where things lie: cache and state directories (XDG), the programs, the contracts shipped with kc.
local core = require "kc.core"
local M = {}

local function xdg(variable, fallback)
  local base = os.getenv(variable)
  if base and base:sub(1, 1) == "/" then return base .. "/kc" end
  local home = os.getenv("HOME")
  return home and home ~= "" and (home .. fallback .. "/kc") or nil
end

--- Directory of caches (kernels/, calibration/): KC_CACHE, else XDG. nil when there is no home.
function M.cache() return os.getenv("KC_CACHE") or xdg("XDG_CACHE_HOME", "/.cache") end

--- The prompt's history, in a directory that is made; nil when there is no home.
---@return string|nil path
function M.history()
  local directory = xdg("XDG_STATE_HOME", "/.local/state")
  return directory and core.mkdirs(directory) and directory .. "/history" or nil
end

--- The user's own file for the prompt; nil when there is none.
---@return string|nil path
function M.rc()
  local directory = xdg("XDG_CONFIG_HOME", "/.config")
  return directory and core.stat(directory .. "/rc.lua") and directory .. "/rc.lua" or nil
end

--- A subdirectory of the cache, created; nil when caching is impossible.
function M.cache_dir(name)
  local base = M.cache()
  if not base or base == "" then return nil end
  local path = base .. "/" .. name
  return core.mkdirs(path) and path or nil
end

--- Directory of the program kc.
function M.program_directory() return core.exe():match("^(.*)/[^/]*$") end

--- Path of the runner program: KC_RUNNER, or beside kc (a build folder), or in lib/kc of its installation.
function M.runner()
  local bin = M.program_directory()
  local beside, installed = bin .. "/kc-runner", ("%s/%s/kc/kc-runner"):format(bin, core.lib)
  return os.getenv("KC_RUNNER") or (not core.stat(beside) and core.realpath(installed)) or beside
end

--- What names of a process's directories for external implementations begin with.
---@param pid integer
function M.scratch(pid) return ("%s/kc.%d."):format(os.getenv("TMPDIR") or "/tmp", pid) end

--- Removes the directories that a process has left.
---@param pid integer
function M.sweep(pid)
  local directory, prefix = M.scratch(pid):match("^(.*)/([^/]*)$")
  for _, name in ipairs(core.listdir(directory) or {}) do
    if name:sub(1, #prefix) == prefix then core.removetree(("%s/%s"):format(directory, name)) end
  end
end

--- Directories searched for contracts named by id.
function M.contract_roots()
  local bin = M.program_directory()
  local roots, seen = {}, {}
  for _, root in ipairs { "contracts", bin .. "/../contracts", ("%s/%s/contracts"):format(bin, core.share) } do
    local real = core.realpath(root)
    if real and not seen[real] then roots[#roots + 1] = root:sub(1, 1) == "/" and real or root end
    seen[real or root] = true
  end
  return roots
end

--- The contracts shipped with kc: ./contracts, or those installed beside the program; nil when there are none.
function M.default_contracts()
  for _, root in ipairs(M.contract_roots()) do
    local stat = core.stat(root)
    if stat and stat.type == "directory" then return root end
  end
end

return M
