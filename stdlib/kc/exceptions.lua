---@module kc.exceptions
-- What became of NaN and infinities in a wrong result, by the dependency relation that the contract declares: swallowed, leaked,
-- widened or flipped.
local M = {}

local LOOKED_AT = 4096 -- elements of an output

local function exceptional(x) return x ~= x or x == math.huge or x == -math.huge end

-- Does anything that element i of an output of `n` elements and `rows` rows depends on hold NaN or infinity?
local function reached(buffer, reach, i, n, rows)
  local first, last = 1, #buffer
  if reach == "element" then
    first, last = i, i
  elseif reach == "row" then
    local row, width = (i - 1) // math.max(1, n // rows), #buffer // rows
    first, last = row * width + 1, (row + 1) * width
  end
  for k = first, math.min(last, #buffer) do if exceptional(buffer[k]) then return true end end
  return false
end

local function kind_of(got, lo, hi, classes, depends)
  local expected = classes[1]
  local due = #classes == 1 and (expected == "nan" or expected == "+inf" or expected == "-inf")
  if due and not exceptional(got) then return "swallowed" end
  if due then
    local same = expected == "nan" and got ~= got or expected == "+inf" and got == math.huge or expected == "-inf" and got == -math.huge
    return not same and "flipped" or nil
  end
  if exceptional(got) and lo > -math.huge and hi < math.huge then return depends() and "leaked" or "widened" end
end

--- Counts what became of exceptional values in one output.
---@param output table {buffer=, enclosure=, depends=input name -> reach, rows=first dimension}
---@param inputs table input name -> buffer
---@param counts table {swallowed=, leaked=, widened=, flipped=}, added to
function M.count(output, inputs, counts)
  local words = require "kc.words"
  for i = 1, math.min(#output.buffer, LOOKED_AT) do
    local got = output.buffer[i]
    local lo, hi, classes = output.enclosure:at(i)
    local kind = kind_of(got, lo, hi, classes, function()
      for _, name in ipairs(words.keys(output.depends)) do
        if reached(inputs[name], output.depends[name], i, #output.buffer, output.rows) then return true end
      end
      return false
    end)
    if kind then counts[kind] = counts[kind] + 1 end
  end
end

return M
