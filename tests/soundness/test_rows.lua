-- Soundness of T-SOFTMAX, T-LOG-SOFTMAX, T-LOGSUMEXP, T-VARIANCE and T-LAYERNORM in f32: kernels that conform to the declaration are
-- never convicted, whatever the order of their sums, fused or not, over data of every kind; and what must be convicted is.
-- KC_THOROUGH=1 takes ten times as many elements.
local kc = require "kc"
local rows = dofile "tests/soundness/rows.lua"
local normal, uniform, log_uniform, subnormal = rows.normal, rows.uniform, rows.log_uniform, rows.subnormal

local data = {
  exponents = { normal, uniform(-0.001, 0.001), uniform(0, 10), uniform(-100, 0), uniform(0, 400), log_uniform(-30, 7), subnormal,
                log_uniform(120, 127) },
  values = { normal, uniform(0, 1), uniform(9, 11), uniform(99, 101), uniform(999, 1001), uniform(1e4, 1e4 + 2), uniform(1e7, 1e7 + 8),
             log_uniform(-20, 20), log_uniform(-70, -55), subnormal, log_uniform(55, 64) },
}

-- Rows and their length; formulas with one result a row get more rows, so that a million results are judged too.
local sizes = {
  wide = { { 1024, 1 }, { 1024, 2 }, { 512, 5 }, { 128, 33 }, { 16, 257 }, { 2, 2048 } },
  per_row = { { 8192, 1 }, { 8192, 2 }, { 4096, 3 }, { 1024, 8 }, { 64, 129 }, { 2, 4096 } },
}

for number in ipairs(rows.formulas) do
  rows.run(number, { format = "f32", data = data, sizes = sizes, least = 350000, sharp = 0.4,
                     rounds = os.getenv "KC_THOROUGH" == "1" and 10 or 1 })
end

-- ---- rows made for the purpose -----------------------------------------------------------------------------------------------------

local by_name = {}
for _, formula in ipairs(rows.formulas) do by_name[formula.name] = formula end

-- A sample of one row x_1 .. x_d.
local function row(formula, format, d, x)
  local inputs = { x = kc.buffer(format, { 1, d }), w = kc.buffer(format, { d }), b = kc.buffer(format, { d }) }
  inputs.w:fillvalue(1)
  for j = 1, d do inputs.x[j] = x(j) end
  return rows.sample(formula, format, inputs)
end

local passed = 0
local function judge(name, format, s)
  for _, kernel in ipairs(rows.kernels(by_name[name], format)) do
    local d = rows.judge(kernel, s)
    assert(d.class_no + d.value_no == 0, ("%s, %s convicted: %.4g of the tolerance"):format(name, kernel.name, d.worst_ratio_hi))
    passed = passed + 1
  end
end

-- The running mean of a slow ramp stands still: each step is half a unit of the mean or less. The first-order bound (h + 5) u kappa v is
-- used to 0.89 by this row, and nothing in its derivation stops there.
for _, share in ipairs { 0.25, 0.5, 0.7, 1 } do
  judge("variance, Welford", "f32", row(by_name["variance, Welford"], "f32", 4096, function(j)
    return 8192 + math.min(j // 2, math.floor(share * 2048)) * 0x1p-10
  end))
end

-- Long rows.
for _, formula in ipairs(rows.formulas) do
  judge(formula.name, "f32", row(formula, "f32", 32768, function(j) return 4 + (j * 0.618 % 1) * 4 end))
end

-- Masked elements and distances beyond the exponents: in f16 they are an error larger than what first order stands for.
for _, name in ipairs { "softmax", "log_softmax", "logsumexp" } do
  judge(name, "f32", row(by_name[name], "f32", 8, function(j) return j % 3 == 0 and -math.huge or j end))
  judge(name, "f32", row(by_name[name], "f32", 8, function(j) return j * 1e5 end))
  judge(name, "f16", row(by_name[name], "f16", 8, function(j) return j * 1000 end))
end

-- The variance is small and the sum of the row overflows.
local function near_100(j) return 100 + (j % 2) * 0.0625 end
judge("variance, two passes", "f16", row(by_name["variance, two passes"], "f16", 1000, near_100))
judge("layernorm", "f16", row(by_name["layernorm"], "f16", 1000, near_100))

-- All deviations from the mean lie one way, so that the reciprocal's error adds to that of the sum.
for _, d in ipairs { 3, 7, 41, 4093 } do
  judge("variance, two passes", "f32", row(by_name["variance, two passes"], "f32", d, function(j) return 1e6 + j % 2 end))
end

-- A two-pass variance of a long sequential row far from zero: the bound exceeds the variance, and says so.
local two_pass = by_name["variance, two passes"]
local long = row(two_pass, "f32", 65536, function(j) return 1e4 + (j * 0.618 % 1) * 2 end)
local d = rows.judge(rows.kernel(rows.bodies.two_pass, rows.orders[1], "f32", false, true), long)
assert(d.vacuous == d.count and d.value_no == 0, "65,536 terms at an offset of 10^4 show nothing")
print(("rows: %d passed: ramps, masks, overflow, long rows"):format(passed + 1))
