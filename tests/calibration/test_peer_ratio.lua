-- A tolerance relative to a peer: the peer runs on the same inputs, and what is worse than twice its error is rejected.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local got = t:run { "run", "tests/calibration/peer_ratio", "--impl", "*", "--format", "json" }
local expected = { zeros = "violated", acc_f16 = "violated", acc_bf16 = "violated", group_tree = "held", sequential = "held" }
local n = 0
for _, r in ipairs(assert(json.decode(got.stdout), got.stdout .. got.stderr).results) do
  assert(r.verdict.name == expected[r.implementation], ("%s is %s (%s)"):format(r.implementation, r.verdict.name, r.verdict.reason or ""))
  if r.implementation == "sequential" then assert(json.tofloat(r.worst) == 0.5, "the peer itself uses half: " .. tostring(r.worst)) end
  n = n + 1
end
assert(n == 5, "results: " .. n)
t.passed = n
t:done "peer ratio"
