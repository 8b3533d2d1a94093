-- A signature must recognise its own bads and no other class's: two contracts that differ from shipped ones in their signatures only.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local function contract(directory, name, change)
  local from = "contracts/" .. name
  for _, file in ipairs(require("kc.core").listdir(from)) do
    local text = t.read(from .. "/" .. file)
    t:file(("%s/%s/%s"):format(directory, name, file), file == "contract.lua" and change and change(text) or text)
  end
end

local function with_test(body)
  return function(text)
    local changed, n = text:gsub("(pattern = \"[^\"]*\",\n?%s*test = ).-end }", "%1" .. body .. " }")
    assert(n == 1, text)
    return changed
  end
end

local function crossed(directory, code)
  return assert(json.decode(t:expect({ "calibrate", t.directory .. "/" .. directory, "--format", "json" }, { code = code }).stdout))
end

contract("good", "C-EXC-01.clamp.f32")
contract("good", "C-PRC-02.tanh.f32")
local got = crossed("good", 0).specificity
assert(#got.faults == 0)
assert(got.rows["C-EXC-01"]["C-EXC-01"].recognised == 2 and got.rows["C-EXC-01"]["C-PRC-02"].recognised == 0)
assert(got.rows["C-PRC-02"]["C-PRC-02"].recognised == 2 and got.rows["C-PRC-02"]["C-EXC-01"].of == 2)

-- It says yes to anything that is wrong.
contract("anything", "C-EXC-01.clamp.f32", with_test "function(m) return m.worst > 1 or m:misplaced() > 0 end")
contract("anything", "C-PRC-02.tanh.f32")
got = crossed("anything", 3)
assert(got.counts.mistrusted == 1 and got.counts.held == 1)
assert(#got.specificity.faults == 2 and got.specificity.faults[1].contract == "C-EXC-01/clamp.f32")
t:expect({ "calibrate", t.directory .. "/anything" },
  { code = 3, out = { "EXC-01        2/2       2/2", "not specific: C-EXC-01/clamp.f32 takes C-PRC-02/tanh.f32 exp_ratio for its own",
                      "1 calibrated, 1 mistrusted" } })

-- It recognises nothing: the contract itself is not calibrated.
contract("nothing", "C-EXC-01.clamp.f32", with_test "function() return false end")
t:expect({ "calibrate", t.directory .. "/nothing" },
  { code = 3, out = { "bad nested_ternary is not recognised by the signature" } })

-- It fails on a measurement that is not its own.
contract("raises", "C-EXC-01.clamp.f32", with_test "function(m) return m:swallowed(among.label) > 0 or error 'what is this' end")
contract("raises", "C-PRC-02.tanh.f32")
got = crossed("raises", 3)
assert(#got.specificity.faults == 2 and got.specificity.faults[1].text:find "the signature's test raised")
t:done "specificity"
