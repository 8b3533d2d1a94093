---@module kc.report.json
-- The report programs read: one canonical JSON document, the rows of a trace in it.
local json = require "kc.json"
local matrix = require "kc.report.matrix"
local M = {}

local Report = {}
Report.__index = Report

--- A report that calls write(text) once, at the end.
---@param write function
---@return table report
function M.new(write)
  return setmetatable({ write = write, document = { calibrations = json.list {}, results = json.list {} } }, Report)
end

--- What the run stands on.
function Report:environment(env) self.document.environment = env end

--- A calibration record.
function Report:calibration(record) table.insert(self.document.calibrations, record) end

--- The same; `kc calibrate` has no results.
function Report:states(record) self:calibration(record) end

--- Which signatures recognise which classes' bads.
function Report:specificity(crossed) self.document.specificity = crossed end

--- One result.
function Report:result(r) table.insert(self.document.results, r) end

--- How two devices differ.
function Report:pair(record)
  self.document.pairs = self.document.pairs or json.list {}
  table.insert(self.document.pairs, record)
end

--- An incident: its story; the results of the same path are what was seen.
function Report:incident(story, path)
  self.document.incidents = self.document.incidents or json.list {}
  table.insert(self.document.incidents, { path = path, story = story })
end

--- A replayed sample: whether the bits are those of the recorded run.
function Report:replayed(_, _, same)
  self.document.same_bits = same
  self.write(json.encode(self.document) .. "\n")
end

--- Writes the document.
function Report:summary(counts, _, seconds)
  self.document.counts, self.document.seconds = counts, seconds
  self.document.matrices = matrix.build(self.document.results)
  self.write(json.encode(self.document) .. "\n")
end

return M
