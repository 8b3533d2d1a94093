---@module kc.report.text
-- The report people read: verdicts grouped by contract, each with the line that replays it.
local evidence = require "kc.evidence"
local json = require "kc.json"
local matrix = require "kc.report.matrix"
local show = require "kc.show"
local verdict = require "kc.verdict"
local M = {}

-- Floats come as text from judges and from cached records.
local number = json.number

local Report = {}
Report.__index = Report

local colors = { violated = "31", mistrusted = "35", unknown = "33", undeclared = "33", skipped = "36", held = "32" }

-- Names and reasons may come from a candidate: no line break or escape sequence of theirs reaches the terminal.
local function clean(text) return (tostring(text):gsub("%c", function(c) return ("\\x%02x"):format(c:byte()) end)) end

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
end

local function states(record)
  local n = { baseline = 0, bad = 0, good = 0, vacuous = 0 }
  local least, most = math.huge, 0.0
  for _, state in ipairs(record.states) do
    n[state.role] = n[state.role] + 1
    if state.role == "bad" then least = math.min(least, number(state.margin) or 0.0) end
    if state.role == "good" then most = math.max(most, number(state.margin) or 0.0) end
  end
  local text = ("%d baseline, %d bad, %d good, %d vacuous told apart"):format(n.baseline, n.bad, n.good, n.vacuous)
  return ("%s; good use at most %.3g of the tolerance, bad exceed it at least %s times"):format(text, most,
    least == math.huge and "infinitely many" or ("%.3g"):format(least))
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
    self.write(("  calibrated%s%s: %s\n"):format(where, cached and " (cached)" or "", states(record)))
    return
  end
  self.write(("  %s\n"):format(self:paint("mistrusted", "not calibrated" .. where)))
  for _, reason in ipairs(record.reasons) do self.write("    " .. reason .. "\n") end
end

--- The table of states that `kc calibrate` prints.
function Report:states(record)
  self:calibration(record, false)
  for _, state in ipairs(record.states) do
    local functional = state.functional == nil and "-" or state.functional and "passes" or "fails"
    self.write(("  %-9s %-24s functional test %-7s %-11s margin %s\n"):format(state.role, state.name, functional,
      state.verdict or "not run", state.margin and ("%.4g"):format(number(state.margin)) or "-"))
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

-- ---- the worst element of a result ----------------------------------------------------------------------------------------

-- The element that tells most: the first of a class that may not be, else that of the largest error over the samples.
local function worst_of(r)
  local found, most
  for _, sample in ipairs(r.samples or {}) do
    if sample.class_at then return sample.class_at, math.huge end
    local worst = sample.worst_at and number(sample.worst) or -1.0
    if worst > (most or -1.0) then found, most = sample.worst_at, worst end
  end
  return found, most
end

-- Errors in ulps where the tolerance counts ulps, else as a share of the tolerance.
local function size_of(r, worst)
  local limit = r.tolerance and r.tolerance.id == "T-ULP" and number(r.tolerance.limit)
  if limit then return ("%.4g ulp"):format(worst * limit), (" of %g"):format(limit) end
  return ("%.4g"):format(worst), " of the tolerance"
end

local function arguments(at, format)
  local parts = {}
  for i, x in ipairs(at.inputs or {}) do
    parts[i] = format:gsub("%%name", x.name):gsub("%%g", ("%.9g"):format(number(x.value))):gsub("%%a", ("%a"):format(number(x.value)))
  end
  return table.concat(parts, ", ")
end

local function worst_line(r)
  local at, worst = worst_of(r)
  if not at or worst == 0 or #(at.inputs or {}) == 0 then return nil end
  local lo, hi = number(at.lo), number(at.hi)
  local exact = lo == hi and ("%.9g (%a)"):format(lo, lo) or ("%.9g [%a, %a]"):format(lo, lo, hi)
  local size, of = size_of(r, worst)
  local what = worst == math.huge and "an inadmissible class" or size .. of
  return ("%s at %s: got %.9g (%s), exact %s"):format(what, arguments(at, "%name = %g (%a)"), number(at.got), at.code, exact)
end

-- ---- the table of a suite: one row per function, one column per library -----------------------------------------------------

local function table_cell(r)
  if r.verdict.name == "skipped" then return "-" end
  local at, worst = worst_of(r)
  if not at then return r.verdict.name end
  local size, of = size_of(r, worst)
  if worst == math.huge then size, of = ("%.4g for %.4g"):format(number(at.got), number(at.lo)), "" end
  if worst == 0 then return r.verdict.name == "held" and "exact" or r.verdict.name:upper() end
  local mark = r.verdict.name == "held" and "" or r.verdict.name:upper() .. " "
  return ("%s%s%s at %s"):format(mark, size:gsub(" ulp", ""), of, arguments(at, "%a"))
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
  local facts = r.judged and ("%d elements, worst %.3g of the tolerance"):format(r.judged, number(r.worst)) or ""
  if r.vacuous and r.vacuous > 0 then facts = ("%s, %d vacuous"):format(facts, r.vacuous) end
  if v.proves then facts = ("%s; %s"):format(facts, verdict.proven(v.proves)) end
  self.write(("  %s %-24s %s\n"):format(name, clean(r.implementation), v.name == "held" and facts or clean(v.reason or "")))
  local run = r.external and r.external.run
  if run and run ~= r.implementation then self.write(("             command: %s\n"):format(clean(run))) end
  local worst = worst_line(r)
  if worst then self.write(("             worst: %s\n"):format(worst)) end
  if v.signature then self.write(("             signature: %s\n"):format(clean(v.signature))) end
  if v.note then self.write(("             note: %s\n"):format(clean(v.note))) end
  if r.static then self.write(("             static evidence: %s\n"):format(clean(evidence.text(r.static)))) end
  if r.replay then self.write(("             kc replay %s\n"):format(r.replay)) end
end

-- ---- two devices side by side -------------------------------------------------------------------------------------------------

local function histogram_text(histogram)
  local parts = {}
  for k = 33, 65 do
    local n = histogram[k + 1] or 0
    if n > 0 then parts[#parts + 1] = ("%s ulp %d"):format(show.bin(k, true), n) end
  end
  return table.concat(parts, ", ")
end

local function pair_element(e, devices)
  local lo, hi = number(e.lo), number(e.hi)
  local exact = lo == hi and ("%.9g"):format(lo) or ("%.9g [%a, %a]"):format(lo, lo, hi)
  local at = #e.inputs > 0 and " at " .. arguments(e.inputs and { inputs = e.inputs }, "%name = %g (%a)") or ""
  return ("%s[%d] of sample %d (%s)%s: %s %.9g (%s), %s %.9g (%s), exact %s"):format(e.output, e.element, e.sample, clean(e.label), at,
    devices[1], number(e.a.value), e.a.code, devices[2], number(e.b.value), e.b.code, exact)
end

--- How two devices differ on one implementation.
function Report:pair(record)
  if self.quiet and record.different == 0 and not record.failed then return end
  local one, two = record.devices[1], record.devices[2]
  self:head(record.contract, ("%s beside %s"):format(one, two))
  local function line(text) self.write("             " .. text .. "\n") end
  local function row(text) self.write(("  %-10s %-24s %s\n"):format("pair", clean(record.implementation), text)) end
  if record.failed then
    row(("not compared: %s: %s"):format(record.failed.device, clean(record.failed.text)))
  elseif record.different == 0 then
    row(("the same bits in one run of each of %d samples"):format(record.samples))
  else
    row(("other bits in %d of %d elements (%.3g %%)"):format(record.different, record.elements, 100 * record.different / record.elements))
    local ulps = histogram_text(record.histogram)
    if ulps ~= "" then line(("distance: %s; at most %.4g"):format(ulps, number(record.worst))) end
    if record.payloads > 0 then line(("NaNs of other bits: %d"):format(record.payloads)) end
    if record.classes > 0 then line(("of another class (NaN, infinite, zero of the other sign): %d"):format(record.classes)) end
    if not record.first then return end
    line("first: " .. pair_element(record.first, record.devices))
    local n = record.nearer
    line(("nearer the exact value: %s in %d, %s in %d%s"):format(one, n[1], two, n[2], n[3] > 0 and (", undecided %d"):format(n[3]) or ""))
  end
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
