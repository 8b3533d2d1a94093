-- Determinism: how many runs a probability needs, what a protocol may say, and classes told apart by the same kernels.
local kc = require "kc"
local n = 0
local function check(ok, text)
  n = n + 1
  assert(ok, text)
end

-- (1 - p)^n <= 0.05 for the smallest such n.
for _, row in ipairs { { 0.03, 99 }, { 0.5, 5 }, { 0.01, 299 }, { 0.1, 29 } } do
  check(kc.invocations { probability = row[1] } == row[2], row[1])
  check((1 - row[1]) ^ row[2] <= 0.05 and (1 - row[1]) ^ (row[2] - 1) > 0.05, row[1])
end
for _, wrong in ipairs { 0, 1, -1, "x" } do
  local ok, message = pcall(kc.invocations, { probability = wrong })
  check(not ok and message:find "field 'probability': expected a number between 0 and 1", tostring(message))
end

-- One kernel under both declarations.
local function verdict(contract, implementation)
  local results = kc.judge(contract, { impl = implementation })
  check(#results == 1, contract)
  return results[1]
end
local d0, d2 = "contracts/C-ORD-02.sum.d0.f32/contract.lua", "contracts/C-ORD-02.sum.d2.f32/contract.lua"
local atomics = verdict(d0, "float_atomics")
check(atomics.verdict.name == "violated" and atomics.verdict.reason:find "different results in 99 runs under the determinism class D0",
  atomics.verdict.reason)
check(atomics.samples[1].distinct > 1 and atomics.samples[1].differing == 1 and atomics.samples[1].runs == 99)
check(verdict(d2, "float_atomics").verdict.name == "held")
local tree = verdict(d0, "fixed_tree")
check(tree.verdict.name == "held" and tree.samples[1].distinct == 1)
check(tree.verdict.note:find("the same bits in 99 runs of each tensor, in permuted orders: a run differs with probability <= 2.98 %", 1,
  true), tree.verdict.note)
print(("determinism: %d passed"):format(n))
