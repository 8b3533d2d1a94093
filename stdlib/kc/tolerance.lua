---@module kc.tolerance
-- Tolerances: each carries its formula and formula id (spec/tolerances.md), its inputs, its source and the value it gave.
local words = require "kc.words"
local M = {}

local Tolerance = {}
Tolerance.__index = Tolerance
Tolerance.__name = "kc.tolerance"
Tolerance.__metatable = false

-- One row per kind. `limit`: the constructor takes a number. Margins (design, rule 3): a good implementation may use at most
-- `good` of the tolerance, a bad one must exceed `bad` times; `exact` kinds: good 0, bad anything above.
local kinds = {
  exact = { id = "T-EXACT", formula = "y = y*", core = "exact", good = 0, bad = 0 },
  policy = { id = "T-POLICY", formula = "y = policy(y*)", core = "exact", good = 0, bad = 0 },
  ulp = { id = "T-ULP", formula = "|y - y*| <= n ulp(y*)", core = "ulp", limit = true, good = 0.5, bad = 2 },
  abs = { id = "T-ABS", formula = "|y - y*| <= a", core = "abs", limit = true, good = 0.5, bad = 2 },
  rel = { id = "T-REL", formula = "|y - y*| <= r |y*|", core = "rel", limit = true, good = 0.5, bad = 2 },
}

local fields = { "limit", "denormals", "source", "policy" }

local function check_fields(kind, row, options)
  if type(options) ~= "table" then error(("tolerance.%s: expected a table of fields"):format(kind), 3) end
  for _, key in ipairs(words.keys(options)) do
    local known = false
    for _, field in ipairs(fields) do known = known or field == key end
    if not known then error(("tolerance.%s: unknown field '%s'; %s"):format(kind, tostring(key), words.hint(tostring(key), fields)), 3) end
  end
  local denormals = options.denormals
  if denormals ~= "preserve" and denormals ~= "flush" then
    error(("tolerance.%s: field 'denormals': expected \"preserve\" or \"flush\", got %s"):format(kind, words.show(denormals)), 3)
  end
  local limit = options.limit
  if row.limit and (type(limit) ~= "number" or limit ~= limit or limit < 0 or limit == math.huge) then
    error(("tolerance.%s: field 'limit': expected a finite number >= 0, got %s"):format(kind, words.show(limit)), 3)
  end
  if row.limit and type(options.source) ~= "string" then
    error(("tolerance.%s: field 'source': a constant needs the place it comes from (a standard, a paper with section)"):format(kind), 3)
  end
  if kind == "policy" and type(options.policy) ~= "string" then
    error("tolerance.policy: field 'policy': expected the policy's name, e.g. \"IEEE_PROPAGATE\"", 3)
  end
end

local function new(kind, options)
  local row = kinds[kind]
  check_fields(kind, row, options)
  return setmetatable({ kind = kind, id = row.id, formula = row.formula, limit = options.limit, policy = options.policy,
                        denormals = options.denormals, source = options.source }, Tolerance)
end

--- Equal to the exact value.
---@param options table {denormals="preserve"|"flush", source=text|nil}
---@return table tolerance
function M.exact(options) return new("exact", options) end

--- Equal to what a named policy makes of the exact value.
---@param options table {policy=name, denormals=, source=text|nil}
---@return table tolerance
function M.policy(options) return new("policy", options) end

--- At most `limit` units in the last place of the exact value (Muller's ulp, overflow inside the bound allowed).
---@param options table {limit=number, denormals=, source=text}
---@return table tolerance
function M.ulp(options) return new("ulp", options) end

--- At most `limit` absolute error.
---@param options table {limit=number, denormals=, source=text}
---@return table tolerance
function M.abs(options) return new("abs", options) end

--- At most `limit` times the magnitude of the exact value.
---@param options table {limit=number, denormals=, source=text}
---@return table tolerance
function M.rel(options) return new("rel", options) end

--- True for a value made by this module.
function M.is(value) return getmetatable(value) == false and type(value) == "table" and kinds[rawget(value, "kind")] ~= nil end

--- What the deciding core takes.
---@return table options for core.decide
function Tolerance:core()
  return { kind = kinds[self.kind].core, value = self.limit or 0.0, denormals = self.denormals }
end

--- Largest share of the tolerance that a good implementation may use, and the least multiple a bad one must reach.
---@return number good, number bad
function Tolerance:margins() return kinds[self.kind].good, kinds[self.kind].bad end

--- Inputs and value of the formula, as data for traces.
---@return table record
function Tolerance:record()
  return { id = self.id, formula = self.formula, limit = self.limit, policy = self.policy, denormals = self.denormals,
           source = self.source }
end

function Tolerance:__tostring()
  local value = self.limit and (", limit %g"):format(self.limit) or self.policy and ", " .. self.policy or ""
  local source = self.source and " [" .. self.source .. "]" or ""
  return ("%s: %s%s, denormals %s%s"):format(self.id, self.formula, value, self.denormals, source)
end

return M
