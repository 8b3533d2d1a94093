---@module kc.cell
-- One cell: a contract, an implementation and a device. Runs the protocol and gives a measurement and a verdict.
local candidates = require "kc.candidate"
local core = require "kc.core"
local determinism = require "kc.determinism"
local external = require "kc.external"
local interleave = require "kc.interleave"
local measure = require "kc.measure"
local measurement = require "kc.measurement"
local protocol = require "kc.protocol"
local signature = require "kc.signature"
local verdict = require "kc.verdict"
local M = {}

-- Failures that are the candidate's (violated), and those that show nothing about it (unknown).
local convicting = { crash = true, exit = true, guards = true, fpstate = true, unwritten = true, barrier = true, ["local"] = true,
                     output = true }

local function failed(record, started, limit)
  local failure = record.evidence
  if convicting[failure.kind] then return verdict.new("violated", failure.text) end
  if failure.kind == "limit" and limit and core.clock() - started >= limit then
    return verdict.new("violated", ("exceeds the protocol's limit of %g s"):format(limit))
  end
  if failure.kind == "error" and failure.code == "raised" then return verdict.new("violated", failure.text) end
  local prefix = { build = "does not build: ", absent = "device absent: ", limit = "time-out: ", command = "cannot be run: " }
  return verdict.new("unknown", (prefix[failure.kind] or "") .. failure.text)
end

-- What the contract's signature says of a violated measurement.
local function signature_text(contract, m, seconds)
  local recognised, said = signature.recognise(contract, m, seconds)
  if recognised then return said end
  return "not the declared signature", said
end

-- A part in which zero would mostly pass shows nothing by itself. It is carried by exact probes: as many elements as the protocol
-- asks for at which no error at all was allowed.
local function part_verdict(contract, m, part, worst)
  local share = part.judged > 0 and part.vacuous / part.judged or 0
  if share <= contract.protocol.vacuous then return worst end
  local text = ("%s: zero would pass on %.1f %% of the elements, above the stated %.1f %%"):format(part.label, 100 * share,
    100 * contract.protocol.vacuous)
  if m.exact < contract.protocol.samples then return verdict.worse(worst, verdict.new("unknown", text)) end
  worst.note = ("%s; carried by %d elements at which no error is allowed"):format(text, m.exact)
  return worst
end

-- The policy RAISE is shown by both: inputs on which a candidate raises, and a control run on which it must not.
local function shown(contract, m, single)
  if contract.tolerance.policy ~= "RAISE" or single then return m.judged + m:raised() > 0, "nothing was judged" end
  if m.judged == 0 then return false, "nothing was judged: no control run, on which it must not raise" end
  return m:raised() > 0, "nothing was raised: no sample asks for it"
end

local function whole(contract, m, complete, single)
  local worst = verdict.new("held")
  if not complete then
    worst = verdict.worse(worst, verdict.new("unknown", "the budget ends before the stated number of samples"))
  end
  local ok, why = shown(contract, m, single)
  if not ok then worst = verdict.worse(worst, verdict.new("unknown", why)) end
  for _, part in ipairs(m:parts()) do worst = part_verdict(contract, m, part, worst) end
  return worst
end

-- Independent draws that were judged, vacuous ones left out.
local function drawn(contract, m)
  local n = 0
  for _, record in ipairs(m.samples) do
    if record.random then n = n + (contract.protocol.judged == "tensor" and 1 or record.judged - record.vacuous) end
  end
  return n
end

-- The verdict of one sample's answer.
local function of_answer(record)
  if record.answer == "yes" then return verdict.new("held") end
  local names = { no = "violated", undeclared = "undeclared" }
  return verdict.new(names[record.answer] or "unknown", record.text)
end

local function runs(candidate, spec, options)
  local unanswered = external.unanswered(candidate.implementation, spec)
  if unanswered then return measure.unknown(spec, unanswered) end
  if candidate.implementation.kind == "dumped" then return measure.sample(candidate, spec, options) end
  if candidate.contract.protocol.determinism then return determinism.sample(candidate, spec, options) end
  local first = measure.sample(candidate, spec, options)
  for _ = 2, candidate.contract.protocol.repeats do
    if first.answer ~= "yes" then break end
    local again = measure.sample(candidate, spec, options)
    if again.digest ~= first.digest then again.differs = true end
    if again.answer ~= "yes" or again.differs then
      again.text = again.differs and "a repeated run gave other bits" or again.text
      if again.differs then again.answer = "no" end
      return again
    end
  end
  return first
end

-- Every other sample runs in a permuted order of groups and work-items, drawn from its index, where the device can do that: what
-- depends on the order shows, and shows again in a replay.
local function schedule_of(candidate, spec)
  return candidate.device:match("^cpu") and spec.index % 2 == 1 and spec.index or 0
end

--- Runs samples on a candidate until all are done or the candidate cannot go on.
---@param candidate table
---@param samples table
---@param complete boolean
---@param options table {seed=, cache=, timeout=seconds for the cell, progress=function|nil}
---@return table result {measurement=, verdict=, deciding=sample index or nil}
function M.judge(candidate, samples, complete, options)
  local contract = candidate.contract
  local m, worst, deciding = measurement.new(), verdict.new("held"), nil
  local limit = not candidate.external and contract.protocol.limit or nil
  local unseen, nothing = external.unseen(contract, candidate.implementation)
  if nothing then return { measurement = m, verdict = verdict.new("unknown", unseen) } end
  local lacking = candidate:lacking()
  if lacking then return { measurement = m, verdict = verdict.new("skipped", lacking) } end
  local bounds = not candidate.external and interleave.bounds(contract, options.thorough) or nil
  -- A thorough cell takes hours: the time-out is then that of one sample.
  local deadline = options.timeout and not options.thorough and core.clock() + options.timeout
  for i, spec in ipairs(samples) do
    local started = core.clock()
    local left = deadline and deadline - started or math.huge
    if left <= 0 then
      worst = verdict.worse(worst, verdict.new("unknown", ("time-out: not finished within %g s"):format(options.timeout)))
      break
    end
    local timeout = math.min(limit or math.huge, left, options.timeout or math.huge)
    local record = runs(candidate, spec, { index = spec.index, seed = options.seed, cache = options.cache, keep = options.keep,
                                           limit = options.limit, schedule = schedule_of(candidate, spec),
                                           interleavings = bounds,
                                           timeout = timeout < math.huge and timeout or nil })
    m:add(record)
    local v = record.answer == "failed" and failed(record, started, limit) or of_answer(record)
    if verdict.severity[v.name] > verdict.severity[worst.name] then deciding, worst = record.index, v end
    if options.progress then options.progress(i, #samples) end
    if record.answer == "failed" then break end
  end
  if unseen and worst.name ~= "violated" then worst = verdict.worse(worst, verdict.new("unknown", unseen)) end
  if worst.name ~= "violated" and #m.samples == #samples then
    local all = whole(contract, m, complete, options.sample ~= nil)
    worst, worst.note = verdict.worse(worst, all), all.note
    local n = drawn(contract, m)
    if worst.name == "held" then
      worst.note = worst.note or determinism.proven(contract.protocol, candidate.device) or interleave.note(m)
    end
    if worst.name == "held" and n > 0 then worst.proves = verdict.proves(n, contract.protocol.judged) end
  end
  if worst.name == "violated" then worst.signature, worst.note = signature_text(contract, m, options.limit) end
  return { measurement = m, verdict = worst, deciding = deciding or M.worst_sample(m) }
end

--- Index of the sample with the largest ratio; among equals the one that judged most.
function M.worst_sample(m)
  local best
  for _, record in ipairs(m.samples) do
    local worst, most = record.worst or 0.0, best and best.worst or 0.0
    if not best or worst > most or (worst == most and record.judged > best.judged) then best = record end
  end
  return best and best.index
end

--- Judges one implementation of a loaded contract on a device under its whole protocol.
---@param loaded table
---@param implementation table
---@param options table {device=, seed=, timeout=, cache=, runner=, sample=index or nil, keep=boolean}
---@return table result
function M.run(loaded, implementation, options)
  local candidate = candidates.new(loaded, implementation, { device = options.device, runner = options.runner,
                                                            directory = options.directory, path = options.path })
  local samples, complete = protocol.samples(loaded.contract, options.seed, options.thorough or options.sample ~= nil)
  if options.sample then
    samples = { samples[options.sample] }
    if not samples[1] then error(("the protocol has no sample %d"):format(options.sample), 0) end
  end
  local ok, result = pcall(M.judge, candidate, samples, complete or options.sample ~= nil, options)
  if ok and candidate.client then
    result.fingerprint, result.says, result.static = candidate.client.fingerprint, candidate.says, candidate.static
  end
  candidate:close()
  if not ok then error(result, 0) end
  return result
end

return M
