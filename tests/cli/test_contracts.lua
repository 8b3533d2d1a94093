-- Contract files that are wrong: one clear error each, the right exit code, and the others still run.
local core = require "kc.core"
local t = dofile "tests/cli/harness.lua"()
local source = t.read "contracts/C-EXC-01.relu.f32/contract.lua"
local function kernel(name) return t.read("contracts/C-EXC-01.relu.f32/" .. name .. ".k") end

-- A copy of the relu contract with one thing changed.
local function copy(name, pattern, replacement)
  for _, k in ipairs { "identity", "greater_else_zero", "fmax", "flushes", "less_else_x", "bitwise" } do
    t:file(name .. "/" .. k .. ".k", kernel(k))
  end
  local text, n = source:gsub(pattern, replacement)
  assert(n >= 1, "nothing replaced: " .. pattern)
  return (t:file(name .. "/contract.lua", text):match("^(.*)/"))
end

t:expect({ "run", copy("missing", "\n  tolerance[^\n]*", "") }, { code = 64, err = { "contract.lua:", "'tolerance' is missing" } })
t:expect({ "run", copy("unknown", "signature     =", "signatur =") }, { code = 64, err = { "signatur", "did you mean 'signature'?" } })
t:expect({ "run", copy("syntax", "return kc.contract {", "return kc.contract {{") }, { code = 64, err = { "contract.lua:" } })
t:expect({ "run", copy("nothing", "return kc.contract", "local _ = kc.contract") }, { code = 64, err = { "expected the file to return" } })
t:expect({ "run", copy("files", "local function relu", "io.open('/etc/passwd')\nlocal function relu") },
  { code = 64, err = { "'io' is not available in a contract", "contract.lua:4:" } })
t:expect({ "run", copy("escape", "require \"kc\"", "require \"os\"") }, { code = 64, err = { "may only require" } })

-- A contract that never returns is ended; one that catches its end is killed.
t:expect({ "run", copy("loops", "local function relu", "while true do end\nlocal function relu"), "--timeout", "1" },
  { code = 4, err = { "did not return within 1 s" } })
t:expect({ "run", copy("clause_loops", "postcondition = function%(_, y, ref, t%)", "%0 while true do end"), "--timeout", "1" },
  { code = 4, err = { "postcondition did not return within 1 s" } })
t:expect({ "run", copy("swallows", "local function relu",
  "while true do pcall(function() while true do end end) end\nlocal function relu"), "--timeout", "1" },
  { code = 4, err = { "its judge was killed" } })

-- nil from a postcondition is an error, not a pass.
local got = t:run { "run", copy("no_return", "return { kc.same_class%(y.y, ref.y, t%), kc.within%(y.y, ref.y, t%) }", "") }
assert(got.code ~= 0 and (got.stdout .. got.stderr):find("forgotten return", 1, true), got.stdout .. got.stderr)

-- A decision about a buffer of the contract's own counts no element: nothing that the kernel wrote was judged.
local own = [[local own = { x = kc.buffer("f32", 8) }
  return kc.within(own.x, kc.oracle.evaluate(kc.oracle.relu("x"), own), t)]]
got = t:run { "run", copy("own", "return { kc.same_class%(y.y, ref.y, t%), kc.within%(y.y, ref.y, t%) }", own) }
assert(got.code == 3 and got.stdout:find("good bitwise is unknown (nothing was judged)", 1, true), got.stdout .. got.stderr)

-- A contract cannot change the judge for itself or for others.
for _, text in ipairs { "kc.sample.fill = function() end", "kc.oracle.evaluate = function() end", "kc.within = function() end",
                        "getmetatable('').__index.format = nil" } do
  local path = t:file("judge/contract.lua", "local kc = require 'kc'\n" .. text .. "\nreturn nil")
  local refused = t:run { "run", path }
  assert(refused.code == 64 and refused.stderr:find("contract.lua:2:", 1, true), refused.stderr)
end

-- Files that only look like contracts, and errors that only look like kc's.
local function file(text) return t:file("odd/contract.lua", text) end
t:expect({ "run", file "return setmetatable({ kc_type = 'contract' }, {})" }, { code = 64, err = { "expected the file to return" } })
t:expect({ "run", file "error({ code = 'limit' })" }, { code = 64, err = { "raised a table" } })
t:expect({ "run", file "error('on purpose', 0)" }, { code = 64, err = { "odd/contract.lua: on purpose" } })
t:expect({ "run", "/dev/null" }, { code = 64, err = { "/dev/null" } })
t:expect({ "run", core.exe() }, { code = 64, err = { "unexpected symbol" } })
t:file("suites/a.lua", "local kc = require 'kc' return kc.suite { name = 'a', contracts = { 'b.lua' } }")
t:file("suites/b.lua", "local kc = require 'kc' return kc.suite { name = 'b', contracts = { 'a.lua' } }")
t:expect({ "run", t.directory .. "/suites/a.lua" }, { code = 64, err = { "is a suite" } })
t:expect({ "run", t:file("suites/c.lua", "local kc = require 'kc' return kc.suite { name = 'c', contracts = { 'none' } }") },
  { code = 64, err = { "'none', which does not exist" } })
t:expect({ "run", t:file("suites/d.lua", "local kc = require 'kc' return kc.suite { name = 'd', contract = {} }") },
  { code = 64, err = { "did you mean 'contracts'?" } })

-- Calibration tells an under-specified contract: without the class check a bad implementation is accepted.
t:expect({ "run", copy("underspecified", "kc.same_class%(y.y, ref.y, t%), kc.within%(y.y, ref.y, t%)", "kc.yes 'whatever'") },
  { code = 3, out = { "mistrusted", "under-specified" }, no = { "held " } })
t:expect({ "run", copy("copy_is_right", "probes = { sample.uniform%(%-1, 1%) }", "probes = { sample.uniform(1, 2) }") },
  { code = 3, out = { "mistrusted", "vacuous copy" } })
t:expect({ "run", copy("bad_good", "good = { relu \"less_else_x\"", "good = { relu \"less_else_x\", relu \"broken\"") },
  { code = 3, out = { "mistrusted", "broken" } })
t:expect({ "calibrate", copy("weak_bad", "bad = { relu", "bad = { relu \"good_in_disguise\", relu") },
  { code = 3, out = { "good_in_disguise" } })

-- Precondition that no draw meets.
t:expect({ "run", copy("unmet", "precondition  = function%(x%) return kc.any_value%(x.x%) end",
  "precondition = function(x) return kc.finite(x.x) end") }, { code = 3 })

-- One invalid contract among valid ones: the valid ones are judged, the code says that something was wrong.
t:file("mixed/a/contract.lua", "return 1")
copy("mixed/b", "relu%.f32", "relu.f32")
t:expect({ "run", t.directory .. "/mixed" }, { code = 64, err = { "mixed/a/contract.lua" }, out = { "2 held" } })

-- Shapes of zero and of one alone.
source = source:gsub("samples = 4096", "samples = 512")
t:expect({ "run", copy("one", "kc.range%(0, 4096%)", "kc.choice { 1 }"), "--quiet" }, { code = 0 })
t:expect({ "run", copy("zero", "kc.range%(0, 4096%)", "kc.choice { 0 }") }, { code = 3 })
t:done "contracts"
