---@module kc
-- kc.compare: one kernel on two devices, on the same arguments.
local core = require "kc.core"
local show = require "kc.show"
local words = require "kc.words"
local M = {}

local Comparison = { __name = "kc.comparison", __metatable = false }
Comparison.__index = Comparison

local function opened(device, i)
  if type(device) == "string" then return require("kc.device").device(device), device end
  if type(device) == "table" and device.fingerprint and device.launch then return device, device:fingerprint().name end
  error(("kc.compare: argument %d: expected a device or its name, got %s"):format(i, words.show(device)), 3)
end

-- Arguments in the order of the parameters; buffers as copies, so that each device starts from the same bits.
local function arguments(names, inputs)
  local list = {}
  for i, name in ipairs(names) do
    local value = inputs[name]
    if value == nil then error(("kc.compare: argument 4: no value for the parameter '%s'"):format(name), 3) end
    list[i] = type(value) == "userdata" and value:copy() or value
  end
  for _, key in ipairs(words.keys(inputs)) do
    if not words.holds(names, key) then
      error(("kc.compare: argument 4: the kernel has no parameter '%s'; %s"):format(tostring(key), words.hint(tostring(key), names)), 3)
    end
  end
  return list
end

local geometry = { "grid", "group", "schedule", "timeout" }

-- What builds a kernel, and what launches it.
local function split(options)
  local build, launch, names = {}, {}, {}
  for _, key in ipairs(words.keys(options)) do
    if words.holds(geometry, key) then launch[key] = options[key] else build[key] = options[key] end
  end
  for i, text in ipairs(options.params or {}) do names[i] = tostring(text):match("^%s*([%a_][%w_]*)") end
  return build, launch, names
end

local function buffer_row(name, a, b)
  local s = assert(core.metric("ulp", a, b))
  local i = s.first_mismatch or s.worst
  return { name = name, format = a:format(), elements = s.count, different = s.bit_differences, classes = s.class_mismatches,
           histogram = s.histogram, worst = s.max, worst_at = i, a = i and a[i], b = i and b[i], first = a, second = b }
end

--- Runs a kernel on two devices and compares what it left in its buffers, bit by bit and in ulps. A result lists the buffers that
--- differ from what was given on either device: {name=, format=, elements=, different= (bits), classes= (NaN, infinity or zero on one
--- side only), worst= (ulps), worst_at=, a=, b= (the values there), first=, second= (the buffers), histogram=}; it prints as a summary, and
--- kc.plot{ result[1] } draws its histogram. Which of the two is right is for a contract to say: kc run --device A --device B.
---@param a string|table a device or its name
---@param b string|table
---@param kernel table as of device:kernel, and grid=, group= as of device:launch
---@param inputs table parameter name -> buffer or number; buffers are copied for each device
---@return table comparison
function M.compare(a, b, kernel, inputs)
  if type(kernel) ~= "table" then error("kc.compare: argument 3: expected a table as of device:kernel, got " .. words.show(kernel), 2) end
  if type(inputs) ~= "table" then error("kc.compare: argument 4: expected a table of arguments, got " .. words.show(inputs), 2) end
  local build, launch, names = split(kernel)
  local runs, labels = {}, {}
  for i, which in ipairs { a, b } do
    local device, label = opened(which, i)
    local list = arguments(names, inputs)
    local record = device:launch(device:kernel(build), list, launch)
    if type(which) == "string" then device:close() end
    if record.evidence then error(("kc.compare: on %s: %s"):format(label, record.evidence), 2) end
    runs[i], labels[i] = list, label
  end
  local comparison = setmetatable({ devices = labels }, Comparison)
  for i, name in ipairs(names) do
    local given, x, y = inputs[name], runs[1][i], runs[2][i]
    if type(given) == "userdata" and not (given:digest() == x:digest() and given:digest() == y:digest()) then
      comparison[#comparison + 1] = buffer_row(name, x, y)
    end
  end
  return comparison
end

local function number(x) return math.type(x) == "integer" and ("%d"):format(x) or show.decimal(x) end

local function row_text(row, devices)
  if row.different == 0 then return ("%s: %s, the same bits in %d elements"):format(row.name, row.format, row.elements) end
  local text = ("%s: %s, other bits in %d of %d elements (%.3g %%)"):format(row.name, row.format, row.different, row.elements,
    100 * row.different / row.elements)
  if row.classes > 0 then text = text .. (", of another class in %d"):format(row.classes) end
  if not row.worst_at then return text end
  local at = row.classes > 0 and "the first of them" or ("at most %.4g ulp,"):format(row.worst)
  return ("%s\n  %s at [%d]: %s %s, %s %s"):format(text, at, row.worst_at, devices[1], number(row.a), devices[2], number(row.b))
end

function Comparison:__tostring()
  if #self == 0 then return ("%s and %s changed no buffer"):format(self.devices[1], self.devices[2]) end
  local lines = {}
  for i, row in ipairs(self) do lines[i] = row_text(row, self.devices) end
  return table.concat(lines, "\n")
end

return M
