-- Suites: what they may hold, contracts of their own, and what is said of a wrong one.
local kc = require "kc"
local loader = require "kc.loader"
local passed = 0

local function raises(fields, ...)
  local ok, message = pcall(kc.suite, fields)
  assert(not ok, "accepted")
  for _, text in ipairs { ... } do
    assert(tostring(message):find(text, 1, true), ("'%s' is not in: %s"):format(text, tostring(message)))
  end
  passed = passed + 1
end

local function exp(name) return kc.library { name = name, file = "libm.so.6", entry = "expf", args = { "x", "y" }, map = true } end
local function judged(entry) return { name = "s", judge = { entry } } end

raises(judged { contract = 7, implementations = { exp "a" } }, "field 'contract'", "a path, an id or a kc.contract")
raises(judged { contract = "C-PRC-02/exp.f32", implementations = { exp "a" }, row = 7 }, "field 'row'", "expected text")
raises(judged { contract = "C-PRC-02/exp.f32", implementations = { exp "a" }, colum = "x" }, "unknown field 'colum'", "column")
raises({ name = "s", contracts = { "x" }, timeout = 0 }, "field 'timeout'", "seconds")
raises({ name = "s", contracts = { "x" }, timeouts = 1 }, "unknown field 'timeouts'", "timeout")

-- A contract in a suite is called SUITE#ID.
local own = assert(loader.contract "contracts/C-PRC-02.exp.f32/contract.lua").contract
local suite = kc.suite { name = "s", judge = { { contract = own, implementations = { exp "a" }, row = "exp", column = "libm" } } }
assert(suite.judge[1].contract.id == "C-PRC-02/exp.f32" and suite.judge[1].row == "exp")
raises({ name = "s", judge = { { contract = own, implementations = { exp "a" } }, { contract = own, implementations = { exp "b" } } } },
  "two contracts are called 'C-PRC-02/exp.f32'")
local path, id = loader.split "some/suite.lua#C-PRC-02/exp.f32.glibc"
assert(path == "some/suite.lua" and id == "C-PRC-02/exp.f32.glibc")
assert(loader.split "some/contract.lua" == nil and loader.split "some/dir#1/contract.lua" == nil)
assert(loader.reference(path, id) == "some/suite.lua#C-PRC-02/exp.f32.glibc")

-- Of several files the first that exists is meant.
assert(loader.resolve("/nowhere", { "a", "/etc/passwd", "/etc/group" }) == "/etc/passwd")
assert(loader.resolve("/nowhere", { "a", "b" }) == "/nowhere/a")
local ok, message = pcall(kc.library, { file = {}, entry = "f", args = { "x" } })
assert(not ok and message:find("a path or a list of paths", 1, true), message)
print(("suite: %d passed"):format(passed + 5))
