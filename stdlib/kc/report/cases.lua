---@module kc.report.cases
-- A run as test reports know it: a suite for each contract, a case for each cell, written when all is known. JUnit, TAP and HTML are
-- renderings of this. Only what is held passes: a pass is something proven.
local json = require "kc.json"
local lines = require "kc.report.lines"
local M = {}

local Report = {}
Report.__index = Report

--- A report that calls write(text) once, at the end.
---@param write function
---@param render function of what was collected: {environment=, suites=, incidents=, results=, counts=, seconds=, command=, ...} -> text
---@return table report
function M.new(write, render)
  return setmetatable({ write = write, render = render, suites = {}, incidents = {}, results = {}, problems = {} }, Report)
end

local outcomes = { held = "passed", violated = "failed", skipped = "skipped" }

--- What a verdict is to a test report; what is not known there is an error.
---@param name string a verdict
---@return string outcome "passed", "failed", "skipped" or "error"
function M.outcome(name) return outcomes[name] or "error" end

function Report:suite(name)
  for _, suite in ipairs(self.suites) do if suite.name == name then return suite end end
  local suite = { name = name, cases = {}, calibrations = {}, pairs = {}, results = {} }
  table.insert(self.suites, suite)
  return suite
end

local function add(suite, case)
  case.suite = suite.name
  table.insert(suite.cases, case)
end

--- What the run stands on.
function Report:environment(env) self.env = env end

--- A calibration record; the verdicts that follow stand on it.
function Report:calibration(record) table.insert(self:suite(record.contract).calibrations, record) end

--- A calibration that is itself the case.
function Report:states(record)
  self:calibration(record)
  local name = record.ok and "calibrated" or "mistrusted"
  local facts = { { key = "verdict", label = "verdict", text = name } }
  if not record.ok then facts[2] = { key = "reasons", label = "reasons", text = table.concat(record.reasons, "\n") } end
  add(self:suite(record.contract), { name = "calibration", device = record.device, outcome = record.ok and "passed" or "error",
    kind = name, message = record.ok and lines.states(record) or record.reasons[1] or "not calibrated",
    seconds = json.number(record.seconds) or 0.0, facts = facts })
end

local function worsen(case, kind, message)
  case.outcome, case.kind, case.message = "error", kind, message
end

--- Which signatures recognise which classes' bads; a contract that is not specific is not trusted.
function Report:specificity(crossed)
  self.crossed = crossed
  for _, fault in ipairs(crossed.faults) do
    for _, case in ipairs(self:suite(fault.contract).cases) do
      worsen(case, "mistrusted", ("not specific: takes %s for its own: %s"):format(fault.bad, fault.text or ""))
    end
  end
end

local function facts_of(r)
  local list = { { key = "verdict", label = "verdict", text = r.verdict.name } }
  local ratio = lines.ratio(r)
  if ratio then list[2] = { key = "ratio", label = "error / allowed", text = ("%.4g"):format(ratio), number = ratio } end
  for _, fact in ipairs(lines.facts(r, true)) do list[#list + 1] = fact end
  return list
end

--- One result.
function Report:result(r)
  local suite, v = self:suite(r.contract), r.verdict
  table.insert(self.results, r)
  table.insert(suite.results, r)
  add(suite, { name = r.implementation, device = r.device, outcome = M.outcome(v.name),
    kind = v.name == "violated" and v.signature or v.name, message = lines.says(r), facts = facts_of(r),
    seconds = json.number(r.seconds) or 0.0, result = r })
end

--- How two devices differ.
function Report:pair(record) table.insert(self:suite(record.contract).pairs, record) end

--- An incident: told beside the first contract that its kernels were judged against.
function Report:incident(story, path)
  local text = require("kc.report.incident").text(story, path, self.results)
  local home
  for _, r in ipairs(self.results) do home = home or r.path == path and r.contract or nil end
  table.insert(self.incidents, { story = story, suite = home, text = text })
end

--- A replayed sample: whether the bits are those of the recorded run.
function Report:replayed(r, _, same)
  self.command = "replay"
  self.remark = same and "the same bits as recorded" or "other bits than recorded: the candidate is not deterministic"
  local cases = self:suite(r.contract).cases
  if not same then worsen(cases[#cases], "other bits", self.remark) end
  self.write(self.render(self))
end

--- Counts of verdicts, and how long it took.
function Report:summary(counts, _, seconds, command) self.counts, self.seconds, self.command = counts, seconds, command end

--- Writes the report. What kept the run from judging everything is a case of its own, so that nothing passes by not being there.
---@param command string
---@param problems table list of texts
function Report:finish(command, problems)
  self.command, self.problems = command, problems
  for _, text in ipairs(problems) do
    add(self:suite "kc", { name = command, outcome = "error", kind = "incomplete", message = text, seconds = 0.0,
                           facts = { { key = "verdict", label = "verdict", text = "incomplete" } } })
  end
  self.write(self.render(self))
end

-- ---- what renderings share ----------------------------------------------------------------------------------------------------

--- How a case is called within its suite.
---@param case table
---@return string
function M.title(case) return case.device and ("%s@%s"):format(case.name, case.device) or case.name end

--- How many cases there are, and how they came out.
---@param cases table
---@param total table|nil what to add to
---@return table total {tests=, passed=, failed=, error=, skipped=, seconds=}
function M.count(cases, total)
  total = total or { tests = 0, passed = 0, failed = 0, error = 0, skipped = 0, seconds = 0.0 }
  for _, case in ipairs(cases) do
    total.tests, total.seconds = total.tests + 1, total.seconds + case.seconds
    total[case.outcome] = total[case.outcome] + 1
  end
  return total
end

--- The counts of all suites.
---@param report table
---@return table total
function M.total(report)
  local total = M.count {}
  for _, suite in ipairs(report.suites) do M.count(suite.cases, total) end
  return total
end

local function pair_text(record, list)
  local headline, rest = lines.pair(record)
  list[#list + 1] = ("%s, %s beside %s: %s"):format(record.implementation, record.devices[1], record.devices[2], headline)
  for _, line in ipairs(rest) do list[#list + 1] = "  " .. line end
end

--- What is known of a suite besides its cases: its calibration, pairs of devices, the incident it belongs to.
---@param report table
---@param suite table
---@return table lines
function M.remarks(report, suite)
  local list = {}
  for _, record in ipairs(suite.calibrations) do
    list[#list + 1] = ("%s on %s%s"):format(record.ok and "calibrated" or "not calibrated", record.device,
      record.ok and ": " .. lines.states(record) or "")
  end
  for _, record in ipairs(suite.pairs) do pair_text(record, list) end
  for _, incident in ipairs(report.incidents) do
    if incident.suite == suite.name then for line in incident.text:gmatch("[^\n]+") do list[#list + 1] = line end end
  end
  if report.remark then list[#list + 1] = report.remark end
  return list
end

return M
