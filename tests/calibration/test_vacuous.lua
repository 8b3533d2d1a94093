-- What would accept zero proves nothing: the cell is unknown, unless exact probes carry the part.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local got = t:run { "run", "tests/calibration/vacuous/suite.lua", "--format", "json" }
assert(got.code == 3, ("exit code %s\n%s%s"):format(got.code, got.stdout, got.stderr))
local expected = {
  corrected = { "unknown", "far: zero would pass on 100.0 % of the elements, above the stated 50.0 %" },
  sequential = { "unknown", "ill: zero would pass on" },
  carried = { "held", "carried by 256 elements at which no error is allowed" },
}
local n = 0
for _, r in ipairs(assert(json.decode(got.stdout)).results) do
  local want, said = expected[r.implementation], (r.verdict.reason or "") .. (r.verdict.note or "")
  assert(r.verdict.name == want[1] and said:find(want[2], 1, true), ("%s is %s: %s"):format(r.implementation, r.verdict.name, said))
  n = n + 1
end
assert(n == 3, n .. " results")
t.passed = n
t:done "vacuous"
