---@module kc.measurement
-- A measurement: what the protocol did and saw in one cell. Pure data, plus the questions a signature test may ask.
local M = {}

local Measurement = {}
Measurement.__index = Measurement
Measurement.__name = "kc.measurement"

--- An empty measurement.
---@return table measurement
function M.new()
  return setmetatable({ samples = {}, evidence = {}, confused = {}, judged = 0, vacuous = 0, zeros = 0, exact = 0, redraws = 0,
                        worst = 0.0 }, Measurement)
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
  M.add_confusion(self.confused, record.confusion or {})
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

--- Number of elements whose exact value has class `expected` and whose result has class `found` ("nan" "-inf" "-finite"
--- "-0" "+0" "+finite" "+inf").
---@param expected string
---@param found string
---@return integer count
function Measurement:confusion(expected, found) return self.confused[expected] and self.confused[expected][found] or 0 end

local special = { ["nan"] = true, ["-inf"] = true, ["+inf"] = true }

--- Number of elements whose NaN or infinity is lost, leaked or turned into another.
---@return integer count
function Measurement:misplaced()
  local count = 0
  for expected, row in pairs(self.confused) do -- sums commute
    for found, n in pairs(row) do -- sums commute
      if expected ~= found and (special[expected] or special[found]) then count = count + n end
    end
  end
  return count
end

--- True when some run left evidence of this kind: crash, exit, limit, guards, fpstate, unwritten, barrier, local.
---@param kind string
---@return boolean
function Measurement:saw(kind)
  for _, item in ipairs(self.evidence) do if item.kind == kind then return true end end
  return false
end

--- Largest error / tolerance over the samples drawn from a sample with this label prefix (all when omitted).
---@param label string|nil
---@return number ratio
function Measurement:ratio(label)
  local worst = 0.0
  for _, record in ipairs(self.samples) do
    if not label or record.label:sub(1, #label) == label then worst = math.max(worst, record.worst or 0.0) end
  end
  return worst
end

--- Effective bits: -log2 of the largest error in units of the tolerance's scale (S1 for sums, |y*| for softmax), over the samples
--- drawn from a sample with this label prefix (all when omitted). 24 or more for f32, about 11 where operands or sums passed through
--- f16 or TF32, 8 for bf16; infinite when exact, NaN when the tolerance has no scale.
---@param label string|nil
---@return number bits
function Measurement:bits(label)
  local worst
  for _, record in ipairs(self.samples) do
    if record.scaled and (not label or record.label:sub(1, #label) == label) then worst = math.max(worst or 0.0, record.scaled) end
  end
  return worst and -math.log(worst, 2) or 0 / 0
end

--- True when some sample drawn from a sample with this label prefix was wrong: an answer of no, a failure, or evidence.
---@param label string
---@return boolean
function Measurement:wrong(label)
  for _, record in ipairs(self.samples) do
    if record.label:sub(1, #label) == label and (record.answer == "no" or record.answer == "failed") then return true end
  end
  return false
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
