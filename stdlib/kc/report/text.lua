---@module kc.report.text
-- The report people read: verdicts grouped by contract, each with the line that replays it.
local json = require "kc.json"
local lines = require "kc.report.lines"
local matrix = require "kc.report.matrix"
local M = {}

local number, clean = json.number, lines.clean

local Report = {}
Report.__index = Report

local colors = { violated = "31", mistrusted = "35", unknown = "33", undeclared = "33", skipped = "36", held = "32" }

local function clean_lines(text) return (text:gsub("[^\n]+", clean)) end

--- A report that calls write(text).
---@param write function
---@param options table {color=boolean, quiet=boolean}
---@return table report
function M.new(write, options)
  return setmetatable({ write = write, color = options.color, quiet = options.quiet, results = {} }, Report)
end

function Report:paint(name, text)
  return self.color and ("\27[%sm%s\27[0m"):format(colors[name], text) or text
end

--- What the run stands on.
function Report:environment(env)
  if self.quiet then return end
  self.write(("kc %s, seed %d, %s\n"):format(env.kc, env.seed, table.concat(env.devices, ", ")))
  for _, text in ipairs(lines.surroundings(env)) do self.write(text .. "\n") end
end

-- What the following lines are about, unless that has been said.
function Report:head(contract, device)
  if contract == self.contract and device == self.device then return end
  self.write(("\n%s  on %s\n"):format(contract, device))
  self.contract, self.device = contract, device
end

--- A calibration record: one line when sound, the complaints when not.
---@param record table
---@param cached boolean
---@param device string|nil that of the results which follow
function Report:calibration(record, cached, device)
  local where = device and device ~= record.device and " on " .. record.device or ""
  if record.ok and self.quiet then return end
  self:head(record.contract, device or record.device)
  if record.ok then
    self.write(("  calibrated%s%s: %s\n"):format(where, cached and " (cached)" or "", lines.states(record)))
    return
  end
  self.write(("  %s\n"):format(self:paint("mistrusted", "not calibrated" .. where)))
  for _, reason in ipairs(record.reasons) do self.write("    " .. reason .. "\n") end
end

--- The table of states that `kc calibrate` prints.
function Report:states(record)
  self:calibration(record, false)
  for _, state in ipairs(record.states) do
    local functional, judged, margin = lines.state(state)
    self.write(("  %-9s %-24s functional test %-7s %-11s margin %s\n"):format(state.role, state.name, functional, judged, margin))
  end
end

local function short(class) return (class:gsub("^C%-", "")) end

--- Which signatures (rows) recognise which classes' bads (columns).
function Report:specificity(crossed)
  local width = 7
  self.write("\nsignatures (rows) that recognise bad implementations (columns), of all pairs tried\n  " .. (" "):rep(width))
  for _, class in ipairs(crossed.classes) do self.write(("%10s"):format(short(class))) end
  self.write "\n"
  for _, class in ipairs(crossed.classes) do
    self.write(("  %-" .. width .. "s"):format(short(class)))
    for _, other in ipairs(crossed.classes) do
      local cell = crossed.rows[class][other]
      self.write(("%10s"):format(cell and ("%d/%d"):format(cell.recognised, cell.of) or "-"))
    end
    self.write "\n"
  end
  for _, item in ipairs(crossed.faults) do
    self.write(("  %s: %s takes %s for its own: %s\n"):format(self:paint("mistrusted", "not specific"), item.contract, clean(item.bad),
      clean(item.text)))
  end
end

-- ---- the table of a suite: one row per function, one column per library -----------------------------------------------------

local function table_cell(r)
  if r.verdict.name == "skipped" then return "-" end
  local at, worst = lines.worst(r)
  if not at then return r.verdict.name end
  local size, of = lines.size(r, worst)
  if worst == math.huge then size, of = ("%.4g for %.4g"):format(number(at.got), number(at.lo)), "" end
  if worst == 0 then return r.verdict.name == "held" and "exact" or r.verdict.name:upper() end
  local mark = r.verdict.name == "held" and "" or r.verdict.name:upper() .. " "
  return ("%s%s%s at %s"):format(mark, size:gsub(" ulp", ""), of, lines.arguments(at, "%a"))
end

local function remember(list, key)
  for _, known in ipairs(list) do if known == key then return end end
  list[#list + 1] = key
end

local function key_of(row, column) return row .. "\n" .. column end

function Report:enter(r)
  if not (r.row and r.column) then return end
  self.grid = self.grid or { rows = {}, columns = {}, cells = {} }
  remember(self.grid.rows, r.row)
  remember(self.grid.columns, r.column)
  self.grid.cells[key_of(r.row, r.column)] = table_cell(r)
end

local function widths_of(grid)
  local first, widths = 0, {}
  for _, row in ipairs(grid.rows) do first = math.max(first, #row) end
  for i, column in ipairs(grid.columns) do
    widths[i] = #column
    for _, row in ipairs(grid.rows) do widths[i] = math.max(widths[i], #(grid.cells[key_of(row, column)] or "")) end
  end
  return first, widths
end

-- Every row of the table is written only when all results are known.
function Report:write_grid()
  local grid = self.grid
  if not grid then return end
  local first, widths = widths_of(grid)
  local function line(name, cell_of)
    local parts = { "  " .. name .. (" "):rep(first - #name) }
    for i, column in ipairs(grid.columns) do
      local text = cell_of(column)
      parts[i + 1] = text .. (" "):rep(widths[i] - #text)
    end
    self.write((table.concat(parts, "  "):gsub("%s+$", "")) .. "\n")
  end
  self.write("\nlargest error found, of the limit stated, and the input where it is\n")
  line("", function(column) return column end)
  for _, row in ipairs(grid.rows) do line(row, function(column) return grid.cells[key_of(row, column)] or "" end) end
end

-- ---- results ------------------------------------------------------------------------------------------------------------------

--- One result.
function Report:result(r)
  local v = r.verdict
  self.results[#self.results + 1] = r
  self:enter(r)
  if self.quiet and v.name == "held" then return end
  self:head(r.contract, r.device)
  local name = self:paint(v.name, ("%-10s"):format(v.name))
  self.write(("  %s %-24s %s\n"):format(name, clean(r.implementation), clean(lines.says(r))))
  for _, fact in ipairs(lines.facts(r)) do
    self.write(("             %s%s\n"):format(fact.label and fact.label .. ": " or "", clean(fact.text)))
  end
end

-- ---- two devices side by side -------------------------------------------------------------------------------------------------

--- How two devices differ on one implementation.
function Report:pair(record)
  if self.quiet and record.different == 0 and not record.failed then return end
  local one, two = record.devices[1], record.devices[2]
  self:head(record.contract, ("%s beside %s"):format(one, two))
  local headline, rest = lines.pair(record)
  self.write(("  %-10s %-24s %s\n"):format("pair", clean(record.implementation), headline))
  for _, line in ipairs(rest) do self.write("             " .. line .. "\n") end
end

--- An incident, told from what was seen.
function Report:incident(story, path)
  if not self.quiet then self.write(clean_lines(require("kc.report.incident").text(story, path, self.results))) end
end

--- A replayed sample: whether the bits are those of the recorded run.
function Report:replayed(r, sample, same)
  if sample then
    self.write(("sample %d, %s on %s: %s\n"):format(sample.index, sample.label, r.device, sample.text or ""))
    if sample.worst_at then
      self.write(("  output %s element %d: got %.9g (code %s), exact value in [%a, %a]\n"):format(sample.worst_at.output,
        sample.worst_at.element, number(sample.worst_at.got), sample.worst_at.code, number(sample.worst_at.lo),
        number(sample.worst_at.hi)))
    end
  end
  self.write(same and "the same bits as recorded\n" or "other bits than recorded: the candidate is not deterministic\n")
end

--- What implementations did side by side, the table of a suite, and the last line.
function Report:summary(counts, order, seconds, command)
  if not self.quiet then self.write(matrix.text(matrix.build(self.results))) end
  self:write_grid()
  if command == "calibrate" then
    self.write(("\n%d calibrated, %d mistrusted in %.1f s\n"):format(counts.held or 0, counts.mistrusted or 0, seconds))
    return
  end
  local parts = {}
  for i = #order, 1, -1 do
    local n = counts[order[i]] or 0
    if n > 0 or order[i] == "held" or order[i] == "violated" then parts[#parts + 1] = ("%d %s"):format(n, order[i]) end
  end
  self.write(("%s%s in %.1f s\n"):format(self.quiet and "" or "\n", table.concat(parts, ", "), seconds))
end

return M
