---@module kc.gnuplot
-- A plot as SVG or PNG, drawn by gnuplot.
local core = require "kc.core"
local M = {}

local PATIENCE = 60

local terminals = { svg = "svg size 800,500 dynamic background 'white'", png = "pngcairo size 1200,750" }

--- The kinds of files that it writes.
---@return table extensions
function M.extensions() return { "png", "svg" } end

-- gnuplot's single-quoted strings have one escape; control characters have no place in a label.
local function quoted(text) return "'" .. tostring(text):gsub("%c", " "):gsub("'", "''") .. "'" end

local function block(i, series)
  local lines = { ("$data%d << END_OF_DATA"):format(i) }
  for k = 1, #series.x do
    local x, y = series.x[k], series.y[k]
    local drawn = x == x and y == y and math.abs(x) < math.huge and math.abs(y) < math.huge
    lines[#lines + 1] = drawn and ("%.17g %.17g"):format(x, y) or "" -- an empty line interrupts a curve
  end
  lines[#lines + 1] = "END_OF_DATA"
  return table.concat(lines, "\n")
end

local styles = { points = "with points pointtype 7 pointsize 0.4", line = "with lines linewidth 1.5", bars = "with boxes fill solid 0.6" }

local function curve(i, plot, series)
  return ("$data%d using 1:2 %s title %s noenhanced"):format(i, styles[plot.kind], quoted(series.label or ""))
end

-- Places that have names instead of a scale.
local function tics(plot)
  if not plot.ticks then return "" end
  local list = {}
  for i, tick in ipairs(plot.ticks) do list[i] = ("%s %.17g"):format(quoted(tick.label), tick.x) end
  return ("set xtics (%s) rotate by %d noenhanced"):format(table.concat(list, ", "), plot.kind == "bars" and -45 or 0)
end

--- The program that draws a plot.
---@param plot table as kc.plot makes it
---@param path string of the file
---@param extension string "svg" or "png"
---@return string text
function M.program(plot, path, extension)
  local lines = { "set terminal " .. terminals[extension], "set output " .. quoted(path), "set grid", "set format '%g'", tics(plot) }
  local curves = {}
  for _, name in ipairs { "title", "xlabel", "ylabel" } do
    lines[#lines + 1] = ("set %s %s noenhanced"):format(name, quoted(plot[name] or ""))
  end
  if plot.logx then lines[#lines + 1] = "set logscale x" end
  if plot.logy then lines[#lines + 1] = "set logscale y" end
  if plot.kind == "bars" then lines[#lines + 1] = "set boxwidth 0.8\nset yrange [0:*]\nset bmargin 6" end
  if #plot.series == 1 and not plot.series[1].label then lines[#lines + 1] = "unset key" end
  for i, series in ipairs(plot.series) do
    lines[#lines + 1] = block(i, series)
    curves[i] = curve(i, plot, series)
  end
  lines[#lines + 1] = "plot " .. table.concat(curves, ", ")
  return table.concat(lines, "\n") .. "\n"
end

local function run(script)
  local process, message = core.spawn { argv = { "gnuplot", script } }
  if not process then
    return nil, ("gnuplot cannot be started (%s); it draws .svg and .png: apt-get install gnuplot-nox"):format(message)
  end
  local state, code = process:wait(PATIENCE)
  if state == "running" then
    core.killtree(process:pid())
    return nil, ("gnuplot took more than %d seconds"):format(PATIENCE)
  end
  if state ~= "exited" or code ~= 0 then return nil, ("gnuplot %s with %s"):format(state, tostring(code)) end
  return true
end

-- Into a file that takes the plot's name when it is whole: what was there stays until then.
local function draw_into(temporary, plot, extension)
  local target, why = io.open(temporary, "wb")
  if not target then return nil, why end
  target:close()
  local script = os.tmpname()
  local file, message = io.open(script, "wb")
  if not file then return nil, message end
  file:write(M.program(plot, temporary, extension))
  file:close()
  local ok, failure = run(script)
  os.remove(script)
  local stat = ok and core.stat(temporary)
  if ok and not (stat and stat.size > 0) then return nil, "gnuplot wrote nothing" end
  return ok, failure
end

--- Draws a plot into a file.
---@param plot table
---@param path string
---@param extension string
---@return boolean|nil drawn, string|nil message
function M.draw(plot, path, extension)
  if path:find("%c") then return nil, "a file's name with control characters is beyond gnuplot" end
  if path:sub(1, 1) ~= "/" then path = "./" .. path end -- to gnuplot "|name" is a command
  local temporary = ("%s.%d"):format(path, core.pid())
  local ok, why = draw_into(temporary, plot, extension)
  if ok then ok, why = os.rename(temporary, path) end
  if not ok then os.remove(temporary) end
  return ok, why
end

return M
