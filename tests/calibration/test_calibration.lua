-- Every shipped contract is calibrated: states told apart, margins kept, under more than one seed.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local contracts = 0
for _, seed in ipairs { 0, 1 } do
  local got = t:expect({ "calibrate", "contracts", "--seed", tostring(seed), "--format", "json" }, { code = 0 })
  for _, record in ipairs(assert(json.decode(got.stdout)).calibrations) do
    contracts = contracts + 1
    local roles = { baseline = 0, bad = 0, good = 0, vacuous = 0 }
    assert(record.ok, record.contract .. ": " .. (record.reasons[1] or ""))
    for _, state in ipairs(record.states) do
      roles[state.role] = roles[state.role] + 1
      local expected = state.role == "good" and "held" or "violated"
      assert(state.verdict == expected, ("%s %s is %s"):format(record.contract, state.name, state.verdict))
    end
    assert(roles.baseline == 1 and roles.bad >= 2 and roles.good >= 2 and roles.vacuous == 5, record.contract)
  end
end
assert(contracts >= 12, "contracts: " .. contracts)
t:done "calibration"
