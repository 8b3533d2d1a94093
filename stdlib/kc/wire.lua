---@module kc.wire
-- Messages between the roles: canonical JSON text over a channel, with file descriptors where buffers cross.
local json = require "kc.json"
local M = {}

--- Sends a table.
---@param channel userdata
---@param message table
---@param fds table|nil list of descriptors
---@return boolean|nil ok, string|nil message
function M.send(channel, message, fds) return channel:send(json.encode(message), fds) end

--- A number as text that loses nothing, integers as integers; M.tonumber reads it back.
---@param x number
---@return string text
function M.number(x) return math.type(x) == "integer" and ("%d"):format(x) or json.float(x) end

--- Reads what M.number wrote.
---@param text string
---@return number|nil x
function M.tonumber(text) return text:match("^%-?%d+$") and math.tointeger(text) or json.tofloat(text) end

--- Receives a table.
---@param channel userdata
---@param timeout number|nil seconds
---@return table|nil message, table|string|nil fds_or_error, string|nil code "timeout", "closed" or "io"
function M.receive(channel, timeout)
  local text, fds, code = channel:receive(timeout)
  if not text then return nil, fds, code end
  local message, why = json.decode(text)
  if type(message) ~= "table" then return nil, "a malformed message: " .. tostring(why or "not an object"), "io" end
  return message, fds
end

return M
