-- Every line of a real trace is what spec/trace.schema.json says, and the schema refuses what it should.
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local schema = assert(json.decode(t.read "spec/trace.schema.json"))

-- The subset of JSON Schema 2020-12 that the schema uses. Patterns are those of $defs and of single fields, known here by text.
local patterns = {
  ["^[0-9a-f]{64}$"] = function(s) return #s == 64 and not s:find("[^0-9a-f]") end,
  ["^[0-9]+$"] = function(s) return s:match("^%d+$") ~= nil end,
  [schema["$defs"].float.pattern] = function(s) return json.tofloat(s) ~= nil and s == s:lower() end,
}

local validate

local function type_matches(value, name)
  if name == "integer" then return math.type(value) == "integer" end
  if name == "array" or name == "object" then return type(value) == "table" end
  return type(value) == name
end

local function validate_object(value, s, where)
  for _, key in ipairs(s.required or {}) do
    if value[key] == nil then return ("%s: '%s' is missing"):format(where, key) end
  end
  for key, item in next, value do
    local sub = s.properties and s.properties[key]
    if not sub and s.additionalProperties == false then return ("%s: '%s' is unknown"):format(where, tostring(key)) end
    if not sub and type(s.additionalProperties) == "table" then sub = s.additionalProperties end
    local problem = sub and validate(item, sub, where .. "." .. tostring(key))
    if problem then return problem end
  end
end

function validate(value, s, where)
  if s["$ref"] then return validate(value, schema["$defs"][s["$ref"]:match("[^/]+$")], where) end
  if s.oneOf then
    local fitting, last = 0, nil
    for _, choice in ipairs(s.oneOf) do
      local problem = validate(value, choice, where)
      if problem then last = choice.properties.type.const == value.type and problem or last else fitting = fitting + 1 end
    end
    return fitting ~= 1 and (last or where .. ": no alternative fits") or nil
  end
  if s.type and not type_matches(value, s.type) then return ("%s: expected %s, got %s"):format(where, s.type, type(value)) end
  if s.const ~= nil and value ~= s.const then return where .. ": another constant" end
  if s.minimum and value < s.minimum then return where .. ": too small" end
  if s.pattern and not patterns[s.pattern](value) then return ("%s: '%s' does not match"):format(where, value) end
  if s.enum then
    local found = false
    for _, item in ipairs(s.enum) do found = found or item == value end
    if not found then return ("%s: '%s' is not listed"):format(where, tostring(value)) end
  end
  if s.items then
    for i, item in ipairs(value) do
      local problem = validate(item, s.items, ("%s[%d]"):format(where, i))
      if problem then return problem end
    end
  end
  if s.type == "object" then return validate_object(value, s, where) end
end

local trace = t.directory .. "/trace"
t:run { "run", "contracts/C-EXC-01.relu.f32", "--candidate", "exit 3", "--trace", trace .. ".command" }
t:run { "run", "tests/cli/hostile/suite.lua", "contracts/C-PRC-02.exp.f32", "tests/cli/interleavings/suite.lua",
        "--timeout", "3", "--trace", trace }
local function counted(path)
  local seen = {}
  for line in io.lines(path) do
    local row = assert(json.decode(line))
    local problem = validate(row, schema, row.type)
    assert(not problem, problem)
    seen[row.type] = (seen[row.type] or 0) + 1
    t.passed = t.passed + 1
  end
  return seen
end
local seen = counted(trace)
assert(seen.environment == 1 and seen.calibration == 3 and seen.measurement == 38 and seen["end"] == 1)
seen = counted(trace .. ".command")
assert(seen.environment == 1 and seen.calibration == 1 and seen.measurement == 1 and seen["end"] == 1)

t:run { "run", "contracts/C-EXC-01.relu.f32", "--device", "cpu", "--device", "cpu:0", "--trace", trace .. ".pair" }
seen = counted(trace .. ".pair")
assert(seen.measurement == 4 and seen.pair == 2)

-- With an extension, and in the process of a program.
local extension = ("KC_EXTENSIONS=%s/tests/my_extension.so"):format(require("kc.core").exe():match "^(.*)/")
t:run({ "run", "contracts/C-EXC-01.relu.f32", "--impl", "bitwise", "--trace", trace .. ".extended" }, { extension })
assert(counted(trace .. ".extended").measurement == 1)
assert(t.read(trace .. ".extended"):find('"oracles":["scaled"]', 1, true))
t:run { "-e", ([[require("kc.embed").run { in_process = true, targets = { "contracts/C-EXC-01.relu.f32" }, impl = "bitwise",
  trace = %q }]]):format(trace .. ".inside") }
assert(counted(trace .. ".inside").measurement == 1)
assert(select(2, t.read(trace .. ".inside"):gsub('"isolation":"none"', "")) == 2)

for _, bad in ipairs { {}, { type = "pair", contract = "x", implementation = "y", devices = {}, seed = 0, samples = -1, different = 0 },
                       { type = "measurement" }, { type = "end", counts = {}, exit = 0, seconds = "0x1p+0", sha256 = "short" },
                       { type = "end", counts = {}, exit = 0, seconds = 1, sha256 = ("a"):rep(64) } } do
  assert(validate(bad, schema, "bad"), "accepted")
end
t:done "schema"
