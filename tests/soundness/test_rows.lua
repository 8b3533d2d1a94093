-- Soundness of T-SOFTMAX, T-LOG-SOFTMAX, T-LOGSUMEXP, T-VARIANCE and T-LAYERNORM: kernels that conform to the declaration are never
-- convicted, whatever the order of their sums, fused or not, over data of every kind; and what must be convicted is.
-- KC_THOROUGH=1 takes ten times as many elements.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local thorough = os.getenv "KC_THOROUGH" == "1"
local device = kc.device("cpu", { isolation = "none" })

-- ---- kernels --------------------------------------------------------------------------------------------------------------------

-- Ways to add TERM(j), j = 0 .. d - 1, into `sum`, none with a longer path than d additions.
local orders = {
  { "sequential", "sum = 0.0f; for (j = 0; j < d; j++) sum += TERM(j);" },
  { "backwards", "sum = 0.0f; for (j = d - 1; j >= 0; j--) sum += TERM(j);" },
  { "lanes", [[{ kc_f32 lane[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (j = 0; j < d; j++) lane[j & 7] += TERM(j);
    sum = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7])); }]] },
}

local maximum = "kc_f32 m = x[row * d]; for (j = 1; j < d; j++) m = x[row * d + j] > m ? x[row * d + j] : m;"

-- One body for each formula; SUM(term) stands for one of the orders.
local bodies = {
  softmax = maximum .. [[ SUM(kc_exp(x[row * d + (j)] - m))
    for (j = 0; j < d; j++) y[row * d + j] = kc_exp(x[row * d + j] - m) / sum;]],
  log_softmax = maximum .. [[ SUM(kc_exp(x[row * d + (j)] - m)) sum = kc_log(sum);
    for (j = 0; j < d; j++) y[row * d + j] = (x[row * d + j] - m) - sum;]],
  logsumexp = maximum .. [[ SUM(kc_exp(x[row * d + (j)] - m)) y[row] = m + kc_log(sum);]],
  two_pass = [[kc_f32 mean; SUM(x[row * d + (j)]) mean = sum / (kc_f32)d;
    SUM((x[row * d + (j)] - mean) * (x[row * d + (j)] - mean)) y[row] = sum / (kc_f32)d;]],
  welford = [[kc_f32 mean = 0.0f, m2 = 0.0f, delta;
    for (j = 0; j < d; j++) {
      delta = x[row * d + j] - mean;
      mean += delta / (kc_f32)(j + 1);
      m2 += delta * (x[row * d + j] - mean);
    }
    sum = m2; y[row] = m2 / (kc_f32)d;]],
  layernorm = [[kc_f32 mean, r; SUM(x[row * d + (j)]) mean = sum / (kc_f32)d;
    SUM((x[row * d + (j)] - mean) * (x[row * d + (j)] - mean)) r = 1.0f / kc_sqrt(sum / (kc_f32)d + 1.0e-5f);
    for (j = 0; j < d; j++) y[row * d + j] = (x[row * d + j] - mean) * r * w[j] + b[j];]],
  -- What must be convicted.
  no_maximum = [[SUM(kc_exp(x[row * d + (j)])) for (j = 0; j < d; j++) y[row * d + j] = kc_exp(x[row * d + j]) / sum;]],
  log_of_softmax = maximum .. [[ SUM(kc_exp(x[row * d + (j)] - m))
    for (j = 0; j < d; j++) y[row * d + j] = kc_log(kc_exp(x[row * d + j] - m) / sum);]],
  log_of_sum = [[SUM(kc_exp(x[row * d + (j)])) y[row] = kc_log(sum);]],
  naive = [[kc_f32 mean; SUM(x[row * d + (j)]) mean = sum / (kc_f32)d;
    SUM(x[row * d + (j)] * x[row * d + (j)]) y[row] = sum / (kc_f32)d - mean * mean;]],
  naive_norm = [[kc_f32 mean, r; SUM(x[row * d + (j)]) mean = sum / (kc_f32)d;
    SUM(x[row * d + (j)] * x[row * d + (j)]) r = 1.0f / kc_sqrt(kc_fmax(sum / (kc_f32)d - mean * mean, 0.0f) + 1.0e-5f);
    for (j = 0; j < d; j++) y[row * d + j] = (x[row * d + j] - mean) * r * w[j] + b[j];]],
}

local function kernel(body, order, fused)
  local text = bodies[body]:gsub("SUM(%b())", function(term)
    local with = order:gsub("TERM%(j%)", function() return term end)
    return with
  end)
  return device:kernel { entry = "k", contraction = fused, source = ([[
KC_KERNEL void k(KC_GLOBAL const kc_f32 *x, KC_GLOBAL const kc_f32 *w, KC_GLOBAL const kc_f32 *b, KC_GLOBAL kc_f32 *y, kc_i32 n,
                 kc_i32 d) {
  kc_i32 row = kc_gid(0), j;
  if (row < n) {
    kc_f32 sum = w[0] * b[0];
    %s
    if (sum != sum) y[row] = sum;
  }
}
]]):format(text), params = { "x: f32[]", "w: f32[]", "b: f32[]", "y: f32[]", "n: i32", "d: i32" } }
end

-- ---- data -----------------------------------------------------------------------------------------------------------------------

local function uniform(a, b) return { kind = "uniform", a = a + 0.0, b = b + 0.0 } end
local function log_uniform(a, b) return { kind = "log_uniform", a = a + 0.0, b = b + 0.0, c = 0.0 } end
local normal, subnormal = { kind = "normal", a = 0.0, b = 1.0 }, { kind = "subnormal" }

local exponents = { normal, uniform(-0.001, 0.001), uniform(0, 10), uniform(-100, 0), uniform(0, 400), log_uniform(-30, 7), subnormal,
                    log_uniform(120, 127) }
local values = { normal, uniform(0, 1), uniform(9, 11), uniform(99, 101), uniform(999, 1001), uniform(1e4, 1e4 + 2), uniform(1e7, 1e7 + 8),
                 log_uniform(-20, 20), log_uniform(-70, -55), subnormal, log_uniform(55, 64) }

-- Rows and their length; `per_row` formulas get more rows, so that a million results are judged too.
local wide = { { 4096, 1 }, { 2048, 2 }, { 1024, 5 }, { 256, 33 }, { 32, 257 }, { 4, 2048 } }
local many = { { 16384, 1 }, { 16384, 2 }, { 8192, 3 }, { 4096, 8 }, { 256, 129 }, { 16, 4096 } }

local tol = kc.tolerance
local common = { accumulator = "f32", height = "d", denormals = "preserve" }
local function with(fields)
  for key, value in next, common do fields[key] = value end -- a copy
  return fields
end

local cases = {
  { "softmax", "softmax", kc.oracle.softmax("x"), tol.softmax(with { exp_error = 2 }), exponents, wide, convicts = "no_maximum" },
  { "log_softmax", "log_softmax", kc.oracle.log_softmax("x"), tol.log_softmax(with { exp_error = 2, log_error = 2 }), exponents, wide,
    convicts = "log_of_softmax" },
  { "logsumexp", "logsumexp", kc.oracle.logsumexp("x"), tol.logsumexp(with { exp_error = 2, log_error = 2 }), exponents, many,
    per_row = true, convicts = "log_of_sum" },
  { "variance, two passes", "two_pass", kc.oracle.variance("x"), tol.variance(with { algorithm = "two_pass" }), values, many,
    per_row = true, convicts = "naive" },
  { "variance, Welford", "welford", kc.oracle.variance("x"), tol.variance(with { algorithm = "welford" }), values, many,
    per_row = true, convicts = "naive" },
  { "layernorm", "layernorm", kc.oracle.layernorm("x", "w", "b", { epsilon = 0x1.4f8b58p-17 }),
    tol.layernorm(with { algorithm = "two_pass", rsqrt_error = 3 }), values, wide, convicts = "naive_norm" },
}

-- ---- running --------------------------------------------------------------------------------------------------------------------

local function fill(shape, key, dist)
  local b = kc.buffer("f32", shape)
  b:fill(key, dist)
  return b
end

-- Inputs, references and allowed errors of one sample.
local function sample(case, dist, n, d, key)
  local inputs = { x = fill({ n, d }, key, dist), w = fill({ d }, key + 1, uniform(0.5, 2)), b = fill({ d }, key + 2, uniform(-1, 1)) }
  local shape = case.per_row and { n } or { n, d }
  local references = { y = oracle.evaluate(case[3], inputs) }
  local bound = case[4]:bind { oracles = { y = case[3] }, inputs = inputs, references = references, shapes = { y = shape },
    formats = { x = "f32", w = "f32", b = "f32" }, outputs = { { name = "y", format = "f32" } }, sizes = { n = n, d = d } }
  return { inputs = inputs, reference = references.y, options = bound:core(references.y), shape = shape, n = n, d = d }
end

local function judge(k, s)
  local y = kc.buffer("f32", s.shape)
  device:launch(k, { s.inputs.x, s.inputs.w, s.inputs.b, y, s.n, s.d }, { grid = { (s.n + 63) // 64 }, group = { 64 } })
  return core.decide(y, s.reference, s.options)
end

local function kernels_of(body)
  local list = {}
  for _, order in ipairs(orders) do
    for _, fused in ipairs { false, true } do
      list[#list + 1] = { order[1] .. (fused and ", fused" or ""), kernel(body, order[2], fused) }
    end
  end
  return list
end

local function run(case, number)
  local started, judged, vacuous, worst, convicted = core.clock(), 0, 0, 0.0, 0
  local good, bad = kernels_of(case[2]), kernel(case.convicts, orders[1][2], false)
  for i, dist in ipairs(case[5]) do
    for j, size in ipairs(case[6]) do
      for round = 1, thorough and 10 or 1 do
        local s = sample(case, dist, size[1], size[2], 100000 * number + 1000 * i + 10 * j + 10000000 * round)
        for _, item in ipairs(good) do
          local d = judge(item[2], s)
          judged, vacuous, worst = judged + d.count, vacuous + d.vacuous, math.max(worst, d.worst_ratio_hi)
          assert(d.class_no + d.value_no == 0, ("%s, %s convicted: %s(%g, %g), n %d, d %d, round %d: %d of %d, worst %.4g at %s"):format(
            case[1], item[1], dist.kind, dist.a or 0, dist.b or 0, size[1], size[2], round, d.value_no, d.count, d.worst_ratio_hi,
            tostring(d.first_value_no)))
        end
        local d = judge(bad, s)
        if d.class_no + d.value_no > 0 then convicted = convicted + 1 end
      end
    end
  end
  assert(judged >= 1000000, ("%s: only %d elements were judged"):format(case[1], judged))
  assert(convicted > 0, case[1] .. ": " .. case.convicts .. " is never convicted")
  print(("%s: %d passed: none convicted, %.1f %% vacuous; largest share %.3f; %s convicted in %d samples; %.1f s"):format(case[1], judged,
    100 * vacuous / judged, worst, case.convicts, convicted, core.clock() - started))
end

for number, case in ipairs(cases) do run(case, number) end

-- A two-pass variance of a long sequential row far from zero: the bound exceeds the variance, and says so.
local long = sample(cases[4], uniform(1e4, 1e4 + 2), 4, 65536, 77)
local d = judge(kernel("two_pass", orders[1][2], false), long)
assert(d.vacuous == d.count and d.value_no == 0, "65,536 terms at an offset of 10^4 show nothing")
print "rows: 1 passed: a bound that exceeds the variance is vacuous"
