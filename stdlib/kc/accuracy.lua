---@module kc
-- Clauses of contracts of functions of one or two numbers, each with the largest error that somebody states for it. The claims about one
-- function share inputs, calibration and oracle.
local M = {}

local function lazily(module) return setmetatable({}, { __index = function(_, name) return require("kc." .. module)[name] end }) end
local implementation, oracle, sample, scope, tolerance = lazily "implementation", lazily "oracle", lazily "sample", lazily "scope",
  lazily "tolerance"

-- ---- the inputs ---------------------------------------------------------------------------------------------------------------

local STRIDE = 8 -- neighbours on each side of a special point
local MAX = 0x1.fffffep+127

local function many(n, base) return sample.at({ n = n }, base) end

-- Zero, the smallest and largest numbers, every power of two, infinity, and what the function adds; of both signs. NaN.
local function special(own)
  local points = { 0 / 0, 0.0, 1 / 0, -1 / 0, MAX, -MAX }
  for e = -149, 127 do table.move({ 2.0 ^ e, -2.0 ^ e }, 1, 2, #points + 1, points) end
  for _, x in ipairs(own) do table.move({ x, -x }, 1, 2, #points + 1, points) end
  return points
end

local function around(points)
  local all = special(points)
  return many(#all * (2 * STRIDE + 1), sample.around(all, STRIDE))
end

-- What calibrates and judges, and what only judges: the first is small, because calibration runs five implementations over it.
local function unary_inputs(f, size)
  local further = { many(size.interesting, sample.stratified(f.exponents[1], f.exponents[2])) }
  for code = f.all or 0, f.all and f.all + (1 << 24) - 1 or -1, size.piece do
    further[#further + 1] = many(size.piece, sample.exhaustive(code))
  end
  table.move(size.further or {}, 1, #(size.further or {}), #further + 1, further)
  return { many(size.everywhere, sample.stratified()), around(f.points or {}), many(size.bits, sample.bits()) }, further
end

local function all_of_f16() return { many(1 << 16, sample.exhaustive(0)) } end

local function all_within(domain, list)
  local out = {}
  for i, s in ipairs(list) do out[i] = sample.at(s.sizes, sample.within(domain[1], domain[2], s.base)) end
  return out
end

-- Pairs: every exponent with any number, what the function adds, and each special point with each of a few numbers.
local function binary_inputs(f, size)
  local few = { 0 / 0, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1 / 3, 1 / 0, -1 / 0, 0x1p-149, MAX, -MAX,
                0x1p+23 - 1, 0x1p+24 + 2, -0x1p+23 - 1 }
  local xs, zs = {}, {}
  for _, x in ipairs(special { 3.0, -0.0 }) do
    for _, z in ipairs(few) do xs[#xs + 1], zs[#zs + 1] = x, z end
  end
  local further = {}
  for i, near in ipairs(f.near) do further[i] = many(size.interesting // #f.near, sample.inputs { x = near[1], z = near[2] }) end
  return { many(size.everywhere, sample.inputs { x = sample.stratified(), z = sample.finite_bits() }),
           many(size.everywhere, sample.inputs { x = f.near[1][1], z = f.near[1][2] }),
           many(#xs, sample.inputs { x = sample.values(xs), z = sample.values(zs) }) }, further
end

-- All 2^32 inputs in pieces; of two arguments as many pairs.
local function thorough(f, size)
  local list = {}
  for i = 0, size.pieces - 1 do
    local base = sample.exhaustive(i * size.piece)
    list[i + 1] = many(size.piece, f.near and sample.inputs { x = base, z = f.near[1][2] } or base)
  end
  return list
end

-- ---- the functions ----------------------------------------------------------------------------------------------------------------

-- Multiples of pi / 2, and the f32 nearest to one (Kahan's search; Muller et al., Handbook of Floating-Point Arithmetic, 10.2).
local function quarter_turns()
  local points = { 16367173 * 2.0^72 }
  for k = 1, 64 do points[#points + 1] = k * (math.pi / 2) end
  for e = 7, 40 do points[#points + 1] = 2.0^e * (math.pi / 2) end
  return points
end

-- What is worth asking. `exponents`: where the function is neither linear nor constant; `all`: first code of 2^24 that hold every reduced
-- argument; `typical`: arguments for the functional test; `binade`: of arguments where calibration's one_binade errs (-3 unless
-- stated); `near`, of two numbers: samples of both, the first of which calibrates.
local function functions()
  return {
    exp = { exponents = { -26, 7 }, typical = { 0.1, 1 }, points = { 88.722839, 87.336544, 103.278929, 103.972084 } },
    exp2 = { exponents = { -26, 7 }, typical = { 0.1, 1 }, points = { 126, 149, 150 } },
    expm1 = { exponents = { -26, 7 }, typical = { 0.1, 1 }, points = { 88.722839, 17.328679 } },
    log = { exponents = { -12, 12 }, typical = { 0.1, 0.9 }, all = 0x3f000000 },
    log2 = { exponents = { -12, 12 }, typical = { 0.1, 0.9 }, all = 0x3f000000 },
    log10 = { exponents = { -12, 12 }, typical = { 0.1, 0.9 }, points = { 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10 } },
    log1p = { exponents = { -26, 12 }, typical = { 0.1, 1 }, points = { 1e38 } },
    sin = { exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns() },
    cos = { exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns() },
    tan = { exponents = { -14, 24 }, typical = { 0.1, 1 }, points = quarter_turns() },
    asin = { exponents = { -14, 0 }, typical = { 0.1, 0.9 } },
    acos = { exponents = { -26, 0 }, typical = { 0.1, 0.9 } },
    atan = { exponents = { -14, 26 }, typical = { 0.1, 1 } },
    sinh = { exponents = { -14, 7 }, typical = { 0.1, 1 }, points = { 88, 88.5, 88.722839, 89.415986 } },
    cosh = { exponents = { -14, 7 }, typical = { 0.1, 1 }, points = { 88, 88.5, 88.722839, 89.415986 } },
    tanh = { exponents = { -14, 4 }, typical = { 0.1, 1 }, points = { 9.010913 } },
    asinh = { exponents = { -14, 30 }, typical = { 0.1, 1 }, points = { 1.84e19 } },
    acosh = { exponents = { 0, 30 }, typical = { 1.5, 4 }, binade = 1, points = { 1.84e19 } },
    atanh = { exponents = { -14, 0 }, typical = { 0.1, 0.9 } },
    erf = { exponents = { -14, 3 }, typical = { 0.1, 1 }, points = { 3.832507 } },
    erfc = { exponents = { -26, 4 }, typical = { 0.1, 1 }, points = { 3.832507, 9.194549, 10.054676 } },
    cbrt = { exponents = { -4, 4 }, typical = { 0.1, 1 } },
    sqrt = { exponents = { -2, 2 }, typical = { 0.1, 1 }, all = 0x3f800000 },
    rsqrt = { exponents = { -2, 2 }, typical = { 0.1, 1 }, all = 0x3f800000 },
    pow = { typical = { 0.1, 1, 0.5, 2 },
         near = { { sample.stratified(-8, 8), sample.log_uniform(-4, 4) },
                     { sample.log_uniform(-1, 1, true), sample.log_uniform(0, 8) },
                     { sample.stratified(-127, 127), sample.integers(-8, 8) } } },
    -- Both sides of one exponent, and near each other.
    hypot = { typical = { 0.1, 1, 0.1, 1 },
              near = { { sample.stratified(), sample.stratified() }, { sample.log_uniform(-4, 4), sample.log_uniform(-4, 4) } } },
    div = { typical = { 0.1, 1, 0.5, 2 }, word = "quotient",
            near = { { sample.stratified(-64, 64), sample.stratified(-64, 64) }, { sample.stratified(), sample.stratified() } } },
  }
end

-- ---- calibration ----------------------------------------------------------------------------------------------------------------

-- By format: low bits of f32 that the bad kernels lose of the argument and of the result, the baseline of the argument, ulps of f32 in one
-- binade; and what the functional test forgives. They exceed limits up to 32 ulp of f32, and up to 4 ulp of f16, at least twice.
local mistakes = { f32 = { argument = 8, result = 6, few = 19, ulps = 64, rtol = 1e-3, atol = 1e-4, largest = 16 },
                   f16 = { argument = 18, result = 17, few = 23, ulps = 16 << 13, rtol = 2.0 ^ -4, atol = 2.0 ^ -4, largest = 4 } }

local function mask(dropped) return ("0x%x"):format(0xffffffff & ~((1 << dropped) - 1)) end

-- For a limit that forgives them all, the mistakes lose `shift` bits more.
local function mistakes_beyond(limit, format)
  local m, shift = mistakes[format], 0
  while limit * 2.0 ^ -shift > m.largest do shift = shift + 1 end
  local rtol = math.max(m.rtol, shift > 0 and 2.0 ^ (shift - 15) or 0)
  return { defines = ("ARGUMENT_BITS=%s RESULT_BITS=%s FEW_BITS=%s ULPS=%d"):format(mask(m.argument + shift), mask(m.result + shift),
    mask(shift > 0 and 21 or m.few), m.ulps << shift), rtol = rtol, atol = shift > 0 and rtol or m.atol }
end

-- What one limit calls bad another one forgives.
local function calibration(f, limit, format, kernels)
  local file, args = kernels .. (f.near and "/binary.k" or "/unary.k"), f.near and { "x", "z", "y", "n" } or { "x", "y", "n" }
  local wrong = mistakes_beyond(limit, format)
  local defines = ("FUNCTION=%s EXPONENT=%d %s%s"):format(f.word or "kc_" .. f.name, 127 + (f.binade or -3), wrong.defines,
    format == "f16" and " F16=1" or "")
  local function kernel(entry)
    return implementation.kernel { name = entry, file = file, entry = entry, args = args, group = { 64 }, grid = { "n" },
                                   defines = defines }
  end
  local x, z = sample.uniform(f.typical[1], f.typical[2]), f.near and sample.uniform(f.typical[3], f.typical[4])
  local typical = z and sample.inputs { x = x, z = z } or x
  return { baseline = kernel "five_bits", bad = { kernel "short_argument", kernel "short_result", kernel "one_binade" },
           good = { kernel "double_rounded" },
           probes = { many(256, typical) },
           functional = { inputs = { many(4096, typical) }, rtol = wrong.rtol, atol = wrong.atol } }
end

-- ---- contracts -------------------------------------------------------------------------------------------------------------------

local Function = {}
Function.__index = Function

-- Inputs that a claim limited to arguments in [lo, hi] asks for.
function Function:parts(domain)
  if not domain then return self end
  return { inputs = all_within(domain, self.inputs), further = self.further and all_within(domain, self.further),
           thorough = self.thorough and function() return all_within(domain, self.thorough()) end }
end

local function anything(x) return require("kc.predicate").any_value(x.x) end

local function as_stated(_, y, ref, t)
  local predicate = require "kc.predicate"
  return { predicate.same_class(y.y, ref.y, t), predicate.within(y.y, ref.y, t) }
end

local function beyond(m)
  local yes = require("kc.check").yes
  if m:ratio "stratified" > 1 then return yes "for ordinary arguments" end
  if m:ratio "around" > 1 then return yes "near special points only" end
  return m.worst > 1 or m:misplaced() > 0 or m:wrong ""
end

--- Clauses of a contract of the function, for kc.contract: no result is farther from the exact value than is claimed.
---@param claim table {name= suffix of the contract's name, limit=ulps, source=where it is stated, domain={lo, hi}|nil: other
---  arguments are not asked, zeros="either"|nil as of kc.tolerance.ulp}
---@return table clauses
function Function:clauses(claim)
  local f, format, parts = self.f, self.format, self:parts(claim.domain)
  local function tensor(name) return ("%s: %s[n]"):format(name, format) end
  return {
    identifier    = { class = "C-PRC-02", name = ("%s.%s.%s"):format(f.name, format, claim.name), version = "1.0" },
    scope         = { operation = f.name, inputs = { tensor "x", f.near and tensor "z" or nil }, outputs = { tensor "y" },
                      shapes = { n = scope.range(1, 1 << 20) } },
    precondition  = anything,
    postcondition = as_stated,
    tolerance     = tolerance.ulp { limit = claim.limit, denormals = "preserve", source = claim.source, zeros = claim.zeros },
    oracle        = self.oracle,
    protocol      = { inputs = parts.inputs, further = parts.further, thorough = parts.thorough, judged = "element",
                      samples = 4096, budget = 1e9, vacuous = 0.6, statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
    signature     = { pattern = "errors beyond the stated bound", test = beyond },
    calibration   = calibration(f, claim.limit, format, self.kernels),
  }
end

-- What is known of a function by its name, or what the author says of another one.
local function facts_of(f)
  if type(f) ~= "string" then return f end
  local known = functions()
  if not known[f] then
    local words = require "kc.words"
    error(("kc.accuracy: no function is called '%s'; %s"):format(f, words.hint(f, words.keys(known))), 3)
  end
  known[f].name = f
  return known[f]
end

--- A function of one number `x`, or of two, `x` and `z`, whose stated accuracy is judged: `kc.contract(f:clauses(claim))` for each claim.
--- Inputs: `everywhere` numbers of every exponent and sign; neighbours of zero, of powers of two, of the largest number and of `points`;
--- `bits` random codes; and, beyond what calibrates, `interesting` numbers where the function is neither linear nor constant, and all
--- reduced arguments where 2^24 hold them. Calibrates with unary.k or binary.k in the directory `kernels`, which lies beside the
--- suite: those of contracts/suites/libm serve every function of the dialect.
---@param f string|table exp, log, pow, ...; or of another one {name=of an oracle, word=of the dialect (kc_NAME), oracle=|nil,
---  exponents={lo, hi}, all=first code of 2^24|nil, points={}|nil, typical={lo, hi of x, and of z}: arguments of the functional test,
---  binade=exponent of arguments where a bad implementation errs (-3); of two numbers instead of exponents: near={{sample of x, sample
---  of z}, ...}}
---@param size table {kernels=directory, format="f16": a function of one number, of which every one is asked}; or with numbers of inputs of
---  f32 {kernels=, everywhere=, bits=,
---  interesting=, piece=of exhausted intervals, pieces=of a thorough run, further={samples that only judge}|nil}
---@return table function {binary=boolean} with a method clauses(claim)
function M.accuracy(f, size)
  f = facts_of(f)
  if type(size) ~= "table" or type(size.kernels) ~= "string" then
    error("kc.accuracy: field 'kernels': expected a directory with unary.k and binary.k, e.g. \"libm\"", 2)
  end
  local inputs, further = (size.format == "f16" and all_of_f16 or f.near and binary_inputs or unary_inputs)(f, size)
  return setmetatable({ f = f, kernels = size.kernels, format = size.format or "f32", binary = f.near ~= nil,
                        inputs = inputs, further = further,
                        thorough = size.pieces and function() return thorough(f, size) end,
                        oracle = f.oracle or (f.near and oracle[f.name]("x", "z") or oracle[f.name]("x")) }, Function)
end

return M
