---@module kc.histogram
-- Histograms of errors: 66 counts, as core.metric and core.decide give them: none, then (2^(k-34), 2^(k-33)] for k from 1 to 64, then more.
local M = {}

local SMALL = 33 - 4 -- the bin up to 2^-4, which takes in all smaller ones
local MOST_ROWS = 12 -- more bins are taken together

--- What a bin holds; distances of codes are whole.
---@param k integer from 0
---@param whole boolean
---@return string
function M.label(k, whole)
  if k == 0 then return "0" end
  if k == 65 then return "> 2^31" end
  if not whole then return k == 1 and "<= 2^-32" or ("<= 2^%d"):format(k - 33) end
  local low, high = (1 << (k - 33) >> 1) + 1, 1 << (k - 33)
  return low >= high and ("%d"):format(high) or ("%d..%d"):format(low, high)
end

--- Adds counts to a total.
---@param total table changed; {} is one of nothing
---@param histogram table
---@return table total
function M.add(total, histogram)
  for k, n in ipairs(histogram) do total[k] = (total[k] or 0) + n end
  return total
end

-- How many powers of two a row takes in.
local function width_of(histogram)
  local first, last
  for k = SMALL + 1, 64 do
    if (histogram[k + 1] or 0) > 0 then first, last = first or k, k end
  end
  return first and (last - first) // MOST_ROWS + 1 or 1
end

--- The bins that hold anything: none, small ones, and from there on by powers of two, or of 4, 8, ... where these would be too many.
---@param histogram table
---@return table rows {label=, count=}
function M.bins(histogram)
  local rows, width = {}, width_of(histogram)
  local function row(first, last)
    local count = 0
    for k = first, last do count = count + (histogram[k + 1] or 0) end
    if count > 0 then rows[#rows + 1] = { label = M.label(last, false), count = count } end
  end
  row(0, 0)
  row(1, SMALL)
  for k = SMALL + 1, 64, width do row(k, math.min(k + width - 1, 64)) end
  row(65, 65)
  return rows
end

--- The bins of whole distances that hold anything, without that of none.
---@param histogram table
---@return table rows {label=, count=}
function M.distances(histogram)
  local rows = {}
  for k = 33, 65 do
    local n = histogram[k + 1] or 0
    if n > 0 then rows[#rows + 1] = { label = M.label(k, true), count = n } end
  end
  return rows
end

return M
