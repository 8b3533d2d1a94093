-- kc.contract: what is accepted, and the one error that bad input gets.
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function clauses()
  local function k(name) return kc.kernel { file = name .. ".k", entry = "f", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } } end
  return {
    identifier = { class = "C-EXC-01", name = "test.f32", version = "1.0" },
    scope = { operation = "relu", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(0, 16) } },
    precondition = function() return true end,
    postcondition = function() return true end,
    tolerance = tol.exact { denormals = "preserve" },
    oracle = kc.oracle.relu("x"),
    protocol = { inputs = { sample.normal() }, judged = "element", samples = 8, budget = 100, vacuous = 0.0, statistic = "max",
                 pass = "equal", repeats = 1 },
    signature = { pattern = "none", test = function() return false end },
    calibration = { baseline = k "a", bad = { k "b" }, good = { k "c" }, probes = { sample.uniform(-1, 1) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-3, atol = 0.0 } },
  }
end

local contract = kc.contract(clauses())
assert(contract.id == "C-EXC-01/test.f32")
assert(tostring(contract) == "contract C-EXC-01/test.f32 1.0")
assert(#contract:implementations() == 3)
assert(not pcall(function() contract.scope = 1 end), "a contract cannot be changed")
assert(not pcall(function() contract.scope.operation = "other" end), "nor what lies in it")

-- Each row changes one thing; the message must name the clause and hold every listed text.
local function refuses(change, ...)
  local c = clauses()
  change(c)
  local ok, err = pcall(kc.contract, c)
  assert(not ok, "accepted: " .. table.concat({ ... }, " "))
  local message = tostring(err)
  assert(message:match("test_contract%.lua:%d+: "), "names file and line: " .. message)
  for _, text in ipairs { ... } do
    assert(message:find(text, 1, true), ("'%s' is not in: %s"):format(text, message))
  end
end

for _, name in ipairs { "identifier", "scope", "precondition", "postcondition", "tolerance", "oracle", "protocol", "signature",
                        "calibration" } do
  refuses(function(c) c[name] = nil end, ("'%s' is missing"):format(name))
  refuses(function(c) c[name] = 7 end, ("clause '%s'"):format(name), "the number 7")
end
refuses(function(c) c.postcondtion = c.postcondition end, "postcondtion", "did you mean 'postcondition'?")
refuses(function(c) c.identifier.class = "PRC-01" end, "clause 'identifier'", "C-PRC-01", '"PRC-01"')
refuses(function(c) c.identifier.name = "a b" end, "field 'name'")
refuses(function(c) c.scope.inputs = { "x: f23[n]" } end, "clause 'scope'", "f23")
refuses(function(c) c.scope.outputs = { "y: f32[m]" } end, "dimension 'm'", "shapes")
refuses(function(c) c.scope.shapes.k = kc.range(1, 2) end, "dimension 'k'", "no tensor has")
refuses(function(c) c.scope.outputs = { "x: f32[n]" } end, "two tensors are called 'x'")
refuses(function(c) c.oracle = kc.oracle.relu("z") end, "clause 'oracle'", "input 'z'")
refuses(function(c) c.protocol.judged = "row" end, "field 'judged'", '"row"')
refuses(function(c) c.protocol.sample = 1 end, "unknown field 'sample'", "did you mean 'samples'?")
refuses(function(c) c.protocol.samples = 0 end, "field 'samples'", "the number 0")
refuses(function(c) c.protocol.redraws = "banana" end, "field 'redraws'", "banana")
refuses(function(c) c.protocol.vacuous = 2 end, "field 'vacuous'")
refuses(function(c) c.protocol.inputs = {} end, "field 'inputs'", "a list of samples")
refuses(function(c) c.calibration.bad = {} end, "field 'bad'")
refuses(function(c) c.calibration.good = c.calibration.bad end, "two implementations are called 'b'")
refuses(function(c) c.calibration.functional = nil end, "functional")
refuses(function(c) c.calibration.functional.norm = 1e-3 end, "rtol and atol, or norm, not both")
refuses(function(c) c.calibration.functional.rtol = nil end, "field 'functional.rtol'", "a number >= 0")
refuses(function(c) c.calibration.functional = { inputs = { sample.normal() }, norm = -1 } end, "field 'functional.norm'", "-1")
refuses(function(c) c.calibration.functional = { inputs = { sample.normal() }, nrom = 1 } end, "did you mean 'norm'?")
refuses(function(c) c.signature.test = "yes" end, "field 'test'", "a function")

local function raises(f, ...)
  local ok, message = pcall(f)
  assert(not ok, "accepted")
  for _, text in ipairs { ... } do
    assert(tostring(message):find(text, 1, true), ("'%s' is not in: %s"):format(text, tostring(message)))
  end
end
raises(function() tol.ulp { limit = 3, denormals = "preserve" } end, "source")
raises(function() tol.ulp { limit = 0 / 0, denormals = "preserve", source = "s" } end, "limit", "finite")
raises(function() tol.exact {} end, "denormals")
raises(function() tol.exact { denormal = "preserve" } end, "did you mean 'denormals'?")
raises(function() return kc.oracle.rellu end, "did you mean 'relu'?")
raises(function() kc.oracle.relu("x", "y") end, "expected 1 input")
raises(function() return kc.contrct end, "did you mean 'contract'?")
raises(function() kc.kernel { file = "a.k", entry = "f", args = { "x" }, group = { 0 }, grid = { "n" } } end, "group")
raises(function() kc.kernel { file = "a.k", entry = "f", args = { "x" }, group = { 1 }, gird = { "n" } } end, "did you mean 'grid'?")
assert(tostring(tol.ulp { limit = 3, denormals = "preserve", source = "the text" }):find("T-ULP", 1, true))
print("contract: passed")
