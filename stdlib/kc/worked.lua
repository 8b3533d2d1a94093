---@module kc.worked
-- A tolerance worked through with a contract's own numbers: its symbols at the smallest and the largest shape, and its value at one
-- element of one sample.
local core = require "kc.core"
local derived = require "kc.derived"
local expression = require "kc.expression"
local measure = require "kc.measure"
local oracle = require "kc.oracle"
local protocol = require "kc.protocol"
local scope = require "kc.scope"
local M = {}

local function power(e) return ("2^%d"):format(e) end

-- The formats of inputs, and counts at given sizes, as derived formulas ask for them.
local function context(contract, output, sizes)
  local formats = {}
  for _, tensor in ipairs(contract.scope.inputs) do formats[tensor.name] = tensor.format end
  return { oracle = contract.oracle[output.name], output = output, input = expression.input,
           input_format = function(name) return formats[name] end, count = function(spec) return derived.count(spec, sizes) end }
end

local function is_sum(t) return t.kind == "dot" or t.kind == "expected" end

-- "k = 2048: height 2047, r = 2047 roundings, n = 0 that may underflow, gamma(r) = 0.000122".
local function counts(contract, output, sizes)
  local t, c = contract.tolerance, context(contract, output, sizes)
  local parts = {}
  if t.height then parts[1] = ("height h = %d"):format(c.count(t.height)) end
  local dim = derived.reduced(c.oracle, contract.scope.inputs)
  if is_sum(t) then
    local r, n = derived.sum_counts(t, c)
    local ru = r * 2.0 ^ derived.unit_exponent(t.accumulator, t.rounding)
    parts[#parts + 1] = ("r = %d roundings on the longest path, n = %d operations that may underflow"):format(r, n)
    parts[#parts + 1] = ru < 1 and ("gamma(r) = r u / (1 - r u) = %.4g"):format(ru / (1 - ru)) or "r u >= 1: nothing is claimed"
  elseif dim then
    parts[#parts + 1] = ("n = %d terms"):format(math.type(dim) == "integer" and dim or sizes[dim])
  end
  return table.concat(parts, ", ")
end

local function edge_sizes(contract, which)
  local sizes = {}
  for _, name in ipairs(contract.scope.dims) do sizes[name] = (select(which, scope.bounds(contract.scope.shapes[name]))) end
  return sizes
end

-- The names of errors that a kernel's own functions may make, in units of u.
local symbols = { exp_error = "e", log_error = "l", rsqrt_error = "e", lambda = "lambda" }

local function constants(t)
  local lines = { ("u = %s, unit roundoff of %s (%s); eta = %s, the most that underflow costs (denormals %s)"):format(
    power(derived.unit_exponent(t.accumulator, t.rounding)), t.accumulator, t.rounding,
    power(derived.underflow_exponent(t.accumulator, t.denormals)), t.denormals) }
  for _, field in ipairs { "exp_error", "log_error", "rsqrt_error", "lambda" } do
    if t[field] then lines[1] = lines[1] .. ("; %s = %g (%s)"):format(symbols[field], t[field], field) end
  end
  return lines
end

local function symbol_lines(contract)
  local t = contract.tolerance
  if not t.accumulator then return {} end
  local lines = constants(t)
  for _, which in ipairs(t.height and { 1, 2 } or {}) do
    local sizes = edge_sizes(contract, which)
    lines[#lines + 1] = ("at %s shape, %s: %s"):format(which == 1 and "the smallest" or "the largest",
      scope.sizes_text(contract.scope.dims, sizes), counts(contract, contract.scope.outputs[1], sizes))
  end
  return lines
end

-- ---- one element -----------------------------------------------------------------------------------------------------------------

local allowances = {}

function allowances.exact() return 0.0, "equal" end
function allowances.ulp(y, format, value)
  local ulp = core.ulp_at(format, y)
  return value * ulp, ("%g times its ulp of %s, %a"):format(value, format, ulp)
end
function allowances.rel(y, _, value) return value * math.abs(y), ("%g times |y*|"):format(value) end
function allowances.abs(_, _, value) return value, "everywhere" end

-- The first element with a number for a value that is not zero and a finite limit.
local function telling(enclosure, allowed)
  for i = 1, #enclosure do
    local lo, hi, classes = enclosure:at(i)
    local finite = #classes == 1 and (classes[1] == "+finite" or classes[1] == "-finite")
    if finite and lo * hi > 0 and (not allowed or allowed[i] < math.huge) then return i, lo + (hi - lo) / 2 end
  end
end

local function bind(contract, spec, inputs, output, reference)
  local formats, shape = {}, scope.shape(output, spec.sizes)
  for _, tensor in ipairs(contract.scope.inputs) do formats[tensor.name] = tensor.format end
  return derived.allowed(contract.tolerance, { oracle = contract.oracle[output.name], output = output, inputs = inputs, formats = formats,
    reference = reference, shape = shape, sizes = spec.sizes })
end

local function ulps(x, y, format) return ("%.3g ulp of %s"):format(x / core.ulp_at(format, y), format) end

local function derived_text(contract, spec, inputs, output, reference)
  local allowed, scale = bind(contract, spec, inputs, output, reference)
  local i, y = telling(reference, allowed)
  if not i then return nil end
  local s1 = scale and is_sum(contract.tolerance) and (", S1 = %.9g"):format(scale[i]) or ""
  return i, ("y* = %.9g%s: allowed %.4g, %s"):format(y, s1, allowed[i], ulps(allowed[i], y, output.format))
end

local function constant_text(contract, output, reference)
  local i, y = telling(reference)
  if not i then return nil end
  local how = contract.tolerance:core()
  local allowed, text = allowances[how.kind](y, output.format, how.value)
  return i, ("y* = %.9g: allowed %.4g, %s"):format(y, allowed, text)
end

local function worked_line(contract, spec, inputs)
  local output, t = contract.scope.outputs[1], contract.tolerance
  local reference = oracle.evaluate(contract.oracle[output.name], inputs, scope.shape(output, spec.sizes))
  local i, text
  if t.accumulator then
    i, text = derived_text(contract, spec, inputs, output, reference)
  else
    i, text = constant_text(contract, output, reference)
  end
  reference:close()
  if not i then return "worked: no element of the sample tried has a number other than 0 and a finite limit" end
  return ("worked: sample '%s', %s: %s[%d] has %s"):format(spec.label, scope.sizes_text(contract.scope.dims, spec.sizes), output.name, i,
    text)
end

-- A peer's error is known when it has run.
local function worked(contract, seconds)
  if contract.tolerance.kind == "peer_ratio" then return { "worked: known when the peer has run on the same inputs" } end
  local spec = protocol.trial(contract, (protocol.calibrating(contract, 0)))
  local list = spec and measure.draw(contract, spec, { seed = 0, limit = seconds })
  if not list then return {} end
  local inputs = {}
  for _, item in ipairs(list) do inputs[item.name] = item.buffer end
  local line = worked_line(contract, spec, inputs)
  for _, item in ipairs(list) do item.buffer:close() end
  return { line }
end

--- The lines that work a contract's tolerance through.
---@param contract table
---@param seconds number limit for the contract's own functions
---@return table lines
function M.lines(contract, seconds)
  local lines = symbol_lines(contract)
  local ok, more = pcall(worked, contract, seconds)
  if not ok and require("kc.limit").is(more) then error(more, 0) end
  for _, line in ipairs(ok and more or { "worked: not possible: " .. tostring(more) }) do lines[#lines + 1] = line end
  local t = contract.tolerance
  lines[#lines + 1] = ("derivation: spec/tolerances.md, %s"):format(t.accumulator and t.kind ~= "expected" and "section " .. t.id or t.id)
  return lines
end

return M
