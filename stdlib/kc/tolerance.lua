---@module kc.tolerance
-- Tolerances: each carries its formula and formula id (spec/tolerances.md), its inputs, its source and the value it gave.
local derived = require "kc.derived"
local words = require "kc.words"
local M = {}

local Tolerance = {}
Tolerance.__index = Tolerance
Tolerance.__name = "kc.tolerance"
Tolerance.__metatable = false

-- ---- fields ---------------------------------------------------------------------------------------------------------------

local function one_of(list)
  return function(v)
    for _, word in ipairs(list) do if v == word then return true end end
    return false
  end
end

local function is_text(v) return type(v) == "string" and v ~= "" end
local function is_size(v) return type(v) == "number" and v >= 0 and v < math.huge end
local function is_error(v) return is_size(v) and v >= 1 end
local function is_count(v) return math.type(v) == "integer" and v >= 0 or is_text(v) end

local function is_float_format(v)
  local format = type(v) == "string" and require("kc.core").format(v)
  return format and format.kind == "float" or false
end

-- Field -> what it must be, and the check.
local fields = {
  denormals = { "\"preserve\", \"flush\" or \"undeclared\"", one_of { "preserve", "flush", "undeclared" } },
  limit = { "a finite number >= 0", is_size },
  source = { "the place a constant comes from (a standard, a paper with section)", is_text },
  policy = { "the policy's name, e.g. \"IEEE_PROPAGATE\"", is_text },
  accumulator = { "the format in which partial results are kept, e.g. \"f32\"", is_float_format },
  rounding = { "\"nearest\" or \"towards_zero\"", one_of { "nearest", "towards_zero" } },
  terms = { "how many terms are summed: an integer, or text over dimension names such as \"K\"", is_count },
  height = { "additions on the longest path: an integer, or text such as \"K - 1\" or \"ceil(log2(K))\"", is_count },
  lambda = { "a finite number >= 0", is_size },
  exp_error = { "the error of the kernel's exp in units of u, at least 1 (correct rounding)", is_error },
  log_error = { "the error of the kernel's log in units of u, at least 1 (correct rounding)", is_error },
  rsqrt_error = { "the error of the kernel's 1 / sqrt in units of u, at least 1", is_error },
  algorithm = { "\"two_pass\" or \"welford\"", one_of { "two_pass", "welford" } },
  zeros = { "\"either\"", one_of { "either" } },
  factor = { "a finite number >= 0", is_size },
  peer = { "an implementation", function(v) return require("kc.implementation").is(v) end },
}

-- One row per kind. `reads`: its fields, those after "?" may be left out; `core`: how the deciding core takes it. Margins (design,
-- rule 3): a good implementation may use at most `good` of the tolerance, a bad one must exceed `bad` times.
local kinds = {
  exact = { id = "T-EXACT", formula = "y = y*", core = "exact", reads = { "denormals", "?", "source" }, good = 0, bad = 0 },
  policy = { id = "T-POLICY", formula = "y = policy(y*)", core = "exact", reads = { "denormals", "policy", "?", "source" },
             good = 0, bad = 0 },
  ulp = { id = "T-ULP", formula = "|y - y*| <= n ulp(y*)", core = "ulp", reads = { "denormals", "limit", "source", "?", "zeros" },
          good = 0.5, bad = 2 },
  abs = { id = "T-ABS", formula = "|y - y*| <= a", core = "abs", reads = { "denormals", "limit", "source" }, good = 0.5, bad = 2 },
  rel = { id = "T-REL", formula = "|y - y*| <= r |y*|", core = "rel", reads = { "denormals", "limit", "source" },
          good = 0.5, bad = 2 },
  peer_ratio = { id = "T-PEER-RATIO", formula = "|y - y*| <= f max |peer - y*|", reads = { "denormals", "factor", "peer", "source" },
                 good = 1, bad = 1 },
}
for _, name in ipairs(words.keys(derived.kinds)) do
  local row = derived.kinds[name]
  local reads = { "denormals", "accumulator" }
  table.move(row.fields, 1, #row.fields, 3, reads)
  table.move({ "?", "rounding", "source" }, 1, 3, #reads + 1, reads)
  kinds[name] = { id = row.id, formula = row.formula, reads = reads, derived = row, good = row.good, bad = row.bad }
end

-- Levels: the constructors call `new` in their tail, so that above it is the contract.
local function check_known(kind, reads, options)
  for _, key in ipairs(words.keys(options)) do
    local known = false
    for _, field in ipairs(reads) do known = known or field == key end
    if not known then
      error(("tolerance.%s: unknown field '%s'; %s"):format(kind, tostring(key), words.hint(tostring(key), reads)), 4)
    end
  end
end

local function check_fields(kind, reads, options)
  if type(options) ~= "table" then error(("tolerance.%s: expected a table of fields"):format(kind), 3) end
  local names, optional = {}, false
  for _, field in ipairs(reads) do if field ~= "?" then names[#names + 1] = field end end
  check_known(kind, names, options)
  for _, field in ipairs(reads) do
    if field == "?" then
      optional = true
    elseif not (optional and options[field] == nil) and not fields[field][2](options[field]) then
      error(("tolerance.%s: field '%s': expected %s, got %s"):format(kind, field, fields[field][1], words.show(options[field])), 3)
    end
  end
end

local function new(kind, options)
  local row = kinds[kind]
  check_fields(kind, row.reads, options)
  local made = { kind = kind, id = row.id, formula = row.formula }
  for _, key in ipairs(words.keys(options)) do made[key] = options[key] end
  if row.derived then made.rounding = made.rounding or "nearest" end
  if row.derived and made.denormals == "undeclared" then
    error(("tolerance.%s: field 'denormals': a bound is derived for \"preserve\" or for \"flush\""):format(kind), 2)
  end
  return setmetatable(made, Tolerance)
end

--- Equal to the exact value.
--- > kc.tolerance.exact { denormals = "preserve" }
--- T-EXACT: y = y*, denormals preserve
---@param options table {denormals="preserve"|"flush", source=text|nil}
---@return table tolerance
function M.exact(options) return new("exact", options) end

--- Equal to what a named policy makes of the exact value.
--- > kc.tolerance.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" }
--- T-POLICY: y = policy(y*), denormals preserve, policy IEEE_PROPAGATE
---@param options table {policy=name, denormals=, source=text|nil}
---@return table tolerance
function M.policy(options) return new("policy", options) end

--- At most `limit` units in the last place of the exact value (Muller's ulp, overflow inside the bound allowed). A zero must have the
--- sign of the number that it stands for, unless zeros = "either".
--- > kc.tolerance.ulp { limit = 4, denormals = "flush", source = "OpenCL C 3.0, 7.4" }
--- T-ULP: |y - y*| <= n ulp(y*), denormals flush, limit 4 [OpenCL C 3.0, 7.4]
---@param options table {limit=number, denormals=, source=text, zeros="either"|nil}
---@return table tolerance
function M.ulp(options) return new("ulp", options) end

--- At most `limit` absolute error.
--- > kc.tolerance.abs { limit = 0x1p-10, denormals = "preserve", source = "requirement 7" }
--- T-ABS: |y - y*| <= a, denormals preserve, limit 0.000976562 [requirement 7]
---@param options table {limit=number, denormals=, source=text}
---@return table tolerance
function M.abs(options) return new("abs", options) end

--- At most `limit` times the magnitude of the exact value.
--- > kc.tolerance.rel { limit = 0.5, denormals = "preserve", source = "requirement 8" }
--- T-REL: |y - y*| <= r |y*|, denormals preserve, limit 0.5 [requirement 8]
---@param options table {limit=number, denormals=, source=text}
---@return table tolerance
function M.rel(options) return new("rel", options) end

--- Sums of products (oracles sum, cumsum, mean, dot, matmul). kind "proved": what no conforming kernel exceeds, whatever its order
--- of summation within `height`; kind "expected": lambda sqrt(r) u S1, for inputs drawn from declared random generators only.
--- > t = kc.tolerance.dot { kind = "proved", terms = "K", height = "K - 1", accumulator = "f32", denormals = "preserve" }
--- > t.id, t.rounding
--- "T-DOT"
--- "nearest"
---@param options table {kind="proved"|"expected", accumulator=format, terms=count, height=count, denormals=, rounding="nearest",
---  lambda=8.0 (expected)}
---@return table tolerance
function M.dot(options)
  local copy = {}
  for _, key in ipairs(words.keys(type(options) == "table" and options or {})) do copy[key] = options[key] end
  local kind = copy.kind
  copy.kind = nil
  if kind ~= "proved" and kind ~= "expected" then
    error("tolerance.dot: field 'kind': expected \"proved\" or \"expected\", got " .. words.show(kind), 2)
  end
  if kind == "expected" and copy.lambda == nil then copy.lambda = 8.0 end
  return new(kind == "proved" and "dot" or "expected", copy)
end

--- N eps max|x| for sums, as it is attributed to the paper. Not a bound: conforming kernels exceed it on terms of one sign, and on terms
--- of mean zero and narrow formats it accepts anything. For reproducing results only.
---@param options table {accumulator=, terms=count, denormals=}
---@return table tolerance
function M.fpna(options) return new("fpna", options) end

--- A softmax that subtracts the maximum. exp_error: error of the kernel's exp in units of u (1.05 for 0.525 ulp).
---@param options table {accumulator=, height=count, exp_error=number, denormals=, rounding=}
---@return table tolerance
function M.softmax(options) return new("softmax", options) end

--- A log_softmax that subtracts the maximum and the logarithm of the sum.
---@param options table {accumulator=, height=count, exp_error=, log_error=, denormals=, rounding=}
---@return table tolerance
function M.log_softmax(options) return new("log_softmax", options) end

--- A logsumexp that adds the maximum and the logarithm of the scaled sum.
---@param options table {accumulator=, height=count, exp_error=, log_error=, denormals=, rounding=}
---@return table tolerance
function M.logsumexp(options) return new("logsumexp", options) end

--- A variance by the declared algorithm: "two_pass" (mean first) or "welford" (and other updating formulas).
---@param options table {accumulator=, height=count, algorithm=, denormals=, rounding=}
---@return table tolerance
function M.variance(options) return new("variance", options) end

--- A layernorm whose variance is computed by the declared algorithm.
---@param options table {accumulator=, height=count, algorithm=, rsqrt_error=, denormals=, rounding=}
---@return table tolerance
function M.layernorm(options) return new("layernorm", options) end

--- The cosine of the angle between rows by a dot product and two norms, in whatever way they are joined.
---@param options table {accumulator=, height=count, rsqrt_error=, denormals=, rounding=}
---@return table tolerance
function M.cosine(options) return new("cosine", options) end

--- At most `factor` times the largest error of another implementation on the same inputs, as FlashAttention's tests ask.
---@param options table {factor=number, peer=implementation, denormals=, source=text}
---@return table tolerance
function M.peer_ratio(options) return new("peer_ratio", options) end

--- True for a value made by this module.
function M.is(value) return getmetatable(value) == false and type(value) == "table" and kinds[rawget(value, "kind")] ~= nil end

-- ---- use ------------------------------------------------------------------------------------------------------------------

-- A tolerance for one sample: constants serve every sample, derived ones are evaluated for each output when first asked.
local Bound = { __index = function(bound, key) return bound.tolerance[key] end, __name = "kc.tolerance", __metatable = false,
                __tostring = function(bound) return tostring(bound.tolerance) end }

local function bound_core(bound, enclosure)
  local known = bound.values[enclosure]
  if known then return known end
  for _, output in ipairs(bound.sample.outputs) do
    if bound.sample.references[output.name] == enclosure then
      known = bound.make(output, enclosure)
      bound.values[enclosure] = known
      return known
    end
  end
  error(("tolerance.%s is known for the references of its own sample only: pass the fourth argument of the postcondition, and one of "
    .. "the references"):format(bound.tolerance.kind), 0)
end

local function derived_core(t, sample, output, enclosure)
  local allowed, scale = derived.allowed(t, { oracle = sample.oracles[output.name], output = output, inputs = sample.inputs,
    formats = sample.formats, reference = enclosure, shape = sample.shapes[output.name], sizes = sample.sizes })
  return { kind = "given", allowed = allowed, scale = scale, denormals = t.denormals }
end

--- The tolerance for one sample, as a postcondition receives it.
---@param sample table {oracles=, inputs=name -> buffer, formats=, references=, outputs=tensors, shapes=, sizes=,
---  peer_errors=output name -> largest error of the peer}
---@return table tolerance
function Tolerance:bind(sample)
  local make
  if kinds[self.kind].derived then
    function make(output, enclosure) return derived_core(self, sample, output, enclosure) end
  elseif self.kind == "peer_ratio" then
    function make(output)
      return { kind = "abs", value = self.factor * sample.peer_errors[output.name], denormals = self.denormals }
    end
  else
    return self
  end
  return setmetatable({ tolerance = self, sample = sample, make = make, values = {}, core = bound_core }, Bound)
end

--- What the deciding core takes.
---@return table options for core.decide
function Tolerance:core()
  local how = kinds[self.kind].core
  if not how then error(("tolerance.%s belongs to a sample; pass the fourth argument of the postcondition"):format(self.kind), 0) end
  return { kind = how, value = self.limit or 0.0, denormals = self.denormals, either_zero = self.zeros == "either" }
end

-- Rounding to nearest alone costs half an ulp, so that much, with what the 12 bits of a recorded ratio add, is always allowed.
local ROUNDED = 0.5 * (1 + 2.0^-11)

--- Largest share of the tolerance that a good implementation may use, and the least multiple a bad one must reach.
---@return number good, number bad
function Tolerance:margins()
  local row = kinds[self.kind]
  local good = row.good
  if self.kind == "ulp" then good = math.max(good, math.min(1.0, ROUNDED / self.limit)) end
  return good, row.bad
end

local products = { dot = true, matmul = true, sum = true, mean = true, cumsum = true, cosine = true, expression = true }

-- Name of an input of an oracle whose numbers the accumulator does not hold; nil when all fit.
local function wider_input(accumulator, scope, o)
  local core = require "kc.core"
  local own = core.format(accumulator)
  for _, tensor in ipairs(scope.inputs) do
    local f = core.format(tensor.format)
    for _, name in ipairs(o.arguments) do
      if name == tensor.name and f.kind == "float" and (f.frac_bits > own.frac_bits or f.emax > own.emax) then return name end
    end
  end
end

-- An expression must be a sum whose terms the formula knows.
local function terms_misfit(t, scope, o, sizes)
  local terms = o.expression:terms()
  if not terms then
    return ("the formula of tolerance.%s is for sums of inputs and of products of two inputs, not for the oracle %s"):format(t.kind,
      tostring(o))
  end
  if derived.count(t.terms, sizes) ~= #terms then
    return ("field 'terms': the oracle %s has %d, got %s"):format(tostring(o), #terms, tostring(t.terms))
  end
  for _, tensor in ipairs(scope.inputs) do
    if not is_float_format(tensor.format) then
      return ("input '%s': the formula is for floating-point formats, not for %s"):format(tensor.name, tensor.format)
    end
  end
end

--- Does the formula fit the scope and the oracles; nil, or what is wrong.
---@param scope table
---@param oracles table output name -> oracle
---@return string|nil complaint
function Tolerance:misfit(scope, oracles)
  for _, output in ipairs(self.policy == "RAISE" and scope.outputs or {}) do
    if output.name == "raised" then return "under the policy RAISE y.raised says whether it raised: give the output another name" end
  end
  local row = kinds[self.kind].derived
  if not row then return nil end
  local sizes = {}
  for _, dim in ipairs(scope.dims) do sizes[dim] = 2 end
  for _, field in ipairs { "terms", "height" } do
    local ok, message = pcall(derived.count, self[field] or 0, sizes)
    if not ok then return ("field '%s': %s"):format(field, message) end
  end
  if self.kind == "layernorm" then
    for _, output in ipairs(scope.outputs) do
      if (oracles[output.name].params.axis or -1) ~= -1 then return "the formula of tolerance.layernorm is for the last axis" end
    end
  end
  for _, output in ipairs(scope.outputs) do
    local operation = oracles[output.name].operation
    local wide = products[operation] and self.accumulator and wider_input(self.accumulator, scope, oracles[output.name])
    if wide then
      return ("input '%s' does not fit the accumulator %s: its conversion is no part of the formula"):format(wide, self.accumulator)
    end
    if not row.operations[operation] then
      return ("the formula of tolerance.%s is for %s, not for the oracle %s of output '%s'"):format(self.kind,
        table.concat(words.keys(row.operations), ", "), operation, output.name)
    end
    local misfit = operation == "expression" and terms_misfit(self, scope, oracles[output.name], sizes)
    if misfit then return misfit end
  end
end

local function field_names(kind)
  local list = {}
  for _, field in ipairs(kinds[kind].reads) do if field ~= "?" and field ~= "source" then list[#list + 1] = field end end
  table.sort(list)
  return list
end

--- Inputs of the formula, as data for traces.
---@return table record
function Tolerance:record()
  local record = { id = self.id, formula = self.formula, source = self.source }
  for _, field in ipairs(field_names(self.kind)) do
    record[field] = field == "peer" and self.peer.name or self[field]
  end
  return record
end

function Tolerance:__tostring()
  local parts = {}
  for _, field in ipairs(field_names(self.kind)) do
    local value = field == "peer" and self.peer.name or self[field]
    local text = type(value) == "number" and ("%g"):format(value) or tostring(value)
    if value ~= nil then parts[#parts + 1] = ("%s %s"):format(field, text) end
  end
  local source = self.source and " [" .. self.source .. "]" or ""
  return ("%s: %s, %s%s"):format(self.id, self.formula, table.concat(parts, ", "), source)
end

return M
