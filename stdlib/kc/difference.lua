---@module kc.difference
-- `kc diff-contract`: what differs between two versions of a contract, clause by clause, in words.
local derived = require "kc.derived"
local explain = require "kc.explain"
local loader = require "kc.loader"
local scope = require "kc.scope"
local show = require "kc.show"
local tokens = require "kc.tokens"
local verdict = require "kc.verdict"
local words = require "kc.words"
local M = {}

-- ---- facts: name -> text or number, of each clause ------------------------------------------------------------------------------

-- A sample by its label, what stands behind the label, and how often it is drawn.
local function described(item)
  local text = item.label or item.name or tostring(item)
  if item.behind then text = ("%s: %s"):format(text, item.behind) end
  return item.kind == "draws" and ("%s, %d times"):format(text, item.n) or text
end

local function labels(list)
  local set = {}
  for _, item in ipairs(list or {}) do set[described(item)] = true end
  return words.keys(set)
end

local function tensor(t) return ("%s[%s]"):format(t.format, table.concat(t.dims, ",")) end

local facts = {}

function facts.identifier(c) return { class = c.identifier.class, name = c.identifier.name, version = c.identifier.version } end

function facts.scope(c)
  local f = { operation = c.scope.operation }
  for _, t in ipairs(c.scope.inputs) do f["input " .. t.name] = tensor(t) end
  for _, t in ipairs(c.scope.outputs) do f["output " .. t.name] = tensor(t) end
  for _, dim in ipairs(c.scope.dims) do f["shapes " .. dim] = scope.domain_text(c.scope.shapes[dim]) end
  for _, output in ipairs(words.keys(c.scope.depends or {})) do
    for _, input in ipairs(words.keys(c.scope.depends[output])) do
      f[("depends %s on %s"):format(output, input)] = c.scope.depends[output][input]
    end
  end
  return f
end

function facts.precondition(c) return { text = explain.function_text(c.precondition) } end
function facts.postcondition(c) return { text = explain.function_text(c.postcondition) } end

function facts.tolerance(c)
  local f = c.tolerance:record()
  f.formula = nil
  return f
end

function facts.oracle(c)
  local f = {}
  for _, output in ipairs(c.scope.outputs) do f[output.name] = tostring(c.oracle[output.name]) end
  return f
end

local plain = { "judged", "samples", "budget", "vacuous", "statistic", "pass", "repeats", "limit", "redraws", "determinism" }

function facts.protocol(c)
  local f = { inputs = labels(c.protocol.inputs), further = labels(c.protocol.further), relations = labels(c.protocol.relations) }
  for _, field in ipairs(plain) do f[field] = c.protocol[field] end
  if c.protocol.thorough then f.thorough = explain.function_text(c.protocol.thorough) end
  return f
end

function facts.signature(c) return { pattern = c.signature.pattern, test = explain.function_text(c.signature.test) } end

local built_with = { "entry", "args", "group", "grid", "contraction", "denormals", "fast_math", "defines", "needs", "map", "result" }

-- What is built and how: parts {name, value}; a kernel's own text by its digest.
local function parts_of(item, directory)
  local parts = {}
  for _, file in ipairs(item:files()) do
    local digest = loader.file_digest(loader.resolve(directory, file))
    parts[#parts + 1] = { type(file) == "table" and file[1] or file, digest and digest:sub(1, 12) or "absent" }
  end
  for _, field in ipairs(built_with) do
    local value = item[field]
    if value ~= nil then parts[#parts + 1] = { field, type(value) == "table" and table.concat(value, ",") or tostring(value) } end
  end
  if type(item.run) == "function" then parts[#parts + 1] = { "run", explain.function_text(item.run) } end
  return { implementation = item.name, parts = parts }
end

function facts.calibration(c, directory)
  local f, test = { probes = labels(c.calibration.probes) }, c.calibration.functional
  for _, entry in ipairs(c:implementations()) do
    f[("%s '%s'"):format(entry.role, entry.implementation.name)] = parts_of(entry.implementation, directory)
  end
  f["functional inputs"] = labels(test.inputs)
  for _, field in ipairs { "rtol", "atol", "norm", "reuse" } do f["functional " .. field] = test[field] end
  return f
end

-- ---- what a change means --------------------------------------------------------------------------------------------------------

-- Field -> what more of it and less of it are called.
local looser = { "looser", "tighter" }
local meanings = {
  tolerance = { limit = looser, factor = looser, lambda = looser, exp_error = looser, log_error = looser, rsqrt_error = looser,
                height = looser, terms = looser },
  protocol = { vacuous = looser, samples = { "more", "fewer" }, budget = { "more", "less" }, repeats = { "more", "fewer" } },
  calibration = { ["functional rtol"] = looser, ["functional atol"] = looser, ["functional norm"] = looser },
}

-- Counts such as "K - 1" are compared at the largest sizes of the first contract.
local function largest_sizes(c)
  local sizes = {}
  for _, dim in ipairs(c.scope.dims) do
    local domain = c.scope.shapes[dim]
    sizes[dim] = domain.kind == "range" and domain.hi or math.max(table.unpack(domain.sizes))
  end
  return sizes
end

local function number(value, c)
  if type(value) == "number" then return value end
  local ok, n = pcall(derived.count, value, largest_sizes(c))
  return ok and n or nil
end

local function meaning(clause, field, pair)
  local said = (meanings[clause] or {})[field]
  local a, b = said and number(pair.old, pair.a), said and number(pair.new, pair.a)
  if not a or not b or a == b then return "" end
  return (" (%s)"):format(b > a and said[1] or said[2])
end

local function widths(a, b)
  local lo1, hi1 = a:match("^(%d+)%.%.(%d+)$")
  local lo2, hi2 = b:match("^(%d+)%.%.(%d+)$")
  if not lo1 or not lo2 then return "" end
  local down, up = tonumber(lo2) - tonumber(lo1), tonumber(hi2) - tonumber(hi1)
  if down <= 0 and up >= 0 then return " (wider)" end
  return down >= 0 and up <= 0 and " (narrower)" or ""
end

local function shown(value) return type(value) == "number" and show.shortest(value) or tostring(value) end

-- ---- comparing ------------------------------------------------------------------------------------------------------------------

local function compare_lists(clause, field, pair, say)
  for _, item in ipairs(pair.new) do
    if not words.holds(pair.old, item) then say(clause, ("%s: '%s' added"):format(field, item)) end
  end
  for _, item in ipairs(pair.old) do
    if not words.holds(pair.new, item) then say(clause, ("%s: '%s' removed"):format(field, item)) end
  end
end

local function compare_values(clause, field, pair, say)
  local old, new = pair.old, pair.new
  if old == new then return end
  if old == nil then return say(clause, ("%s added: %s"):format(field, shown(new))) end
  if new == nil then return say(clause, ("%s removed (was %s)"):format(field, shown(old))) end
  local what = field:match("^shapes") and widths(old, new) or meaning(clause, field, pair)
  say(clause, ("%s %s -> %s%s"):format(field, shown(old), shown(new), what))
end

local function value_in(parts, name)
  for _, part in ipairs(parts) do if part[1] == name then return part[2] end end
end

local function compare_implementations(clause, field, pair, say)
  local old, new = pair.old, pair.new
  if not new then return say(clause, field .. " removed") end
  if not old then return say(clause, ("%s added: %s"):format(field, table.concat(new.parts[1] or { "Lua" }, " "))) end
  for _, part in ipairs(new.parts) do
    local before = value_in(old.parts, part[1])
    if before ~= part[2] then say(clause, ("%s: %s %s -> %s"):format(field, part[1], before or "nothing", part[2])) end
  end
  for _, part in ipairs(old.parts) do
    if not value_in(new.parts, part[1]) then say(clause, ("%s: %s %s -> nothing"):format(field, part[1], part[2])) end
  end
end

local function comparison(value)
  if type(value) ~= "table" then return compare_values end
  return value.implementation and compare_implementations or compare_lists
end

local function same_kind(clause, pair, say, a, b)
  if clause ~= "tolerance" or a.id == b.id then return a.id end
  say(clause, ("%s -> %s"):format(tostring(pair.a.tolerance), tostring(pair.b.tolerance)))
end

-- Of a tolerance of one kind: "T-ULP limit 3 -> 5 (looser)".
local function compare_clause(clause, pair, say)
  local a, b = facts[clause](pair.a, pair.directories[1]), facts[clause](pair.b, pair.directories[2])
  if clause == "tolerance" and not same_kind(clause, pair, say, a, b) then return end
  local fields, seen = {}, {}
  for _, side in ipairs { a, b } do
    for _, field in ipairs(words.keys(side)) do
      if not seen[field] then fields[#fields + 1] = field end
      seen[field] = true
    end
  end
  local function named(own, text) say(own, own == "tolerance" and ("%s %s"):format(a.id, text) or text) end
  for _, field in ipairs(fields) do
    comparison(a[field] or b[field])(clause, field, { old = a[field], new = b[field], a = pair.a, b = pair.b }, named)
  end
end

-- The words of a file without its comments, layout, and what the identifier says.
local function code(loaded)
  local list, own = {}, {}
  for _, key in ipairs { "class", "name", "version" } do own[loaded.contract.identifier[key]] = true end
  for i, token in ipairs(tokens.of(loader.read(loaded.path) or "")) do
    list[i] = own[token.text:match("^[\"'](.*)[\"']$")] and "identifier" or token.text
  end
  return table.concat(list, "\n")
end

-- What else differs may be a helper that several clauses call: no clause names it.
local function only_identifier(lines)
  for _, line in ipairs(lines) do if not line:match("^identifier: ") then return false end end
  return true
end

--- What differs between two contracts.
---@param a table what kc.loader returned
---@param b table likewise
---@return table lines "clause: what changed"; none where they say the same
function M.lines(a, b)
  local lines = {}
  local function say(clause, text) lines[#lines + 1] = ("%s: %s"):format(clause, text) end
  local pair = { a = a.contract, b = b.contract, directories = { a.directory, b.directory } }
  for _, clause in ipairs(require("kc.contract").clauses) do compare_clause(clause, pair, say) end
  if only_identifier(lines) and code(a) ~= code(b) then say("text", "the files differ in code outside of the clauses") end
  return lines
end

-- ---- the command -----------------------------------------------------------------------------------------------------------------

--- Compares the contracts that two arguments name.
---@param o table {targets={A, B}, ...}
---@param write function
---@return integer exit code 0 the same, 1 different, 64 or 4 on errors
function M.run(o, write)
  if #o.targets ~= 2 then
    return verdict.refused { error = "diff-contract: expected two contracts, got " .. #o.targets, code = "usage" }
  end
  local reply = require("kc.run").ask(o, { cmd = "difference", targets = o.targets, roots = require("kc.paths").contract_roots() })
  if reply.error then return verdict.refused(reply) end
  write(("%s -> %s\n"):format(reply.names[1], reply.names[2]))
  for _, line in ipairs(reply.lines) do write(line .. "\n") end
  if #reply.lines == 0 then write("the same in every clause\n") end
  return #reply.lines > 0 and 1 or 0
end

return M
