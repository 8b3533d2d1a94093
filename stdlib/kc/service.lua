---@module kc.service
-- `kc --role=run FD COMMAND...`: the command line for a program that embeds kc (kc.embed). Results, messages and progress go over a
-- channel instead of to stdout and stderr.
local core = require "kc.core"
local wire = require "kc.wire"
local M = {}

-- A report that tells somebody else; whatever else reports hear is of no use there.
local Listener = {}
local optional = { supervise = true, isolation = true } -- what may be nil
setmetatable(Listener, { __index = function(_, name) return not optional[name] and function() end or nil end })
Listener.__index = Listener

function Listener:result(r) wire.send(self.channel, { result = r }) end

function Listener:progress(done, total)
  if done == self.done and total == self.total then return end
  self.done, self.total = done, total
  wire.send(self.channel, { done = done, total = total })
end

-- What goes to stderr is a message, until this is closed.
local function forward_messages(channel)
  local stream, before = {}, io.stderr
  function stream:write(...)
    wire.send(channel, { log = table.concat { ... } })
    return self
  end
  rawset(io, "stderr", stream)
  return setmetatable({}, { __close = function() rawset(io, "stderr", before) end })
end

--- Executes a command line and tells what becomes of it.
---@param channel table that takes messages: send(text, fds)
---@param argv table {command, ...}
---@param command function(argv, listener) -> exit code
---@param more table|nil what the run finds in its listener: supervise=function, isolation=string
---@return integer code
function M.serve(channel, argv, command, more)
  wire.send(channel, { version = core.version })
  local forwarding <close> = forward_messages(channel) -- luacheck: ignore forwarding
  local listener = more or {}
  listener.channel, listener.done, listener.total = channel, -1, -1
  local code = command(argv, setmetatable(listener, Listener))
  wire.send(channel, { code = code })
  return code
end

--- Entry point: argv[2] is the channel's descriptor, what follows is a command line.
---@param argv table {"--role=run", fd, command, ...}
---@param command function(argv, listener) -> exit code
---@return integer code
function M.main(argv, command)
  core.pdeathsig(15)
  return M.serve(core.inherit(math.tointeger(tonumber(argv[2]))), table.move(argv, 3, #argv, 1, {}), command)
end

return M
