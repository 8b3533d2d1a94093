---@module kc.judge
-- Role judge: loads contracts, calibrates them, judges cells. Told what to do by the supervisor, over a channel.
local calibrate = require "kc.calibrate"
local cell = require "kc.cell"
local clients = require "kc.client"
local core = require "kc.core"
local loader = require "kc.loader"
local measure = require "kc.measure"
local plan = require "kc.plan"
local replay = require "kc.replay"
local wire = require "kc.wire"
local M = {}

local Judge = {}
Judge.__index = Judge

function Judge:load(path)
  local entry = self.loaded[path]
  if entry then return entry end
  local loaded, message = loader.contract(path)
  if not loaded then error({ code = "contract", message = message }, 0) end
  self.loaded[path] = loaded
  return loaded
end

-- Inputs and enclosures are kept for one contract at a time.
function Judge:cache_for(loaded)
  if self.cached_for ~= loaded.digest then
    self.cached_for, self.cache = loaded.digest, measure.cache()
    collectgarbage()
  end
  return self.cache
end

function Judge:fingerprint(device)
  local known = self.fingerprints[device]
  if known then return known end
  local client = clients.new { device = device, verbose = self.verbose }
  local ok, why = client:start()
  local fingerprint = client.fingerprint
  client:close()
  if not ok then error({ code = "device", message = why.text }, 0) end
  self.fingerprints[device] = fingerprint
  return fingerprint
end

local commands = {}

function commands.plan(self, request) return plan.make(self, request) end

function commands.explain(self, request)
  return { text = require("kc.explain").contract(self:load(request.path), request.clause) }
end

function commands.calibrate(self, request)
  local loaded = self:load(request.path)
  local fingerprint = self:fingerprint(request.device)
  local key = calibrate.key(loaded, request.device, fingerprint, request.seed)
  local record = request.cached and calibrate.cached(key, loaded)
  if record then return { record = record, cached = true, fingerprint = fingerprint } end
  local started = core.clock()
  record = calibrate.run(loaded, { device = request.device, seed = request.seed, timeout = request.timeout, verbose = self.verbose,
                                   cache = self:cache_for(loaded), progress = self.progress })
  record.seconds = core.clock() - started
  calibrate.store(key, record)
  return { record = record, fingerprint = fingerprint }
end

local function find_implementation(loaded, name)
  for _, entry in ipairs(loaded.contract:implementations()) do
    if entry.implementation.name == name then return entry.implementation, entry.role end
  end
  error({ code = "contract", message = ("%s has no implementation called '%s'"):format(loaded.path, name) }, 0)
end

function commands.cell(self, request)
  local loaded = self:load(request.path)
  if request.digest and request.digest ~= loaded.digest:sub(1, #request.digest) then
    error({ code = "digest", message = ("%s is not what it was: its digest is %s, not %s"):format(request.path,
      loaded.digest:sub(1, 12), request.digest) }, 0)
  end
  local chosen, role = find_implementation(loaded, request.implementation)
  local started = core.clock()
  local result = cell.run(loaded, chosen, { device = request.device, seed = request.seed, timeout = request.timeout,
    sample = request.sample, cache = self:cache_for(loaded), verbose = self.verbose, progress = self.progress })
  local m = result.measurement
  for _, record in ipairs(m.samples) do record.inputs, record.outputs = nil, nil end
  return { result = {
    contract = loaded.contract.id, version = loaded.contract.identifier.version, path = loaded.path, digest = loaded.digest,
    implementation = chosen.name, role = role, device = request.device, fingerprint = result.fingerprint, seed = request.seed,
    verdict = result.verdict, judged = m.judged, vacuous = m.vacuous, zeros = m.zeros, redraws = m.redraws, worst = m.worst,
    samples = m.samples, tolerance = loaded.contract.tolerance:record(), seconds = core.clock() - started,
    replay = result.deciding and replay.token(loaded, chosen, request, m, result.deciding) or nil } }
end

function Judge:answer(request)
  local ok, reply = xpcall(commands[request.cmd], function(e)
    if type(e) == "table" and e.code then return e end
    return { code = "host", message = tostring(e), trace = debug.traceback(nil, 2) }
  end, self, request)
  if ok then return reply end
  return { error = tostring(reply.message or reply), code = reply.code or "host", trace = self.verbose and reply.trace or nil }
end

--- Entry point of a judge: argv[2] is the channel's descriptor.
---@param argv table {"--role=judge", fd, "verbose"?}
---@return integer code
function M.main(argv)
  core.pdeathsig(9)
  core.subreaper()
  local channel = core.inherit(math.tointeger(tonumber(argv[2])))
  local self = setmetatable({ loaded = {}, fingerprints = {}, verbose = argv[3] == "verbose" }, Judge)
  local last = 0
  function self.progress(done, total)
    local now = core.clock()
    if now - last < 0.1 then return end
    last = now
    wire.send(channel, { progress = done, total = total })
  end
  while true do
    local request, _, code = wire.receive(channel)
    if not request then return code == "closed" and 0 or 4 end
    if not wire.send(channel, self:answer(request)) then return 4 end
  end
end

return M
