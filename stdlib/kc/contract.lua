---@module kc
-- kc.contract: the eight clauses plus calibration, checked once and immutable afterwards.
local check = require "kc.check"
local determinism = require "kc.determinism"
local implementation = require "kc.implementation"
local interleave = require "kc.interleave"
local oracle = require "kc.oracle"
local relation = require "kc.relation"
local sample = require "kc.sample"
local scope = require "kc.scope"
local tolerance = require "kc.tolerance"
local words = require "kc.words"
local M = {}

M.clauses = { "identifier", "scope", "precondition", "postcondition", "tolerance", "oracle", "protocol", "signature", "calibration" }

-- Where the contract was written: file, and the line of a clause found in the source, so that errors point at it.
local function source_of(level)
  local info = debug.getinfo(level, "Sl")
  while info.what == "C" and debug.getinfo(level + 1, "S") do -- called through pcall
    level = level + 1
    info = debug.getinfo(level, "Sl")
  end
  local path = info.source:match("^@(.*)")
  return { path = path or info.short_src, line = info.currentline }
end

local function names_field(line, field) return (line .. " "):find("%f[%w_]" .. field .. "%s*=[^=]") ~= nil end

--- The line on which a clause begins, or one of its fields; that of the call of kc.contract where there is none.
---@param where table {path=, line=}
---@param clause string|nil
---@param field string|nil
---@return integer line
function M.line_of(where, clause, field)
  local file = io.open(where.path, "r")
  if not file then return where.line end
  local number, call, at, found = 0, nil, nil, nil
  for line in file:lines() do
    number = number + 1
    local begins = line:match("^%s*([%a_]+)%s*=")
    call = call or line:find("%f[%w_]kc%.contract%f[^%w_]") and not line:match("^%s*%-%-") and number or nil
    if at and begins and words.holds(M.clauses, begins) then break end
    at = at or clause and begins == clause and number or nil
    found = found or at and field and names_field(line, field) and number or nil
  end
  file:close()
  return found or at or call or where.line
end

-- A message names its field: "field 'functional.rtol': expected ...".
local function fail(where, clause, message)
  local field = message:match("field '([%w_.]+)'") or message:match("'([%w_]+)'")
  field = field and field:match("([%w_]+)$")
  error(setmetatable({ code = "contract", clause = clause, path = where.path, line = M.line_of(where, clause, field), message = message },
    M.error_meta), 0)
end

M.error_meta = { __name = "kc.error", __tostring = function(e)
  return ("%s:%d: %s%s"):format(e.path, e.line, e.clause and ("clause '%s': "):format(e.clause) or "", e.message)
end }

-- ---- field checks: every helper takes (report, value, name) and reports through report(message) -------------------------

local function expect(report, ok, name, expected, value)
  if not ok then report(("field '%s': expected %s, got %s"):format(name, expected, words.show(value))) end
end

local function only(report, t, known)
  for _, key in ipairs(words.keys(t)) do
    if not words.holds(known, key) then report(("unknown field '%s'; %s"):format(tostring(key), words.hint(tostring(key), known))) end
  end
end

local function is_list_of(value, is)
  if type(value) ~= "table" or #value == 0 then return false end
  for _, item in ipairs(value) do if not is(item) then return false end end
  return true
end

local function is_string(v) return type(v) == "string" and v ~= "" end
local function is_count(v) return math.type(v) == "integer" and v >= 1 end
local function is_share(v) return type(v) == "number" and v >= 0 and v <= 1 end
local function is_budget(v) return type(v) == "number" and v >= 1 end
local function is_limit(v) return type(v) == "number" and v > 0 end

local checks = {}

function checks.identifier(c, report)
  local v = c.identifier
  only(report, v, { "class", "name", "version" })
  expect(report, is_string(v.class) and v.class:match("^C%-%u%u%u%-%d%d$"), "class", "a class such as \"C-PRC-01\"", v.class)
  expect(report, is_string(v.name) and v.name:match("^[%w_.%-]+$"), "name", "a name of letters, digits and . _ -", v.name)
  expect(report, is_string(v.version), "version", "text such as \"1.0\"", v.version)
  return v
end

local function tensors(report, list, name)
  expect(report, type(list) == "table" and #list > 0, name, "a list of tensors", list)
  local out = {}
  for i, text in ipairs(list) do
    local tensor, message = scope.tensor(text)
    if not tensor then report(("%s %d: %s"):format(name, i, message)) end
    out[i] = tensor
  end
  return out
end

local function check_dims(report, all, shapes, scalars)
  local used, order = {}, {}
  for _, tensor in ipairs(all) do
    for _, dim in ipairs(tensor.dims) do
      if type(dim) == "string" and not used[dim] then
        used[dim] = true
        order[#order + 1] = dim
        if not shapes[dim] then report(("dimension '%s' of '%s' has no entry in 'shapes'"):format(dim, tensor.name)) end
      end
    end
  end
  for _, dim in ipairs(words.keys(shapes)) do
    if not used[dim] and not scalars then report(("'shapes' names dimension '%s', which no tensor has"):format(dim)) end
    expect(report, type(shapes[dim]) == "table" and shapes[dim].kind, "shapes." .. dim, "kc.range or kc.choice", shapes[dim])
  end
  return order
end

-- depends: output -> input -> which elements of the input an element of the output depends on.
local reaches = { "element", "row", "all" }

local function check_depends(report, depends, inputs, outputs)
  expect(report, type(depends) == "table", "depends", "a table output name -> input name -> \"element\", \"row\" or \"all\"", depends)
  local results, sources = {}, {}
  for i, tensor in ipairs(outputs) do results[i] = tensor.name end
  for i, tensor in ipairs(inputs) do sources[i] = tensor.name end
  for _, name in ipairs(words.keys(depends)) do
    local given = depends[name]
    if not words.holds(results, name) then report(("field 'depends': no output '%s'; %s"):format(name, words.hint(name, results))) end
    expect(report, type(given) == "table", "depends." .. name, "a table input name -> \"element\", \"row\" or \"all\"", given)
    for _, input in ipairs(words.keys(given)) do
      if not words.holds(sources, input) then report(("field 'depends': no input '%s'; %s"):format(input, words.hint(input, sources))) end
      expect(report, words.holds(reaches, given[input]), ("depends.%s.%s"):format(name, input), "\"element\", \"row\" or \"all\"",
        given[input])
    end
  end
end

function checks.scope(c, report)
  local v = c.scope
  only(report, v, { "operation", "inputs", "outputs", "shapes", "depends" })
  expect(report, is_string(v.operation), "operation", "the operation's name", v.operation)
  local inputs, outputs = tensors(report, v.inputs, "inputs"), tensors(report, v.outputs, "outputs")
  expect(report, type(v.shapes) == "table", "shapes", "a table of kc.range or kc.choice", v.shapes)
  local all, seen = {}, {}
  for _, list in ipairs { inputs, outputs } do
    for _, tensor in ipairs(list) do
      if seen[tensor.name] then report(("two tensors are called '%s'"):format(tensor.name)) end
      seen[tensor.name] = true
      all[#all + 1] = tensor
    end
  end
  if v.depends ~= nil then check_depends(report, v.depends, inputs, outputs) end
  return { operation = v.operation, inputs = inputs, outputs = outputs, shapes = v.shapes, depends = v.depends,
           dims = check_dims(report, all, v.shapes) }
end

local function a_function(name)
  return function(c, report)
    if type(c[name]) ~= "function" then report("expected a function, got " .. words.show(c[name])) end
    return c[name]
  end
end

checks.precondition = a_function "precondition"
checks.postcondition = a_function "postcondition"

function checks.tolerance(c, report)
  if not tolerance.is(c.tolerance) then report("expected a kc.tolerance, got " .. words.show(c.tolerance)) end
  return c.tolerance
end

-- A function is an expression.
local function traced(report, fn)
  local ok, made = pcall(oracle.expression, fn)
  if not ok then report((tostring(made):gsub("^stdlib/kc/[%w_]+%.lua:%d+: ", ""))) end
  return made
end

-- One oracle for the only output, or a table output name -> oracle.
function checks.oracle(c, report, built)
  local by_output = c.oracle
  local outputs = built.scope.outputs
  if type(by_output) == "function" then by_output = traced(report, by_output) end
  if oracle.is(by_output) then
    if #outputs ~= 1 then report(("one oracle for %d outputs; expected a table output name -> oracle"):format(#outputs)) end
    by_output = { [outputs[1].name] = by_output }
  end
  if type(by_output) ~= "table" then report("expected a kc.oracle, got " .. words.show(by_output)) end
  local inputs, made_of = {}, {}
  for i, tensor in ipairs(built.scope.inputs) do inputs[i] = tensor.name end
  for _, tensor in ipairs(outputs) do
    local o = by_output[tensor.name]
    if type(o) == "function" then o = traced(report, o) end
    made_of[tensor.name] = o
    if not oracle.is(o) then report(("output '%s': expected a kc.oracle, got %s"):format(tensor.name, words.show(o))) end
    for _, name in ipairs(o.arguments) do
      if not words.holds(inputs, name) then
        report(("oracle %s names input '%s'; %s"):format(tostring(o), name, words.hint(name, inputs)))
      end
    end
  end
  return made_of
end

function checks.protocol(c, report)
  local v = c.protocol
  only(report, v, { "inputs", "judged", "samples", "budget", "vacuous", "statistic", "pass", "repeats", "limit", "redraws",
                    "further", "thorough", "relations", "determinism", "interleavings" })
  expect(report, is_list_of(v.inputs, sample.is), "inputs", "a list of samples", v.inputs)
  expect(report, v.further == nil or is_list_of(v.further, sample.is), "further", "a list of samples", v.further)
  expect(report, v.determinism == nil or words.holds(determinism.classes, v.determinism), "determinism",
    "one of " .. table.concat(determinism.classes, ", "), v.determinism)
  if v.determinism and v.repeats == 1 then report "field 'repeats': one run says nothing of determinism; see kc.invocations" end
  expect(report, v.relations == nil or is_list_of(v.relations, relation.is), "relations", "a list of kc.relation", v.relations)
  expect(report, v.thorough == nil or type(v.thorough) == "function", "thorough", "a function that gives a list of samples", v.thorough)
  expect(report, v.judged == "element" or v.judged == "tensor", "judged", "\"element\" or \"tensor\"", v.judged)
  local misfit = v.interleavings ~= nil and interleave.misfit(v.interleavings)
  if misfit then report("field 'interleavings': " .. misfit) end
  expect(report, is_count(v.samples), "samples", "an integer >= 1", v.samples)
  expect(report, is_budget(v.budget), "budget", "a number of work units >= 1", v.budget)
  expect(report, is_share(v.vacuous), "vacuous", "a share between 0 and 1", v.vacuous)
  expect(report, v.statistic == "max", "statistic", "\"max\"", v.statistic)
  expect(report, is_string(v.pass), "pass", "the pass rule as text", v.pass)
  expect(report, is_count(v.repeats), "repeats", "an integer >= 1", v.repeats)
  expect(report, v.limit == nil or is_limit(v.limit), "limit", "seconds a launch may take", v.limit)
  expect(report, v.redraws == nil or is_count(v.redraws), "redraws", "an integer >= 1", v.redraws)
  return v
end

function checks.signature(c, report)
  local v = c.signature
  only(report, v, { "pattern", "test" })
  expect(report, is_string(v.pattern), "pattern", "text", v.pattern)
  expect(report, type(v.test) == "function", "test", "a function of a measurement", v.test)
  return v
end

--- Checks the description of a functional test {inputs, rtol and atol, or norm, reuse}.
---@param report function called with a message for each mistake
---@param v any
function M.functional(report, v)
  expect(report, type(v) == "table", "functional", "a table {inputs, rtol, atol} or {inputs, norm}", v)
  only(report, v, { "inputs", "rtol", "atol", "norm", "reuse" })
  expect(report, v.reuse == nil or type(v.reuse) == "boolean", "functional.reuse", "a boolean", v.reuse)
  expect(report, is_list_of(v.inputs, sample.is), "functional.inputs", "a list of samples", v.inputs)
  if v.norm ~= nil and (v.rtol ~= nil or v.atol ~= nil) then report("field 'functional': expected rtol and atol, or norm, not both") end
  for _, name in ipairs(v.norm ~= nil and { "norm" } or { "rtol", "atol" }) do
    expect(report, type(v[name]) == "number" and v[name] >= 0, "functional." .. name, "a number >= 0", v[name])
  end
end

function checks.calibration(c, report)
  local v = c.calibration
  only(report, v, { "baseline", "bad", "good", "probes", "functional" })
  expect(report, implementation.is(v.baseline), "baseline", "an implementation", v.baseline)
  expect(report, is_list_of(v.bad, implementation.is), "bad", "a list of implementations", v.bad)
  expect(report, is_list_of(v.good, implementation.is), "good", "a list of implementations", v.good)
  expect(report, is_list_of(v.probes, sample.is), "probes", "a list of samples", v.probes)
  M.functional(report, v.functional)
  local seen = {}
  for _, list in ipairs { { v.baseline }, v.bad, v.good } do
    for _, item in ipairs(list) do
      if seen[item.name] then report(("two implementations are called '%s'; give one a name"):format(item.name)) end
      seen[item.name] = true
    end
  end
  return v
end

-- What this module made: a table that a file dresses up as a contract is none.
local made = setmetatable({}, { __mode = "k" })

local Contract = { __name = "kc.contract", __metatable = false }
Contract.__index = Contract

local function check_keys(given, where)
  if type(given) ~= "table" then fail(where, nil, "kc.contract: expected a table, got " .. words.show(given)) end
  for _, key in ipairs(words.keys(given)) do
    if not words.holds(M.clauses, key) then
      fail(where, tostring(key), ("unknown clause; %s"):format(words.hint(tostring(key), M.clauses)))
    end
  end
  local functions = { precondition = true, postcondition = true, oracle = type(given.oracle) == "function" }
  for _, clause in ipairs(M.clauses) do
    if given[clause] == nil then
      fail(where, nil, ("clause '%s' is missing; a contract has the clauses %s"):format(clause, table.concat(M.clauses, ", ")))
    end
    if not functions[clause] and type(given[clause]) ~= "table" then
      fail(where, clause, "expected a table, got " .. words.show(given[clause]))
    end
  end
end

-- A view of a table that cannot be changed; nested tables are frozen when they are read. A judge reads the same few tables for every
-- sample: each has one view.
local views = setmetatable({}, { __mode = "k" })

local function freeze(t)
  if type(t) ~= "table" or getmetatable(t) ~= nil then return t end
  if views[t] then return views[t] end
  local proxy = {}
  views[t] = proxy
  return setmetatable(proxy, {
    __index = function(_, key) return freeze(t[key]) end,
    __newindex = function(_, key) error(("a contract is immutable: cannot set '%s'"):format(tostring(key)), 2) end,
    __len = function() return #t end,
    __pairs = function() return function(_, key) local k, v = next(t, key) return k, freeze(v) end, proxy, nil end,
    __metatable = false,
  })
end

--- A contract: exactly eight clauses plus calibration. Errors name clause, file and line.
---@param clauses table identifier, scope, precondition, postcondition, tolerance, oracle, protocol, signature, calibration
---@return table contract immutable
function M.contract(clauses) return M.make(clauses, source_of(3)) end

--- What kc.contract does, for a loader that knows the file: a contract file ends in a tail call, which leaves no trace of it.
---@param clauses table
---@param where table {path=, line=}
---@return table contract
function M.make(clauses, where)
  check_keys(clauses, where)
  local built = { where = where, path = where.path, directory = where.path:match("^(.*)/[^/]*$") or "." }
  for _, clause in ipairs(M.clauses) do
    built[clause] = checks[clause](clauses, function(message) fail(where, clause, message) end, built)
  end
  local misfit = built.tolerance:misfit(built.scope, built.oracle)
  if misfit then fail(where, "tolerance", misfit) end
  built.id = ("%s/%s"):format(built.identifier.class, built.identifier.name)
  local contract = setmetatable({}, {
    __index = function(_, key)
      if Contract[key] ~= nil then return Contract[key] end
      return freeze(built[key])
    end,
    __newindex = function(_, key) error(("a contract is immutable: cannot set '%s'"):format(tostring(key)), 2) end,
    __tostring = function() return ("contract %s %s"):format(built.id, built.identifier.version) end,
    __pairs = function(contract) -- its clauses, in order
      local i = 0
      return function()
        i = i + 1
        if M.clauses[i] then return M.clauses[i], contract[M.clauses[i]] end
      end
    end,
    __name = "kc.contract",
    __metatable = false,
  })
  made[contract] = true
  return contract
end

--- True for a contract.
function M.is(value) return made[value] == true end

--- True for the error that a wrong contract raises.
function M.is_error(value) return getmetatable(value) == M.error_meta end
Contract.kc_type = "contract"

--- All implementations with their roles, in order: baseline, bad, good.
---@return table list of {role=, implementation=}
function Contract:implementations()
  local list = { { role = "baseline", implementation = self.calibration.baseline } }
  for _, role in ipairs { "bad", "good" } do
    for _, item in ipairs(self.calibration[role]) do list[#list + 1] = { role = role, implementation = item } end
  end
  return list
end

--- The answer of the precondition for inputs.
function Contract:admits(inputs) return check.clause(self.precondition(inputs), self.path .. ": precondition") end

M.freeze = freeze
return M
