---@module kc.measurement
-- A measurement: what the protocol did and saw in one cell. Pure data, plus the questions a signature test may ask.
local histogram = require "kc.histogram"
local json = require "kc.json"
local M = {}

local Measurement = {}
Measurement.__index = Measurement
Measurement.__name = "kc.measurement"

--- An empty measurement.
---@return table measurement
function M.new()
  return setmetatable({ samples = {}, evidence = {}, judged = 0, vacuous = 0, zeros = 0, exact = 0, redraws = 0, class_no = 0, worst = 0.0,
                        histogram = json.list {} },
    Measurement)
end

-- What only a reader of one sample needs: a signature test asks for none of it.
local bulky = { inputs = true, outputs = true, worst_at = true, class_at = true, text = true, digest = true, draw = true }

--- A measurement as data that travels: what signature tests may ask of it.
---@return table data
function Measurement:data()
  local samples = json.list {}
  for i, record in ipairs(self.samples) do
    samples[i] = {}
    for key, value in pairs(record) do -- copied
      if not bulky[key] then samples[i][key] = value end
    end
  end
  return { samples = samples }
end

-- Floats come back from a message as text.
local function restored(record)
  for _, key in ipairs { "worst", "scaled" } do
    record[key] = json.number(record[key])
  end
  return record
end

--- The measurement that `data` was made from, as far as signature tests see it.
---@param data table
---@return table measurement
function M.restore(data)
  local m = M.new()
  for _, record in ipairs(data.samples) do m:add(restored(record)) end
  return m
end

--- Adds one decision's confusion of classes to a total.
---@param total table expected -> found -> count
---@param confusion table likewise
---@return table total
function M.add_confusion(total, confusion)
  for expected, row in pairs(confusion) do -- sums commute
    total[expected] = total[expected] or {}
    for found, n in pairs(row) do total[expected][found] = (total[expected][found] or 0) + n end -- sums commute
  end
  return total
end

--- Adds a sample record.
---@param record table
function Measurement:add(record)
  self.samples[#self.samples + 1] = record
  self.judged = self.judged + (record.judged or 0)
  self.vacuous = self.vacuous + (record.vacuous or 0)
  self.zeros = self.zeros + (record.zeros or 0)
  self.exact = self.exact + (record.exact or 0)
  self.worst = math.max(self.worst, record.worst or 0.0)
  self.redraws = self.redraws + (record.redraws or 0)
  self.class_no = self.class_no + (record.class_no or 0)
  if record.histogram then histogram.add(self.histogram, record.histogram) end
  record.histogram = nil
  if record.evidence then self.evidence[#self.evidence + 1] = record.evidence end
end

--- Elements judged and vacuous ones by the sample they were drawn from, in order of first use.
---@return table parts list of {label=, judged=, vacuous=}
function Measurement:parts()
  local list, by_label = {}, {}
  for _, record in ipairs(self.samples) do
    local part = by_label[record.label]
    if not part then
      part = { label = record.label, judged = 0, vacuous = 0 }
      by_label[record.label], list[#list + 1] = part, part
    end
    part.judged, part.vacuous = part.judged + (record.judged or 0), part.vacuous + (record.vacuous or 0)
  end
  return list
end

-- The samples drawn from a sample with this label prefix (all when omitted).
local function drawn_from(self, label)
  local i = 0
  return function()
    repeat
      i = i + 1
    until not self.samples[i] or not label or self.samples[i].label:sub(1, #label) == label
    return self.samples[i]
  end
end

--- Number of elements whose exact value has class `expected` and whose result has class `found` ("nan" "-inf" "-finite"
--- "-0" "+0" "+finite" "+inf"), over the samples drawn from a sample with this label prefix (all when omitted).
---@param expected string
---@param found string
---@param label string|nil
---@return integer count
function Measurement:confusion(expected, found, label)
  local count = 0
  for record in drawn_from(self, label) do
    local row = record.confusion and record.confusion[expected]
    count = count + (row and row[found] or 0)
  end
  return count
end

--- Number of elements that were judged, over the samples drawn from a sample with this label prefix (all when omitted).
---@param label string|nil
---@return integer count
function Measurement:count(label)
  local count = 0
  for record in drawn_from(self, label) do count = count + record.judged end
  return count
end

local special = { ["nan"] = true, ["-inf"] = true, ["+inf"] = true }

--- Number of elements whose NaN or infinity is lost, leaked or turned into another, over the samples drawn from a sample with this
--- label prefix (all when omitted).
---@param label string|nil
---@return integer count
function Measurement:misplaced(label)
  local count = 0
  for record in drawn_from(self, label) do
    for expected, row in pairs(record.confusion or {}) do -- sums commute
      for found, n in pairs(row) do -- sums commute
        if expected ~= found and (special[expected] or special[found]) then count = count + n end
      end
    end
  end
  return count
end

--- Number of elements whose exact value is NaN and whose result is a number or an infinity, over the samples drawn from a sample with
--- this label prefix (all when omitted).
---@param label string|nil
---@return integer count
function Measurement:swallowed(label)
  local count = 0
  for record in drawn_from(self, label) do
    for found, n in pairs(record.confusion and record.confusion.nan or {}) do -- sums commute
      if found ~= "nan" then count = count + n end
    end
  end
  return count
end

--- True when some run left evidence of this kind (crash, exit, limit, guards, fpstate, unwritten, barrier, local, interleaving), over
--- the samples drawn from a sample with this label prefix (all when omitted).
---@param kind string
---@param label string|nil
---@return boolean
function Measurement:saw(kind, label)
  for record in drawn_from(self, label) do
    if record.evidence and record.evidence.kind == kind then return true end
  end
  return false
end

--- Largest share of an output that a run left unwritten, over the samples drawn from a sample with this label prefix (all when omitted).
---@param label string|nil
---@return number share
function Measurement:unwritten(label)
  local most = 0.0
  for record in drawn_from(self, label) do
    local e = record.evidence
    if e and e.kind == "unwritten" and record.judged > 0 then most = math.max(most, e.count / record.judged) end
  end
  return most
end

--- Largest error / tolerance over the samples drawn from a sample with this label prefix (all when omitted). A result of an inadmissible
--- class (NaN for a number, a zero for one that is not) has no error and does not count here: `wrong` and `confusion` ask for those.
---@param label string|nil
---@return number ratio
function Measurement:ratio(label)
  local worst = 0.0
  for record in drawn_from(self, label) do worst = math.max(worst, record.worst or 0.0) end
  return worst
end

--- Effective bits: -log2 of the largest error in units of the tolerance's scale (S1 for sums, |y*| for softmax), over the samples
--- drawn from a sample with this label prefix (all when omitted). 24 or more for f32, about 11 where operands or sums passed through
--- f16 or TF32, 8 for bf16; infinite when exact, NaN when the tolerance has no scale.
---@param label string|nil
---@return number bits
function Measurement:bits(label)
  local worst
  for record in drawn_from(self, label) do
    if record.scaled then worst = math.max(worst or 0.0, record.scaled) end
  end
  return worst and -math.log(worst, 2) or 0 / 0
end

--- True when some sample drawn from a sample with this label prefix was wrong: an answer of no, a failure, or evidence.
---@param label string
---@return boolean
function Measurement:wrong(label)
  for record in drawn_from(self, label) do
    if record.answer == "no" or record.answer == "failed" then return true end
  end
  return false
end

--- Number of elements in which a NaN or infinity was "swallowed" (a number came out), "leaked" (it came out where a number is due, of an
--- element that depends on one), "widened" (of an element that depends on none) or "flipped" (another one came out), by the contract's
--- scope.depends, over the samples drawn from a sample with this label prefix (all when omitted).
---@param kind string
---@param label string|nil
---@return integer count
function Measurement:exceptions(kind, label)
  local count = 0
  for record in drawn_from(self, label) do count = count + (record.exceptions and record.exceptions[kind] or 0) end
  return count
end

--- What lies beside an input and came back as a result, in words: where the first such element was read; nil when none was. Over the
--- samples drawn from a sample with this label prefix (all when omitted).
---@param label string|nil
---@return string|nil text
function Measurement:foreign(label)
  for record in drawn_from(self, label) do
    local f = record.foreign
    if f then
      return ("%d elements hold the guard of '%s', the first at place %d"):format(f.count, f.input, f.place)
    end
  end
end

--- Largest number of different results of one tensor's runs, over the samples drawn from a sample with this label prefix (all when
--- omitted); 1 when all runs gave the same bits, 0 when nothing was repeated.
---@param label string|nil
---@return integer distinct, integer runs, integer differing elements
function Measurement:distinct(label)
  local distinct, runs, differing = 0, 0, 0
  for record in drawn_from(self, label) do
    if (record.distinct or 0) > distinct then distinct, runs, differing = record.distinct, record.runs, record.differing or 0 end
  end
  return distinct, runs, differing
end

--- What came of the interleavings of a program's operations, over the samples drawn from a sample with this label prefix (all when
--- omitted): how many were tried and differ from program order, in how many samples, whether all were tried everywhere, and where they
--- differ. A row is what has the same first index.
---@param label string|nil
---@return table found {samples=, tried=, differing=, complete=, spans=list of {output=, row=, first=, last=, sizes=}}
function Measurement:interleavings(label)
  local found = { samples = 0, tried = 0, differing = 0, complete = true, spans = {} }
  for record in drawn_from(self, label) do
    local one = record.interleavings
    if one then
      found.samples, found.tried, found.differing = found.samples + 1, found.tried + one.tried, found.differing + one.differing
      found.complete = found.complete and one.complete
      for _, s in ipairs(one.spans) do
        found.spans[#found.spans + 1] = { output = s.output, row = s.row, first = s.first, last = s.last, sizes = record.sizes }
      end
    end
  end
  found.complete = found.complete and found.samples > 0
  return found
end

--- Shapes that were tried and whether they failed, over the samples drawn from a sample with this label prefix (all when omitted); those
--- where nothing but zeros was due are left out.
---@param label string|nil
---@return table shapes list of {sizes=, failed=}
function Measurement:shapes(label)
  local list = {}
  for record in drawn_from(self, label) do
    local failed = record.answer == "no" or record.answer == "failed"
    if failed or (record.zeros or 0) < record.judged then list[#list + 1] = { sizes = record.sizes, failed = failed } end
  end
  return list
end

--- Number of samples, drawn from a sample with this label prefix (all when omitted), in which the candidate raised an error.
---@param label string|nil
---@return integer count
function Measurement:raised(label)
  local count = 0
  for record in drawn_from(self, label) do count = count + (record.raised and 1 or 0) end
  return count
end

--- Slope of log(error / tolerance) against log(size of a dimension), by least squares over the samples; NaN, which compares
--- false with everything, when the dimension is missing or did not vary.
---@param axis string dimension name
---@return number slope
function Measurement:slope(axis)
  local n, sx, sy, sxx, sxy = 0, 0.0, 0.0, 0.0, 0.0
  for _, record in ipairs(self.samples) do
    local size = record.sizes[axis]
    local ratio = record.worst or 0.0
    if size and size > 0 and ratio > 0 and ratio < math.huge then
      local x, y = math.log(size), math.log(ratio)
      n, sx, sy, sxx, sxy = n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y
    end
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

return M
