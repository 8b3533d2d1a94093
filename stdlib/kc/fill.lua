---@module kc.fill
-- Fills tensors with what samples (kc.sample) describe. Each kind of sample has its filler.
local core = require "kc.core"
local json = require "kc.json"
local M = {}

local function key_of(seed, name, shape, label) return core.key(json.encode { seed, name, json.list(shape), label }) end

local fillers = {}

local function fill(sample, buffer, context) return fillers[sample.kind](sample, buffer, context) end

function fillers.dist(sample, buffer, c)
  local _, message = buffer:fill(key_of(c.seed, c.name, c.shape, sample.label), sample.dist)
  if message then error(("sample %s, input '%s': %s"):format(sample.label, c.name, message), 0) end
end

local function codes_around(sample, format)
  local codes, seen = {}, {}
  local function add(code)
    if not seen[code] then codes[#codes + 1] = code end
    seen[code] = true
  end
  for _, point in ipairs(sample.points) do
    local middle = core.encode(format, point)
    add(middle)
    if point == 0 then add(core.encode(format, -0.0)) end
    for _, direction in ipairs { 1, -1 } do
      local code = point == point and middle or nil
      for _ = 1, code and sample.radius or 0 do
        code = code and core.next(format, code, direction)
        if code then add(code) end
      end
    end
  end
  return codes
end

function fillers.identity(_, buffer, c)
  local rows, columns = c.shape[#c.shape - 1], c.shape[#c.shape]
  if not rows then error(("sample identity(), input '%s': expected two or more dimensions"):format(c.name), 0) end
  buffer:fillvalue(0)
  for from = 0, #buffer - 1, math.max(1, rows * columns) do
    for i = 0, math.min(rows, columns) - 1 do buffer[from + i * columns + i + 1] = 1 end
  end
end

-- The list once, then C repeats it.
local function repeated(buffer, n, put)
  n = math.min(n, #buffer)
  for i = 1, n do put(i) end
  if n > 0 then buffer:tile(n) end
end

function fillers.around(sample, buffer)
  local codes = codes_around(sample, buffer:format())
  repeated(buffer, #codes, function(i) buffer:setcode(i, codes[i]) end)
end

function fillers.sprinkle(sample, buffer, c)
  fill(sample.base, buffer, c)
  buffer:fill(key_of(c.seed, c.name, c.shape, sample.label), { kind = "exceptional", a = sample.share })
end

function fillers.values(sample, buffer)
  repeated(buffer, #sample.values, function(i) buffer[i] = sample.values[i] end)
end

-- Offsets, from 0, of the elements that a list of places means in a tensor of this shape.
local function offsets(where, shape)
  local list = { 0 }
  for d, size in ipairs(shape) do
    local lo, hi = 0, size - 1
    if where[d] == "first" then hi = math.min(hi, 0) end
    if where[d] == "last" then lo = math.max(lo, hi) end
    if where[d] == "middle" then
      lo = size // 2
      hi = math.min(hi, lo)
    end
    local longer = {}
    for _, offset in ipairs(list) do
      for i = lo, hi do longer[#longer + 1] = offset * size + i end
    end
    list = longer
  end
  return list
end

function fillers.plant(sample, buffer, c)
  if #sample.where ~= #c.shape then
    error(("sample '%s': %d places for input '%s', which has %d dimensions"):format(sample.label, #sample.where, c.name, #c.shape), 0)
  end
  fill(sample.base, buffer, c)
  for _, offset in ipairs(offsets(sample.where, c.shape)) do buffer[offset + 1] = sample.value end
end

-- The ends are rounded towards the range.
function fillers.within(sample, buffer, c)
  fill(sample.base, buffer, c)
  local format = buffer:format()
  buffer:clamp(core.encode(format, sample.lo, { rounding = "RU" }), core.encode(format, sample.hi, { rounding = "RD" }))
end

function fillers.inputs(sample, buffer, c)
  local own = sample.by_name[c.name]
  if not own then error(("sample '%s' says nothing of input '%s'"):format(sample.label, c.name), 0) end
  fill(own, buffer, c)
end

function fillers.at(sample, buffer, c) fill(sample.base, buffer, c) end
fillers.draws = fillers.at

function fillers.tril(sample, buffer, c)
  local rows, columns = c.shape[#c.shape - 1], c.shape[#c.shape]
  if not rows then error(("sample %s, input '%s': expected two or more dimensions"):format(sample.label, c.name), 0) end
  fill(sample.base, buffer, c)
  for from = 0, #buffer - 1, math.max(1, rows * columns) do
    for i = 0, rows - 1 do
      for j = i + 1, columns - 1 do buffer[from + i * columns + j + 1] = 0 end
    end
  end
end

function fillers.affine(sample, buffer, c)
  if #sample.strides ~= #c.shape then
    error(("sample %s: %d strides for input '%s', which has %d dimensions"):format(sample.label, #sample.strides, c.name, #c.shape), 0)
  end
  for i = 1, #buffer do
    local rest, value = i - 1, sample.offset
    for d = #c.shape, 1, -1 do
      value = value + rest % c.shape[d] * sample.strides[d]
      rest = rest // c.shape[d]
    end
    buffer[i] = value
  end
end

function fillers.dot(sample, buffer, c)
  if c.name == sample.x then
    buffer:filldot(c.buffers[sample.y], key_of(c.seed, "dot", c.shape, sample.label), sample.condition)
  elseif c.name ~= sample.y then
    fill(require("kc.sample").normal(), buffer, c)
  end
end

--- Fills the inputs of one tensor group: kc.sample.fill.
---@param sample table
---@param inputs table list of {name=, buffer=, shape=}
---@param seed string seed and draw, part of every element's name
function M.fill(sample, inputs, seed)
  local buffers = {}
  for _, input in ipairs(inputs) do buffers[input.name] = input.buffer end
  for _, input in ipairs(inputs) do
    fill(sample, input.buffer, { seed = seed, name = input.name, shape = input.shape, buffers = buffers })
  end
end

return M
