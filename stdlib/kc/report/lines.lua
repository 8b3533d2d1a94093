---@module kc.report.lines
-- What a report says of a result, a calibration or a pair of devices, in single lines: the same words whatever the format.
local evidence = require "kc.evidence"
local histograms = require "kc.histogram"
local json = require "kc.json"
local verdict = require "kc.verdict"
local M = {}

-- Floats come as text from judges and from cached records.
local number = json.number

--- Text of a candidate's or a contract's without line breaks and escape sequences: control characters as \x1b.
---@param text any
---@return string
function M.clean(text) return (tostring(text):gsub("%c", function(c) return ("\\x%02x"):format(c:byte()) end)) end

--- What an extension gives, in one line.
---@param extension table row of core.extensions
---@return string
function M.extension(extension)
  local parts = { ("%s:"):format(extension.path or "the program's own") }
  for _, kind in ipairs { "drivers", "oracles", "metrics" } do
    if #extension[kind] > 0 then parts[#parts + 1] = ("%s %s"):format(kind, table.concat(extension[kind], ", ")) end
  end
  return table.concat(parts, " ")
end

--- What of a run's surroundings bears on its results: extensions, and that nothing was isolated.
---@param env table
---@return table texts
function M.surroundings(env)
  local texts = {}
  for i, extension in ipairs(env.extensions or {}) do texts[i] = "extension " .. M.extension(extension) end
  if env.isolation then texts[#texts + 1] = "judged in the calling process: nothing was isolated" end
  return texts
end

-- ---- the worst element of a result ----------------------------------------------------------------------------------------

--- The element that tells most: the first of a class that may not be, else that of the largest error over the samples.
---@param r table result
---@return table|nil at, number|nil worst share of what is allowed, table|nil sample its record
function M.worst(r)
  local found, most, where
  for _, sample in ipairs(r.samples or {}) do
    if sample.class_at then return sample.class_at, math.huge, sample end
    local worst = sample.worst_at and number(sample.worst) or -1.0
    if worst > (most or -1.0) then found, most, where = sample.worst_at, worst, sample end
  end
  return found, most, where
end

--- An error in ulps where the tolerance counts ulps, else as a share of the tolerance.
---@param r table result
---@param worst number
---@return string size, string of what
function M.size(r, worst)
  local limit = r.tolerance and r.tolerance.id == "T-ULP" and number(r.tolerance.limit)
  if limit then return ("%.4g ulp"):format(worst * limit), (" of %g"):format(limit) end
  return ("%.4g"):format(worst), " of the tolerance"
end

--- The inputs of an element, each as `format` says.
---@param at table element
---@param format string with %name, %g and %a
---@return string
function M.arguments(at, format)
  local parts = {}
  for i, x in ipairs(at.inputs or {}) do
    parts[i] = format:gsub("%%name", x.name):gsub("%%g", ("%.9g"):format(number(x.value))):gsub("%%a", ("%a"):format(number(x.value)))
  end
  return table.concat(parts, ", ")
end

local function exact_text(lo, hi) return lo == hi and ("%.9g (%a)"):format(lo, lo) or ("%.9g [%a, %a]"):format(lo, lo, hi) end

local function element_line(r, at, worst, place)
  local size, of = M.size(r, worst)
  local what = size .. of
  if worst == math.huge then
    what = at.error and ("an error of %.3g, where none is allowed,"):format(number(at.error)) or "an inadmissible class"
  end
  return ("%s at %s: got %.9g (%s), exact %s"):format(what, place, number(at.got), at.code, exact_text(number(at.lo), number(at.hi)))
end

--- The worst element of an elementwise function, by its inputs; nil where it has none, or where nothing is wrong.
---@param r table result
---@return string|nil line
function M.worst_line(r)
  local at, worst = M.worst(r)
  if not at or worst == 0 or #(at.inputs or {}) == 0 then return nil end
  return element_line(r, at, worst, M.arguments(at, "%name = %g (%a)"))
end

--- The worst element of any result, by its place and its inputs.
---@param r table result
---@return string|nil line
function M.placed_line(r)
  local at, worst, sample = M.worst(r)
  if not at or worst == 0 or not at.lo then return nil end
  local place = ("%s[%d] of sample %d (%s)"):format(at.output, at.element, sample.index, sample.label)
  local inputs = M.arguments(at, "%name = %g (%a)")
  return element_line(r, at, worst, inputs == "" and place or place .. ", " .. inputs)
end

-- ---- one result -----------------------------------------------------------------------------------------------------------------

--- How much was judged, how close it came, and what that proves; empty where nothing was judged.
---@param r table result
---@return string line
function M.judged(r)
  local text = r.judged and ("%d elements, worst %.3g of the tolerance"):format(r.judged, number(r.worst)) or ""
  if r.vacuous and r.vacuous > 0 then text = ("%s, %d vacuous"):format(text, r.vacuous) end
  if r.verdict.proves then text = ("%s; %s"):format(text, verdict.proven(r.verdict.proves)) end
  return text
end

local function beyond_numbers(r)
  for _, sample in ipairs(r.samples or {}) do
    if sample.class_at or sample.evidence then return true end
  end
  return number(r.worst) <= 1
end

--- The largest error as a share of what is allowed; infinite where something else than an error of a number is wrong.
---@param r table result
---@return number|nil ratio nil where nothing was judged
function M.ratio(r)
  if not r.judged or r.judged == 0 then return nil end
  return r.verdict.name == "violated" and beyond_numbers(r) and math.huge or number(r.worst)
end

--- What a verdict says: of a held one what was judged, of any other its reason.
---@param r table result
---@return string line
function M.says(r) return r.verdict.name == "held" and M.judged(r) or r.verdict.reason or "" end

--- The command that shows a result again.
---@param r table result
---@return string|nil line
function M.replay(r) return r.replay and "kc replay " .. r.replay end

-- In the order of a report; `key` is for programs, `label` for people.
local facts = {
  { "command", "command", function(r)
    local run = r.external and r.external.run
    return run ~= r.implementation and run or nil
  end },
  { "element", "worst", function(r, placed) return (placed and M.placed_line or M.worst_line)(r) end },
  { "signature", "signature", function(r) return r.verdict.signature end },
  { "pattern", "the contract's signature", function(r, placed)
    local named = r.pattern and (r.verdict.signature or ""):sub(1, #r.pattern) == r.pattern
    return placed and r.verdict.name == "violated" and not named and r.pattern
  end },
  { "note", "note", function(r) return r.verdict.note end },
  { "static", "static evidence", function(r) return r.static and evidence.text(r.static) end },
  { "replay", nil, M.replay },
}

--- What else is known of a result, in the order of a report.
---@param r table result
---@param placed boolean whether the worst element is named by its place, and not only by its inputs
---@return table list of {key=, label=|nil, text=}
function M.facts(r, placed)
  local list = {}
  for _, row in ipairs(facts) do
    local text = row[3](r, placed)
    if text then list[#list + 1] = { key = row[1], label = row[2], text = text } end
  end
  return list
end

-- ---- calibration ----------------------------------------------------------------------------------------------------------------

--- A sound calibration in one line.
---@param record table
---@return string line
function M.states(record)
  local n = { baseline = 0, bad = 0, good = 0, vacuous = 0 }
  local least, most = math.huge, 0.0
  for _, state in ipairs(record.states) do
    n[state.role] = n[state.role] + 1
    if state.role == "bad" then least = math.min(least, number(state.margin) or 0.0) end
    if state.role == "good" then most = math.max(most, number(state.margin) or 0.0) end
  end
  local text = ("%d baseline, %d bad, %d good, %d vacuous told apart"):format(n.baseline, n.bad, n.good, n.vacuous)
  return ("%s; good use at most %.3g of the tolerance, bad exceed it %s"):format(text, most,
    least == math.huge and "infinitely" or ("at least %.3g times"):format(least))
end

--- The cells of one state's line: what the functional test said, the verdict, the margin.
---@param state table
---@return string functional, string verdict, string margin
function M.state(state)
  local functional = state.functional == nil and "-" or state.functional and "passes" or "fails"
  return functional, state.verdict or "not run", state.margin and ("%.4g"):format(number(state.margin)) or "-"
end

-- ---- two devices side by side -------------------------------------------------------------------------------------------------

local function histogram_text(histogram)
  local parts = {}
  for i, bin in ipairs(histograms.distances(histogram)) do parts[i] = ("%s ulp %d"):format(bin.label, bin.count) end
  return table.concat(parts, ", ")
end

local function pair_element(e, devices)
  local lo, hi = number(e.lo), number(e.hi)
  local exact = lo == hi and ("%.9g"):format(lo) or ("%.9g [%a, %a]"):format(lo, lo, hi)
  local at = #e.inputs > 0 and " at " .. M.arguments(e.inputs and { inputs = e.inputs }, "%name = %g (%a)") or ""
  return ("%s[%d] of sample %d (%s)%s: %s %.9g (%s), %s %.9g (%s), exact %s"):format(e.output, e.element, e.sample, M.clean(e.label), at,
    devices[1], number(e.a.value), e.a.code, devices[2], number(e.b.value), e.b.code, exact)
end

local function differences(record, list)
  local one, two = record.devices[1], record.devices[2]
  local function add(format, ...) list[#list + 1] = format:format(...) end
  local ulps = histogram_text(record.histogram)
  if ulps ~= "" then add("distance: %s; at most %.4g", ulps, number(record.worst)) end
  if record.payloads > 0 then add("NaNs of other bits: %d", record.payloads) end
  if record.classes > 0 then add("of another class (NaN, infinite, zero of the other sign): %d", record.classes) end
  if not record.first then return end
  add("first: %s", pair_element(record.first, record.devices))
  local n = record.nearer
  add("nearer the exact value: %s in %d, %s in %d%s", one, n[1], two, n[2], n[3] > 0 and (", undecided %d"):format(n[3]) or "")
end

--- How two devices differ on one implementation: the headline, and what follows it.
---@param record table
---@return string headline, table lines
function M.pair(record)
  local lines = {}
  if record.failed then
    return ("not compared: %s: %s"):format(record.failed.device, M.clean(record.failed.text)), lines
  end
  if record.different == 0 then return ("the same bits in one run of each of %d samples"):format(record.samples), lines end
  differences(record, lines)
  return ("other bits in %d of %d elements (%.3g %%)"):format(record.different, record.elements,
    100 * record.different / record.elements), lines
end

return M
