---@module kc.report.incident
-- An incident as a report reads: timeline, what ran, what was seen, which clause, how sure, how to replay.
local json = require "kc.json"
local words = require "kc.words"
local M = {}

local WIDTH = 110


local function wrapped(text, indent) return words.wrapped(text, indent, WIDTH) end

local function usual(incident)
  local how = incident.rtol and ("allclose with rtol %g and atol %g"):format(json.number(incident.rtol), json.number(incident.atol))
    or ("relative L2 error at most %g"):format(json.number(incident.norm))
  if incident.reuse then how = how .. ", its output in memory that the reference was freed from" end
  return ("%s: %s"):format(how, incident.passes and "passes" or "fails")
end

local function samples(r)
  local wrong = 0
  for _, sample in ipairs(r.samples or {}) do
    if sample.answer == "no" or sample.answer == "failed" then wrong = wrong + 1 end
  end
  return wrong, #(r.samples or {})
end

local evidence = { unwritten = "the elements kept two different poisons", guards = "bytes outside of the output changed",
                   crash = "the process died where it read or wrote", fpstate = "the state of the floating-point unit changed" }

-- How sure a violation is: what kind of statement it is.
local function sureness(r)
  for _, sample in ipairs(r.samples or {}) do
    local e = sample.evidence
    if sample.silent then return "observed: it returned where it must raise" end
    if e then return "observed, whatever the values are: " .. (evidence[e.kind] or e.text) end
  end
  local id = r.tolerance and r.tolerance.id or ""
  if id == "T-EXACT" or id == "T-POLICY" then return "proved: no error is allowed and the exact result is known" end
  if r.tolerance and r.tolerance.kind == "expected" then return "under the protocol's distribution (an expected bound), not a proof" end
  return ("proved: the smallest possible error exceeds what any conforming kernel can make (%s)"):format(id)
end

local function seen(r, out)
  local wrong, all = samples(r)
  out[#out + 1] = ("  %s on %s"):format(r.implementation, r.device)
  out[#out + 1] = ("    %-11s %s"):format("usual test", usual(r.incident))
  out[#out + 1] = ("    %-11s %s: %s"):format("contract", r.contract, r.verdict.name .. (r.judged and
    (", wrong in %d of %d tensors"):format(wrong, all) or ""))
  if r.verdict.name ~= "violated" then return end
  if r.verdict.reason then out[#out + 1] = wrapped(r.verdict.reason, "                ") end
  out[#out + 1] = ("    %-11s %s"):format("signature", r.verdict.signature or "-")
  out[#out + 1] = ("    %-11s %s"):format("clause", r.incident.clause)
  out[#out + 1] = ("    %-11s %s"):format("how sure", sureness(r))
end

--- The report of an incident.
---@param story table {name=, summary=, timeline=, lesson=}
---@param path string the incident's file
---@param results table all results of the run; those of this file are told
---@return string text
function M.text(story, path, results)
  local own, out, told = {}, { "", "INCIDENT  " .. story.name, wrapped(story.summary, "  "), "", "timeline" }, {}
  for _, r in ipairs(results) do if r.path == path and r.incident then own[#own + 1] = r end end
  for _, e in ipairs(story.timeline) do
    out[#out + 1] = ("  %-12s %s"):format(e.when, wrapped(e.text, "               "):gsub("^%s+", ""))
    out[#out + 1] = ("               [%s]"):format(e.source)
  end
  out[#out + 1] = "\nwhat ran (models of it)"
  for _, r in ipairs(own) do
    if not told[r.incident.ran] then out[#out + 1] = wrapped(r.incident.ran, "  ") end
    told[r.incident.ran] = true
  end
  out[#out + 1] = "\nwhat was seen"
  for _, r in ipairs(own) do seen(r, out) end
  out[#out + 1] = "\nwhat follows"
  out[#out + 1] = wrapped(story.lesson, "  ")
  out[#out + 1] = "\nhow to replay"
  for _, r in ipairs(own) do
    if r.replay then out[#out + 1] = ("  %-24s kc replay %s"):format(r.implementation, r.replay) end
  end
  return table.concat(out, "\n") .. "\n"
end

return M
