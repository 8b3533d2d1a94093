-- Every shipped contract is calibrated: states told apart, margins kept, signatures recognise their own bads and no other class's;
-- all classes are there.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local got = t:expect({ "calibrate", "contracts", "--format", "json" }, { code = 0 })
local document, contracts = assert(json.decode(got.stdout)), 0
for _, record in ipairs(document.calibrations) do
  contracts = contracts + 1
  local roles = { baseline = 0, bad = 0, good = 0, vacuous = 0 }
  assert(record.ok, record.contract .. ": " .. (record.reasons[1] or ""))
  for _, state in ipairs(record.states) do
    roles[state.role] = roles[state.role] + 1
    local expected = state.role == "good" and "held" or "violated"
    assert(state.verdict == expected, ("%s %s is %s"):format(record.contract, state.name, state.verdict))
    assert(state.role ~= "bad" or state.recognised, ("%s %s"):format(record.contract, state.name))
  end
  assert(roles.baseline == 1 and roles.bad >= 2 and roles.good >= 2 and roles.vacuous == 5, record.contract)
end
assert(contracts >= 50, "contracts: " .. contracts)

-- All of them are clean. (Here, where their kernels are compiled already.)
assert(t:expect({ "lint", "contracts" }, { code = 0 }).stdout == "")

local expected = "C-CMP-01 C-CMP-02 C-CMP-03 C-EXC-01 C-EXC-02 C-MEM-01 C-ORD-01 C-ORD-02 C-ORD-03 C-PRC-01 C-PRC-02 C-PRC-03 C-PRC-04"
assert(table.concat(document.specificity.classes, " ") == expected, table.concat(document.specificity.classes, " "))
assert(#document.specificity.faults == 0)
for _, class in ipairs(document.specificity.classes) do
  for _, other in ipairs(document.specificity.classes) do
    local cell = document.specificity.rows[class][other]
    assert(cell.recognised == (class == other and cell.of or 0), ("%s on %s: %d of %d"):format(class, other, cell.recognised, cell.of))
  end
  -- Each class has its text.
  assert(t:run({ "explain", class }).stdout:find("# " .. class, 1, true), class)
end
t:done "calibration"
