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
t.passed = t.passed + n

-- A peer that fails says nothing about the candidate: it is not convicted, and the reason names the peer.
local contract = t.read "tests/calibration/peer_ratio/contract.lua"
local function with_peer(name, kernel)
  for _, sum in ipairs { "zeros", "sequential", "group_tree", "acc_f16", "acc_bf16" } do
    t:file(("%s/%s.k"):format(name, sum), t.read(("contracts/C-PRC-01.sum.f32/%s.k"):format(sum)))
  end
  t:file(name .. "/peer.k", kernel)
  local text = contract:gsub("%.%./%.%./%.%./contracts/C%-PRC%-01%.sum%.f32/", "")
  local other, replaced = text:gsub('peer = sum "sequential"', 'peer = sum "peer"')
  assert(replaced == 1)
  t:file(name .. "/contract.lua", other)
  return t.directory .. "/" .. name
end
local sequential = t.read "contracts/C-PRC-01.sum.f32/sequential.k"
local nan, replaced = sequential:gsub("s%[i%] = total", "s[i] = KC_NAN_F32")
assert(replaced == 1, sequential)
t:expect({ "run", with_peer("nan", nan), "--impl", "sequential" },
  { code = 3, out = { "the peer 'peer' says nothing: 64 elements of 's' have an inadmissible class" }, no = { "violated   sequential" } })
t:expect({ "run", with_peer("broken", "int broken = ;"), "--impl", "sequential" },
  { code = 3, out = { "the peer 'peer' says nothing: " }, no = { "violated   sequential" } })

-- The peer and what a Lua implementation builds are part of the digest; a file that it does not name is not built.
local function digest(directory)
  local result = json.decode(t:run({ "run", directory, "--impl", "sequential", "--format", "json" }).stdout)
  return assert(result.calibrations[1].digest)
end
local before = digest(with_peer("same", sequential))
assert(before == digest(with_peer("same", sequential)))
assert(before ~= digest(with_peer("same", sequential .. "/* */")), "the peer was changed")
with_peer("same", sequential)
t:file("same/group_tree.k", t.read "contracts/C-PRC-01.sum.f32/group_tree.k" .. "/* */")
assert(before ~= digest(t.directory .. "/same"), "a kernel of a Lua implementation was changed")
t:file("same/contract.lua", (t.read(t.directory .. "/same/contract.lua"):gsub("kernels = { file }", "kernels = { 'zeros.k' }")))
t:expect({ "run", t.directory .. "/same", "--impl", "group_tree" },
  { code = 3, out = { "group_tree.k' is not among the implementation's kernels" } })
t:done "peer ratio"
