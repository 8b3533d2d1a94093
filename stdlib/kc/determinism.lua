---@module kc
-- Determinism classes: what a contract says of the bits of repeated runs, and the runs that show it. See spec/clauses.md.
local live_outputs = require "kc.live"
local measure = require "kc.measure"
local words = require "kc.words"
local M = {}

M.classes = { "D0", "D1", "D2", "D3" }

local CONFIDENCE = 0.95

--- How many invocations exclude, when none differs, that a run differs with more than this probability (95 %): n with (1 - p)^n <= 0.05.
--- > kc.invocations { probability = 0.03 }
--- 99
---@param options table {probability=number}
---@return integer n for `protocol.repeats`
function M.invocations(options)
  local p = type(options) == "table" and options.probability
  if type(p) ~= "number" or p <= 0 or p >= 1 then
    error("kc.invocations: field 'probability': expected a number between 0 and 1, got " .. words.show(p), 2)
  end
  return math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - p))
end

-- Elements of any output that differ between two runs.
local function differing(outputs, a, b, seen)
  for _, output in ipairs(outputs) do
    local name = output.name
    if a[name]:raw() ~= b[name]:raw() then
      for i = 1, #a[name] do
        if a[name]:code(i) ~= b[name]:code(i) then seen[name .. i] = true end
      end
    end
  end
end

-- D0: any order of groups and work-items; D1: one configuration, and so one order.
local function schedule_of(class, candidate, options, run)
  if class == "D1" or not candidate.device:match "^cpu" then return options.schedule end
  return run
end

local function with(options, changes)
  local copy = {}
  for _, key in ipairs(words.keys(options)) do copy[key] = options[key] end
  for _, key in ipairs(words.keys(changes)) do copy[key] = changes[key] end
  return copy
end

-- Every so often the implementation runs on other inputs of the same sizes, so that what one launch leaves behind meets another.
local OTHER_EVERY, OTHER_DRAW = 16, 1 << 20

local function other_work(candidate, spec, options)
  local y, _, failure = measure.again(candidate, with(spec, { draw = spec.draw + OTHER_DRAW }), options)
  for _, output in ipairs(y and candidate.contract.scope.outputs or {}) do y[output.name]:close() end
  return failure
end

-- D0 and D1: the first run is judged, the others must have its bits.
local function same_bits(candidate, spec, options, class, repeats)
  local first = measure.sample(candidate, spec, with(options, { keep = true }))
  if first.answer ~= "yes" then return first end
  local outputs, live = candidate.contract.scope.outputs, live_outputs.new(candidate.client)
  local digests, count, seen = { [first.digest] = true }, 1, {}
  for run = 2, repeats do
    local other = run % OTHER_EVERY == 2 and spec.random and other_work(candidate, spec, options)
    local y, digest, failure
    if not other then
      y, digest, failure = measure.again(candidate, spec, with(options, { schedule = schedule_of(class, candidate, options, run),
                                                                          live = live, run = run }))
    end
    failure = other or failure
    if failure then
      live:close()
      first.answer, first.text, first.evidence = "failed", ("in run %d: %s"):format(run, failure.text), failure
      return first
    end
    if not digests[digest] then count = count + 1 end
    digests[digest] = true
    differing(outputs, first.outputs, y, seen)
    for _, output in ipairs(outputs) do y[output.name]:close() end
  end
  first.runs, first.distinct, first.differing = repeats, count, #words.keys(seen)
  local aliasing, kept = live:close()
  first.live = kept < repeats - 1 and kept or nil
  if aliasing then first.answer, first.text, first.evidence = "no", aliasing.text, aliasing end
  if count > 1 then
    first.answer, first.worst = "no", math.huge
    first.text = ("%d different results in %d runs under the determinism class %s; %d elements differ"):format(count, repeats, class,
      first.differing)
  end
  return first
end

-- D2 and D3: every run is judged, in another order.
local function each_right(candidate, spec, options, class, repeats)
  local first, digests, count = nil, {}, 0
  for run = 1, repeats do
    local record = measure.sample(candidate, spec, with(options, { schedule = schedule_of(class, candidate, options, run - 1) }))
    first = first or record
    if record.digest and not digests[record.digest] then count = count + 1 end
    digests[record.digest or ""] = true
    if (record.worst or 0.0) > (first.worst or 0.0) then first.worst, first.worst_at = record.worst, record.worst_at end
    if record.answer ~= "yes" then
      record.text = run > 1 and ("in run %d: %s"):format(run, record.text) or record.text
      record.runs, record.distinct, record.digest = run, count, first.digest
      return record
    end
  end
  first.runs, first.distinct = repeats, count
  return first
end

--- Runs one sample as often as the protocol says and judges its runs by the contract's determinism class.
---@param candidate table
---@param spec table
---@param options table as for measure.sample
---@return table record with runs, distinct and, for D0 and D1, differing
function M.sample(candidate, spec, options)
  local protocol = candidate.contract.protocol
  if spec.relation then return measure.sample(candidate, spec, options) end
  local how = (protocol.determinism == "D0" or protocol.determinism == "D1") and same_bits or each_right
  local record = how(candidate, spec, options, protocol.determinism, protocol.repeats)
  if not options.keep then record.outputs, record.inputs = nil, nil end
  return record
end

local orders = { D0 = "in permuted orders", D1 = "in one order" }

--- What runs without a difference prove, in words.
---@param protocol table
---@param device string only the cpu device permutes the order
---@return string|nil text
function M.proven(protocol, device)
  if protocol.determinism ~= "D0" and protocol.determinism ~= "D1" then return nil end
  local order = device:match "^cpu" and orders[protocol.determinism] or "in the orders that it chose"
  return ("the same bits in %d runs of each tensor, %s: a run differs with probability <= %.3g %% (95 %%)"):format(protocol.repeats,
    order, 100 * (1 - (1 - CONFIDENCE) ^ (1 / protocol.repeats)))
end

return M
