-- Interleavings as a user sees them: in verdicts, in the trace, and again in a replay.
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local contract, suite = "contracts/C-ORD-03.all_reduce.f32", "tests/cli/interleavings/suite.lua"

local function rows_of(target, impl, code)
  local trace = t.directory .. "/trace"
  os.remove(trace)
  t:expect({ "run", target, "--impl", impl, "--trace", trace }, { code = code })
  local rows = {}
  for line in io.lines(trace) do
    local row = json.decode(line)
    if row.type == "measurement" then rows[row.implementation] = row end
  end
  return rows
end

local function check(condition, text)
  if not condition then error(text or "check failed", 2) end
  t.passed = t.passed + 1
end

-- The contract's own: what is right has one interleaving, what is wrong has hazards in whole buckets, on every rank.
local rows = rows_of(contract, "*bucket*", 1)
for _, name in ipairs { "two_buckets", "one_bucket", "bucket_freed_after_use" } do
  local row = rows[name]
  check(row.verdict.name == "held" and row.verdict.note == "proved over all interleavings: 5 in 5 samples", name)
  for _, record in ipairs(row.samples) do
    check(record.interleavings.tried == 1 and record.interleavings.complete and record.interleavings.differing == 0, name)
  end
end
local overwritten = rows.bucket_overwritten
local found = overwritten.samples[1].interleavings
check(found.tried == 60 and found.complete and found.differing == 59 and #found.first > 0)
check(#found.spans == 2 and found.spans[2].row == 2 and found.spans[2].first == 1 and found.spans[2].last == 16)
check(overwritten.verdict.reason == "59 of 60 interleavings differ from program order: y[1,1..16], y[2,1..16]", overwritten.verdict.reason)
check(overwritten.verdict.signature:find("59 of 60 interleavings of integers", 1, true))
check(overwritten.samples[1].evidence.kind == "interleaving")
local freed = rows.bucket_freed_early.samples[1].interleavings
check(not freed.complete and freed.tried > 64 and freed.tried <= 80, "bounded")
t:expect({ "replay", overwritten.replay }, { code = 1, out = { "59 of 60 interleavings differ" } })

-- Others.
rows = rows_of(suite, "*", 1)
check(rows.no_ranks.verdict.name == "held" and not rows.no_ranks.verdict.note and not rows.no_ranks.samples[1].interleavings)
check(rows.benign.verdict.name == "held" and rows.benign.verdict.note == "proved over all interleavings: 10 in 5 samples",
  rows.benign.verdict.note)
check(rows.changes.verdict.name == "unknown" and rows.changes.verdict.reason:find("differ from call to call", 1, true))
check(rows.raises.verdict.name == "violated" and rows.raises.verdict.reason:find("second before first", 1, true))
check(rows.spoils.verdict.name == "violated" and rows.spoils.samples[1].interleavings.spans[1].last == 2)
t:done "interleavings"
