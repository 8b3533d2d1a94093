---@module kc.cache
-- The cache of compiled kernels and calibration records: its size, its limit, and how to clear it.
local core = require "kc.core"
local paths = require "kc.paths"
local M = {}

M.LIMIT = 256 * 1024 * 1024

local function collect(directory, files)
  for _, name in ipairs(core.listdir(directory) or {}) do
    local path = directory .. "/" .. name
    local stat = core.stat(path)
    if stat and stat.type == "directory" then
      collect(path, files)
    elseif stat then
      files[#files + 1] = { path = path, size = stat.size, mtime = stat.mtime }
    end
  end
  return files
end

local function files()
  local base = paths.cache()
  local all = {}
  if not base or base == "" then return all end
  for _, name in ipairs { "kernels", "calibration" } do collect(base .. "/" .. name, all) end
  return all
end

--- Bytes and files in the cache.
---@return integer bytes, integer count
function M.size()
  local bytes, list = 0, files()
  for _, file in ipairs(list) do bytes = bytes + file.size end
  return bytes, #list
end

--- Removes the oldest files until at most `limit` bytes are left.
---@param limit integer
---@return integer removed
function M.trim(limit)
  local list = files()
  table.sort(list, function(a, b) return a.mtime < b.mtime or (a.mtime == b.mtime and a.path < b.path) end)
  local bytes, removed = 0, 0
  for _, file in ipairs(list) do bytes = bytes + file.size end
  for _, file in ipairs(list) do
    if bytes <= limit then break end
    if core.remove(file.path) then bytes, removed = bytes - file.size, removed + 1 end
  end
  return removed
end

return M
