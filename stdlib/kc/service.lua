---@module kc.service
-- `kc --role=run FD COMMAND...`: the command line for a program that embeds kc (kc.embed). Results, messages and progress go over a
-- channel instead of to stdout and stderr.
local core = require "kc.core"
local wire = require "kc.wire"
local M = {}

-- A report that tells somebody else; whatever else reports hear is of no use there.
local Listener = {}
setmetatable(Listener, { __index = function() return function() end end })
Listener.__index = Listener

function Listener:result(r) wire.send(self.channel, { result = r }) end

function Listener:progress(done, total)
  if done == self.done and total == self.total then return end
  self.done, self.total = done, total
  wire.send(self.channel, { done = done, total = total })
end

-- What would go to stderr is a message.
local function forward_messages(channel)
  local stream = {}
  function stream:write(...)
    wire.send(channel, { log = table.concat { ... } })
    return self
  end
  rawset(io, "stderr", stream)
end

--- Entry point: argv[2] is the channel's descriptor, what follows is a command line.
---@param argv table {"--role=run", fd, command, ...}
---@param command function(argv, listener) -> exit code
---@return integer code
function M.main(argv, command)
  core.pdeathsig(15)
  local channel = core.inherit(math.tointeger(tonumber(argv[2])))
  wire.send(channel, { version = core.version })
  forward_messages(channel)
  local code = command(table.move(argv, 3, #argv, 1, {}), setmetatable({ channel = channel, done = -1, total = -1 }, Listener))
  wire.send(channel, { code = code })
  return code
end

return M
