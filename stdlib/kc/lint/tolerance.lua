---@module kc.lint.tolerance
-- Findings in tolerances: limits that nothing can keep, and counts that are not those of the operation.
local derived = require "kc.derived"
local protocol = require "kc.protocol"
local words = require "kc.words"
local M = {}

--- Less than half an ulp: rounding alone takes more.
function M.below_rounding(c, report)
  local t = c.contract.tolerance
  if t.kind == "ulp" and t.limit < 0.5 then
    report("tolerance", ("a limit of %g ulp is less than rounding to nearest takes (0.5): nothing can keep it"):format(t.limit), "limit")
  end
end

--- A limit of 0 where a kind says it better.
function M.exact(c, report)
  local t = c.contract.tolerance
  if t.limit == 0 and t.kind ~= "ulp" then
    report("tolerance", ("T-%s with a limit of 0 is tolerance.exact"):format(t.kind:upper()), "limit")
  end
end

local function names_in(spec, dims)
  local list = {}
  for word in tostring(spec):gmatch("[%a_][%w_]*") do
    if words.holds(dims, word) then list[#list + 1] = word end
  end
  return list
end

local function check_names(t, dims, dim, report)
  for _, field in ipairs { "terms", "height" } do
    for _, name in ipairs(names_in(t[field] or 0, dims)) do
      if name ~= dim then
        report("tolerance", ("field '%s': '%s' names dimension '%s', which is not reduced; that is '%s'"):format(field,
          tostring(t[field]), name, tostring(dim)), field)
        return true
      end
    end
  end
end

-- What any order of n terms has for a height: at least log2 n additions, at most one a term (the first onto zero), beside what a fixed
-- number of lanes adds to few terms.
local LANES = 16
local function check_height(t, n, dim, report, sizes)
  local height, least = derived.count(t.height, sizes), math.ceil(math.log(n, 2))
  if height < least then
    report("tolerance", ("field 'height': %d for %s = %d, but no order of %d terms has a path of fewer than %d additions"):format(height,
      dim, n, n, least), "height")
  elseif height > n + LANES then
    report("tolerance", ("field 'height': %d for %s = %d, but no order of %d terms has a path of more than %d additions: a looser bound "
      .. "than any kernel needs"):format(height, dim, n, n, n), "height")
  end
end

--- Terms and height of a derived tolerance against the dimension that its oracle reduces.
function M.counts(c, report)
  local t, contract = c.contract.tolerance, c.contract
  if not t.height then return end
  local sizes = protocol.distinct_sizes(contract)
  for _, output in ipairs(contract.scope.outputs) do
    local dim = derived.reduced(contract.oracle[output.name], contract.scope.inputs)
    local n = math.type(dim) == "integer" and dim or sizes[dim]
    if dim and not check_names(t, contract.scope.dims, dim, report) then
      local terms = t.terms and derived.count(t.terms, sizes)
      if terms and terms ~= n then
        report("tolerance", ("field 'terms': %s is %d for %s = %d; the operation sums over '%s'"):format(tostring(t.terms), terms, dim, n,
          dim), "terms")
      end
      for _, size in ipairs { n, 1000 } do
        local own = setmetatable({ [dim] = size }, { __index = sizes })
        if type(dim) == "string" or size == n then check_height(t, size, dim, report, own) end
        if c.found["tolerance"] then break end
      end
    end
  end
end

--- A format of an output that is wider than the accumulator, whose digits mean nothing.
function M.accumulator(c, report)
  local t, core = c.contract.tolerance, require "kc.core"
  for _, output in ipairs(t.accumulator and c.contract.scope.outputs or {}) do
    local own, out = core.format(t.accumulator), core.format(output.format)
    if out.kind == "float" and out.frac_bits > own.frac_bits then
      report("tolerance", ("field 'accumulator': %s is narrower than output '%s' (%s)"):format(t.accumulator, output.name, output.format),
        "accumulator")
    end
  end
end

M.rules = { M.below_rounding, M.exact, M.counts, M.accumulator }

return M
