---@module kc.supervisor
-- Role supervisor: starts, feeds, reaps and kills judges; writes the trace; shows progress. It runs no contract and no
-- candidate.
local core = require "kc.core"
local paths = require "kc.paths"
local wire = require "kc.wire"
local M = {}

-- A judge speaks after every sample. One sample is a launch and a clause, each bounded by the timeout, and the oracles' work: a
-- judge that stays silent for longer than this counts as hung.
local function silence(timeout) return 2 * timeout + 5 end

-- Tasks of one affinity share what a judge keeps in memory.
local function affinity(task) return task.affinity or task.request.path end

local Supervisor = {}
Supervisor.__index = Supervisor

--- A supervisor.
---@param options table {jobs=, timeout=, verbose=, progress=function(text)|nil}
---@return table supervisor
function M.new(options)
  core.subreaper()
  core.catch_signals()
  return setmetatable({ options = options, judges = {} }, Supervisor)
end

function Supervisor:spawn()
  local here, there = core.channel()
  local argv = { core.exe(), "--role=judge", "3", tostring(self.options.timeout) }
  if self.options.verbose then argv[#argv + 1] = "verbose" end
  local process, message = core.spawn { argv = argv, fds = { { 3, there:fd() } }, stderr = "inherit" }
  there:close()
  if not process then error("cannot start a judge: " .. message, 0) end
  local judge = { channel = here, process = process }
  self.judges[#self.judges + 1] = judge
  return judge
end

-- The judge dies with its runners and whatever those left behind.
function Supervisor:discard(judge)
  core.killtree(judge.process:pid())
  judge.channel:close()
  judge.process:wait(2)
  paths.sweep(judge.process:pid())
  for i, other in ipairs(self.judges) do
    if other == judge then table.remove(self.judges, i) break end
  end
  if #self.judges == 0 then core.killtree() end -- orphans reparented to this process
end

--- Ends all judges.
function Supervisor:close()
  while self.judges[1] do self:discard(self.judges[1]) end
end

local function give(judge, task)
  judge.task, judge.heard, judge.started = task, core.clock(), core.clock()
  wire.send(judge.channel, task.request)
end

-- One message from a judge: progress, or the reply that ends its task.
function Supervisor:hear(judge)
  local reply, _, code = wire.receive(judge.channel, 5)
  judge.heard = core.clock()
  if reply and reply.progress then
    judge.part = reply.progress / math.max(1, reply.total)
    return
  end
  local task = judge.task
  judge.task, judge.part, judge.last = nil, nil, affinity(task)
  if not reply then
    local how, number, name = judge.process:wait(1)
    self:discard(judge)
    local died = how == "signaled" and "was killed by " .. name or ("ended with status %s"):format(tostring(number))
    reply = { error = code == "closed" and "the judge " .. died or "the judge sent an unreadable message", code = "judge" }
  end
  task.done(reply)
end

function Supervisor:kill_silent()
  for i = #self.judges, 1, -1 do
    local judge = self.judges[i]
    local limit = judge.task and silence(self.options.timeout)
    if limit and core.clock() - judge.heard > limit then
      local task = judge.task
      self:discard(judge)
      task.done { error = ("contract code did not return within %g s; its judge was killed"):format(limit), code = "limit" }
    end
  end
end

-- The next task for a judge: one like its last, else one unlike those that others are at, else the first.
function Supervisor:take(queue, judge)
  local others = {}
  for _, other in ipairs(self.judges) do
    if other.task then others[affinity(other.task)] = true end
  end
  local free
  for i, task in ipairs(queue) do
    if judge and judge.last == affinity(task) then return table.remove(queue, i) end
    if not free and not others[affinity(task)] then free = i end
  end
  return table.remove(queue, free or 1)
end

function Supervisor:feed(queue)
  for _, judge in ipairs(self.judges) do
    if not judge.task and #queue > 0 then give(judge, self:take(queue, judge)) end
  end
  while #queue > 0 and #self.judges < self.options.jobs do
    local task = self:take(queue)
    give(self:spawn(), task)
  end
end

local function busy(judges)
  local list, fds = {}, {}
  for _, judge in ipairs(judges) do
    if judge.task then
      list[#list + 1] = judge
      fds[#fds + 1] = judge.channel:fd()
    end
  end
  return list, fds
end

--- Works through tasks {request=, done=function(reply)} until none is left; `done` may append further tasks to the queue.
---@param queue table
---@return boolean finished false when a signal ended it
function Supervisor:work(queue)
  while true do
    self:feed(queue)
    local list, fds = busy(self.judges)
    if #list == 0 then return true end
    for _, position in ipairs(core.poll(fds, 0.2)) do self:hear(list[position]) end
    if core.interrupted() then
      self:close()
      return false
    end
    self:kill_silent()
    if self.options.progress then self.options.progress(self.judges) end
  end
end

--- One request, answered, by a supervisor of any kind.
---@param self table
---@param request table
---@return table reply
function M.ask(self, request)
  local answer
  local finished = self:work { { request = request, done = function(reply) answer = reply end } }
  return finished and answer or { error = "interrupted", code = "interrupted" }
end
Supervisor.ask = M.ask

return M
