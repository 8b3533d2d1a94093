---@module kc.measure
-- Runs one sample of a protocol on a candidate and judges what came back.
local check = require "kc.check"
local core = require "kc.core"
local exceptions = require "kc.exceptions"
local interleave = require "kc.interleave"
local limit = require "kc.limit"
local oracle = require "kc.oracle"
local protocol = require "kc.protocol"
local records = require "kc.record"
local sample = require "kc.sample"
local scope = require "kc.scope"
local words = require "kc.words"
local M = {}

local GUARD = 4096
local REDRAWS = 16

local function make(tensors, sizes)
  local list = {}
  for i, tensor in ipairs(tensors) do
    local shape = scope.shape(tensor, sizes)
    local buffer, message = core.buffer(tensor.format, shape, { guard = GUARD })
    if not buffer then error(("cannot allocate '%s': %s"):format(tensor.name, message), 0) end
    list[i] = { name = tensor.name, buffer = buffer, shape = shape }
  end
  return list
end

local function by_name(list)
  local out = {}
  for _, item in ipairs(list) do out[item.name] = item.buffer end
  return out
end

--- Draws inputs until the precondition says yes; nil and the reason when none was found.
---@param contract table
---@param spec table from protocol
---@param options table {seed=, limit=seconds for the precondition}
---@return table|nil inputs list of {name=, buffer=, shape=}, the caller's
---@return integer|string redraws
function M.draw(contract, spec, options)
  local seed = options.seed
  local last
  for redraw = 0, contract.protocol.redraws or REDRAWS do
    local inputs = make(contract.scope.inputs, spec.sizes)
    sample.fill(spec.sample, inputs, protocol.name(spec, seed, redraw))
    local admitted = limit.call(options.limit, contract.path .. ": precondition", contract.admits, contract, by_name(inputs))
    if admitted.answer == "yes" then return inputs, redraw end
    last = admitted
    for _, item in ipairs(inputs) do item.buffer:close() end
    if admitted.answer == "unknown" then break end
  end
  return nil, ("the precondition says %s of every draw: %s"):format(last.answer, last.text)
end

local function references(contract, inputs, sizes)
  local refs = {}
  for _, output in ipairs(contract.scope.outputs) do
    refs[output.name] = oracle.evaluate(contract.oracle[output.name], inputs, scope.shape(output, sizes))
  end
  return refs
end

--- Inputs and enclosures of samples, kept for the next implementation of the same contract.
---@return table cache
function M.cache() return { elements = 0, buffers = 0, entries = {} } end

-- Bounds of a cache: memory, and descriptors (each buffer holds one).
local CACHE_ELEMENTS, CACHE_BUFFERS = 16 * 1024 * 1024, 768

local function prepared(contract, spec, options)
  local cache, seed = options.cache, options.seed
  local key = protocol.name(spec, seed, 0)
  for _, name in ipairs(contract.scope.dims) do key = ("%s %s=%d"):format(key, name, spec.sizes[name]) end
  local entry = cache.entries[key]
  if entry then return entry end
  local inputs, redraws = M.draw(contract, spec, options)
  if not inputs then return { unmet = redraws } end
  for _, item in ipairs(inputs) do item.buffer:seal() end
  entry = { inputs = inputs, redraws = redraws }
  local elements = 0
  for _, item in ipairs(inputs) do elements = elements + #item.buffer end
  if cache.elements + elements <= CACHE_ELEMENTS and cache.buffers + #inputs <= CACHE_BUFFERS then
    cache.elements, cache.buffers = cache.elements + elements, cache.buffers + #inputs
    cache.entries[key] = entry
    entry.kept = true
  end
  return entry
end

local function close_all(list)
  for _, item in ipairs(list) do item.buffer:close() end
end

local function evidence(kind, text, more)
  local out = more or {}
  out.kind, out.text = kind, text
  return out
end

-- What the buffers and the launch record say, apart from values.
local function inspect(outputs, record)
  for _, output in ipairs(outputs) do
    local g = output.buffer:guards()
    if g then
      return evidence("guards", ("wrote outside output '%s': %s"):format(output.name, g.text), { output = output.name, offset = g.nearest })
    end
  end
  local facts = { { "fp_changed", "fpstate" }, { "divergent_barrier", "barrier" }, { "local_damaged", "local" } }
  for _, fact in ipairs(facts) do
    if record[fact[1]] then return evidence(fact[2], record.evidence or fact[1]) end
  end
end

-- An element is unwritten when it equals the first poison after the first run, and after a second run over the other poison either
-- that other poison, or something else than the first time (written only when asked again).
local function unwritten(candidate, inputs, outputs, spec, options, which)
  local suspects = {}
  for _, output in ipairs(outputs) do
    local n, first = output.buffer:unwritten(which)
    if n > 0 then suspects[#suspects + 1] = { output = output, count = n, first = first } end
  end
  if #suspects == 0 then return nil end
  for _, output in ipairs(outputs) do output.buffer:poison(1 - which) end
  local launch, failure = candidate:run(inputs, outputs, spec.sizes, options)
  if not launch then return evidence(failure.kind, "in a second run: " .. failure.text) end
  for _, s in ipairs(suspects) do
    local same = s.output.buffer:unwritten(which)
    local missing = math.max(s.output.buffer:unwritten(1 - which), s.count - same)
    if missing > 0 then
      return evidence("unwritten", ("left %d of %d elements of output '%s' unwritten, first element %d"):format(
        math.min(missing, s.count), #s.output.buffer, s.output.name, s.first), { output = s.output.name, count = missing })
    end
  end
end

-- Under the policy RAISE the postcondition judges a candidate that raised.
local function may_raise(contract, failure) return contract.tolerance.policy == "RAISE" and failure.code == "raised" end

local function snapshot(outputs)
  local out, digests = {}, {}
  for i, output in ipairs(outputs) do
    out[output.name] = output.buffer:copy()
    digests[i] = out[output.name]:digest()
  end
  return out, core.sha256(table.concat(digests))
end

-- The largest error of the tolerance's peer on the same inputs, by output. A peer that fails, or whose classes are wrong, says nothing
-- about the candidate: nil and why.
local function peer_errors(candidate, ready, spec, options)
  local peer = candidate.contract.tolerance.peer
  if not peer then return {} end
  local outputs, errors, why = make(candidate.contract.scope.outputs, spec.sizes), {}, nil
  local other = candidate:another(peer)
  local launch, failure = other:run(ready.inputs, outputs, spec.sizes, options)
  other:close()
  for _, output in ipairs(launch and outputs or {}) do
    local d = core.decide(output.buffer, ready.references[output.name], { kind = "abs", value = 1.0, denormals = "preserve" })
    errors[output.name] = d.worst_ratio_lo
    if d.class_no > 0 then why = ("%d elements of '%s' have an inadmissible class"):format(d.class_no, output.name) end
  end
  close_all(outputs)
  why = launch and why or failure and failure.text
  if why then return nil, ("the peer '%s' says nothing: %s"):format(peer.name, why) end
  return errors
end

-- The tolerance as it is for this sample; nil and why where it cannot be known.
local function bound(candidate, x, ready, spec, options)
  local contract = candidate.contract
  local errors, why = peer_errors(candidate, ready, spec, options)
  if not errors then return nil, why end
  local formats, shapes = {}, {}
  for _, tensor in ipairs(contract.scope.inputs) do formats[tensor.name] = tensor.format end
  for _, tensor in ipairs(contract.scope.outputs) do shapes[tensor.name] = scope.shape(tensor, spec.sizes) end
  return contract.tolerance:bind { oracles = contract.oracle, inputs = x, formats = formats, references = ready.references,
    outputs = contract.scope.outputs, shapes = shapes, sizes = spec.sizes, peer_errors = errors }
end

-- What the contract does not say, when that alone leaves an answer open: the fields that are missing; else nil.
local function missing(contract, answer)
  if answer.answer ~= "unknown" then return nil end
  local only, list, seen = true, {}, {}
  local function add(text)
    if not seen[text] then list[#list + 1] = text end
    seen[text] = true
  end
  check.each(answer, function(c)
    if c.answer ~= "unknown" or #c.parts > 0 then return end
    only = only and c.data ~= nil and c.data.undeclared == true
    if c.data and c.data.decision and c.data.decision.why then add(c.data.decision.why) end
  end)
  for _, output in ipairs(contract.scope.outputs) do
    for _, text in ipairs(contract.oracle[output.name]:undeclared()) do add(text) end
  end
  return only and #list > 0 and table.concat(list, "; ") or nil
end

local function judge(contract, record, x, y, ready, limit_seconds, outputs)
  local where = contract.path .. ": postcondition"
  local answer = check.clause(limit.call(limit_seconds, where, contract.postcondition, x, y, ready.references, ready.tolerance), where)
  local judged = {}
  for i, output in ipairs(outputs) do judged[i] = { name = output.name, buffer = y[output.name] } end
  records.summarise(record, answer, judged)
  local worst, class = record.worst_at, record.class_at
  if worst then worst.inputs = records.arguments(ready.inputs, y[worst.output], worst.element) end
  if class then
    class.inputs = records.arguments(ready.inputs, y[class.output], class.element)
    class.lo, class.hi = ready.references[class.output]:at(class.element)
  end
  record.answer, record.text = answer.answer, answer.text
  local depends = contract.scope.depends
  if depends and answer.answer == "no" then
    record.exceptions = { swallowed = 0, leaked = 0, widened = 0, flipped = 0 }
    for _, name in ipairs(words.keys(depends)) do
      exceptions.count({ buffer = y[name], enclosure = ready.references[name], depends = depends[name],
                         rows = math.max(1, y[name]:shape()[1] or 1) }, x, record.exceptions)
    end
  end
  record.foreign = answer.answer == "no" and not record.evidence and records.foreign(ready.inputs, y, outputs) or nil
  local fields = missing(contract, answer)
  if fields then record.answer, record.text = "undeclared", ("%s: the contract does not state %s"):format(answer.text, fields) end
  check.each(answer, function(c) record.silent = record.silent or c.answer == "no" and c.data and c.data.silent or nil end)
  if answer.answer == "no" and (record.raised or record.silent) then record.worst = math.huge end -- no rounding explains it
  if record.evidence then
    record.answer, record.text = "no", record.evidence.text
  end
end

-- What a usual test may find in the memory that it hands out for an output: the reference result that was freed before (an allocator
-- returns the last freed block of a size).
local function reuse(contract, inputs, outputs, sizes)
  for name, enclosure in pairs(references(contract, by_name(inputs), sizes)) do -- each by itself
    for _, output in ipairs(outputs) do
      for i = 1, output.name == name and #output.buffer or 0 do
        local lo, hi = enclosure:at(i)
        output.buffer[i] = lo + (hi - lo) / 2
      end
    end
    enclosure:close()
  end
end

-- One run over poisoned outputs: copies of them and their digest; nil when the candidate failed.
local function produce(candidate, inputs, outputs, spec, options, record)
  -- The poison alternates, so that a kernel that reads its output meets NaN as well as large numbers.
  local which = spec.index % 2
  for _, output in ipairs(outputs) do output.buffer:poison(which) end
  if options.reuse then reuse(candidate.contract, inputs, outputs, spec.sizes) end
  local launch, failure = candidate:run(inputs, outputs, spec.sizes, options)
  if not launch and not may_raise(candidate.contract, failure) then
    record.answer, record.text, record.evidence = "failed", failure.text, failure
    return nil
  end
  local y, digest = snapshot(outputs)
  record.raised = failure and failure.text
  y.raised = record.raised
  record.evidence = record.evidence or inspect(outputs, launch or failure.record)
    or launch and unwritten(candidate, inputs, outputs, spec, options, which) or nil
  return y, record.raised and core.sha256("raised " .. digest) or digest
end

-- The inputs of a relation's second run.
local function changed(contract, relation, inputs, sizes, seconds)
  local where = ("%s: relation '%s': change"):format(contract.path, relation.name)
  local given = limit.call(seconds, where, relation.change, by_name(inputs), sizes)
  if type(given) ~= "table" then error(where .. ": expected a table of inputs, got " .. type(given), 0) end
  local known = by_name(inputs)
  for _, name in ipairs(words.keys(given)) do
    if not known[name] then
      error(("%s: no input is called '%s'; %s"):format(where, tostring(name), words.hint(tostring(name), words.keys(known))), 0)
    end
  end
  local list = {}
  for i, input in ipairs(inputs) do
    local buffer = given[input.name]
    if buffer and (buffer:format() ~= input.buffer:format() or #buffer ~= #input.buffer) then
      error(("%s: input '%s' has another format or size"):format(where, input.name), 0)
    end
    if buffer then buffer:seal() end
    list[i] = { name = input.name, buffer = buffer or input.buffer, shape = input.shape }
  end
  return list
end

-- A relation between inputs and outputs of one run, or of two.
local function relate(candidate, spec, options, record, ready, outputs)
  local contract, relation = candidate.contract, spec.relation
  local where = ("%s: relation '%s'"):format(contract.path, relation.name)
  local y, digest = produce(candidate, ready.inputs, outputs, spec, options, record)
  local inputs, y2, second = nil, nil, ""
  if y and relation.change then
    inputs = changed(contract, relation, ready.inputs, spec.sizes, options.limit)
    y2, second = produce(candidate, inputs, outputs, spec, options, record)
  end
  if not y or relation.change and not y2 then return end
  record.digest = core.sha256(digest .. second)
  local answer = check.clause(limit.call(options.limit, where, relation.holds, by_name(ready.inputs), y,
    inputs and by_name(inputs), y2), where)
  for _, output in ipairs(outputs) do record.judged = record.judged + #output.buffer end
  record.answer, record.text = answer.answer, ("%s: %s"):format(relation.name, answer.text)
  if record.evidence then record.answer, record.text = "no", record.evidence.text end
end

-- Program order has been judged: every other interleaving must give the same bits.
local function explore(candidate, spec, options, record, ready, outputs, y)
  interleave.explore(record, outputs, y, options, function(interleaving)
    for _, output in ipairs(outputs) do output.buffer:poison(spec.index % 2) end
    local launch, failure = candidate:run(ready.inputs, outputs, spec.sizes,
      { timeout = options.timeout, schedule = options.schedule, interleaving = interleaving })
    if launch then record.evidence = record.evidence or inspect(outputs, launch) end
    return launch, failure
  end)
end

local function run(candidate, spec, options, record, ready, outputs)
  local contract = candidate.contract
  local y, digest = produce(candidate, ready.inputs, outputs, spec, options, record)
  if not y then return end
  record.digest = digest
  -- The reference is made after the candidate has run, and in another process: there is nothing stale to find.
  local x = by_name(ready.inputs)
  ready.references = ready.references or references(contract, x, spec.sizes)
  if ready.bound_for ~= contract.tolerance then -- inputs and references may be another contract's too
    ready.bound_for = contract.tolerance
    ready.tolerance, ready.unbound = bound(candidate, x, ready, spec, options)
  end
  if ready.tolerance then
    judge(contract, record, x, y, ready, options.limit, outputs)
  else
    record.answer, record.text = "unknown", ready.unbound
  end
  if options.interleavings then explore(candidate, spec, options, record, ready, outputs, y) end
  if options.keep then
    record.outputs, record.inputs = y, x
  else
    for _, output in ipairs(outputs) do y[output.name]:close() end
  end
end

--- Runs a sample once more, on fresh outputs, and judges nothing but evidence.
---@param candidate table
---@param spec table
---@param options table as for M.sample; live=kc.live that keeps the outputs, of `run`, its number
---@return table|nil outputs name -> copy of what the run left
---@return string|nil digest
---@return table|nil failure evidence {kind=, text=}
function M.again(candidate, spec, options)
  local contract, record = candidate.contract, {}
  local ready = prepared(contract, spec, options)
  if ready.unmet then return nil, nil, { kind = "error", text = ready.unmet } end
  local outputs = make(contract.scope.outputs, spec.sizes)
  local y, digest = produce(candidate, ready.inputs, outputs, spec, options, record)
  if options.live then options.live:add(outputs, options.run) else close_all(outputs) end
  if not ready.kept then close_all(ready.inputs) end
  if record.evidence then return nil, nil, record.evidence end
  return y, digest
end

--- Runs a sample on several candidates, and judges nothing.
---@param list table candidates
---@param spec table
---@param options table as for M.sample
---@return table|nil run {index=, label=, inputs=, outputs=list of name -> copy, exact=function that gives the references}; nil where the
---  sample has no inputs
---@return table|nil failure evidence
---@return integer|nil which candidate failed
function M.side_by_side(list, spec, options)
  local contract = list[1].contract
  local ready = prepared(contract, spec, options)
  if ready.unmet then return nil end
  local both = { index = spec.index, label = spec.label, inputs = ready.inputs, outputs = {} }
  for i, candidate in ipairs(list) do
    local outputs, record = make(contract.scope.outputs, spec.sizes), {}
    both.outputs[i] = produce(candidate, ready.inputs, outputs, spec, options, record)
    close_all(outputs)
    if not both.outputs[i] then return nil, record.evidence, i end
  end
  function both.exact()
    ready.references = ready.references or references(contract, by_name(ready.inputs), spec.sizes)
    return ready.references
  end
  return both
end

local function blank(spec)
  return { index = spec.index, label = spec.label, draw = spec.draw, random = spec.random, sizes = spec.sizes, judged = 0, vacuous = 0,
           zeros = 0, exact = 0, refined = 0, class_no = 0 }
end

--- The record of a sample about which nothing can be known.
---@param spec table
---@param reason string
---@return table record
function M.unknown(spec, reason)
  local record = blank(spec)
  record.answer, record.text = "unknown", reason
  return record
end

--- Runs and judges one sample.
---@param candidate table
---@param spec table from protocol
---@param options table {seed=, cache=, limit=seconds for a clause, timeout=seconds for a launch|nil, schedule=, keep=, reuse=the
---  outputs lie where the freed reference was, interleavings=bounds of those that are tried|nil}
---@return table record
function M.sample(candidate, spec, options)
  local contract = candidate.contract
  local ready = prepared(contract, spec, options)
  if ready.unmet then return M.unknown(spec, ready.unmet) end
  local record = blank(spec)
  record.redraws = ready.redraws
  local outputs = make(contract.scope.outputs, spec.sizes)
  local execute = spec.relation and relate or run
  execute(candidate, spec, options, record, ready, outputs)
  close_all(outputs)
  if not ready.kept and not options.keep then close_all(ready.inputs) end
  return record
end

return M
