---@module kc.interleave
-- Which interleavings of an implementation's operations (kc.ranks) are tried, and what comes of it. See spec/ranks.md.
local core = require "kc.core"
local json = require "kc.json"
local words = require "kc.words"
local M = {}

local fields = { exhaustive = true, samples = true, thorough = true }

--- What is wrong with a protocol's `interleavings`, or nil.
---@param v any {exhaustive=how many are enumerated at most, samples=how many are drawn beyond, thorough=the same with --thorough}
---@return string|nil message
function M.misfit(v)
  if type(v) ~= "table" then return "expected a table { exhaustive =, samples =, thorough = }, got " .. words.show(v) end
  for _, key in ipairs(words.keys(v)) do
    if not fields[key] then return ("unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), words.keys(fields))) end
  end
  for _, key in ipairs { "exhaustive", "samples", "thorough" } do
    local n = v[key]
    if not (math.type(n) == "integer" and n >= 1) and not (key == "thorough" and n == nil) then
      return ("%s: expected an integer >= 1, got %s"):format(key, words.show(n))
    end
  end
end

--- The bounds of a run, or nil where the contract asks for none.
---@param contract table
---@param thorough boolean|nil
---@return table|nil bounds {exhaustive=, samples=}
function M.bounds(contract, thorough)
  local v = contract.protocol.interleavings
  return v and { exhaustive = v.exhaustive, samples = thorough and v.thorough or v.samples }
end

-- ---- which ones ----------------------------------------------------------------------------------------------------------------

-- The choices that come after these, depth first, with the branching that they will meet; nil after the last.
local function following(met)
  for i = #met.branching, 1, -1 do
    if met.taken[i] < met.branching[i] then
      local prefix = json.list { table.unpack(met.taken, 1, i) }
      prefix[i] = prefix[i] + 1
      return prefix, { table.unpack(met.branching, 1, i) }
    end
  end
end

local function same_start(branching, expected)
  for i, n in ipairs(expected) do if branching[i] ~= n then return false end end
  return true
end

--- Tries all interleavings up to a bound, depth first, and draws some when there are more.
---@param bounds table {exhaustive=, samples=}
---@param seed integer of the drawn ones
---@param attempt function attempt{prefix=choices, seed=integer|nil} gives {branching=, taken=, repeats=boolean|nil}, or nil to stop
---@param visit function|nil visit(met) is called for each interleaving that was not seen before
---@return table found {tried=different ones, complete=boolean, stopped=boolean|nil, changed=the program was another one|nil}
function M.enumerate(bounds, seed, attempt, visit)
  local seen, tried = {}, 0
  local function try(plan, expected)
    local met = attempt(plan)
    if not met then return nil, { tried = tried, complete = false, stopped = true } end
    if not same_start(met.branching, expected) then return nil, { tried = tried, complete = false, changed = true } end
    local key = table.concat(met.taken, " ")
    if not met.repeats and not seen[key] then
      tried, seen[key] = tried + 1, true
      if visit then visit(met) end
    end
    return met
  end
  local prefix, expected = json.list {}, {}
  for _ = 1, bounds.exhaustive do
    local met, stop = try({ prefix = prefix }, expected)
    if not met then return stop end
    prefix, expected = following(met)
    if not prefix then return { tried = tried, complete = true } end
  end
  for k = 1, bounds.samples do
    local met, stop = try({ prefix = json.list {}, seed = seed + k }, {})
    if not met then return stop end
  end
  return { tried = tried, complete = false }
end

-- ---- what they give ------------------------------------------------------------------------------------------------------------

-- Marks the elements of `output` that are not those of `expected`; true when there are any.
local function mark(marks, output, expected)
  if output:raw() == expected:raw() then return false end
  for i = 1, #output do
    if output:code(i) ~= expected:code(i) then marks[i] = true end
  end
  return true
end

-- Runs of marked elements along the rows of a tensor, a row being what has the same first index.
local function spans(list, name, shape, marks)
  local rows = #shape > 1 and shape[1] or 1
  local length = 1
  for d = #shape > 1 and 2 or 1, #shape do length = length * shape[d] end
  for row = 1, rows do
    local open
    for i = 1, length do
      if not marks[(row - 1) * length + i] then
        open = nil
      elseif open then
        open.last = i
      else
        open = { output = name, row = row, first = i, last = i }
        list[#list + 1] = open
      end
    end
  end
end

local SHOWN = 3

local function where(list)
  local text = {}
  for i = 1, math.min(SHOWN, #list) do
    local s = list[i]
    text[i] = ("%s[%d,%s]"):format(s.output, s.row, s.first == s.last and s.first or ("%d..%d"):format(s.first, s.last))
  end
  return table.concat(text, ", ") .. (#list > SHOWN and (" and %d more places"):format(#list - SHOWN) or "")
end

local function conclude(record, found, differing, marked)
  local list = json.list {}
  for _, m in ipairs(marked) do spans(list, m.name, m.shape, m.marks) end
  record.interleavings = { tried = found.tried, complete = found.complete, differing = differing.count, spans = list,
                           first = differing.first }
  if differing.count > 0 then
    local text = ("%d of %d interleavings%s differ from program order: %s"):format(differing.count, found.tried,
      found.complete and "" or " tried", where(list))
    record.evidence = record.evidence or { kind = "interleaving", text = text }
    record.answer, record.text = "no", record.evidence.text
  elseif found.changed then
    record.answer, record.text = "unknown", "the operations enqueued differ from call to call: interleavings cannot be enumerated"
  elseif found.late then
    record.answer, record.text = "unknown", ("time-out: %d interleavings tried"):format(found.tried)
  end
end

--- Compares the results of other interleavings with that of program order, and adds what was found to the record.
---@param record table of the sample
---@param outputs table list of {name=, buffer=, shape=}: what `again` writes
---@param expected table name -> buffer, the result of program order
---@param options table {interleavings=bounds, timeout=seconds|nil}
---@param again function again(interleaving) runs the candidate; gives its launch record, or nil and a failure
function M.explore(record, outputs, expected, options, again)
  local started, differing, marked = core.clock(), { count = 0 }, {}
  local late, failed, none
  for i, output in ipairs(outputs) do marked[i] = { name = output.name, shape = output.shape, marks = {} } end
  local found = M.enumerate(options.interleavings, record.index << 32, function(plan)
    late = options.timeout and core.clock() - started > options.timeout
    if late then return nil end
    local launch, failure = again(plan)
    if not launch then failed = failure return nil end
    none = not launch.branching -- it has no operations on ranks
    if none then return nil end
    return launch
  end, function(met)
    local differs = false
    for i, output in ipairs(outputs) do differs = mark(marked[i].marks, output.buffer, expected[output.name]) or differs end
    if not differs then return end
    differing.count = differing.count + 1
    differing.first = differing.first or json.list { table.unpack(met.taken) }
  end)
  found.late = late
  if not none then conclude(record, found, differing, marked) end
  if failed then
    record.answer, record.evidence, record.text = "failed", failed, "in another interleaving: " .. failed.text
  end
end

--- What a held verdict may say of the interleavings of its samples: nil where there were none.
---@param m table measurement
---@return string|nil text
function M.note(m)
  local all = m:interleavings()
  if all.tried == 0 then return nil end
  if all.complete then return ("proved over all interleavings: %d in %d samples"):format(all.tried, all.samples) end
  return ("%d interleavings tried in %d samples, not all that there are"):format(all.tried, all.samples)
end

return M
