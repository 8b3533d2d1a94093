-- Runs: traces, resuming, interrupts, replays, a full disk, reports, jobs.
local core = require "kc.core"
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local relu = "contracts/C-EXC-01.relu.f32"
local trace = t.directory .. "/trace"

local function rows(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = assert(json.decode(line)) end
  return list
end

-- A bad implementation, with a trace; the token replays it with the same bits.
local got = t:expect({ "run", relu, "--impl", "fmax", "--trace", trace }, { code = 1, out = { "violated", "NaN swallowed", "kc replay " } })
local token = got.stdout:match("kc replay (%S+)")
t:expect({ "replay", token }, { code = 1, out = { "the same bits as recorded", "violated" } })
t:expect({ "replay", (token:gsub(":[^:]*$", ":000000000000")) }, { code = 3, out = { "other bits than recorded" } })
t:expect({ "replay", (token:gsub("(:%d+:%d+:)%x+", "%1000000000000")) }, { code = 64, err = { "--force" } })
t:expect({ "replay", "--force", (token:gsub("(:%d+:%d+:)%x+", "%1000000000000")) }, { code = 1, out = { "the same bits" } })
local list = rows(trace)
assert(list[1].type == "environment" and list[#list].type == "end" and list[#list].exit == 1)
t:expect({ "run", relu, "--trace", trace }, { code = 4, err = { "exists", "--resume" } })

-- The same seed gives the same digests, another seed others; jobs do not matter.
local function digests(...)
  local path = os.tmpname()
  os.remove(path)
  t:expect({ "run", relu, "--trace", path, ... }, { code = 0 })
  local out = {}
  for _, row in ipairs(rows(path)) do
    if row.type == "measurement" then
      for _, s in ipairs(row.samples) do out[#out + 1] = row.implementation .. s.digest end
    end
  end
  os.remove(path)
  table.sort(out)
  return table.concat(out, "\n")
end
local first = digests "--jobs=1"
assert(first ~= "" and first == digests "--jobs=2", "the same bits whatever the jobs")
assert(first ~= digests "--seed=1", "another seed gives other inputs")

-- A torn trace: nothing before the tear is lost, nothing is measured twice.
local whole = t.directory .. "/whole"
t:expect({ "run", relu, "--trace", whole }, { code = 0 })
local text = t.read(whole)
local cut = text:sub(1, #text - 400)
t:file("torn", cut)
local before = select(2, cut:gsub('"type":"measurement"[^\n]*\n', ""))
t:expect({ "run", relu, "--resume", t.directory .. "/torn" }, { code = 0, out = { "2 held" } })
t:expect({ "run", relu, "--resume", t.directory .. "/torn" }, { code = 0, out = { "less_else_x", "bitwise", "2 held" } })
local n, finished = 0, 0
for _, row in ipairs(rows(t.directory .. "/torn")) do
  if row.type == "measurement" then n = n + 1 end
  if row.type == "end" then finished = finished + 1 end
end
assert(n == 2 and finished == 1, ("%d measurements after a tear behind %d"):format(n, before))
t:file("forged", (t.read(whole):gsub('"name":"held"', '"name":"violated"')))
t:expect({ "run", relu, "--resume", t.directory .. "/forged" }, { code = 4, err = { "the trace was changed" } })
t:expect({ "run", relu, "--resume", t:file("garbage", "hello\n") }, { code = 4, err = { "garbage:1" } })

-- A full disk: results are shown, the failure is told, the code says so.
t:expect({ "run", relu, "--trace", "/dev/full" }, { code = 4, out = { "2 held" }, err = { "cannot write the trace '/dev/full'" } })
t:expect({ "run", relu, "--impl", "fmax", "--trace", "/dev/full" }, { code = 1, err = { "/dev/full" } })

-- Ctrl-C: 130 within a second, and a trace that goes on.
local interrupted = t.directory .. "/interrupted"
local arguments = { "run", "tests/cli/hostile/suite.lua", "--impl", "endless", "--timeout", "30", "--trace", interrupted }
local process = t:start(arguments)
local deadline = core.clock() + 20
while not t.read(interrupted):find('"type":"calibration"', 1, true) and core.clock() < deadline do core.sleep(0.05) end
core.sleep(0.5)
process:kill(2)
local asked = core.clock()
got = t:finish(process, arguments)
assert(got.code == 130, "expected 130, got " .. tostring(got.code) .. got.stderr)
assert(core.clock() - asked < 1.0, "took " .. core.clock() - asked)
assert(got.stderr:find("--resume", 1, true), got.stderr)
list = rows(interrupted)
assert(list[#list].type ~= "end")
t:expect({ "run", "tests/cli/hostile/suite.lua", "--impl", "right", "--resume", interrupted }, { code = 0, out = { "1 held" } })
local pipe = assert(io.popen("ps -eo args | grep -c 'kc-runner [3]'"))
pipe:read("a")
pipe:close()

-- A script is a judge.
t:expect({ "-e", [[for _, r in ipairs(kc.judge("relu.f32", { impl = "f*" })) do print(r.implementation, r.verdict.name) end]] },
  { code = 0, out = { "fmax\tviolated", "flushes\tviolated" } })
t:expect({ "-e", [[kc.judge "rleu.f32"]] }, { code = 4, err = { "did you mean 'relu.f32'?" } })

-- Reports.
local report = t.directory .. "/report.json"
got = t:expect({ "run", relu, "--report", report, "--format", "json" }, { code = 0 })
local a, b = assert(json.decode(got.stdout)), assert(json.decode(t.read(report)))
assert(#a.results == 2 and #b.results == 2 and a.counts.held == 2)
t:expect({ "run", relu, "--quiet" }, { code = 0, no = { "less_else_x" } })
t:expect({ "run", relu, "--color", "always", "--impl", "fmax" }, { code = 1, out = { "\27[31mviolated" } })
t:expect({ "run", relu, "--impl", "fmax" }, { code = 1, no = { "\27[" } })

-- Calibration is cached by what was calibrated, and calibrate always measures.
t:expect({ "run", relu }, { code = 0, out = { "(cached)" } })
t:expect({ "calibrate", relu }, { code = 0, out = { "fmax", "violated", "vacuous", "unwritten", "margin" }, no = { "(cached)" } })
t:expect({ "cache", "clear" }, { code = 0 })
t:expect({ "run", relu }, { code = 0, no = { "(cached)" } })

-- One runner for all samples of a cell: a wrapper counts how often one is started (once more for the fingerprint).
local log, runner = t.directory .. "/runners", core.exe():gsub("[^/]*$", "kc-runner")
local wrapper = t:file("runner.sh", ("#!/bin/sh\necho start >> %s\nexec %s \"$@\"\n"):format(log, runner))
os.execute("chmod +x " .. wrapper)
t:expect({ "run", relu, "--jobs", "1" }, { code = 0, out = { "(cached)", "2 held" } }, { "KC_RUNNER=" .. wrapper })
local starts = select(2, t.read(log):gsub("start", ""))
assert(starts == 3, "runners for two cells and one fingerprint: " .. starts)

-- No compiler: a host error that says so.
t:expect({ "cache", "clear" }, { code = 0 })
t:expect({ "run", relu }, { code = 4, out = { "/no/such/compiler" } }, { "KC_CC=/no/such/compiler" })
t:done "run"
