---@module kc.client
-- The judge's side of a runner: starts it, talks to it, kills it with all its descendants, and turns what happened into
-- evidence.
local core = require "kc.core"
local paths = require "kc.paths"
local wire = require "kc.wire"
local words = require "kc.words"
local M = {}

local Client = {}
Client.__index = Client

-- Runners of this process that must survive the clean-up after another one.
local live = {}

--- A client for one device, or for none; the runner starts with the first request.
---@param options table {device=name|nil, runner={verbose=boolean, inside=boolean: none of its own, see kc.inside}|nil}
---@return table client
function M.new(options)
  local runner = options.runner or {}
  local class = runner.inside and require("kc.inside").client(Client) or Client
  return setmetatable({ device = options.device, verbose = runner.verbose, serial = 0, next_id = 0, started = false }, class)
end

-- A failure: what went wrong as data. kind: "absent" (no device), "build", "error" (the driver or a Lua candidate said so),
-- "crash" (signal), "exit" (left without completing), "limit" (killed at the time limit), "host" (kc's own); of a command also "command"
-- (it cannot be run), "unwritten" (an output is not there) and "output" (it is not what was asked for).
local function failure(kind, text, more)
  local f = more or {}
  f.kind, f.text = kind, text
  return nil, f
end

function Client:start()
  local here, there = core.channel()
  self.page = self.page or core.crashpage()
  self.page:clear()
  local out = self.verbose and "stderr" or "null"
  local process, message = core.spawn {
    argv = { paths.runner(), "3", "4" }, fds = { { 3, there:fd() }, { 4, self.page:fd() } },
    stdin = "null", stdout = out, stderr = self.verbose and "inherit" or "null",
  }
  there:close()
  if not process then return failure("host", "cannot start the runner: " .. message) end
  self.channel, self.process, self.started = here, process, true
  live[process:pid()] = true
  return self:open()
end

function Client:open()
  if not self.device then return true end
  local reply, why = self:request({ op = "open", device = self.device }, nil, 60)
  if not reply then
    if why.kind == "error" then why.kind = "absent" end
    self:close()
    return nil, why
  end
  self.fingerprint = reply.fingerprint
  return true
end

-- What is known of a runner that closed its channel.
function Client:post_mortem()
  local how, code, name = self.process:wait(2)
  local crash = self.page:report()
  if how == "signaled" then
    return failure("crash", "crashed: " .. (crash and crash.text or name),
      { signal = name or tostring(code), buffer = crash and crash.buffer, offset = crash and crash.offset })
  end
  if how == "exited" then return failure("exit", ("exited with status %d before completing"):format(code)) end
  return failure("exit", "closed its channel without completing")
end

-- Codes of a runner's replies that are kinds of failures; any other is an "error".
local kinds = { build = "build", ["no-device"] = "absent", crash = "crash", unwritten = "unwritten", output = "output",
                command = "command", host = "host", fault = "crash" }

local SLICE = 0.1 -- seconds between two looks for Ctrl-C at a prompt

-- Waits for a reply; false when the time is over, "interrupted" where the process catches signals and one has come.
function Client:await(timeout)
  local deadline = timeout and core.clock() + timeout or math.huge
  while #core.poll({ self.channel:fd() }, math.max(0, math.min(SLICE, deadline - core.clock()))) == 0 do
    if core.interrupted() then return "interrupted" end
    if core.clock() >= deadline then return false end
  end
  return true
end

-- Sends a request and hears what became of it.
function Client:exchange(request, fds, timeout)
  if not wire.send(self.channel, request, fds) then return self:lost() end
  local ready = self:await(timeout)
  if ready == "interrupted" then
    self:close()
    return failure("error", "interrupted")
  end
  local reply, message, code = wire.receive(self.channel, not ready and 0 or timeout)
  if not reply then
    if code == "timeout" then
      self:close()
      return failure("limit", ("did not finish within %g s and was killed"):format(timeout))
    end
    if code == "closed" then return self:lost() end
    self:close()
    return failure("error", "the runner sent " .. tostring(message))
  end
  return reply
end

--- One request and its reply.
---@param request table
---@param fds table|nil
---@param timeout number|nil seconds
---@return table|nil reply, table|nil failure
function Client:request(request, fds, timeout)
  if not self.started then
    local ok, why = self:start()
    if not ok then return nil, why end
  end
  self.serial = self.serial + 1
  request.serial = self.serial
  local reply, why = self:exchange(request, fds, timeout)
  if not reply then return nil, why end
  if reply.error then
    return failure(kinds[reply.code] or "error", tostring(reply.error), { code = reply.code, log = reply.log, record = reply.record })
  end
  return reply
end

function Client:lost()
  local _, why = self:post_mortem()
  self:close()
  return nil, why
end

--- Hands a buffer to the runner.
---@param buffer userdata
---@param writable boolean
---@return integer|nil id, table|nil failure
function Client:share(buffer, writable)
  self.next_id = self.next_id + 1
  local reply, why = self:request({ op = "buffer", id = tostring(self.next_id), format = buffer:format(), shape = buffer:shape(),
                                    guard = buffer:guardbytes(), writable = writable }, { buffer:fd() }, 60)
  if not reply then return nil, why end
  return tostring(self.next_id)
end

--- Takes buffers back.
function Client:free(ids) return self.started and #ids > 0 and self:request({ op = "free", ids = ids }, nil, 60) end

-- Dialects of which nothing runs while they are built: a runner that dies then was killed by the compiler in it, not by the candidate.
local inert = { kc = true, cuda = true, opencl = true }

--- Builds a kernel in the runner.
---@param build table what dev:kernel takes
---@param timeout number|nil seconds
---@return string|nil id, table|string|nil failure or log, table|nil static evidence of its code
function Client:kernel(build, timeout)
  self.next_id = self.next_id + 1
  local id = tostring(self.next_id)
  local reply, why = self:request({ op = "kernel", id = id, build = build }, nil, timeout)
  if reply then return id, reply.log, reply.static end
  if inert[build.dialect] and (why.kind == "crash" or why.kind == "exit") then
    return failure("build", ("%s: the device's compiler %s"):format(build.file, why.text))
  end
  return nil, why
end

--- A kernel's code: languages that people read.
---@param kernel string id
---@return table|nil code, table|nil failure
function Client:code(kernel)
  local reply, why = self:request({ op = "code", kernel = kernel }, nil, 60)
  if not reply then return nil, why end
  return reply.code
end

-- Without this token after the call the output counts as unwritten: exit(0) is not success.
local function token() return ("%016x%016x"):format(math.random(0), math.random(0)) end

local function completed(reply, why, expected)
  if not reply then return nil, why end
  if reply.token ~= expected then return failure("exit", "the runner answered without having completed the launch") end
  return reply.record
end

--- Launches a kernel.
---@param kernel string id
---@param args table list of {buffer=id} or {value=number}
---@param geometry table {grid=, group=, schedule=}
---@param timeout number|nil
---@return table|nil record, table|nil failure
function Client:launch(kernel, args, geometry, timeout)
  local expected, sent = token(), {}
  -- Text, because JSON numbers keep 53 bits.
  for i, item in ipairs(args) do sent[i] = item.buffer and item or { value = wire.number(item.value) } end
  local reply, why = self:request({ op = "launch", kernel = kernel, args = sent, grid = geometry.grid, group = geometry.group,
                                    schedule = geometry.schedule or 0, token = expected }, nil, timeout)
  return completed(reply, why, expected)
end

--- Calls a Lua implementation in the runner, or (op "external") what runs outside of kc.
function Client:call(request, timeout)
  request.op, request.token = request.op or "call", token()
  local reply, why = self:request(request, nil, timeout)
  return completed(reply, why, request.token)
end

--- Kills the runner with all its descendants. Idempotent; a later request starts a new one.
function Client:close()
  if not self.started then return end
  self.started = false
  live[self.process:pid()] = nil
  core.killtree(self.process:pid())
  core.killtree(nil, words.keys(live)) -- whoever left the tree (setsid, double fork) was reparented to this process
  self.channel:close()
  self.process:wait(5)
end

return M
