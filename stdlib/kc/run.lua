---@module kc.run
-- Commands that judge: run, calibrate, list. From a plan to tasks for judges, results in plan order, the trace, the exit code.
local core = require "kc.core"
local paths = require "kc.paths"
local progress = require "kc.progress"
local supervisor = require "kc.supervisor"
local trace = require "kc.trace"
local verdict = require "kc.verdict"
local M = {}

local Run = {}
Run.__index = Run

local function new(options)
  return setmetatable({ options = options, counts = {}, state = {}, started = core.clock(), slots = {}, shown = 0, crossed = {},
                        problems = {}, total = 0, finished = 0 }, Run)
end

local function complain(text) io.stderr:write("kc: ", text, "\n") end

-- Reports say it too: what could not be judged must not be missing without a word.
function Run:complain(text)
  self.problems[#self.problems + 1] = text
  complain(text)
end

-- ---- planning ---------------------------------------------------------------------------------------------------------------

function Run:refused(reply)
  self:complain(reply.error)
  if reply.code == "usage" or reply.code == "contract" then self.state.usage = true
  elseif reply.code == "interrupted" then self.state.interrupted = true
  else self.state.host = true end
end

-- Contracts and cells of every file; a file that does not load is reported and the others go on.
function Run:plan()
  local o = self.options
  local reply = self.supervisor:ask { cmd = "files", targets = o.targets, roots = paths.contract_roots() }
  if reply.error then
    self:refused(reply)
    return nil
  end
  local plans, queue = {}, {}
  for i, path in ipairs(reply.files) do
    queue[i] = { request = { cmd = "plan", path = path, devices = o.devices, filter = o.filter, impl = o.impl,
                             seed = o.seed, thorough = o.thorough, given = o.given, roots = paths.contract_roots() },
                 done = function(answer)
      if answer.error then self:refused(answer) else plans[i] = answer.plans end
    end }
  end
  if not self.supervisor:work(queue) then
    self.state.interrupted = true
    return nil
  end
  local list = {}
  for i = 1, #reply.files do table.move(plans[i] or {}, 1, #(plans[i] or {}), #list + 1, list) end
  return list
end

-- ---- results, shown in plan order as soon as those before are there ---------------------------------------------------------

function Run:write_trace(row)
  if not self.trace then return end
  local ok, message = self.trace:add(row)
  if not ok and not self.state.trace_failed then
    self.state.trace_failed, self.state.host = true, true
    self:complain(message)
  end
end

function Run:show()
  while self.slots[self.shown + 1] and self.slots[self.shown + 1].ready do
    self.shown = self.shown + 1
    local slot = self.slots[self.shown]
    for _, report in ipairs(self.reports) do
      if slot.record and self.options.command == "calibrate" then report:states(slot.record) end
      if slot.record and self.options.command ~= "calibrate" then report:calibration(slot.record, slot.cached, slot.device) end
      if slot.result then report:result(slot.result) end
      if slot.pair then report:pair(slot.pair) end
    end
  end
end

function Run:settle(slot, result)
  slot.result, slot.ready = result, true
  self.finished = self.finished + 1
  self.counts[result.verdict.name] = (self.counts[result.verdict.name] or 0) + 1
  if not slot.resumed then
    result.type = "measurement"
    self:write_trace(result)
  end
  for _, pair in ipairs(slot.pairs or {}) do self:compare(pair) end
  self:show()
end

local function bare(cell, seed, v)
  return { contract = cell.contract, path = cell.path, digest = cell.digest, implementation = cell.implementation, role = cell.role,
           device = cell.device, seed = seed, thorough = cell.thorough, verdict = v, matrix = cell.matrix, row = cell.row,
           column = cell.column }
end

-- What a judge's failure means for the cell.
function Run:failed(cell, reply)
  if reply.code ~= "contract" and reply.code ~= "digest" then self.state.host = true end
  if reply.code == "contract" then self.state.usage = true end
  return bare(cell, self.options.seed, verdict.new("unknown", reply.error))
end

-- ---- pairs of devices ----------------------------------------------------------------------------------------------------------

-- Digests of a result's outputs, by sample; nil where none were recorded.
local function digests(result)
  local list, n = {}, 0
  for _, sample in ipairs(result.samples or {}) do
    if sample.digest then list[sample.index], n = sample.digest, n + 1 end
  end
  return n > 0 and list or nil, n
end

local function equal(a, b)
  for index, digest in pairs(a) do -- order does not matter
    if b[index] and b[index] ~= digest then return false end
  end
  return true
end

function Run:paired(pair, record)
  pair.slot.pair, pair.slot.ready = record, true
  if not record then return end
  record.type = "pair"
  self:write_trace(record)
end

-- When both devices have been judged: equal digests say all, else a judge runs both again.
function Run:compare(pair)
  local one, two = pair.cells[1].slot.result, pair.cells[2].slot.result
  if not one or not two or pair.slot.ready then return end
  local a, n = digests(one)
  local b = digests(two)
  local devices = { one.device, two.device }
  if not a or not b then
    self:paired(pair)
  elseif equal(a, b) then
    self:paired(pair, { contract = one.contract, implementation = one.implementation, devices = devices, seed = one.seed, samples = n,
                        different = 0 })
  else
    local cell, o = pair.cells[1].cell, self.options
    self.queue[#self.queue + 1] = { request = { cmd = "pair", path = cell.path, implementation = cell.implementation, devices = devices,
      seed = o.seed, timeout = o.patience or cell.timeout or o.timeout, thorough = o.thorough }, affinity = cell.affinity,
      done = function(reply)
        if reply.error then self:refused(reply) end
        self:paired(pair, reply.pair)
        self:show()
      end }
  end
end

-- The first device beside each other one, for every implementation.
function Run:add_pairs(cells)
  local first = {}
  for _, item in ipairs(cells) do
    local name = item.cell.implementation
    if first[name] and item.cell.device ~= first[name].cell.device then
      local pair = { cells = { first[name], item }, slot = self:add_slot() }
      for _, one in ipairs(pair.cells) do
        one.slot.pairs = one.slot.pairs or {}
        table.insert(one.slot.pairs, pair)
      end
      self:compare(pair)
    end
    first[name] = first[name] or item
  end
end

-- ---- tasks ---------------------------------------------------------------------------------------------------------------------

function Run:cell_task(cell, slot)
  local o = self.options
  return { request = { cmd = "cell", path = cell.path, digest = cell.digest, implementation = cell.implementation,
                       device = cell.on, given = cell.given, seed = o.seed, timeout = o.patience or cell.timeout or o.timeout,
                       thorough = o.thorough },
           affinity = cell.affinity, done = function(reply) self:settle(slot, reply.result or self:failed(cell, reply)) end }
end

local function unusable(record)
  if record.blocked == "absent" then return "unknown", "calibration could not run: " .. record.reasons[1], true end
  return "mistrusted", ("not calibrated: %s"):format(record.reasons[1])
end

-- After calibration a contract's cells are queued, or settled at once when it cannot be trusted.
function Run:calibrated(group, reply)
  local o = self.options
  if reply.error then
    self:complain(reply.error)
    group.slot.ready = true
    for _, item in ipairs(group.items) do self:settle(item.slot, self:failed(item.cell, reply)) end
    return
  end
  local record = reply.record
  group.slot.record, group.slot.cached, group.slot.ready = record, reply.cached, true
  if not reply.cached or not o.resume then
    record.type = "calibration"
    self:write_trace(record)
  end
  if reply.bads then
    self.crossed[group.index] = { path = group.path, contract = record.contract, class = reply.class, bads = reply.bads, ok = record.ok }
  end
  if not record.ok and o.command == "calibrate" then self.counts.mistrusted = (self.counts.mistrusted or 0) + 1 end
  if record.ok and o.command == "calibrate" then self.counts.held = (self.counts.held or 0) + 1 end
  self:show()
  for _, item in ipairs(group.items) do
    if record.ok then
      self.queue[#self.queue + 1] = self:cell_task(item.cell, item.slot)
    else
      local name, reason, host = unusable(record)
      self.state.host = self.state.host or host
      self:settle(item.slot, bare(item.cell, o.seed, verdict.new(name, reason)))
    end
  end
end

function Run:calibration_task(group)
  local o = self.options
  return { request = { cmd = "calibrate", path = group.path, device = group.device, devices = o.devices, seed = o.seed,
                       timeout = o.timeout, cached = o.command ~= "calibrate", bads = o.command == "calibrate" },
           affinity = group.affinity, done = function(reply) self:calibrated(group, reply) end }
end

function Run:add_slot()
  local slot = {}
  self.slots[#self.slots + 1] = slot
  return slot
end

-- What a group of tasks begins with: a calibration, on the device named or on that which suits the run.
function Run:group(plan, device)
  local group = { path = plan.contract.path, device = device, affinity = plan.contract.affinity, items = {}, slot = self:add_slot(),
                  index = #self.slots }
  self.groups[#self.groups + 1] = group
  return group
end

-- A cell waits for its contract's calibration, unless a resumed trace holds it or it cannot run here.
function Run:add_cell(group, cell)
  local slot = self:add_slot()
  self.total = self.total + 1
  cell.seed, cell.affinity, cell.thorough = self.options.seed, group.affinity, self.options.thorough
  group.slot.device = group.slot.device or cell.device
  local known = self.trace and self.trace.done[trace.key(cell)]
  slot.resumed = known ~= nil
  if known then
    self:settle(slot, known)
  elseif cell.absent then
    self:settle(slot, bare(cell, cell.seed, verdict.new("skipped", cell.absent)))
  else
    group.items[#group.items + 1] = { cell = cell, slot = slot }
  end
  return { cell = cell, slot = slot }
end

-- `calibrate`: a group for each contract and device. `run`: one for each contract, with its cells device by device.
function Run:group_plan(plan)
  if self.options.command == "calibrate" then
    for _, device in ipairs(self.options.devices) do self:group(plan, device) end
    return
  end
  local group, cells = self:group(plan), {}
  for _, device in ipairs(self.options.devices) do
    for _, cell in ipairs(plan.cells) do
      if cell.on == device then cells[#cells + 1] = self:add_cell(group, cell) end
    end
  end
  self:add_pairs(cells)
end

function Run:prepare(plans)
  self.queue, self.stories, self.groups = {}, {}, {}
  for _, plan in ipairs(plans) do
    local last = self.stories[#self.stories]
    local path = plan.cells[1] and plan.cells[1].path
    if plan.story and path and not (last and last.path == path) then
      self.stories[#self.stories + 1] = { path = path, story = plan.story }
    end
    self:group_plan(plan)
  end
  for _, group in ipairs(self.groups) do
    if #group.items > 0 or self.options.command == "calibrate" then
      self.queue[#self.queue + 1] = self:calibration_task(group)
    else
      group.slot.ready = true
    end
  end
  self:show()
end

-- Every signature on every other class's bads, when there is more than one class. A contract whose signature recognises one of them
-- is mistrusted, however well it is calibrated by itself.
function Run:specificity()
  local contracts, classes, n = {}, {}, 0
  for _, index in ipairs(require("kc.words").keys(self.crossed)) do
    local item = self.crossed[index]
    contracts[#contracts + 1] = item
    if not classes[item.class] then n = n + 1 end
    classes[item.class] = true
  end
  if n < 2 then return end
  local reply = self.supervisor:ask { cmd = "specificity", contracts = contracts }
  if reply.error then
    self:refused(reply)
    return
  end
  local faulty = {}
  for _, fault in ipairs(reply.faults) do faulty[fault.contract] = true end
  for _, item in ipairs(contracts) do
    if item.ok and faulty[item.contract] then
      self.counts.held, self.counts.mistrusted = self.counts.held - 1, (self.counts.mistrusted or 0) + 1
    end
  end
  for _, report in ipairs(self.reports) do report:specificity(reply) end
end

-- ---- environment, trace and reports --------------------------------------------------------------------------------------------

function Run:environment()
  local reply = self.supervisor:ask { cmd = "fingerprints", devices = self.options.devices }
  if reply.error then return nil, reply end
  return require("kc.environment").describe(self.options, reply.fingerprints)
end

function Run:open_trace(env)
  local o = self.options
  if not (o.trace or o.resume) then return true end
  local message
  if o.resume then self.trace, message = trace.resume(o.resume) else self.trace, message = trace.create(o.trace) end
  if not self.trace then
    self:complain(message)
    self.state.host = true
    return false
  end
  if not o.resume then self:write_trace(env) end
  return true
end

-- A pattern that matches none is mistyped, or meant for another contract.
function Run:check_pattern(plans)
  local pattern, names, seen = self.options.impl, {}, {}
  for _, plan in ipairs(pattern and plans or {}) do
    if #plan.cells > 0 then return end
    for _, item in ipairs(plan.contract.implementations) do
      if not seen[item.name] then names[#names + 1] = item.name end
      seen[item.name] = true
    end
  end
  if #names > 0 then self:complain(("no implementation matches '%s'; %s"):format(pattern, require("kc.words").hint(pattern, names))) end
end

function Run:execute()
  local env, failure = self:environment()
  if not env then
    self:refused(failure)
    return
  end
  local plans = self:plan()
  if not plans or not self:open_trace(env) then return end
  for _, report in ipairs(self.reports) do report:environment(env) end
  self:check_pattern(plans)
  self:prepare(plans)
  if not self.supervisor:work(self.queue) then self.state.interrupted = true return end
  if self.options.command == "calibrate" then self:specificity() end
  for _, item in ipairs(self.options.command == "run" and self.stories or {}) do
    for _, report in ipairs(self.reports) do report:incident(item.story, item.path) end
  end
end

--- Runs `run` or `calibrate`.
---@param options table from the command line
---@param reports table list of report objects
---@return integer exit code
function M.execute(options, reports)
  local self = new(options)
  self.reports = reports
  local tty, listener = options.progress, options.listener
  local function on_progress(judges)
    if listener then listener:progress(self.finished, self.total) end
    if tty then progress.draw(self, judges) end
  end
  local supervise = listener and listener.supervise or supervisor.new
  self.supervisor = supervise { jobs = options.jobs, timeout = options.timeout, verbose = options.verbose,
                                     progress = on_progress }
  local ok, message = xpcall(Run.execute, debug.traceback, self)
  self.supervisor:close()
  if tty then io.stderr:write("\r\27[K") end
  if not ok then
    self:complain(message)
    self.state.host = true
  end
  return self:conclude()
end

-- The last line of a trace, and the exit code that counts what became of it.
function Run:end_trace(code, seconds)
  if self.state.interrupted then
    self.trace:close()
    self:complain(("interrupted; go on with: kc run --resume %s"):format(self.trace.path))
    return code
  end
  local ok, message = self.trace:finish { counts = self.counts, exit = code, seconds = seconds }
  if ok or self.state.trace_failed then return code end
  self:complain(message)
  self.state.host = true
  return verdict.exit_code(self.counts, self.state)
end

-- Reports that are written at the end, whatever became of the run.
function Run:finish()
  for _, report in ipairs(self.reports) do
    if report.finish then report:finish(self.options.command, self.problems) end
  end
end

function Run:conclude()
  local code = verdict.exit_code(self.counts, self.state)
  local seconds = core.clock() - self.started
  if self.finished > 0 or next(self.counts) then
    for _, report in ipairs(self.reports) do report:summary(self.counts, verdict.order, seconds, self.options.command) end
  elseif code == verdict.exit.nothing then
    self:complain("nothing was selected")
  end
  if self.trace then code = self:end_trace(code, seconds) end
  if code == verdict.exit.interrupted and #self.problems == 0 then self.problems[1] = "interrupted" end
  self:finish()
  return code
end

--- Lists contracts and their implementations without running anything.
---@param options table
---@param write function
---@return integer exit code
function M.list(options, write)
  local self = new(options)
  self.supervisor = supervisor.new { jobs = 1, timeout = options.timeout, verbose = options.verbose }
  local plans = self:plan()
  self.supervisor:close()
  for _, plan in ipairs(plans or {}) do
    local c = plan.contract
    write(("%s %s  %s\n  %s\n"):format(c.id, c.version, c.path, c.tolerance))
    for _, item in ipairs(c.implementations) do
      write(("    %-9s %s%s\n"):format(item.role, item.name, item.run and ": " .. item.run or ""))
    end
  end
  if self.state.interrupted or self.state.usage or self.state.host then return verdict.exit_code({}, self.state) end
  if #plans == 0 then
    complain("nothing was selected")
    return verdict.exit.nothing
  end
  return 0
end

--- Replays one result: the same inputs, the same bits.
---@param options table {token=, force=}
---@param reports table
---@return integer exit code
function M.replay(options, reports)
  local fields, message = require("kc.replay").parse(options.token)
  if not fields then
    complain(message)
    return verdict.exit.usage
  end
  local self = new(options)
  self.reports = reports
  self.supervisor = supervisor.new { jobs = 1, timeout = options.timeout, verbose = options.verbose }
  local reply = self.supervisor:ask { cmd = "cell", path = fields.path, implementation = fields.implementation, device = fields.device,
                                      seed = fields.seed, sample = fields.sample, given = fields.given, timeout = options.timeout,
                                      digest = not options.force and fields.digest or nil }
  self.supervisor:close()
  if reply.error then
    self:refused(reply)
    if reply.code == "digest" then
      complain "replay it all the same with --force"
      self.state.usage = true
    end
    self:finish()
    return verdict.exit_code({}, self.state)
  end
  local r = reply.result
  local sample = r.samples[1]
  local same = sample and (sample.digest or "-"):sub(1, 12) == fields.output
  for _, report in ipairs(reports) do report:result(r) end
  for _, report in ipairs(reports) do report:replayed(r, sample, same) end
  if not same then return verdict.exit.undecided end
  return verdict.exit_code({ [r.verdict.name] = 1 }, {})
end

--- Asks one judge one question (explain, devices).
---@param options table
---@param request table
---@return table reply
function M.ask(options, request)
  local s = supervisor.new { jobs = 1, timeout = options.timeout, verbose = options.verbose }
  local reply = s:ask(request)
  s:close()
  return reply
end

return M
