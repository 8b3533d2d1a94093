---@module kc.report.html
-- One page that needs nothing else: no network, no script; plots are SVG within it. It is well-formed XML too. See spec/reports.md.
local cases = require "kc.report.cases"
local json = require "kc.json"
local histograms = require "kc.histogram"
local lines = require "kc.report.lines"
local markup = require "kc.report.markup"
local matrix = require "kc.report.matrix"
local style = require "kc.report.style"
local svg = require "kc.report.svg"
local verdict = require "kc.verdict"
local M = {}

local tag, escape, number = markup.tag, markup.escape, json.number

-- ---- small parts ----------------------------------------------------------------------------------------------------------------

local function paragraph(text, class) return tag("p", { "class", class or false }, escape(text)) end

local function code(text) return tag("code", nil, escape(text)) end

local function cells(name, list, attributes)
  local out = {}
  for i, item in ipairs(list) do out[i] = tag(name, attributes, item) end
  return table.concat(out)
end

local function figure(plot, caption) return tag("figure", nil, plot .. tag("figcaption", nil, escape(caption))) end

-- A table with a caption; rows are markup of <tr>.
local function grid(caption, columns, rows)
  local heads = {}
  for i, name in ipairs(columns) do heads[i] = escape(name) end
  return tag("div", { "class", "wide" }, tag("table", nil, tag("caption", nil, escape(caption)) ..
    tag("thead", nil, tag("tr", nil, cells("th", heads, { "scope", "col" }))) ..
    tag("tbody", nil, table.concat(rows, "\n"))))
end

local function row(head, rest) return tag("tr", nil, tag("th", { "scope", "row" }, head) .. cells("td", rest)) end

local marks = { held = "✓", calibrated = "✓", violated = "✗", skipped = "–", mistrusted = "!" }

-- A verdict is a word, a sign and, last, a colour.
local function word(name, outcome)
  local mark = tag("span", { "aria-hidden", "true" }, (marks[name] or "?") .. " ")
  return tag("span", { "class", "verdict " .. outcome }, mark .. escape(name))
end

local function definitions(list)
  local out = {}
  for _, item in ipairs(list) do out[#out + 1] = tag("dt", nil, escape(item[1])) .. tag("dd", nil, item[2]) end
  return tag("dl", nil, table.concat(out, "\n"))
end

-- ---- one cell -------------------------------------------------------------------------------------------------------------------

local function ratio_text(ratio)
  if ratio == math.huge then return "infinite" end
  return ("%.3g"):format(ratio)
end

local function bar(case, scale)
  local ratio = case.result and lines.ratio(case.result)
  if not ratio then return escape "not judged" end
  local text, how = ratio_text(ratio), ratio > 1 and "more than is allowed" or "within what is allowed"
  if ratio == math.huge then how = "what is wrong is no error of a number" end
  return svg.bar(ratio, scale[1], scale[2], "error / allowed: " .. text, "a bar on a logarithmic scale against 1: " .. how) ..
    " " .. escape(text)
end

-- In decimal and as a hex float; NaN once.
local function value(x)
  if x ~= x then return "NaN" end
  return escape(("%.9g"):format(x)) .. " " .. code(json.float(x))
end

-- The worst element: where, from what, and both numbers in decimal and in hexadecimal.
local function element(r)
  local at, worst, sample = lines.worst(r)
  if not at or worst == 0 or not at.lo then return {} end
  local lo, hi = number(at.lo), number(at.hi)
  local list = { { "worst element", escape(("%s[%d] of sample %d (%s)"):format(at.output, at.element, sample.index, sample.label)) } }
  for _, x in ipairs(at.inputs or {}) do list[#list + 1] = { "input " .. x.name, value(number(x.value)) .. " " .. code(x.code) } end
  list[#list + 1] = { "got", value(number(at.got)) .. " " .. code(at.code) }
  list[#list + 1] = { "exact", lo == hi and value(lo) or value(lo) .. " to " .. value(hi) }
  if at.error then
    list[#list + 1] = { "error", escape(("%.4g, allowed %.4g"):format(number(at.error), number(at.allowed))) }
  end
  return list
end

-- How the errors of all elements are spread, as shares of what is allowed.
local function histogram(r)
  local bins = histograms.bins(r.histogram or {})
  if (r.class_no or 0) > 0 then bins[#bins + 1] = { label = "another class", count = r.class_no } end
  if #bins == 0 then return nil end
  local title = "elements by their error / allowed"
  return figure(svg.histogram(bins, title, ("how many of %d elements fall into each bin"):format(r.judged)), title)
end

-- Told by the parts of an element, and not once more in a line.
local told = { verdict = true, ratio = true, element = true }

local function known(case)
  local list, r = {}, case.result
  if r then list = element(r) end
  for _, fact in ipairs(case.facts) do
    local body = fact.key == "replay" and code(fact.text) or escape(fact.text)
    if not told[fact.key] then list[#list + 1] = { fact.label or "replay", body } end
  end
  if r and r.verdict.proves then list[#list + 1] = { "what this proves", escape(verdict.proven(r.verdict.proves)) } end
  if r and r.tolerance then list[#list + 1] = { "tolerance", escape(("%s: %s"):format(r.tolerance.id, r.tolerance.formula)) } end
  local plot = r and histogram(r)
  if plot then list[#list + 1] = { "errors", plot } end
  return list
end

local function details(case)
  local list = known(case)
  if #list == 0 then return "" end
  return tag("details", { "id", case.id, "open", case.outcome ~= "passed" and "open" },
    tag("summary", nil, escape(cases.title(case)) .. " " .. word(case.facts[1].text, case.outcome)) .. definitions(list))
end

-- A row of the table; its name leads to the details where there are any.
local function cell(case, scale, more)
  local name = more == "" and escape(case.name) or tag("a", { "href", "#" .. case.id }, escape(case.name))
  return tag("tr", { "class", "cell" }, tag("th", { "scope", "row" }, name) ..
    cells("td", { escape(case.device or "-"), word(case.facts[1].text, case.outcome), bar(case, scale), escape(case.message) }))
end

-- ---- one contract ---------------------------------------------------------------------------------------------------------------

local function states(record)
  local rows = {}
  for i, state in ipairs(record.states) do
    local functional, judged, margin = lines.state(state)
    rows[i] = row(escape(state.name), { escape(state.role), escape(functional), escape(judged), escape(margin),
                                        escape(table.concat(state.complaints, "; ")) })
  end
  return grid(("calibration on %s"):format(record.device),
    { "implementation", "role", "functional test", "verdict", "error / allowed", "complaints" }, rows)
end

local function calibration(report, record)
  if report.command == "calibrate" then return states(record) end
  if record.ok then return paragraph(("calibrated on %s: %s"):format(record.device, lines.states(record))) end
  return paragraph(("not calibrated on %s: %s"):format(record.device, table.concat(record.reasons, "; ")), "problem")
end

local function pair(record)
  local headline, rest = lines.pair(record)
  local out = { tag("h3", nil, escape(("%s: %s beside %s"):format(record.implementation, record.devices[1], record.devices[2]))),
                paragraph(headline) }
  for _, line in ipairs(rest) do out[#out + 1] = paragraph(line) end
  local bins = histograms.distances(record.histogram or {})
  if #bins > 0 then
    local title = "elements by the distance of the two results in ulps"
    out[#out + 1] = figure(svg.histogram(bins, title, "how many elements differ by so many ulps"), title)
  end
  return table.concat(out, "\n")
end

local function ratios(suite)
  local list = {}
  for _, case in ipairs(suite.cases) do list[#list + 1] = case.result and lines.ratio(case.result) or nil end
  return list
end

local function section(report, suite)
  local scale, rows, below = { svg.scale(ratios(suite)) }, {}, {}
  for i, case in ipairs(suite.cases) do
    below[i] = details(case)
    rows[i] = cell(case, scale, below[i])
  end
  local out = { tag("h2", nil, escape(suite.name)) }
  for _, record in ipairs(suite.calibrations) do out[#out + 1] = calibration(report, record) end
  if #rows > 0 then
    out[#out + 1] = grid("verdicts", { "implementation", "device", "verdict", "error / allowed (the line is 1)", "what was found" }, rows)
  end
  out[#out + 1] = table.concat(below, "\n")
  for _, record in ipairs(suite.pairs) do out[#out + 1] = pair(record) end
  return tag("section", { "id", suite.id }, table.concat(out, "\n"))
end

-- ---- the page -------------------------------------------------------------------------------------------------------------------

local function overview(report)
  local rows = {}
  for i, suite in ipairs(report.suites) do
    local n = cases.count(suite.cases)
    rows[i] = row(tag("a", { "href", "#" .. suite.id }, escape(suite.name)), { n.passed, n.failed, n.error, n.skipped })
  end
  return grid("summary", { "contract", "held", "violated", "not decided", "skipped" }, rows)
end

local function counts(report)
  local n = cases.total(report)
  local text = ("%d held, %d violated, %d not decided, %d skipped"):format(n.passed, n.failed, n.error, n.skipped)
  return report.seconds and ("%s in %.1f s"):format(text, report.seconds) or text
end

local function environment(env)
  if not env then return "" end
  local when = os.date("!%Y-%m-%d %H:%M:%S UTC", math.tointeger(tonumber(env.time)))
  local list = { { "kc", escape(env.kc) }, { "seed", escape(env.seed) }, { "system", escape(env.system) }, { "began", escape(when) } }
  for i, device in ipairs(env.devices) do
    local f = env.fingerprints[i] or {}
    list[#list + 1] = { "device", escape(device) .. tag("br") .. escape(("%s; denormals %s, contraction %s"):format(f.arch or "?",
      f.denormals_kept and "kept" or "flushed", f.contracts and "on" or "off")) }
  end
  for _, text in ipairs(lines.surroundings(env)) do list[#list + 1] = { "beside", escape(text) } end
  return tag("section", nil, tag("h2", nil, "What it stands on") .. definitions(list))
end

local function crossed(report)
  local found = report.crossed
  if not found then return "" end
  local rows = {}
  for i, class in ipairs(found.classes) do
    local list = {}
    for k, other in ipairs(found.classes) do
      local n = found.rows[class][other]
      list[k] = n and ("%d/%d"):format(n.recognised, n.of) or "-"
    end
    rows[i] = row(escape(class), list)
  end
  return tag("section", nil, tag("h2", nil, "Signatures") .. grid("signatures (rows) that recognise bad implementations (columns)",
    { "class", table.unpack(found.classes) }, rows))
end

local function plain(title, text) return tag("section", nil, tag("h2", nil, escape(title)) .. tag("pre", nil, escape(text))) end

local function body(report)
  local out = { tag("h1", nil, escape("kc " .. (report.command or ""))), paragraph(counts(report)) }
  for _, text in ipairs(report.problems) do out[#out + 1] = paragraph(text, "problem") end
  if report.remark then out[#out + 1] = paragraph(report.remark) end
  out[#out + 1] = overview(report)
  for _, suite in ipairs(report.suites) do out[#out + 1] = section(report, suite) end
  local side_by_side = matrix.text(matrix.build(report.results))
  if side_by_side ~= "" then out[#out + 1] = plain("Case by case", side_by_side) end
  out[#out + 1] = crossed(report)
  for _, incident in ipairs(report.incidents) do out[#out + 1] = plain("Incident " .. incident.story.name, incident.text) end
  out[#out + 1] = environment(report.env)
  return tag("body", nil, tag("main", nil, table.concat(out, "\n")))
end

-- Names come from outside and make no good identifiers: numbers do.
local function identify(report)
  local n = 0
  for i, suite in ipairs(report.suites) do
    suite.id = "contract-" .. i
    for _, case in ipairs(suite.cases) do
      n = n + 1
      case.id = "cell-" .. n
    end
  end
end

local function render(report)
  identify(report)
  local head = tag("head", nil, tag("meta", { "charset", "utf-8" }) ..
    tag("meta", { "http-equiv", "Content-Security-Policy", "content", "default-src 'none'; style-src 'unsafe-inline'" }) ..
    tag("meta", { "name", "viewport", "content", "width=device-width" }) ..
    tag("title", nil, escape("kc: " .. counts(report))) .. tag("style", nil, style))
  return "<!DOCTYPE html>\n" .. tag("html", { "xmlns", "http://www.w3.org/1999/xhtml", "lang", "en" }, head .. "\n" .. body(report)) .. "\n"
end

--- A report that calls write(text) once, at the end.
---@param write function
---@return table report
function M.new(write) return cases.new(write, render) end

return M
