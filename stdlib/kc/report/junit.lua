---@module kc.report.junit
-- JUnit XML, as CI services read it: a testsuite for each contract, a testcase for each cell. See spec/reports.md.
local cases = require "kc.report.cases"
local lines = require "kc.report.lines"
local markup = require "kc.report.markup"
local M = {}

local tag, escape = markup.tag, markup.escape

local function seconds(x) return ("%.3f"):format(x) end

local function counts(total)
  return { "tests", total.tests, "failures", total.failed, "errors", total.error }
end

local function joined(...)
  local list = {}
  for _, part in ipairs { ... } do table.move(part, 1, #part, #list + 1, list) end
  return list
end

-- What a person reads who opens a case.
local function body(case)
  local out = { case.message }
  for _, fact in ipairs(case.facts) do out[#out + 1] = fact.label and ("%s: %s"):format(fact.label, fact.text) or fact.text end
  return escape(table.concat(out, "\n"))
end

local contents = {
  passed = function(case) return tag("system-out", nil, body(case)) end,
  skipped = function(case) return tag("skipped", { "message", case.message }) end,
  failed = function(case) return tag("failure", { "type", case.kind, "message", case.message }, body(case)) end,
  error = function(case) return tag("error", { "type", case.kind, "message", case.message }, body(case)) end,
}

local function testcase(case)
  return tag("testcase", { "classname", case.suite, "name", cases.title(case), "time", seconds(case.seconds) },
    contents[case.outcome](case))
end

local function properties(env)
  if not env then return nil end
  local list = {}
  local function add(name, value) list[#list + 1] = tag("property", { "name", name, "value", value }) end
  add("kc", env.kc)
  add("seed", env.seed)
  add("system", env.system)
  for _, device in ipairs(env.devices) do add("device", device) end
  for _, text in ipairs(lines.surroundings(env)) do add("beside", text) end
  return tag("properties", nil, table.concat(list))
end

local function testsuite(report, suite)
  local total, out = cases.count(suite.cases), { properties(report.env) }
  for _, case in ipairs(suite.cases) do out[#out + 1] = testcase(case) end
  local remarks = cases.remarks(report, suite)
  if #remarks > 0 then out[#out + 1] = tag("system-out", nil, escape(table.concat(remarks, "\n"))) end
  local when = report.env and os.date("!%Y-%m-%dT%H:%M:%S", math.tointeger(tonumber(report.env.time)))
  return tag("testsuite", joined({ "name", suite.name }, counts(total), { "skipped", total.skipped, "time", seconds(total.seconds),
    "timestamp", when or false }), "\n" .. table.concat(out, "\n") .. "\n")
end

local function render(report)
  local total, out = cases.total(report), {}
  for i, suite in ipairs(report.suites) do out[i] = testsuite(report, suite) end
  local attributes = joined({ "name", "kc " .. (report.command or "") }, counts(total),
    { "time", seconds(report.seconds or total.seconds) })
  return '<?xml version="1.0" encoding="UTF-8"?>\n' .. tag("testsuites", attributes, "\n" .. table.concat(out, "\n") .. "\n") .. "\n"
end

--- A report that calls write(text) once, at the end.
---@param write function
---@return table report
function M.new(write) return cases.new(write, render) end

return M
