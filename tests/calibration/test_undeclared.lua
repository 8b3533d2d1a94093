-- A policy that the contract leaves out: the verdict says which, where the answer depends on it; what is wrong under every policy is
-- violated, what is right under every policy is held.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local got = t:expect({ "run", "tests/calibration/undeclared/suite.lua", "--format", "json" }, { code = 3 })
local expected = {
  ["max: NaN first"] = { "undeclared", "the contract does not state oracle max, parameter 'nan': propagate or ignore" },
  ["max: NaN ignored"] = { "undeclared", "oracle max, parameter 'nan'" },
  ["gather: clamped"] = { "undeclared", "oracle gather, parameter 'outside': clamp, zero, wrap, fill or anything" },
  ["sub: preserved"] = { "held", "" },
  ["sub: flushed"] = { "undeclared", "the contract does not state tolerance, field 'denormals': preserve or flush" },
}
local n = 0
for _, r in ipairs(assert(json.decode(got.stdout)).results) do
  local want = assert(expected[r.implementation], r.implementation)
  assert(r.verdict.name == want[1] and (r.verdict.reason or ""):find(want[2], 1, true),
    ("%s is %s: %s"):format(r.implementation, r.verdict.name, r.verdict.reason or ""))
  n = n + 1
end
assert(n == 5, n .. " results")
t.passed = t.passed + n
t:expect({ "run", "tests/calibration/undeclared/suite.lua" },
  { code = 3, out = { "undeclared max: NaN first", "1 held, 4 undeclared, 0 violated" } })
-- Calibration told the bads apart all the same: they are wrong whatever the policy.
got = t:expect({ "calibrate", "tests/calibration/undeclared/suite.lua", "--format", "json" }, { code = 0 })
for _, record in ipairs(json.decode(got.stdout).calibrations) do
  for _, state in ipairs(record.states) do
    assert(state.role ~= "bad" or state.verdict == "violated", ("%s %s is %s"):format(record.contract, state.name, state.verdict))
  end
end
t:done "undeclared"
