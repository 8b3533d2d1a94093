---@module kc.limit
-- Bounds the time of contract code inside the judge. A clause that catches the error and goes on is ended by the supervisor.
local core = require "kc.core"
local M = {}

local CHECK_EVERY = 100000 -- VM instructions: about a millisecond

-- Only this module makes such errors; a contract that raises a table of its own cannot pass for one.
local Exceeded = { __tostring = function(e) return e.message end, __metatable = false }
local made = setmetatable({}, { __mode = "k" })

--- True for the error that M.call raises.
---@param e any
---@return boolean
function M.is(e) return made[e] == true end

local function exceeded(what, seconds)
  local e = setmetatable({ code = "limit", message = ("%s did not return within %g s"):format(what, seconds) }, Exceeded)
  made[e] = true
  return e
end

--- Calls f(...), which does not raise, under a hook; then the hook that was there is back (one set from C cannot be put back).
---@param hook function
---@param every integer VM instructions between two calls of it
---@param f function
---@return any ...
function M.hooked(hook, every, f, ...)
  local old, mask, count = debug.gethook()
  debug.sethook(hook, "", every)
  local results = table.pack(f(...))
  debug.sethook(type(old) == "function" and old or nil, mask, count)
  return table.unpack(results, 1, results.n)
end

--- Calls f(...) and raises {code="limit"} when its Lua code runs longer than `seconds`.
---@param seconds number
---@param what string names the code in the message
---@param f function
---@return any ...
function M.call(seconds, what, f, ...)
  local deadline = core.clock() + seconds
  local function look()
    if core.clock() > deadline then error(exceeded(what, seconds), 0) end
  end
  local result = table.pack(M.hooked(look, CHECK_EVERY, pcall, f, ...))
  if not result[1] then error(result[2], 0) end
  return table.unpack(result, 2, result.n)
end

return M
