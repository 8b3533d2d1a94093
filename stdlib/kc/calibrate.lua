---@module kc.calibrate
-- Three-state calibration: a contract is usable only when it tells its baseline, bad and good implementations apart, with the
-- margins of its tolerance kind, and rejects every vacuous implementation. See spec/clauses.md, "calibration".
local candidates = require "kc.candidate"
local cell = require "kc.cell"
local core = require "kc.core"
local implementation = require "kc.implementation"
local json = require "kc.json"
local limit = require "kc.limit"
local loader = require "kc.loader"
local measure = require "kc.measure"
local oracle = require "kc.oracle"
local paths = require "kc.paths"
local protocol = require "kc.protocol"
local signature = require "kc.signature"
local M = {}

M.RECORD_VERSION = 2

-- Where `kc run` calibrates, whatever device it judges: only here an order of work-items is chosen, host functions and libraries are
-- called, and all the evidence is taken; that a contract tells its states apart is a property of the contract. See spec/clauses.md.
local DEVICE = "cpu"

--- The device that calibrates a contract for a run: the cpu device, unless its implementations are made for another of the run's.
---@param contract table
---@param devices table list of names
---@return string device
function M.place(contract, devices)
  local entries = contract:implementations()
  local function takes(device)
    for _, entry in ipairs(entries) do
      if implementation.elsewhere(entry.implementation, device) then return false end
    end
    return true
  end
  for _, device in ipairs(takes(DEVICE) and {} or devices) do
    if takes(device) then return device end
  end
  return DEVICE
end

-- ---- the stored functional test: what a usual test suite would accept ------------------------------------------------------

local function same(got, want) return got == want or got ~= got and want ~= want end

local function is_finite(x) return x - x == 0 end

-- |got - want| <= atol + rtol |want| for every element.
local function elements_close(got, want, rtol, atol)
  for i = 1, #want do
    local close = is_finite(want[i]) and math.abs(got[i] - want[i]) <= atol + rtol * math.abs(want[i])
    if not close and not same(got[i], want[i]) then return false end
  end
  return true
end

-- ||got - want|| <= norm ||want|| over all elements, in units of the largest number, whose square could overflow or underflow.
local function norm_close(got, want, norm)
  local largest, distance, size = 0.0, 0.0, 0.0
  for i = 1, #want do
    for _, x in ipairs { math.abs(got[i]), math.abs(want[i]) } do
      if is_finite(x) then largest = math.max(largest, x) end
    end
  end
  for i = 1, #want do
    if not same(got[i], want[i]) then distance = distance + ((got[i] - want[i]) / largest) ^ 2 end
    if is_finite(want[i]) and largest > 0 then size = size + (want[i] / largest) ^ 2 end
  end
  return distance ^ 0.5 <= norm * size ^ 0.5
end

--- Does the stored functional test accept these results?
---@param got table list of numbers, or a buffer
---@param want table list of numbers
---@param test table {rtol=, atol=} or {norm=}
---@return boolean
function M.accepts(got, want, test)
  if test.norm then return norm_close(got, want, test.norm) end
  return elements_close(got, want, test.rtol, test.atol)
end

-- The middle of the bounds, NaN where there is no number.
local function expected(enclosure)
  local want = {}
  for i = 1, #enclosure do
    local lo, hi, classes = enclosure:at(i)
    want[i] = lo == hi and lo or lo + (hi - lo) / 2
    if classes[1] == "nan" and not classes[2] then want[i] = 0 / 0 end
  end
  return want
end

local function all_close(contract, record, test)
  for _, output in ipairs(contract.scope.outputs) do
    local enclosure = oracle.evaluate(contract.oracle[output.name], record.inputs)
    local ok = M.accepts(record.outputs[output.name], expected(enclosure), test)
    enclosure:close()
    if not ok then return false end
  end
  return true
end

--- Does a candidate pass a functional test, as a usual test suite decides?
---@param candidate table
---@param test table {inputs=, rtol= and atol= or norm=, reuse=}
---@param options table {seed=, cache=, limit=, timeout=}
---@return boolean passes
function M.passes(candidate, test, options)
  local contract = candidate.contract
  for _, spec in ipairs((protocol.functional(contract, test, options.seed))) do
    local record = measure.sample(candidate, spec, { seed = options.seed, cache = options.cache, limit = options.limit,
                                                    timeout = options.timeout, keep = true,
                                                    reuse = test.reuse })
    if record.answer == "failed" or not all_close(contract, record, test) then return false end
  end
  return true
end

-- ---- one state
-- ---------------------------------------------------------------------------------------------------------------

-- How far beyond the tolerance the worst sample lies; evidence and inadmissible classes are infinitely far.
local function excess(result)
  local worst = result.measurement.worst
  for _, record in ipairs(result.measurement.samples) do
    if record.class_no > 0 or record.evidence then worst = math.huge end
  end
  return worst
end

local function demand(state, ok, text)
  if not ok then state.complaints[#state.complaints + 1] = text end
end

local judges = {}

function judges.baseline(state, result)
  demand(state, not state.functional, "passes the functional test; a baseline must fail it")
  demand(state, result.verdict.name == "violated", ("is %s; a baseline must be violated"):format(result.verdict.name))
end

function judges.bad(state, result, contract)
  local _, least = contract.tolerance:margins()
  demand(state, state.functional, "does not pass the functional test, so catching it shows nothing")
  local violated = result.verdict.name == "violated"
  demand(state, violated, ("is accepted (%s): the contract is under-specified"):format(result.verdict.name))
  demand(state, not violated or state.margin > 0 and state.margin >= least,
    ("exceeds the tolerance only %.3g times; at least %g times is asked"):format(state.margin, least))
  demand(state, not violated or state.recognised, "is not recognised by the signature")
end

function judges.good(state, result, contract)
  local most = contract.tolerance:margins()
  demand(state, state.functional, "does not pass the functional test")
  -- What the contract leaves undeclared speaks neither for nor against an implementation.
  demand(state, result.verdict.name == "held" or result.verdict.name == "undeclared", ("is %s; a good one must be held"):format(
    require("kc.verdict").text(result.verdict)))
  demand(state, state.margin <= most, ("uses %.3g of the tolerance; at most %g is allowed"):format(state.margin, most))
end

function judges.vacuous(state, result)
  demand(state, result.verdict.name == "violated", ("is %s on the probes; every vacuous implementation must be rejected"):format(
    result.verdict.name))
end

local function measure_state(loaded, role, item, samples, complete, options, bads)
  local contract = loaded.contract
  local candidate = candidates.new(loaded, item, { device = options.device, runner = options.runner })
  local state = { role = role, name = item.name, complaints = json.list {} }
  local ok, why = pcall(function()
    local built, failure = candidate:prepare(options.timeout)
    if not built then
      state.blocked = failure.kind
      demand(state, false, ("cannot be run: %s"):format(failure.text))
      return
    end
    if role ~= "vacuous" then state.functional = M.passes(candidate, contract.calibration.functional, options) end
    local result = cell.judge(candidate, samples, complete, options)
    state.margin = excess(result)
    state.verdict, state.reason, state.signature = result.verdict.name, result.verdict.reason, result.verdict.signature
    if role == "bad" then
      state.recognised = signature.recognise(contract, result.measurement, options.limit)
      bads[#bads + 1] = { name = item.name, measurement = result.measurement:data() }
    end
    judges[role](state, result, contract)
  end)
  candidate:close()
  if not ok and limit.is(why) then error(why, 0) end -- contract code that hangs does so every time
  if not ok then demand(state, false, tostring(why)) end
  return state
end

-- ---- the whole contract
-- --------------------------------------------------------------------------------------------------------

--- Calibrates a loaded contract on a device.
---@param loaded table
---@param options table {device=, seed=, timeout=, cache=, progress=function|nil}
---@return table record {ok=, states=, reasons=, contract=, digest=, device=, seed=}
---@return table bads list of {name=, measurement=data}: what other contracts' signatures are tried on
function M.run(loaded, options)
  local contract = loaded.contract
  local samples, complete = protocol.calibrating(contract, options.seed)
  local probes = protocol.probes(contract, options.seed)
  local record = { version = M.RECORD_VERSION, contract = contract.id, digest = loaded.digest, device = options.device,
                   seed = options.seed, states = json.list {}, reasons = json.list {} }
  local list, bads = contract:implementations(), {}
  for _, item in ipairs(implementation.vacuous_list()) do list[#list + 1] = { role = "vacuous", implementation = item } end
  for i, entry in ipairs(list) do
    local chosen = entry.role == "vacuous" and probes or samples
    local state = measure_state(loaded, entry.role, entry.implementation, chosen, complete, options, bads)
    record.states[#record.states + 1] = state
    for _, complaint in ipairs(state.complaints) do
      record.reasons[#record.reasons + 1] = ("%s %s %s"):format(entry.role, entry.implementation.name, complaint)
    end
    record.blocked = record.blocked or state.blocked
    if options.progress then options.progress(i, #list) end
  end
  record.ok = #record.reasons == 0
  return record, bads
end

-- ---- cached records
-- --------------------------------------------------------------------------------------------------------------

--- Identity of a calibration: contract digest, device and everything it said of itself, seed, and the judge's program (a rebuilt
--- judge of the same version must not trust what another one found).
function M.key(loaded, device, fingerprint, seed)
  local program = core.stat(core.exe()) or {}
  return core.sha256(json.encode { M.RECORD_VERSION, loaded.digest, device, fingerprint or {}, tostring(seed), program })
end

local function cache_file(key)
  local directory = paths.cache_dir("calibration")
  return directory and ("%s/%s.json"):format(directory, key)
end

--- The cached record, or nil. A record that cannot be read, or that is not of this contract, counts as absent.
function M.cached(key, loaded)
  local file = cache_file(key)
  local text = file and loader.read(file)
  local record = text and json.decode(text)
  if type(record) == "table" and record.digest == loaded.digest and record.version == M.RECORD_VERSION and record.ok == true then
    return record
  end
end

--- Stores a sound record; failures are measured again.
function M.store(key, record)
  local file = cache_file(key)
  if not file or not record.ok then return end
  local temporary = ("%s.%d"):format(file, core.pid())
  local out = io.open(temporary, "wb")
  if not out then return end
  local written = out:write(json.encode(record))
  out:close()
  if written then os.rename(temporary, file) else os.remove(temporary) end
end

return M
