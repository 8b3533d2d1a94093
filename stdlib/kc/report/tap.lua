---@module kc.report.tap
-- TAP version 14: a test point for each cell, a YAML block below each that is not held. See spec/reports.md.
local cases = require "kc.report.cases"
local lines = require "kc.report.lines"
local markup = require "kc.report.markup"
local M = {}

-- One line, whatever the text holds.
local function line(text) return (markup.printable(text):gsub("\n", "\\x0a"):gsub("\t", " ")) end

-- In a description # would begin a directive. A backslash that is ours is escaped as one that was there.
local function description(text) return (line(text):gsub("[\\#]", "\\%0")) end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }

local function quoted(text) return '"' .. markup.printable(text):gsub('["\\\n\t]', escapes) .. '"' end

local special = { inf = ".inf", ["-inf"] = "-.inf", nan = ".nan", ["-nan"] = ".nan" }

local function scalar(fact)
  if not fact.number then return quoted(fact.text) end
  return special[fact.text] or fact.text
end

local function block(case, out)
  out[#out + 1] = "  ---"
  out[#out + 1] = "  message: " .. quoted(case.message)
  for _, fact in ipairs(case.facts) do out[#out + 1] = ("  %s: %s"):format(fact.key, scalar(fact)) end
  out[#out + 1] = "  ..."
end

local good = { passed = true, skipped = true }

local function point(number, case, out)
  local text = ("%s %d - %s"):format(good[case.outcome] and "ok" or "not ok", number,
    description(("%s: %s"):format(case.suite, cases.title(case))))
  if case.outcome == "skipped" then text = ("%s # SKIP %s"):format(text, line(case.message)) end
  out[#out + 1] = text
  if not good[case.outcome] then block(case, out) end
end

local function render(report)
  local out, number = { "TAP version 14", "1.." .. cases.total(report).tests }, 0
  local env = report.env
  if env then
    out[3] = line(("# kc %s, seed %d, %s"):format(env.kc, env.seed, table.concat(env.devices, ", ")))
    for _, text in ipairs(lines.surroundings(env)) do out[#out + 1] = line("# " .. text) end
  end
  for _, suite in ipairs(report.suites) do
    for _, remark in ipairs(cases.remarks(report, suite)) do out[#out + 1] = "# " .. line(remark) end
    for _, case in ipairs(suite.cases) do
      number = number + 1
      point(number, case, out)
    end
  end
  return table.concat(out, "\n") .. "\n"
end

--- A report that calls write(text) once, at the end.
---@param write function
---@return table report
function M.new(write) return cases.new(write, render) end

return M
