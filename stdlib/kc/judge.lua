---@module kc.judge
-- Role judge: loads contracts, calibrates them, judges cells. Told what to do by the supervisor, over a channel.
local calibrate = require "kc.calibrate"
local candidates = require "kc.candidate"
local cell = require "kc.cell"
local clients = require "kc.client"
local core = require "kc.core"
local external = require "kc.external"
local implementations = require "kc.implementation"
local limit = require "kc.limit"
local loader = require "kc.loader"
local matrix = require "kc.report.matrix"
local measure = require "kc.measure"
local paths = require "kc.paths"
local plan = require "kc.plan"
local replay = require "kc.replay"
local source = require "kc.source"
local verdict = require "kc.verdict"
local wire = require "kc.wire"
local M = {}

local Judge = {}
Judge.__index = Judge

-- Contracts and suites, loaded once.
function Judge:load(path)
  local entry = self.loaded[path]
  if entry then return entry end
  local loaded, message
  local file, id = loader.split(path)
  if file and not core.stat(path) then
    local suite = self:load(file)
    loaded = suite.suite and loader.member(suite, id)
    message = ("%s has no contract called '%s'"):format(file, id)
  elseif source.dialect(path) then
    message = ("'%s' is a kernel; expected a contract or a suite, which names the kernels that it judges"):format(path)
  else
    loaded, message = limit.call(self.limit, ("%s: loading"):format(path), loader.file, path)
  end
  if not loaded then error({ code = "contract", message = message }, 0) end
  self.loaded[path] = loaded
  return loaded
end

-- What the command line gives, with the contract that judges it; a command runs where kc was started.
local function given(file, name, how, request)
  if file.suite then error({ code = "contract", message = file.path .. ": expected a contract, got a suite" }, 0) end
  local implementation = implementations.given(name, how)
  if implementation.kind == "dumped" then require("kc.manifest").check(implementation, file, request) end
  return { loaded = file, implementation = implementation, role = "candidate", directory = ".", path = file.path,
           digest = external.digest(file, implementation, ".") }
end

-- An implementation of a contract file, or a suite's, with the contract that judges it.
function Judge:find(path, name, request)
  local file = self:load(path)
  if request.given then return given(file, name, request.given, request) end
  if file.suite then
    for _, item in ipairs(file.suite.judge) do
      for i, implementation in ipairs(item.implementations) do
        if implementation.name == name then
          local loaded = self:load(plan.contract_of(file, item, paths.contract_roots()))
          return { loaded = loaded, implementation = implementation, role = plan.role(item, i), directory = file.directory, item = item,
                   path = file.path,
                   digest = plan.digest(file, loaded, implementation) }
        end
      end
    end
  else
    for _, entry in ipairs(file.contract:implementations()) do
      if entry.implementation.name == name then
        return { loaded = file, implementation = entry.implementation, role = entry.role, directory = file.directory,
                 path = file.path, digest = file.digest }
      end
    end
  end
  error({ code = "contract", message = ("%s has no implementation called '%s'"):format(path, name) }, 0)
end

-- What a drawn input and its enclosure depend on besides the sample's name. Functions and oracles count as the same when they are
-- one value, as in contracts that one suite makes of common parts.
local function parts_of(contract)
  local parts = { contract.precondition }
  for _, list in ipairs { contract.scope.inputs, contract.scope.outputs } do
    for _, tensor in ipairs(list) do
      parts[#parts + 1] = ("%s: %s[%s]"):format(tensor.name, tensor.format, table.concat(tensor.dims, ","))
    end
  end
  for _, output in ipairs(contract.scope.outputs) do parts[#parts + 1] = contract.oracle[output.name] end
  return parts
end

local function same(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if not rawequal(a[i], b[i]) then return false end end
  return true
end

-- Inputs and enclosures are kept for one contract at a time, and for those that follow with the same ones.
function Judge:cache_for(loaded)
  local parts = parts_of(loaded.contract)
  if self.cached_for ~= loaded.digest and not (self.cached_parts and same(parts, self.cached_parts)) then
    self.cache = measure.cache()
    collectgarbage()
  end
  self.cached_for, self.cached_parts = loaded.digest, parts
  return self.cache
end

function Judge:fingerprint(device)
  local known = self.fingerprints[device]
  if known then return known end
  local client = clients.new { device = device, runner = self.runner }
  local ok, why = client:start()
  local fingerprint = client.fingerprint
  client:close()
  local text = not ok and (why.text:find(device, 1, true) and why.text or ("device '%s': %s"):format(device, why.text))
  if not ok then error({ code = "device", message = text }, 0) end
  self.fingerprints[device] = fingerprint
  return fingerprint
end

-- The one contract that a target names.
local function only_contract(self, target, roots)
  local files = limit.call(self.limit, "looking for contracts", plan.files, { target }, roots)
  if #files ~= 1 then error({ code = "usage", message = ("'%s' names %d contracts; name one"):format(target, #files) }, 0) end
  local loaded = self:load(files[1])
  if loaded.suite then error({ code = "usage", message = files[1] .. " is a suite; name a contract" }, 0) end
  return loaded
end

local commands = {}

function commands.files(self, request)
  return { files = limit.call(self.limit, "looking for contracts", plan.files, request.targets, request.roots) }
end

function commands.plan(self, request)
  local file = self:load(request.path)
  if not file.suite then return { plans = plan.contract(file, request) } end
  return { plans = plan.suite(file, function(path) return self:load(path) end, request) }
end

function commands.devices() return { devices = require("kc.device").devices() } end

-- A class: its text, and the contracts that state it.
local function explain_class(self, request)
  local text = require("kc.classes")[request.target]
  if not text then return nil end
  local lines = { text, ("contracts of %s"):format(request.target) }
  local ok, files = pcall(plan.files, { request.target }, request.roots)
  for _, path in ipairs(ok and files or {}) do
    local c = self:load(path).contract
    lines[#lines + 1] = ("  %-32s %s"):format(c.id, c.scope.operation)
  end
  if not ok or #files == 0 then lines[#lines + 1] = "  none here" end
  return table.concat(lines, "\n") .. "\n"
end

function commands.explain(self, request)
  local class = not request.clause and explain_class(self, request)
  if class then return { text = class } end
  local texts = {}
  for i, path in ipairs(limit.call(self.limit, "looking for contracts", plan.files, { request.target }, request.roots)) do
    texts[i] = require("kc.explain").contract(self:load(path), request.clause, self.limit)
  end
  return { text = table.concat(texts, "\n") }
end

function commands.lint(self, request)
  local lint = require "kc.lint"
  local found = lint.kernel(request.path) or lint.file(self:load(request.path), self.limit)
  return { findings = require("kc.json").list(found) }
end

-- Two versions of a contract, each named as any contract is.
function commands.difference(self, request)
  local pair, names = {}, {}
  for i, target in ipairs(request.targets) do
    pair[i] = only_contract(self, target, request.roots)
    names[i] = ("%s %s (%s)"):format(pair[i].contract.id, pair[i].contract.identifier.version, pair[i].reference)
  end
  return { names = names, lines = require("kc.json").list(require("kc.difference").lines(pair[1], pair[2])) }
end

function commands.fingerprints(self, request)
  local list = {}
  for i, device in ipairs(request.devices) do list[i] = self:fingerprint(device) end
  return { fingerprints = list }
end

-- On the device named, or on that which suits a run on `devices`.
function commands.calibrate(self, request)
  local loaded = self:load(request.path)
  local device = request.device or calibrate.place(loaded.contract, request.devices)
  local fingerprint = self:fingerprint(device)
  local key = calibrate.key(loaded, device, fingerprint, request.seed)
  local isolated = not self.runner.inside
  local runner = isolated and self.runner or require("kc.inside").calibrating(device)
  local record = isolated and request.cached and calibrate.cached(key, loaded)
  if record then return { record = record, cached = true, fingerprint = fingerprint } end
  local started = core.clock()
  local bads
  record, bads = calibrate.run(loaded, { device = device, seed = request.seed, timeout = request.timeout, runner = runner,
                                   cache = self:cache_for(loaded), progress = self.progress, limit = self.limit })
  record.seconds = core.clock() - started
  if isolated then calibrate.store(key, record) end
  return { record = record, fingerprint = fingerprint, class = loaded.contract.identifier.class, bads = request.bads and bads or nil }
end

-- How two devices differ on one implementation.
function commands.pair(self, request)
  local found = self:find(request.path, request.implementation, request)
  return { pair = require("kc.pair").run(found.loaded, found.implementation, { devices = request.devices, seed = request.seed,
    thorough = request.thorough, timeout = request.timeout, limit = self.limit, cache = self:cache_for(found.loaded),
    directory = found.directory, path = found.path, runner = self.runner, progress = self.progress }) }
end

-- The inputs of one contract, written for another machine.
function commands.export(self, request)
  local loaded = only_contract(self, request.target, request.roots)
  local summary = require("kc.manifest").export(loaded, { out = request.out, exchange = request.exchange, seed = request.seed,
    thorough = request.thorough, limit = self.limit, progress = self.progress })
  summary.contract, summary.unseen = loaded.contract.id, external.unseen(loaded.contract, { kind = "dumped" })
  return summary
end

function commands.specificity(self, request)
  return require("kc.specificity").cross(request.contracts, function(path) return self:load(path).contract end, self.limit)
end

-- Which file the library really is that an implementation is or calls, and what it says of itself.
local function library(found, says)
  local implementation = found.implementation
  if implementation.kind == "kernel" or external.is(implementation) or not implementation.file then return nil end
  local path = core.realpath(loader.resolve(found.directory, implementation.file))
  return path and { path = path, sha256 = loader.file_digest(path), says = says }
end

-- A word for every sample, and the suite's explanation of what is not in order.
local function explained(found, m)
  local list = {}
  for _, record in ipairs(m.samples) do
    record.word = matrix.word(record)
    for _, item in ipairs(record.word ~= "ok" and found.item and found.item.explain or {}) do
      if plan.matches(record.label, item.case) and plan.matches(found.implementation.name, item.implementation) then
        list[#list + 1] = { case = record.label, text = item.text }
      end
    end
  end
  return #list > 0 and list or nil
end

-- What the test that an incident's kernels passed says of this one.
local function usual(self, found, request)
  local item = found.item
  if not (item and item.remedies) then return nil end
  local test = item.usual or found.loaded.contract.calibration.functional
  local candidate = candidates.new(found.loaded, found.implementation, { device = request.device, runner = self.runner,
    directory = found.directory, path = found.path })
  local passes = calibrate.passes(candidate, test, { seed = request.seed, cache = self:cache_for(found.loaded), limit = self.limit,
                                                     timeout = request.timeout })
  candidate:close()
  return { passes = passes, rtol = test.rtol and test.rtol + 0.0, atol = test.atol and test.atol + 0.0,
           norm = test.norm and test.norm + 0.0, reuse = test.reuse,
           ran = item.ran, clause = item.clause }
end

function commands.cell(self, request)
  local found = self:find(request.path, request.implementation, request)
  if request.digest and request.digest ~= found.digest:sub(1, #request.digest) then
    error({ code = "digest", message = ("%s is not what it was: its digest is %s, not %s"):format(request.path,
      found.digest:sub(1, 12), request.digest:sub(1, 12)) }, 0)
  end
  local started = core.clock()
  local incident = usual(self, found, request)
  local result = cell.run(found.loaded, found.implementation, { device = request.device, seed = request.seed,
    directory = found.directory, path = found.path, timeout = request.timeout, sample = request.sample, thorough = request.thorough,
    cache = self:cache_for(found.loaded), runner = self.runner, progress = self.progress, limit = self.limit })
  local m, contract = result.measurement, found.loaded.contract
  if request.sample then -- a replay: `run` calibrates before it comes here
    local record = commands.calibrate(self, { path = found.loaded.reference, devices = { request.device }, seed = request.seed,
                                              timeout = request.timeout, cached = true }).record
    if not record.ok then result.verdict = verdict.new("mistrusted", "not calibrated: " .. record.reasons[1]) end
  end
  local explanations = explained(found, m)
  for _, record in ipairs(m.samples) do record.inputs, record.outputs, record.confusion = nil, nil, nil end
  return { result = {
    contract = contract.id, version = contract.identifier.version, path = request.path, digest = found.digest,
    implementation = found.implementation.name, role = found.role,
    device = external.is(found.implementation) and external.DEVICE or request.device, external = external.record(found.implementation),
    isolation = self.runner.inside and require("kc.inside").ISOLATION or nil,
    fingerprint = result.fingerprint, static = result.static,
    seed = request.seed, thorough = request.thorough, verdict = result.verdict, judged = m.judged, vacuous = m.vacuous,
    zeros = m.zeros, exact = m.exact, redraws = m.redraws, worst = m.worst, class_no = m.class_no,
    histogram = m.histogram, samples = m.samples,
    tolerance = contract.tolerance:record(), library = library(found, result.says), matrix = found.item and found.item.matrix,
    row = found.item and found.item.row, incident = incident, column = found.item and found.item.column, explained = explanations,
    pattern = contract.signature.pattern, seconds = core.clock() - started,
    replay = result.deciding and replay.token(request, found.digest, m, result.deciding) or nil } }
end

--- Answers one request; failures come back as {error=, code=}, never as Lua errors.
---@param request table {cmd=, ...}
---@return table reply
function Judge:answer(request)
  request.timeout = tonumber(request.timeout) -- floats travel as text
  local ok, reply = xpcall(commands[request.cmd], function(e)
    if type(e) == "table" and e.code then return e end
    return { code = "host", message = tostring(e), trace = debug.traceback(nil, 2) }
  end, self, request)
  if ok then return reply end
  return { error = tostring(reply.message or reply), code = reply.code or "host", trace = self.runner.verbose and reply.trace or nil }
end

--- A judge in this process.
---@param options table {runner=as of kc.client|nil, limit=seconds of Lua in one clause or file, progress=function(done, total)|nil}
---@return table judge
function M.new(options)
  return setmetatable({ loaded = {}, fingerprints = {}, runner = options.runner or {}, limit = options.limit,
                        progress = options.progress }, Judge)
end

local HEARTBEAT = 0.1 -- seconds between two progress messages

--- Entry point of a judge: argv[2] is the channel's descriptor, argv[3] the limit in seconds for contract code.
---@param argv table {"--role=judge", fd, limit, "verbose"?}
---@return integer code
function M.main(argv)
  core.pdeathsig(9)
  core.limit_core()
  core.subreaper()
  local channel = core.inherit(math.tointeger(tonumber(argv[2])))
  local last = 0
  local self = M.new { runner = { verbose = argv[4] == "verbose" }, limit = tonumber(argv[3]), progress = function(done, total)
    local now = core.clock()
    if now - last < HEARTBEAT then return end
    last = now
    wire.send(channel, { progress = done, total = total })
  end }
  while true do
    local request, _, code = wire.receive(channel)
    if not request then return code == "closed" and 0 or 4 end
    if not wire.send(channel, self:answer(request)) then return 4 end
  end
end

return M
