-- The three incidents: each exits 1, tells what happened, and has the signature of its class; its remedies are held.
local t = dofile "tests/cli/harness.lua"()
local json = require "kc.json"

local incidents = {
  ascend = { operands_hf32 = "1 * v has the bits of hf32", operands_tf32 = "1 * v has the bits of f16 or tf32",
             acc_f16 = "sums of two terms have the bits of f16" },
  sakana = { first_row = "99.22 % of the elements keep", empty = "100 % of the elements keep", constant = "does not follow the inputs",
             one_shape = "where K % 64 ~= 0 or M % 64 ~= 0 or N % 64 ~= 0" },
  amd = { unchecked = "it returns memory of its neighbour", returns_zero = "it returns a value: one beyond", clamps = "it returns a value",
          wraps = "it returns a value", unchecked_write = "it writes beside the tensor" },
}
local remedies = { ascend = { "sequential", "lanes" }, sakana = { "good*" }, amd = { "good*" } }

for _, name in ipairs { "ascend", "sakana", "amd" } do
  local file = ("contracts/incidents/%s.lua"):format(name)
  t:expect({ "run", file }, { code = 1, out = { "INCIDENT  ", "\ntimeline\n", "\nwhat ran", "\nwhat was seen\n", "    clause      C-",
    "    how sure    ", "\nhow to replay\n", "kc replay contracts/incidents/" .. name, "usual test  allclose" },
    no = { "usual test  allclose with rtol 0.01 and atol 0.1: fails" } })
  local document = assert(json.decode(t:run({ "run", file, "--format", "json" }).stdout))
  assert(#document.incidents == 1 and #document.incidents[1].story.timeline >= 3)
  local n = 0
  for _, r in ipairs(document.results) do
    local expected = assert(incidents[name][r.implementation], r.implementation)
    assert(r.verdict.name == "violated" and r.incident.passes, ("%s is %s"):format(r.implementation, r.verdict.name))
    assert((r.verdict.signature or ""):find(expected, 1, true), ("%s: %s"):format(r.implementation, r.verdict.signature or "-"))
    n = n + 1
  end
  for _ in pairs(incidents[name]) do n = n - 1 end -- counted
  assert(n == 0, name)
  for _, glob in ipairs(remedies[name]) do
    t:expect({ "run", file, "--impl", glob }, { code = 0, out = { " held", "0 violated", "usual test" }, no = { "signature   " } })
  end
end

-- A replay of what was seen gives the same bits.
local token = t:run({ "run", "contracts/incidents/amd.lua", "--impl", "clamps" }).stdout:match "kc replay (%S+)"
t:expect({ "replay", token }, { code = 1, out = { "the same bits as recorded" } })

-- What an incident lacks is said.
local right = [[local kc = require "kc"
local function relu(name)
  return kc.kernel { file = "]] .. t.directory .. [[/" .. name .. ".k", entry = "relu", args = { "x", "y", "n" }, group = { 64 },
                     grid = { "n" } }
end
return kc.incident { name = "a", summary = "b", lesson = "c", timeline = { { when = "1", text = "2", source = "3" } },
  judge = { { contract = "C-EXC-01/relu.f32", implementations = { relu "fmax" }, remedy = { relu "bitwise" }, ran = "d", clause = "e" } } }
]]
for _, kernel in ipairs { "fmax", "bitwise" } do
  t:file(kernel .. ".k", t.read(("contracts/C-EXC-01.relu.f32/%s.k"):format(kernel)))
end
t:file("right.lua", right)
t:expect({ "run", t.directory .. "/right.lua" }, { code = 1, out = { "INCIDENT  a" } })
for change, message in pairs { -- each by itself
  ['source = "3"'] = "kc.incident: timeline 1: field 'source': expected text, got nothing",
  ['remedy = { relu "bitwise" }'] = "kc.incident: judge 1: field 'remedy': expected a list of implementations that are right, got nothing",
  ['clause = "e"'] = "kc.incident: judge 1: field 'clause': expected text, got nothing",
  ['lesson = "c"'] = "kc.incident: field 'lesson': expected text, got nothing",
} do
  local from, to = right:find(change, 1, true)
  t:file("wrong.lua", right:sub(1, from - 1) .. right:sub(to + 1):gsub("^,%s*", ""))
  t:expect({ "run", t.directory .. "/wrong.lua" }, { code = 64, err = { message } })
end
t:done "incidents"
