---@module kc.progress
-- How far a run is: one line on a terminal's stderr, rewritten in place.
local core = require "kc.core"
local M = {}

local PAUSE = 0.1 -- seconds between two drawings

local function eta(run)
  local spent = core.clock() - run.started
  if run.finished == 0 then return "" end
  return (", about %.0f s left"):format(spent / run.finished * (run.total - run.finished))
end

--- Draws the line again, unless that has just been done.
---@param run table {started=, finished=, total=}
---@param judges table list of {task=}
function M.draw(run, judges)
  local now = core.clock()
  if run.total == 0 or now - (run.drawn or 0) < PAUSE then return end
  run.drawn = now
  local what = {}
  for _, judge in ipairs(judges) do
    local r = judge.task and judge.task.request
    if r and r.path then what[#what + 1] = ("%s %s"):format(r.cmd, r.implementation or r.path:match("([^/]+)/[^/]*$") or r.path) end
  end
  local line = ("[%d/%d] %s%s"):format(run.finished, run.total, table.concat(what, ", "), eta(run))
  io.stderr:write("\r\27[K", line:sub(1, core.columns(2) - 1))
end

return M
