---@module kc
-- kc.plot: numbers, sweeps and verdicts as a plot: as text at the prompt, as SVG or PNG in a file.
local canvas = require "kc.canvas"
local core = require "kc.core"
local json = require "kc.json"
local show = require "kc.show"
local words = require "kc.words"
local M = {}

local Plot = { __name = "kc.plot", __metatable = false }
Plot.__index = Plot

local fields = { "x", "y", "series", "label", "title", "xlabel", "ylabel", "logx", "logy", "kind", "file", "columns", "rows" }
local kinds = { "points", "line", "bars" }

local function fail(text, ...) error("kc.plot: " .. text:format(...), 0) end

-- ---- where numbers come from ----------------------------------------------------------------------------------------------------

-- A sweep: numbers of a format lie crowded around zero, so they are drawn in the order of the format's line, with some named.
local function of_sweep(plot, sweep)
  if plot.logx then fail("field 'logx': a sweep is drawn evenly on the line of its format's numbers; logy is free") end
  local series, n = { x = {}, y = sweep.y }, #sweep.x
  plot.ticks = {}
  for i = 1, n do series.x[i] = i end
  for i = 0, 4 do
    local at = math.max(1, math.floor(1 + i * (n - 1) / 4 + 0.5))
    if n > 0 then plot.ticks[#plot.ticks + 1] = { x = at, label = ("%.3g"):format(sweep.x[at]) } end
  end
  plot.series = { series }
  plot.title = plot.title or ("worst error of %d pieces of %s"):format(n, sweep.format)
  if sweep.classes > 0 then plot.title = ("%s; %d of another class are NOT drawn"):format(plot.title, sweep.classes) end
  plot.xlabel, plot.ylabel = plot.xlabel or "x, evenly on the line of numbers", plot.ylabel or "ulp"
end

local function of_histogram(plot, histogram)
  local series = { x = {}, y = {}, labels = {} }
  for i, row in ipairs(require("kc.histogram").bins(histogram)) do
    series.x[i], series.y[i], series.labels[i] = i - 1, row.count, row.label
  end
  plot.series, plot.kind = { series }, "bars"
  plot.title, plot.ylabel = plot.title or "errors", plot.ylabel or "elements"
end

-- A sample that failed, or in which some result has a class that no error makes admissible.
local function beyond(record) return record.evidence or record.answer == "failed" or (record.class_no or 0) > 0 end

-- What a sample of a measurement says: its error over the allowed one, or the bits that its error leaves. What is infinite has no place
-- on an axis, and is counted.
local measures = {
  error = function(record) return beyond(record) and math.huge or record.worst and json.number(record.worst) end,
  bits = function(record)
    local scaled = record.scaled and json.number(record.scaled)
    if beyond(record) then return -math.huge end
    return scaled and -math.log(scaled, 2)
  end,
}

-- The place of a sample: the size of a dimension, or the number that a pattern finds in its label.
local function place_of(record, x, pattern)
  if pattern then return tonumber((record.label or ""):match(pattern)) end
  return record.sizes and record.sizes[x]
end

local function series_of(result, measure, x, pattern)
  local points = {}
  for _, record in ipairs(result.samples or {}) do
    local at, value = place_of(record, x, pattern), measure(record)
    if at and value then points[#points + 1] = { at, value } end
  end
  table.sort(points, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  local series = { x = {}, y = {}, label = result.implementation }
  for i, point in ipairs(points) do series.x[i], series.y[i] = point[1], point[2] end
  return series
end

-- Results of kc.judge, each a curve of its own.
local function of_results(plot, results, options)
  local y = options.y or "error"
  if not measures[y] then fail("field 'y': expected \"error\" or \"bits\" of results, got %s", words.show(y)) end
  if type(options.x) ~= "string" and type(options.label) ~= "string" then
    fail("results need 'x', the name of a dimension, or 'label', a pattern that finds a number in a sample's label")
  end
  plot.series = {}
  for _, result in ipairs(results) do
    local series = series_of(result, measures[y], options.x, options.label)
    if #series.x > 0 then plot.series[#plot.series + 1] = series end
  end
  if #plot.series == 0 then fail("no sample of these results has a number for %s", words.show(options.x or options.label)) end
  plot.title = plot.title or results[1].contract
  plot.xlabel = plot.xlabel or options.x or options.label
  plot.ylabel = plot.ylabel or (y == "bits" and "effective bits" or "error / allowed")
  if options.logx == nil then plot.logx = true end
  if options.logy == nil then plot.logy = y == "error" end
end

-- Two lists of numbers of one length; of y alone, its elements are counted.
local function listed(series, i)
  local x, y = series.x, series.y
  if type(x) == "userdata" then x = M.list(x) end
  if type(y) == "userdata" then y = M.list(y) end
  if type(y) ~= "table" then fail("series %d: field 'y': expected a list of numbers or a buffer, got %s", i, words.show(y)) end
  if x == nil then
    x = {}
    for k = 1, #y do x[k] = k end
  end
  local length = type(x) == "table" and #x or 0
  if length ~= #y then fail("series %d: expected as many x as y, got %d and %d", i, length, #y) end
  for k = 1, #y do
    for _, list in ipairs { x, y } do
      if type(list[k]) ~= "number" then fail("series %d, point %d: expected a number, got %s", i, k, words.show(list[k])) end
    end
  end
  return { x = x, y = y, label = series.label and tostring(series.label), labels = series.labels }
end

--- The elements of a buffer as a list.
---@param buffer userdata
---@return table list
function M.list(buffer)
  local list = {}
  for i = 1, #buffer do list[i] = buffer[i] end
  return list
end

local function of_lists(plot, options)
  plot.series = {}
  if options.series and #options.series == 0 then fail("field 'series': expected a list of {x=, y=, label=}, got none") end
  for i, series in ipairs(options.series or { options }) do plot.series[i] = listed(series, i) end
end

local function fill(plot, options)
  local source = options[1]
  if source == nil then return of_lists(plot, options) end
  if type(source) == "table" and rawget(source, "histogram") and options.kind == "bars" then return of_histogram(plot, source.histogram) end
  if type(source) == "table" and rawget(source, "worst_at") and rawget(source, "x") then return of_sweep(plot, source) end
  if type(source) == "table" and rawget(source, "samples") then return of_results(plot, { source }, options) end
  if type(source) == "table" and rawget(source, "histogram") then return of_histogram(plot, source.histogram) end
  if type(source) == "table" and type(source[1]) == "table" then return of_results(plot, source, options) end
  fail("expected lists x and y, a sweep, a comparison or results of kc.judge, got %s", words.show(source))
end

-- ---- text -----------------------------------------------------------------------------------------------------------------------

local function scaled(x, logarithmic)
  if not logarithmic then return x end
  return x > 0 and math.log(x, 10) or 0 / 0
end

local function drawable(x) return x == x and math.abs(x) < math.huge end

-- Points on the scales of the axes, their ranges, and how many have no place there.
local function points_of(plot)
  local all, range, left_out = {}, { math.huge, -math.huge, math.huge, -math.huge }, 0
  for _, series in ipairs(plot.series) do
    local points = {}
    for k = 1, #series.x do
      local x, y = scaled(series.x[k], plot.logx), scaled(series.y[k], plot.logy)
      if drawable(x) and drawable(y) then
        points[#points + 1] = { x, y }
        range = { math.min(range[1], x), math.max(range[2], x), math.min(range[3], y), math.max(range[4], y) }
      else
        left_out = left_out + 1
        points[#points + 1] = false -- a curve is interrupted here
      end
    end
    all[#all + 1] = points
  end
  return all, range, left_out
end

-- Halves, because the range of doubles is twice what a double holds.
local function place(x, low, high, size)
  return high > low and math.floor((x / 2 - low / 2) / (high / 2 - low / 2) * (size - 1) + 0.5) or size // 2
end

local function draw(plot, c, all, range)
  for _, points in ipairs(all) do
    local last
    for _, point in ipairs(points) do
      local px = point and place(point[1], range[1], range[2], c.width)
      local py = point and place(point[2], range[3], range[4], c.height)
      if point and plot.kind == "line" and last then c:line(last[1], last[2], px, py) elseif point then c:dot(px, py) end
      last = point and { px, py }
    end
  end
end

local function axis_label(value, logarithmic) return ("%.3g"):format(logarithmic and 10.0 ^ value or value) end

-- Names under the axis where their places are, as far as they do not meet.
local function named_axis(plot, range, columns)
  local line = ""
  for _, tick in ipairs(plot.ticks) do
    local at = place(scaled(tick.x, plot.logx), range[1], range[2], columns)
    at = math.max(0, math.min(at - #tick.label // 2, columns - #tick.label))
    if at >= #line + (line == "" and 0 or 1) then line = line .. (" "):rep(at - #line) .. tick.label end
  end
  return line
end

local function x_axis(plot, range, columns)
  if plot.ticks then return named_axis(plot, range, columns) end
  local low, high = axis_label(range[1], plot.logx), axis_label(range[2], plot.logx)
  return low .. (" "):rep(math.max(1, columns - #low - #high)) .. high
end

local function frame(plot, c, range)
  local low, high = axis_label(range[3], plot.logy), axis_label(range[4], plot.logy)
  local margin, lines = math.max(#low, #high), {}
  local wall = canvas.unicode() and "│" or "|"
  for i, line in ipairs(c:lines()) do
    local label = i == 1 and high or i == c.rows and low or ""
    lines[i] = (" "):rep(margin - #label) .. label .. wall .. line
  end
  lines[#lines + 1] = (" "):rep(margin + 1) .. x_axis(plot, range, c.columns)
  return lines
end

-- The name of an axis and whether it is logarithmic; nothing where there is nothing to say.
local function axis_name(name, logarithmic)
  if not name and not logarithmic then return nil end
  return (name or "") .. (logarithmic and (name and " (log)" or "(log)") or "")
end

local function heading(plot)
  local y, x = axis_name(plot.ylabel, plot.logy), axis_name(plot.xlabel, plot.logx)
  local axes = y and x and ("%s against %s"):format(y, x) or y or x
  return plot.title and axes and ("%s: %s"):format(plot.title, axes) or plot.title or axes
end

local function left_out_text(count) return ("%d points have no place on these axes"):format(count) end

local function points_text(plot)
  local all, range, left_out = points_of(plot)
  local lines = { heading(plot) }
  if range[1] > range[2] then
    lines[#lines + 1] = "nothing to draw: no point has a place on these axes"
    return table.concat(lines, "\n")
  end
  local c = canvas.new(plot.columns - 10, plot.rows, canvas.unicode())
  draw(plot, c, all, range)
  table.move(frame(plot, c, range), 1, c.rows + 1, #lines + 1, lines)
  local names = {}
  for i, series in ipairs(plot.series) do names[i] = series.label end
  if #names > 0 then lines[#lines + 1] = table.concat(names, ", ") end
  if left_out > 0 then lines[#lines + 1] = left_out_text(left_out) end
  return table.concat(lines, "\n")
end

local EIGHTHS = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

local function bar(share, columns)
  if not canvas.unicode() then return ("#"):rep(math.ceil(share * columns)) end
  local eighths = math.ceil(share * columns * 8)
  return ("█"):rep(eighths // 8) .. (EIGHTHS[eighths % 8] or "")
end

local function bars_text(plot)
  local lines = { plot.title }
  for _, series in ipairs(plot.series) do
    local most, margin = 0, 0
    local function label_of(i) return tostring((series.labels or series.x)[i]) end
    for i, y in ipairs(series.y) do
      most, margin = drawable(y) and math.max(most, y) or most, math.max(margin, #label_of(i))
    end
    for i, y in ipairs(series.y) do
      local label = label_of(i)
      local drawn = drawable(y) and y > 0 and most > 0
      lines[#lines + 1] = ("%-" .. margin .. "s %s %s"):format(label, drawn and bar(y / most, plot.columns - margin - 14) or "",
        math.type(y) == "integer" and ("%d"):format(y) or show.decimal(y))
    end
  end
  return table.concat(lines, "\n")
end

function Plot:__tostring()
  local text = (self.kind == "bars" and bars_text or points_text)(self)
  return self.file and text .. "\n(drawn in " .. self.file .. ")" or text
end

-- ---- the function -----------------------------------------------------------------------------------------------------------------

local function check(options)
  local named = {}
  for key, value in pairs(type(options) == "table" and options or {}) do -- a set
    if key ~= 1 then named[key] = value end
  end
  local wrong = words.unfit(type(options) == "table" and named or options, fields)
  if wrong then fail("%s", wrong) end
  if options.kind ~= nil and not words.holds(kinds, options.kind) then
    fail("field 'kind': expected one of %s, got %s", table.concat(kinds, ", "), words.show(options.kind))
  end
  for key, least in pairs { columns = 20, rows = 3 } do -- either of them
    local n = options[key]
    if n ~= nil and (math.type(n) ~= "integer" or n < least or n > 1000) then
      fail("field '%s': expected an integer from %d to 1000, got %s", key, least, words.show(n))
    end
  end
end

local function write(plot, path)
  local gnuplot = require "kc.gnuplot"
  local extension = type(path) == "string" and path:match("%.(%w+)$")
  if not words.holds(gnuplot.extensions(), extension) then
    fail("field 'file': expected a file called .svg or .png, got %s", words.show(path))
  end
  local _, _, left_out = points_of(plot)
  local title = plot.title
  if left_out > 0 then plot.title = ("%s (%s)"):format(title or "", left_out_text(left_out)) end
  local ok, message = gnuplot.draw(plot, path, extension)
  if not ok then fail("%s", message) end
  plot.title, plot.file = title, path
end

-- The parts of a plot that its options say outright.
local function blank(options)
  local plot = { kind = options.kind or "points", columns = options.columns or math.min(core.columns(1), 100), rows = options.rows or 16 }
  for _, key in ipairs { "title", "xlabel", "ylabel", "logx", "logy" } do plot[key] = options[key] end
  return setmetatable(plot, Plot)
end

local function checked(options)
  check(options)
  local plot = blank(options)
  fill(plot, options)
  if plot.kind == "bars" and plot.series[1].labels then
    plot.ticks = {}
    for i, label in ipairs(plot.series[1].labels) do plot.ticks[i] = { x = plot.series[1].x[i], label = label } end
  end
  if options.file then write(plot, options.file) end
  return plot
end

--- A plot. It prints as text, and with `file` gnuplot draws it. What is drawn:
--- { x = list, y = list } or { series = {{x=, y=, label=}, ...} }, lists or buffers; { sweep } the worst errors of kc.sweep;
--- { sweep, kind = "bars" } or { summary } the histogram of a sweep, of kc.metric or of kc.compare; { results, x = "K" } of kc.judge,
--- error / allowed against a dimension, or against the number that the pattern `label` finds in the samples' labels; y = "bits":
--- effective bits.
---@param options table {..., title=, xlabel=, ylabel=, logx=, logy=, kind="points"|"line"|"bars", file="x.svg"|"x.png", and of the text
---  columns=, rows=}
---@return table plot
function M.plot(options)
  local ok, plot = pcall(checked, options)
  if not ok then error(plot, 2) end
  return plot
end

return M
