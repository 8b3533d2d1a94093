-- Every result that another checker was seen to accept is rejected here, and the controls are held.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local got = t:run { "run", "tests/calibration/false_accepts/suite.lua", "--format", "json" }
assert(got.code == 1, got.stdout .. got.stderr)
local n = 0
for _, r in ipairs(assert(json.decode(got.stdout)).results) do
  local expected = r.implementation:match("control$") and "held" or "violated"
  assert(r.verdict.name == expected, ("%s is %s (%s); expected %s"):format(r.implementation, r.verdict.name,
    r.verdict.reason or "", expected))
  -- Rejected for what it computes, not because this suite has a mistake.
  assert(r.implementation:match "raises" or not (r.verdict.reason or ""):find("^[^:]*%.lua:%d+:"), r.verdict.reason)
  n = n + 1
end
assert(n == 38, "results: " .. n)
t.passed = n
t:done "false accepts"
