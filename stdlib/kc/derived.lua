---@module kc.derived
-- Derived tolerances: allowed errors that follow from declared arithmetic, one formula each, written as expressions over the inputs,
-- the exact result and S1, and evaluated upward by certified arithmetic. Derivations: spec/tolerances.md.
local X = require "kc.mathematics"
local core = require "kc.core"
local expression = require "kc.expression"
local words = require "kc.words"
local M = {}

-- ---- numbers of a format --------------------------------------------------------------------------------------------------

-- A power of two as an exact constant.
local function power(e) return X.constant(("0x1p%d"):format(e)) end

local function frac_bits(name) return core.format(name).frac_bits end

--- Exponent of the unit roundoff u of a tolerance's accumulator: 2^-p; towards zero (or unknown rounding) twice that.
---@param name string format
---@param rounding string
---@return integer exponent of two
function M.unit_exponent(name, rounding) return -(frac_bits(name) + 1) + (rounding == "nearest" and 0 or 1) end

local function unit(name, rounding) return power(M.unit_exponent(name, rounding)) end

--- Exponent of eta, the largest error of a result that underflows gradually: half the spacing of the subnormals; flushed: all below
--- the smallest normal.
---@param name string format
---@param denormals string
---@return integer exponent of two
function M.underflow_exponent(name, denormals)
  local f = core.format(name)
  return denormals == "flush" and f.emin or f.emin - f.frac_bits - 1
end

local function underflow(name, denormals) return power(M.underflow_exponent(name, denormals)) end

local function largest(name) return X.constant(("%a"):format(core.format(name).max)) end

-- What factors 1 + d, 1 / (1 - d) and e^d with |d| of the sum theta make of 1 at most: their product lies within 1 / (1 - theta).
-- Nothing is claimed when theta >= 1: an infinite bound. With theta = r u this is gamma(r); Higham, "Accuracy and Stability of Numerical
-- Algorithms", 2nd ed., lemma 3.1.
local function compounded(theta) return X.where(X.lt(theta, 1), theta / (1 - theta), math.huge) end

local function gamma(r, u) return compounded(r * u) end

-- What rounding a result of magnitude `most` into the output's format adds; nothing where it is computed in that format.
local function conversion(t, c, most)
  if c.output.format == t.accumulator then return 0 end
  return X.max(unit(c.output.format, t.rounding) * most, underflow(c.output.format, t.denormals))
end

-- Nothing finite is claimed where a partial sum (at most `partial`) or the result may overflow.
local function unless_overflow(t, c, allowed, partial, y)
  local most = y + allowed
  local whole = allowed + conversion(t, c, most)
  local limit = X.constant(("%a"):format(math.min(core.format(t.accumulator).max, core.format(c.output.format).max)))
  return X.where(X.ge(partial, largest(t.accumulator)), math.huge, X.where(X.ge(most, limit), math.huge, whole))
end

-- ---- sums and products: T-DOT and T-DOT-EXPECTED --------------------------------------------------------------------------

-- Are the products of two inputs exact in the accumulator: significands that fit (underflow is counted separately).
local function products_exact(c, t, names)
  local bits = 0
  for i = 1, 2 do bits = bits + frac_bits(c.input_format(names[i])) + 1 end
  return bits <= frac_bits(t.accumulator) + 1
end

-- Can a product of the two inputs be below what the accumulator holds exactly.
local function products_underflow(c, t, names)
  local lowest = 0
  for i = 1, 2 do
    local f = core.format(c.input_format(names[i]))
    lowest = lowest + f.emin - f.frac_bits
  end
  local f = core.format(t.accumulator)
  return lowest < f.emin - f.frac_bits or not products_exact(c, t, names)
end

-- Roundings on the longest path beside the additions, operations that may underflow, and alpha, by operation.
local shapes_of = {}

-- Sums of the accumulator's own numbers do not underflow, those of finer terms do.
local function finer_terms(c, t, terms, name)
  local f, own = core.format(c.input_format(name or c.oracle.arguments[1])), core.format(t.accumulator)
  return f.emin - f.frac_bits < own.emin - own.frac_bits and terms or 0
end

function shapes_of.sum(c, t, terms) return 0, finer_terms(c, t, terms), 1 end
function shapes_of.cumsum(c, t, terms) return 0, finer_terms(c, t, terms), 1 end
function shapes_of.mean(c, t, terms) return 1, finer_terms(c, t, terms) + 1, 1 end -- the division may underflow too

function shapes_of.dot(c, t, terms)
  local names = c.oracle.arguments
  return products_exact(c, t, names) and 0 or 1, products_underflow(c, t, names) and terms or 0, 1
end

function shapes_of.expression(c, t)
  local roundings, underflows = 0, 0
  for _, names in ipairs(c.oracle.expression:terms()) do
    local is_product = #names == 2
    if is_product and not products_exact(c, t, names) then roundings = 1 end
    underflows = underflows + (is_product and (products_underflow(c, t, names) and 1 or 0) or finer_terms(c, t, 1, names[1]))
  end
  return roundings, underflows, 1
end

-- alpha or beta: a constant, or the input that holds it.
local function scalar(c, name, default)
  local value = c.oracle.params[name]
  if type(value) == "string" then return X.abs(c.input(value)), true end
  value = value or default
  return math.abs(value), value ~= default
end

function shapes_of.matmul(c, t, terms)
  local roundings, underflows = shapes_of.dot(c, t, terms)
  local alpha, has_alpha = scalar(c, "alpha", 1)
  local _, has_beta = scalar(c, "beta", 0)
  if has_alpha then roundings, underflows = roundings + 1, underflows + 1 end
  if has_beta then roundings, underflows = roundings + 2, underflows + 1 end
  return roundings, underflows, has_alpha and X.max(1, alpha) or 1
end

-- A flushing unit may take an operand below the smallest normal number of its own format, or of the accumulator's, for zero: at most
-- that number times the sum of the magnitudes of the other operand is lost.
local function flushed_operand(t, c, name)
  local own = core.format(c.input_format(name)).emin
  return power(math.max(own, core.format(t.accumulator).emin))
end

-- Sum of magnitudes of operand i over the summed axis, broadcasting onto the result.
local function magnitudes(c, i)
  local params, axis = c.oracle.params, c.oracle.params.axis or -1
  local x = X.abs(c.input(c.oracle.arguments[i]))
  if c.oracle.operation ~= "matmul" then return X.sum(x, axis) end
  if params[i == 1 and "transpose_a" or "transpose_b"] then x = X.transpose(x) end
  return X.sum(x, i == 1 and -1 or -2)
end

local function lost_in_terms(t, c)
  local lost = 0
  for _, names in ipairs(c.oracle.expression:terms()) do
    for i, name in ipairs(names) do
      local other = names[3 - i]
      lost = lost + flushed_operand(t, c, name) * (other and X.abs(c.input(other)) or 1)
    end
  end
  return lost
end

local function lost_operands(t, c, terms, alpha)
  if t.denormals ~= "flush" then return 0 end
  if c.oracle.expression then return lost_in_terms(t, c) end
  local names = c.oracle.arguments
  if #names == 1 then return terms * flushed_operand(t, c, names[1]) end
  local lost = alpha * (flushed_operand(t, c, names[1]) * magnitudes(c, 2) + flushed_operand(t, c, names[2]) * magnitudes(c, 1))
  if names[3] then lost = lost + flushed_operand(t, c, names[3]) * scalar(c, "beta", 0) end
  return lost
end

--- Of a sum: r, the roundings on the longest path, and n, the operations that may underflow.
---@param t table tolerance
---@param c table {oracle=, count=, input=, input_format=}
---@return integer r, integer n, any alpha, integer terms
function M.sum_counts(t, c)
  local terms, height = c.count(t.terms), c.count(t.height)
  local extra, underflows, alpha = shapes_of[c.oracle.operation](c, t, terms)
  if t.denormals == "flush" then underflows = underflows + terms end -- then sums underflow too
  return height + extra, underflows, alpha, terms
end

local function sum_parts(t, c)
  local r, underflows, alpha, terms = M.sum_counts(t, c)
  local lost = underflows * underflow(t.accumulator, t.denormals) * alpha + lost_operands(t, c, terms, alpha)
  -- alpha may be applied to an operand first: what underflows there is multiplied by the other one.
  if c.oracle.operation == "matmul" and select(2, scalar(c, "alpha", 1)) then
    lost = lost + 2 * underflow(t.accumulator, t.denormals) * (magnitudes(c, 1) + magnitudes(c, 2))
  end
  return r, lost
end

local function grid_of_term(t, c, names)
  local e = 0
  for _, name in ipairs(names) do
    local own = c.quantum(name)
    if not own then return nil end
    -- A flushing unit may take an operand below its smallest normal number for zero.
    local normal = math.max(core.format(c.input_format(name)).emin, core.format(t.accumulator).emin)
    if t.denormals == "flush" and own < normal then return nil end
    e = e + own
  end
  return e
end

-- The exponent of a power of two of which every term is a multiple, or nil: then every partial sum in every order is exact while
-- S1 <= 2^p q, because it is a multiple of q that p bits hold.
local function grid_of_terms(t, c)
  local params, names, e = c.oracle.params, c.oracle.arguments, math.huge
  if c.oracle.operation == "mean" or (params.alpha or 1) ~= 1 or (params.beta or 0) ~= 0 then return nil end
  for _, term in ipairs(c.oracle.expression and c.oracle.expression:terms() or { { names[1], names[2] } }) do
    e = math.min(e, grid_of_term(t, c, term) or -math.huge)
  end
  if e == -math.huge then return nil end
  local f = core.format(t.accumulator)
  return e >= (t.denormals == "flush" and f.emin or f.emin - f.frac_bits) and e or nil
end

local function exact_on_grid(t, c, bound, s1)
  local e = grid_of_terms(t, c)
  if not e then return bound end
  return X.where(X.le(s1, power(frac_bits(t.accumulator) + 1 + e)), 0, bound)
end

-- The sum stands before it is scaled or divided: its magnitude is at most S1 times this. A scalar that a flushing unit may take for
-- zero makes any claim void.
local function unscaled(t, c)
  if c.oracle.operation == "mean" then return c.count(t.terms) end
  if c.oracle.operation ~= "matmul" then return 1 end
  local alpha, has_alpha = scalar(c, "alpha", 1)
  local beta, has_beta = scalar(c, "beta", 0)
  local factor = has_alpha and X.where(X.eq(alpha, 0), 1, X.max(1, 1 / X.max(alpha, 0x1p-1000))) or 1
  if t.denormals ~= "flush" then return factor end
  local normal = power(core.format(t.accumulator).emin)
  for _, s in ipairs { has_alpha and alpha or 1, has_beta and beta or 1 } do
    factor = X.where(X.lt(s, normal), X.where(X.eq(s, 0), factor, math.huge), factor)
  end
  return factor
end

local function dot_proved(t, c)
  local r, lost = sum_parts(t, c)
  local g, s1 = gamma(r, unit(t.accumulator, t.rounding)), c.s1()
  local bound = exact_on_grid(t, c, g * s1 + (1 + g) * lost, s1)
  return unless_overflow(t, c, bound, (1 + g) * s1 * unscaled(t, c), c.y), s1
end

local function dot_expected(t, c)
  local r, lost = sum_parts(t, c)
  local u, s1 = unit(t.accumulator, t.rounding), c.s1()
  local bound = t.lambda * X.sqrt(X.constant(("%d"):format(math.max(r, 1)))) * u * s1 + 2 * lost
  return unless_overflow(t, c, bound, 2 * s1 * unscaled(t, c), c.y), s1
end

-- N eps max|x|, as it is attributed to the paper: no bound (tests/soundness/test_dot.lua has the counterexample); here so that results
-- obtained by it can be reproduced.
local function fpna(t, c)
  local x = c.input(c.oracle.arguments[1])
  local eps = 2 * unit(t.accumulator, "nearest")
  return c.count(t.terms) * eps * X.reduce_max(X.abs(x), c.oracle.params.axis or -1), c.s1()
end

-- ---- softmax, log_softmax, logsumexp ----------------------------------------------------------------------------------------

-- Beyond this distance from the maximum e^-distance is below the least number, whatever the rounding of the distance.
local function reach(t)
  local f = core.format(t.accumulator)
  return f.frac_bits + 1 - f.emin
end

-- Relative error of s = sum of e^(x - m): every term errs by its own (distance + e) u, h additions by u; terms that underflow lose
-- an absolute error each, against s >= 1. `p` are the terms' shares of s.
local function error_of_sum(t, c, x, distance, p, axis)
  local u, own, n = unit(t.accumulator, t.rounding), c.count(t.height) + t.exp_error, X.size(x, axis)
  local mean = u * (X.sum(p * distance, axis) + own) + n * underflow(t.accumulator, t.denormals)
  local worst = u * (X.reduce_max(distance, axis) + own)
  local bound = X.where(X.lt(worst, 1), mean / (1 - worst), math.huge)
  return X.where(X.lt(n * (1 + bound), largest(t.accumulator)), bound, math.huge)
end

local function distances(t, c)
  local x, axis = c.input(c.oracle.arguments[1]), c.oracle.params.axis or -1
  local most = X.reduce_max(x, axis)
  local distance = X.where(X.isinf(x), 0, X.abs(x - most)) -- -inf beside finite ones has probability 0 and adds nothing
  return x, axis, distance, X.min(distance, reach(t)), most
end

local function softmax(t, c)
  local x, axis, _, distance = distances(t, c)
  local u, tiny = unit(t.accumulator, t.rounding), underflow(t.accumulator, t.denormals)
  local theta = u * (distance + t.exp_error + 2) + error_of_sum(t, c, x, distance, c.y, axis)
  local whole = compounded(theta) * (c.y + 3 * tiny) + 3 * tiny
  return whole + conversion(t, c, c.y + whole), c.y
end

-- Error of log s, given that of s: log itself adds log_error u of its result.
local function error_of_log(t, u, log_sum, of_sum)
  local shifted = compounded(of_sum)
  return shifted + t.log_error * u * (log_sum + shifted)
end

-- The last addition rounds a number of magnitude y or a little more.
local function after_log(t, c, u, bound, y)
  local whole = bound + u * (y + bound) + 4 * underflow(t.accumulator, t.denormals)
  return whole + conversion(t, c, y + whole), nil
end

local function log_softmax(t, c)
  local x, axis, distance, near = distances(t, c)
  local u = unit(t.accumulator, t.rounding)
  local log_sum = X.abs(c.y - distance) -- c.y = |log p| = -log p
  local of_sum = error_of_sum(t, c, x, near, X.exp(-c.y), axis)
  return after_log(t, c, u, u * distance + error_of_log(t, u, log_sum, of_sum), c.y)
end

local function logsumexp(t, c)
  local x, axis, _, near, most = distances(t, c)
  local u, terms = unit(t.accumulator, t.rounding), X.exp(x - most)
  local sum = X.sum(terms, axis)
  local log_sum = X.log(sum)
  local of_sum = error_of_sum(t, c, x, near, terms / sum, axis)
  return after_log(t, c, u, error_of_log(t, u, log_sum, of_sum), X.abs(most + log_sum))
end

-- ---- variance, layernorm ----------------------------------------------------------------------------------------------------

local algorithms = {}

-- Deviations from another point than the mean add the square of its distance.
function algorithms.two_pass(s)
  return s.g * s.v + (1 + s.g) * s.mean_error * s.mean_error * s.scale
end

-- Errors of the running mean enter every product: (h + 12) u kappa, and its square where the mean stands still.
function algorithms.welford(s)
  local a, q2 = (s.h + 12) * s.u, s.v + s.scale * s.mean * s.mean
  return s.g * s.v + (1 + s.g) * (a * X.sqrt(s.v * q2) + a * a * q2 / 4)
end

-- Bounds of the errors of a variance v and of its mean, infinite where a sum may overflow: the declared algorithm decides.
local function variance_parts(t, c, x, v, axis, ddof)
  local h, u, tiny, n = c.count(t.height), unit(t.accumulator, t.rounding), underflow(t.accumulator, t.denormals), X.size(x, axis)
  local magnitude, s = X.mean(X.abs(x), axis), { h = h, u = u, v = v, g = gamma(h + 5, u), scale = n / (n - ddof) }
  s.mean, s.mean_error = X.mean(x, axis), gamma(h + 2, u) * magnitude + 4 * tiny
  local lost = t.denormals == "flush" and 2 * tiny * X.sqrt(v * s.scale) or 0 -- operands taken for zero
  local bound = algorithms[t.algorithm](s) + (1 + s.g) * (1 + 2 * s.scale) * tiny + lost
  local most = X.max(n * magnitude * (1 + gamma(h, u)), n * (v + bound)) -- both sums stand before their divisions
  return X.where(X.lt(most, largest(t.accumulator)), bound, math.huge), s.mean_error, u
end

local function variance(t, c)
  local x, axis = c.input(c.oracle.arguments[1]), c.oracle.params.axis or -1
  local bound = variance_parts(t, c, x, c.y, axis, c.oracle.params.ddof or 0)
  return unless_overflow(t, c, bound, c.y + bound, c.y), c.y
end

-- With v' = v + epsilon and rho the relative error of v', 1 / sqrt errs by rho / 2 (1 - rho)^(-3/2) at most (mean value theorem).
local function layernorm(t, c)
  local names, axis = c.oracle.arguments, -1
  local x, epsilon = c.input(names[1]), X.constant(("%a"):format(c.oracle.params.epsilon or 0.0))
  local d = x - X.mean(x, axis)
  local v = X.mean(d * d, axis)
  local error_of_v, mean_error, u = variance_parts(t, c, x, v, axis, 0)
  local tiny = underflow(t.accumulator, t.denormals)
  local rho = error_of_v / (v + epsilon) * (1 + u) + u
  local scale = X.rsqrt(v + epsilon)
  local relative = compounded(rho / 2 * X.rsqrt(1 - rho) ^ 3 + (t.rsqrt_error + 2) * u)
  local z = X.abs(d) * scale
  local weight = names[2] and X.abs(c.input(names[2])) or 1
  local roundings = (names[2] and 1 or 0) + (names[3] and 1 or 0)
  local shift = names[3] and X.abs(c.input(names[3])) or 0
  local error_of_z = z * relative + (1 + relative) * scale * (mean_error + 2 * tiny)
  local bound = weight * error_of_z + gamma(roundings, u) * (weight * (z + error_of_z) + shift)
  local whole = X.where(X.lt(rho, X.constant("1/4")), bound + (weight + 2 + X.abs(d)) * tiny, math.huge)
  return whole + conversion(t, c, c.y + whole), nil
end

-- ---- cosine -----------------------------------------------------------------------------------------------------------------

-- Dot product, both sums of squares, two roots and what joins them, relative to the sum of |x y| / (|x| |y|), at most 1 by Cauchy and
-- Schwarz. Claims nothing where a sum of squares, or the product of both, may leave the normal range.
local function cosine(t, c)
  local x, y, axis = c.input(c.oracle.arguments[1]), c.input(c.oracle.arguments[2]), -1
  local u, tiny, n = unit(t.accumulator, t.rounding), underflow(t.accumulator, t.denormals), 2 * X.size(x, axis)
  local xx, yy = X.sum(x * x, axis), X.sum(y * y, axis)
  local rx, ry = X.rsqrt(xx), X.rsqrt(yy)
  local share = X.sum(X.abs(x * y), axis) * rx * ry
  local theta = u * (2 * c.count(t.height) + 2 * t.rsqrt_error + 5) + 2 * n * tiny * (1 / xx + 1 / yy)
  local bound = compounded(theta) * share + 2 * tiny * (2 * n + 1 + n * (rx * ry + rx + ry))
  local least, most = X.min(X.min(xx, yy), xx * yy / 2), X.max(X.max(xx, yy), 2 * xx * yy)
  local normal = X.ge(least, 2 * power(core.format(t.accumulator).emin))
  bound = X.where(X.lt(theta, X.constant("1/4")), bound, math.huge)
  bound = X.where(normal, X.where(X.lt(2 * most, largest(t.accumulator)), bound, math.huge), math.huge)
  return bound + conversion(t, c, c.y + bound), share
end

-- ---- the table --------------------------------------------------------------------------------------------------------------

local sums = { sum = true, cumsum = true, mean = true, dot = true, matmul = true, expression = true }

-- kind -> id, formula, fields beside the common ones, operations it is for, builder(t, context) -> allowed, scale (traced; scale
-- may be nil), margins. A `proved` bound may be used up by a correct kernel; `expected` has the margins of a constant.
M.kinds = {
  dot = { id = "T-DOT",
          formula = "|y - y*| <= gamma(r) S1 + (1 + gamma(r)) n eta max(1, |alpha|), 0 where S1 <= 2^p q; and the output's rounding",
          fields = { "terms", "height" }, operations = sums, build = dot_proved, good = 1, bad = 1 },
  expected = { id = "T-DOT-EXPECTED", formula = "|y - y*| <= lambda sqrt(r) u S1 + 2 n eta, and the output's rounding",
               fields = { "terms", "height", "lambda" }, operations = sums, build = dot_expected, good = 0.5, bad = 2 },
  fpna = { id = "T-FPNA", formula = "|y - y*| <= N eps max|x| (not a bound: conforming kernels exceed it)",
           fields = { "terms" }, operations = { sum = true }, build = fpna, good = 0.5, bad = 2 },
  softmax = { id = "T-SOFTMAX",
              formula = "|y - y*| <= G(u (|x - m| + e + 2) + S) (y + 3 eta) + 3 eta, S = u (sum(p |x - m|) + h + e) / (1 - t)",
              fields = { "height", "exp_error" }, operations = { softmax = true }, build = softmax, good = 1, bad = 1 },
  log_softmax = { id = "T-LOG-SOFTMAX",
                  formula = "|y - y*| <= E + u (|y| + E) + 4 eta, E = u |x - m| + G(S) + l u (log s + G(S))",
                  fields = { "height", "exp_error", "log_error" }, operations = { log_softmax = true }, build = log_softmax,
                  good = 1, bad = 1 },
  logsumexp = { id = "T-LOGSUMEXP", formula = "|y - y*| <= E + u (|y| + E) + 4 eta, E = G(S) + l u (log s + G(S))",
                fields = { "height", "exp_error", "log_error" }, operations = { logsumexp = true }, build = logsumexp, good = 1, bad = 1 },
  variance = { id = "T-VARIANCE",
               formula = "|v - v*| <= gamma(h + 5) v + D; two_pass: D = (gamma(h + 2) mean|x|)^2; welford: D = (T + T^2 / 4) v",
               fields = { "height", "algorithm" }, operations = { variance = true }, build = variance, good = 1, bad = 1 },
  layernorm = { id = "T-LAYERNORM",
                formula = "|y - y*| <= |w| (s gamma(h + 2) mean|x| + |z| (rho / 2 (1 - rho)^-1.5 + (e + 2) u)) + roundings",
                fields = { "height", "algorithm", "rsqrt_error" }, operations = { layernorm = true }, build = layernorm,
                good = 1, bad = 1 },
  cosine = { id = "T-COSINE", formula = "|y - y*| <= G(theta) sum|x y| / (|x| |y|) + lost, theta = (2 h + 2 e + 5) u + underflow",
             fields = { "height", "rsqrt_error" }, operations = { cosine = true }, build = cosine, good = 1, bad = 1 },
}

-- ---- evaluation -------------------------------------------------------------------------------------------------------------

local functions = { ceil = math.ceil, floor = math.floor, max = math.max, min = math.min,
                    log2 = function(n) return math.log(n, 2) end }

--- A count given as an integer or as text over dimension names, such as "K - 1" or "ceil(log2(K))"; below 0 counts as 0.
---@param spec integer|string
---@param sizes table dimension name -> size
---@return integer
function M.count(spec, sizes)
  if math.type(spec) == "integer" then return spec end
  local chunk = spec:match("^[%w_%s%+%-%*/%(%),]+$") and load("return " .. spec, "=count", "t", setmetatable({}, {
    __index = function(_, name) return functions[name] or sizes[name] or error(("no dimension '%s'; %s"):format(name,
      words.hint(name, words.keys(sizes))), 0) end }))
  if not chunk then error(("count '%s': expected arithmetic over dimension names"):format(spec), 0) end
  local ok, value = pcall(chunk)
  if not ok then error(("count '%s': %s"):format(spec, tostring(value):gsub("^%[string.-%]:%d+: ", "")), 0) end
  value = type(value) == "number" and math.tointeger(math.max(0, math.ceil(value)))
  if not value then error(("count '%s' is no integer for these sizes"):format(spec), 0) end
  return value
end

-- Formulas keep a reduced axis with size 1: so must what they read of the output.
local reducing = { sum = true, mean = true, dot = true, logsumexp = true, variance = true, cosine = true }

local function kept_shape(s)
  if not reducing[s.oracle.operation] then return s.shape end
  local shape = s.inputs[s.oracle.arguments[1]]:shape()
  local axis = s.oracle.params.axis or -1
  shape[axis < 0 and #shape + 1 + axis or axis + 1] = 1
  return shape
end

--- The dimension over which an oracle sums, of matmul the inner one, else the axis; nil where there is no single one.
---@param o table oracle
---@param inputs table tensors of the scope
---@return string|integer|nil dim
function M.reduced(o, inputs)
  local dims
  for _, tensor in ipairs(inputs) do dims = tensor.name == o.arguments[1] and tensor.dims or dims end
  if not dims or o.operation == "expression" then return nil end
  if o.operation == "matmul" then return dims[o.params.transpose_a and #dims - 1 or #dims] end
  local axis = o.params.axis or -1
  return dims[axis < 0 and #dims + 1 + axis or axis + 1]
end

--- Evaluates a derived tolerance for one output of one sample.
---@param t table tolerance with the fields of its kind
---@param s table {oracle=, output=tensor, inputs=name->buffer, formats=name->format, reference=enclosure, shape=of the output, sizes=}
---@return userdata allowed f64 buffer, userdata|nil scale f64 buffer
function M.allowed(t, s)
  local operands, names, shape = {}, {}, kept_shape(s)
  local function input(name, value)
    operands[name] = value
    for _, known in ipairs(names) do if known == name then return expression.input(name) end end
    names[#names + 1] = name
    return expression.input(name)
  end
  local c = { oracle = s.oracle, output = s.output }
  function c.input(name) return input(name, s.inputs[name]) end
  function c.input_format(name) return s.formats[name] end
  function c.quantum(name) return s.inputs[name]:quantum() end
  function c.count(spec) return M.count(spec, s.sizes) end
  function c.s1()
    return input("S1", { require("kc.oracle").evaluate(s.oracle:magnitude(), s.inputs), shape })
  end
  c.y = X.abs(input("y*", { s.reference, shape }))
  local function upper(traced)
    local enclosure = expression.of(traced, names):evaluate(operands, { precision = 64, rising = false })
    local buffer = assert(enclosure:upper())
    enclosure:close()
    return buffer
  end
  local allowed, scale = M.kinds[t.kind].build(t, c)
  return upper(allowed), scale and upper(scale)
end

return M
