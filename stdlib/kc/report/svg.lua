---@module kc.report.svg
-- The plots of the HTML report: a bar against 1 on a logarithmic scale, a histogram. Colours are the page's (by class); every number that a
-- plot shows stands beside it, or in it, as text.
local markup = require "kc.report.markup"
local M = {}

local tag = markup.tag

local function text(class, x, y, anchor, value)
  return tag("text", { "class", class, "x", x, "y", y, "text-anchor", anchor }, markup.escape(value))
end

local function rect(class, x, y, width, height)
  return tag("rect", { "class", class, "x", ("%.1f"):format(x), "y", y, "width", ("%.1f"):format(width), "height", height })
end

local function plot(width, height, title, description, body)
  return tag("svg", { "xmlns", "http://www.w3.org/2000/svg", "role", "img", "width", width, "height", height,
                      "viewBox", ("0 0 %d %d"):format(width, height) },
    tag("title", nil, markup.escape(title)) .. tag("desc", nil, markup.escape(description)) .. body)
end

local WIDTH, HEIGHT = 220, 16

--- The limits of a scale on which all these ratios and 1 lie.
---@param ratios table list of numbers; 0, infinity and NaN have no place on it
---@return number low, number high powers of two
function M.scale(ratios)
  local low, high = -1, 1
  for _, ratio in ipairs(ratios) do
    if ratio > 0 and ratio < math.huge then
      local k = math.log(ratio, 2)
      low, high = math.min(low, math.floor(k)), math.max(high, math.ceil(k))
    end
  end
  return low - 0.5, high + 0.5
end

--- A ratio as a bar against 1. An infinite one reaches the edge and ends in an arrow.
---@param ratio number
---@param low number what M.scale gave
---@param high number
---@param title string
---@param description string
---@return string markup
function M.bar(ratio, low, high, title, description)
  local function place(k) return (k - low) / (high - low) * WIDTH end
  local infinite = ratio == math.huge
  local stop = infinite and WIDTH - 8 or ratio > 0 and place(math.log(ratio, 2)) or 0
  local parts = { rect("track", 0, 3, WIDTH, HEIGHT - 6) }
  if stop > 0 then parts[#parts + 1] = rect(ratio > 1 and "over" or "under", 0, 3, stop, HEIGHT - 6) end
  if infinite then
    parts[#parts + 1] = tag("path", { "class", "over", "d", ("M%d 0 L%d %d L%d %d Z"):format(stop, WIDTH, HEIGHT // 2, stop, HEIGHT) })
  end
  local one = ("%.1f"):format(place(0))
  parts[#parts + 1] = tag("line", { "class", "one", "x1", one, "x2", one, "y1", 0, "y2", HEIGHT })
  return plot(WIDTH, HEIGHT, title, description, table.concat(parts))
end

local ROW, LABEL, BARS, NUMBER = 18, 150, 240, 90

--- A histogram with horizontal bars, one row a bin.
---@param bins table list of {label=, count=}
---@param title string
---@param description string
---@return string markup
function M.histogram(bins, title, description)
  local most, parts = 1, {}
  for _, bin in ipairs(bins) do most = math.max(most, bin.count) end
  for i, bin in ipairs(bins) do
    local y, width = (i - 1) * ROW, math.max(1.0, bin.count / most * BARS)
    parts[#parts + 1] = text("label", LABEL - 6, y + 13, "end", bin.label)
    parts[#parts + 1] = rect("bin", LABEL, y + 3, width, ROW - 6)
    parts[#parts + 1] = text("label", ("%.1f"):format(LABEL + width + 5), y + 13, "start", ("%d"):format(bin.count))
  end
  return plot(LABEL + BARS + NUMBER, #bins * ROW, title, description, table.concat(parts))
end

return M
