---@module kc.record
-- What the record of a sample says of elements: counts, the worst one with its inputs, and values that came from beside an input.
local check = require "kc.check"
local core = require "kc.core"
local histogram = require "kc.histogram"
local measurement = require "kc.measurement"
local M = {}

-- Ratios are recorded rounded up to 12 significant bits, so that traces agree between machines.
local function round_up(x)
  if x ~= x or x <= 0 or x == math.huge then return x end
  local bits = string.unpack("<i8", string.pack("<d", x))
  local mask = (1 << 41) - 1
  if bits & mask ~= 0 then bits = (bits & ~mask) + (1 << 41) end
  return (string.unpack("<d", string.pack("<i8", bits)))
end

local function float(x) return math.type(x) == "integer" and x + 0.0 or x end

local function place(output, element)
  return { output = output.name, element = element, got = float(output.buffer[element]),
           code = ("0x%x"):format(output.buffer:code(element)) }
end

local function add_decision(record, d, output)
  record.judged = record.judged + d.count - d.anything
  record.vacuous = record.vacuous + d.vacuous
  record.zeros = record.zeros + (d.zeros or 0)
  record.exact = record.exact + d.exact
  record.refined = record.refined + d.refined
  record.class_no = record.class_no + d.class_no
  record.scaled = math.max(record.scaled or 0.0, round_up(d.worst_scaled))
  record.confusion = measurement.add_confusion(record.confusion or {}, d.confusion)
  record.histogram = histogram.add(record.histogram or {}, d.histogram)
  if d.first_class_no and not record.class_at then record.class_at = place(output, d.first_class_no) end
  local ratio = round_up(d.worst_ratio_hi or 0.0)
  if d.worst and ratio >= (record.worst or 0.0) then
    record.worst, record.worst_at = ratio, place(output, d.worst)
    record.worst_at.lo, record.worst_at.hi = d.worst_lo, d.worst_hi
    record.worst_at.error, record.worst_at.allowed = d.worst_error, d.worst_allowed
  end
end

--- Adds to a sample's record what the clauses decided of its outputs. What a clause decides about a buffer of its own (an invariant) bears
--- on the answer, but nothing that the kernel wrote was counted.
---@param record table
---@param answer table of the postcondition
---@param outputs table list of {name=, buffer=}
function M.summarise(record, answer, outputs)
  local seen = {}
  check.each(answer, function(c)
    local d = c.data and c.data.decision
    if not d or seen[d] then return end
    seen[d] = true
    for _, output in ipairs(outputs) do
      if c.data.output == output.buffer then add_decision(record, d, output) end
    end
  end)
end

--- The arguments of an elementwise function at one element: inputs of another size are left out.
---@param inputs table list of {name=, buffer=}
---@param output userdata buffer
---@param element integer
---@return table list of {name=, value=, code=}
function M.arguments(inputs, output, element)
  local list = {}
  for _, input in ipairs(inputs) do
    if #input.buffer == #output then
      list[#list + 1] = { name = input.name, value = float(input.buffer[element]),
                          code = ("0x%x"):format(input.buffer:code(element)) }
    end
  end
  return list
end

-- Elements that hold what lies beside an input: canaries tell their place. Looked for only where a sample is wrong, and in words of 4 bytes
-- and more: a canary byte has 7 random bits, so that one of 256 other words passes for one of 2,048 places in 1 sample of 500.
local FOREIGN = 256 -- elements looked at

--- The first of these elements, and how many there are.
---@param inputs table list of {name=, buffer=}
---@param y table name -> buffer
---@param outputs table
---@return table|nil found {input=, output=, element=, place=, count=}
function M.foreign(inputs, y, outputs)
  local found
  for _, output in ipairs(outputs) do
    for _, input in ipairs(inputs) do
      local buffer = y[output.name]
      local alike = buffer:format() == input.buffer:format() and core.format(buffer:format()).bits >= 32
      for i = 1, alike and math.min(#buffer, FOREIGN) or 0 do
        local at = input.buffer:guardplace(buffer:code(i))
        if at then
          found = found or { input = input.name, output = output.name, element = i, place = at, count = 0 }
          found.count = found.count + 1
        end
      end
    end
  end
  return found
end

return M
