---@module kc.report.matrix
-- What several implementations did in each case of a contract, side by side: one row a case (a sample's label), one column an
-- implementation, a word or two in each cell, and below it what the words mean, what the findings are, and how to replay them.
local json = require "kc.json"
local replay = require "kc.replay"
local words = require "kc.words"
local M = {}

-- ---- a word for one sample ----------------------------------------------------------------------------------------------------

local meaning = {
  ["ok"] = "as the contract demands; the number is the largest error as a share of what is allowed",
  ["NaN lost"] = "a number came out where the result is NaN",
  ["NaN leaks"] = "NaN came out where the result is a number or an infinity",
  ["Inf lost"] = "a number came out where the result is infinite",
  ["Inf leaks"] = "an infinity came out where the result is a number, or one of the wrong sign",
  ["wrong zero"] = "a zero of the wrong sign",
  ["wrong value"] = "a number came out, but one too far from the result",
  ["output"] = "a file of outputs is not what the contract asks for",
  ["unwritten"] = "outputs are not there, or not all of their elements",
  ["crash"] = "killed by a signal",
  ["command"] = "the command cannot be run",
  ["raised"] = "the implementation stopped with a message",
  ["did not raise"] = "it returned where it must stop with a message",
  ["unknown"] = "not decided",
  ["absent"] = "not here: a library that is not installed, or made for another device",
  ["-"] = "not run",
}

local function kind(class)
  if class == "nan" then return "nan" end
  if class:sub(2) == "inf" then return "inf" end
  return class:sub(2) == "0" and "0" or "finite"
end

-- Checked in this order; a finite value that is merely wrong confuses no classes.
local confusions = {
  { "NaN lost", function(expected, found) return expected == "nan" and found ~= "nan" end },
  { "NaN leaks", function(expected, found) return expected ~= "nan" and found == "nan" end },
  { "Inf lost", function(expected, found) return kind(expected) == "inf" and kind(found) ~= "inf" end },
  { "Inf leaks", function(expected, found) return kind(found) == "inf" and expected ~= found end },
}

local function confused(confusion, is)
  for expected, row in next, confusion do -- any one will do
    for found, n in next, row do -- any one will do
      if n > 0 and is(expected, found) then return true end
    end
  end
  return false
end

--- The word for what a sample showed, while its confusion of classes is still known.
---@param record table
---@return string word
function M.word(record)
  if record.answer == "yes" then return "ok" end
  if record.evidence then return record.evidence.kind == "error" and "raised" or record.evidence.kind end
  if record.answer ~= "no" then return record.answer == "undeclared" and "undeclared" or "unknown" end
  if record.raised or record.silent then return record.raised and "raised" or "did not raise" end
  for _, row in ipairs(confusions) do
    if confused(record.confusion or {}, row[2]) then return row[1] end
  end
  return "wrong value"
end

-- ---- results -> a table -------------------------------------------------------------------------------------------------------

-- Floats come as text from judges.
local function number(x) return json.number(x) or 0.0 end

local function find_or_add(list, name)
  for _, item in ipairs(list) do if item.name == name then return item end end
  local item = { name = name }
  list[#list + 1] = item
  return item
end

-- Whether errors are compared with a tolerance above 0: then how much of it they use is worth a number.
local function has_tolerance(r) return r.tolerance and r.tolerance.id ~= "T-EXACT" and r.tolerance.id ~= "T-POLICY" end

local function row_name(r, label)
  label = label:gsub("@.*$", "")
  return has_tolerance(r) and "accuracy: " .. label or label
end

local function explanation(r, label)
  for _, item in ipairs(r.explained or {}) do if item.case == label then return item.text end end
end

local function new_cell(r) return { samples = 0, failed = 0, word = "ok", worst = has_tolerance(r) and 0.0 or nil } end

local function enter(cell, r, record)
  cell.samples = cell.samples + 1
  if cell.worst then cell.worst = math.max(cell.worst, number(record.worst)) end
  if record.word == "ok" then return end
  cell.failed = cell.failed + 1
  if cell.failed > 1 then return end
  cell.word, cell.why = record.word, explanation(r, record.label)
  cell.replay = replay.token(r, r.digest, r, record.index)
end

local function add(matrix, r)
  local column = find_or_add(matrix.columns, r.implementation:match("([^/]*)$"))
  column.library = column.library or r.library
  column.note = r.verdict.name == "skipped" and "absent" or column.note
  for _, record in ipairs(r.samples or {}) do
    local row = find_or_add(matrix.rows, row_name(r, record.label))
    row.cells = row.cells or {}
    row.cells[column.name] = row.cells[column.name] or new_cell(r)
    enter(row.cells[column.name], r, record)
  end
end

local function title(r) return r.matrix or r.contract end

--- Matrices of all contracts, or of all that a suite joins under one name, which more than one candidate was judged against.
---@param results table in the order of the plan
---@return table matrices list of {name=, device=, columns={{name=}}, rows={{name=, cells={column -> cell}}}}
function M.build(results)
  local list, order = {}, {}
  for _, r in ipairs(results) do
    if r.role == "candidate" and not r.row then -- those with a row of their own stand in their suite's table
      local key = ("%s on %s"):format(title(r), r.device)
      if not list[key] then
        list[key] = { name = title(r), device = r.device, columns = {}, rows = {} }
        order[#order + 1] = key
      end
      add(list[key], r)
    end
  end
  local matrices = json.list {}
  for _, key in ipairs(order) do
    if #list[key].columns > 1 and #list[key].rows > 0 then table.insert(matrices, list[key]) end
  end
  return matrices
end

-- ---- a table -> text ----------------------------------------------------------------------------------------------------------

local WIDTH = 110

local function cell_text(cell, column)
  if not cell then return column.note or "-" end
  if cell.failed == 0 then return cell.worst and ("ok %.2g"):format(cell.worst) or "ok" end
  local share = cell.failed < cell.samples and (" %d/%d"):format(cell.failed, cell.samples) or ""
  local worst = cell.worst and (" %.3g"):format(cell.worst) or ""
  return cell.word .. worst .. share
end

local function grid(matrix, out)
  local widths = { 0 }
  for _, row in ipairs(matrix.rows) do widths[1] = math.max(widths[1], #row.name) end
  for i, column in ipairs(matrix.columns) do
    widths[i + 1] = #column.name
    for _, row in ipairs(matrix.rows) do widths[i + 1] = math.max(widths[i + 1], #cell_text(row.cells[column.name], column)) end
  end
  local function line(first, text_of)
    local parts = { first .. (" "):rep(widths[1] - #first) }
    for i, column in ipairs(matrix.columns) do
      local text = text_of(column)
      parts[i + 1] = text .. (" "):rep(widths[i + 1] - #text)
    end
    out[#out + 1] = ("  " .. table.concat(parts, "  ")):gsub("%s+$", "")
  end
  line("", function(column) return column.name end)
  for _, row in ipairs(matrix.rows) do
    line(row.name, function(column) return cell_text(row.cells[column.name], column) end)
  end
end

local function legend(matrix, out)
  local seen, listed, partial = {}, {}, false
  for _, row in ipairs(matrix.rows) do
    for _, column in ipairs(matrix.columns) do
      local cell = row.cells[column.name]
      local word = cell and cell.word or column.note or "-"
      partial = partial or cell and cell.failed > 0 and cell.failed < cell.samples
      if not seen[word] then listed[#listed + 1] = word end
      seen[word] = true
    end
  end
  for _, word in ipairs(listed) do
    out[#out + 1] = ("    %-12s %s"):format(word, meaning[word] or "evidence of another kind, see the verdict above")
  end
  if partial then out[#out + 1] = ("    %-12s %s"):format("n/m", "in n of the m tensors of that case") end
end

-- Cells that failed, grouped by what explains them, in the order of the table.
local function findings(matrix)
  local list = {}
  for _, row in ipairs(matrix.rows) do
    for _, column in ipairs(matrix.columns) do
      local cell = row.cells[column.name]
      if cell and cell.failed > 0 then
        local finding = find_or_add(list, cell.why or "Not explained by the suite.")
        finding.where = finding.where or {}
        local place = find_or_add(finding.where, ("%s: %s"):format(row.name, cell.word))
        place.columns = place.columns or {}
        table.insert(place.columns, column.name)
        finding.replay = finding.replay or cell.replay
      end
    end
  end
  return list
end

local function explain(matrix, out)
  for i, finding in ipairs(findings(matrix)) do
    out[#out + 1] = ""
    out[#out + 1] = words.wrapped(("%d. %s"):format(i, finding.name), "  ", WIDTH)
    for _, place in ipairs(finding.where) do
      out[#out + 1] = ("     %s (%s)"):format(place.name, table.concat(place.columns, ", "))
    end
    out[#out + 1] = "     kc replay " .. finding.replay
  end
end

local function safe(out)
  for i, line in ipairs(out) do out[i] = line:gsub("[^\n%C]", function(c) return ("\\x%02x"):format(c:byte()) end) end
  return table.concat(out, "\n") .. "\n"
end

-- The libraries behind the columns of all matrices, each named once.
local function libraries(matrices)
  local out, seen = {}, {}
  for _, matrix in ipairs(matrices) do
    for _, column in ipairs(matrix.columns) do
      local l = column.library
      if l and not seen[column.name] then
        out[#out + 1] = ("  %-12s %s, sha256 %s"):format(column.name, l.path, l.sha256:sub(1, 12))
        out[#out + 1] = l.says and "               " .. l.says or nil
      end
      seen[column.name] = true
    end
  end
  return #out > 0 and "\nlibraries\n" .. safe(out) or ""
end

-- A matrix as text, with its legend and its findings.
local function text_of(matrix)
  local out = { "", ("%s on %s, case by case"):format(matrix.name, matrix.device) }
  grid(matrix, out)
  out[#out + 1] = ""
  legend(matrix, out)
  explain(matrix, out)
  return safe(out)
end

--- Matrices as text, each with its legend and its findings, and the libraries that they are about.
---@param matrices table what build returned
---@return string text
function M.text(matrices)
  local parts = {}
  for i, matrix in ipairs(matrices) do parts[i] = text_of(matrix) end
  return table.concat(parts) .. libraries(matrices)
end

return M
