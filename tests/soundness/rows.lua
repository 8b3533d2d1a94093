-- Kernels of rows (softmax, variance, layernorm ...) in every declared order of their sums, with partial results kept in a chosen
-- format; judged by their own tolerance, none of them may be convicted.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local device = kc.device("cpu", { isolation = "none" })
local M = {}

-- ---- kernels --------------------------------------------------------------------------------------------------------------------

-- Ways to add TERM(j), j = 0 .. d - 1, into `sum`; `height` is the longest path of each.
M.orders = {
  { name = "sequential", height = "d - 1", text = "sum = 0.0f; for (j = 0; j < d; j++) sum = kept(sum + TERM(j));" },
  { name = "backwards", height = "d - 1", text = "sum = 0.0f; for (j = d - 1; j >= 0; j--) sum = kept(sum + TERM(j));" },
  { name = "lanes", height = "d - 1", text = [[{ kc_f32 lane[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (j = 0; j < d; j++) lane[j & 7] = kept(lane[j & 7] + TERM(j));
    for (k = 4; k > 0; k /= 2) for (j = 0; j < k; j++) lane[j] = kept(lane[j] + lane[j + k]);
    sum = lane[0]; }]] },
  -- part[i] holds the sum of 2^i terms while bit i of j is set; what is left is added from the smallest on.
  { name = "pairwise", height = "ceil(log2(d))", text = [[{ kc_f32 part[16];
    for (j = 0; j < d; j++) {
      sum = TERM(j);
      for (k = 0; (j >> k & 1) != 0; k++) sum = kept(part[k] + sum);
      part[k] = sum;
    }
    for (k = 0; (d >> k & 1) == 0; k++) continue;
    sum = part[k];
    for (k++; k < 16; k++) if ((d >> k & 1) != 0) sum = kept(part[k] + sum); }]] },
}

local keeping = { f32 = "v", f16 = "kc_f16_to_f32(kc_f32_to_f16(v))", bf16 = "kc_bf16_to_f32(kc_f32_to_bf16(v))" }
local loading = { f32 = "*p", f16 = "kc_f16_to_f32(*p)", bf16 = "kc_bf16_to_f32(*p)" }
local storing = { f32 = "v", f16 = "kc_f32_to_f16(v)", bf16 = "kc_f32_to_bf16(v)" }
local types = { f32 = "kc_f32", f16 = "kc_u16", bf16 = "kc_u16" }

--- One kernel. In `body`, X(j), W(j), B(j) are the inputs, OUT(i, v) writes result i of this row, SUM(term) stands for one of the orders.
---@param body string
---@param order table
---@param format string of inputs, outputs and partial results
---@param fused boolean contraction allowed
---@param per_row boolean one result a row
---@return userdata kernel
function M.kernel(body, order, format, fused, per_row)
  local text = body:gsub("SUM(%b())", function(term)
    return (order.text:gsub("TERM%(j%)", function() return term end))
  end)
  local source = ([[
KC_FN kc_f32 kept(kc_f32 v) { return @kept; }
KC_FN kc_f32 loaded(KC_GLOBAL const @type *p) { return @load; }
KC_FN @type stored(kc_f32 v) { return @store; }
#define X(j) loaded(x + row * d + (j))
#define W(j) loaded(w + (j))
#define B(j) loaded(b + (j))
#define OUT(i, v) y[row * width + (i)] = stored(v)
KC_KERNEL void rows(KC_GLOBAL const @type *x, KC_GLOBAL const @type *w, KC_GLOBAL const @type *b, KC_GLOBAL @type *y, kc_i32 n, kc_i32 d,
                    kc_i32 width) {
  kc_i32 row = kc_gid(0), j, k;
  if (row < n) {
    kc_f32 sum = W(0) * B(0), m, mean = 0.0f, s = 0.0f, r = 0.0f;
    k = 0;
    m = X(0);
    for (j = 1; j < d; j++) m = X(j) > m ? X(j) : m;
    @body
    if (sum + mean + s + r + (kc_f32)k > 4.0e38f) return;
  }
}
]]):gsub("@(%w+)", { kept = keeping[format], load = loading[format], store = storing[format], type = types[format], body = text })
  local params = { "n: i32", "d: i32", "width: i32" }
  for i, name in ipairs { "x", "w", "b", "y" } do table.insert(params, i, ("%s: %s[]"):format(name, format)) end
  return { compiled = device:kernel { entry = "rows", contraction = fused, source = source, params = params }, per_row = per_row,
           name = ("%s, %s%s"):format(format, order.name, fused and ", fused" or ""), height = order.height }
end

--- Bodies by name: conforming ones, then those that must be convicted.
M.bodies = {
  softmax = [[SUM(kept(kc_exp(kept(X(j) - m))))
    for (j = 0; j < d; j++) OUT(j, kept(kc_exp(kept(X(j) - m))) / sum);]],
  softmax_reciprocal = [[SUM(kept(kc_exp(kept(X(j) - m)))) r = kept(1.0f / sum);
    for (j = 0; j < d; j++) OUT(j, kept(kc_exp(kept(X(j) - m))) * r);]],
  log_softmax = [[SUM(kept(kc_exp(kept(X(j) - m)))) s = kept(kc_log(sum));
    for (j = 0; j < d; j++) OUT(j, kept(X(j) - m) - s);]],
  logsumexp = "SUM(kept(kc_exp(kept(X(j) - m)))) OUT(0, m + kept(kc_log(sum)));",
  two_pass = [[SUM(X(j)) mean = kept(sum / (kc_f32)d);
    SUM(kept(kept(X(j) - mean) * kept(X(j) - mean))) OUT(0, sum / (kc_f32)d);]],
  two_pass_reciprocal = [[r = kept(1.0f / (kc_f32)d); SUM(X(j)) mean = kept(sum * r);
    SUM(kept(kept(X(j) - mean) * kept(X(j) - mean))) OUT(0, sum * r);]],
  welford = [[for (j = 0; j < d; j++) {
      r = kept(X(j) - mean);
      mean = kept(mean + kept(r / (kc_f32)(j + 1)));
      s = kept(s + kept(r * kept(X(j) - mean)));
    }
    OUT(0, s / (kc_f32)d);]],
  layernorm = [[SUM(X(j)) mean = kept(sum / (kc_f32)d);
    SUM(kept(kept(X(j) - mean) * kept(X(j) - mean))) r = kept(1.0f / kept(kc_sqrt(kept(kept(sum / (kc_f32)d) + 1.0e-5f))));
    for (j = 0; j < d; j++) OUT(j, kept(kept(kept(X(j) - mean) * r) * W(j)) + B(j));]],
  no_maximum = "SUM(kept(kc_exp(X(j)))) for (j = 0; j < d; j++) OUT(j, kept(kc_exp(X(j))) / sum);",
  log_of_softmax = "SUM(kept(kc_exp(X(j) - m))) for (j = 0; j < d; j++) OUT(j, kc_log(kept(kept(kc_exp(X(j) - m)) / sum)));",
  log_of_sum = "SUM(kept(kc_exp(X(j)))) OUT(0, kc_log(sum));",
  naive = [[SUM(X(j)) mean = kept(sum / (kc_f32)d);
    SUM(kept(X(j) * X(j))) OUT(0, kept(sum / (kc_f32)d) - kept(mean * mean));]],
  naive_norm = [[SUM(X(j)) mean = kept(sum / (kc_f32)d);
    SUM(kept(X(j) * X(j))) r = 1.0f / kc_sqrt(kc_fmax(sum / (kc_f32)d - mean * mean, 0.0f) + 1.0e-5f);
    for (j = 0; j < d; j++) OUT(j, (X(j) - mean) * r * W(j) + B(j));]],
}

-- ---- formulas -------------------------------------------------------------------------------------------------------------------

-- exp and log of the kernel's library err by 1 ulp at most, which is 2 u; 1 / sqrt by two rounded operations is 3 u.
local tol, elementary = kc.tolerance, 2
local function statistics(algorithm)
  return function(fields)
    fields.algorithm = algorithm
    return tol.variance(fields)
  end
end

--- Formula -> oracle, tolerance of {accumulator=, height=, denormals=}, conforming bodies, one to convict, results a row.
M.formulas = {
  { name = "softmax", oracle = kc.oracle.softmax("x"), bodies = { "softmax", "softmax_reciprocal" }, convicts = "no_maximum",
    data = "exponents",
    tolerance = function(fields)
      fields.exp_error = elementary
      return tol.softmax(fields)
    end },
  { name = "log_softmax", oracle = kc.oracle.log_softmax("x"), bodies = { "log_softmax" }, convicts = "log_of_softmax", data = "exponents",
    tolerance = function(fields)
      fields.exp_error, fields.log_error = elementary, elementary
      return tol.log_softmax(fields)
    end },
  { name = "logsumexp", oracle = kc.oracle.logsumexp("x"), bodies = { "logsumexp" }, convicts = "log_of_sum", data = "exponents",
    per_row = true,
    tolerance = function(fields)
      fields.exp_error, fields.log_error = elementary, elementary
      return tol.logsumexp(fields)
    end },
  { name = "variance, two passes", oracle = kc.oracle.variance("x"), bodies = { "two_pass", "two_pass_reciprocal" }, convicts = "naive",
    data = "values", per_row = true, tolerance = statistics "two_pass" },
  { name = "variance, Welford", oracle = kc.oracle.variance("x"), bodies = { "welford" }, convicts = "naive", data = "values",
    per_row = true, sequential = true, tolerance = statistics "welford" },
  { name = "layernorm", oracle = kc.oracle.layernorm("x", "w", "b", { epsilon = 0x1.4f8b58p-17 }), bodies = { "layernorm" },
    convicts = "naive_norm", data = "values",
    tolerance = function(fields)
      fields.algorithm, fields.rsqrt_error = "two_pass", 3
      return tol.layernorm(fields)
    end },
}

--- Every conforming kernel of a formula.
---@param formula table
---@param format string
---@return table kernels
function M.kernels(formula, format)
  local list = {}
  for _, body in ipairs(formula.bodies) do
    for i, order in ipairs(M.orders) do
      for _, fused in ipairs(format == "f32" and { false, true } or { false }) do
        if i == 1 or not formula.sequential then
          list[#list + 1] = M.kernel(M.bodies[body], order, format, fused, formula.per_row)
        end
      end
    end
  end
  return list
end

-- ---- judging --------------------------------------------------------------------------------------------------------------------

--- A sample of given inputs: references once, allowed errors for each height when asked.
---@param formula table
---@param format string
---@param inputs table {x=, w=, b=}
---@return table sample
function M.sample(formula, format, inputs)
  local n, d = table.unpack(inputs.x:shape())
  local shape = formula.per_row and { n } or { n, d }
  local s = { inputs = inputs, n = n, d = d, shape = shape, format = format, known = {},
              reference = oracle.evaluate(formula.oracle, inputs) }
  function s.options(height)
    if s.known[height] then return s.known[height] end
    local bound = formula.tolerance { accumulator = format, height = height, denormals = "preserve" }:bind {
      oracles = { y = formula.oracle }, inputs = inputs, references = { y = s.reference }, shapes = { y = shape },
      formats = { x = format, w = format, b = format }, outputs = { { name = "y", format = format } }, sizes = { n = n, d = d } }
    s.known[height] = bound:core(s.reference)
    return s.known[height]
  end
  return s
end

--- Runs a kernel on a sample and decides.
---@param kernel table
---@param s table
---@return table decision
function M.judge(kernel, s)
  local y = kc.buffer(s.format, s.shape)
  device:launch(kernel.compiled, { s.inputs.x, s.inputs.w, s.inputs.b, y, s.n, s.d, kernel.per_row and 1 or s.d },
    { grid = { (s.n + 63) // 64 }, group = { 64 } })
  return core.decide(y, s.reference, s.options(kernel.height))
end

local function fill(format, shape, key, dist)
  local b = kc.buffer(format, shape)
  b:fill(key, dist)
  return b
end

local function uniform(a, b) return { kind = "uniform", a = a + 0.0, b = b + 0.0 } end

local function judge_all(run, kernels, s, where)
  for _, kernel in ipairs(kernels) do
    local d = M.judge(kernel, s)
    run.judged, run.vacuous, run.worst = run.judged + d.count, run.vacuous + d.vacuous, math.max(run.worst, d.worst_ratio_hi)
    assert(d.class_no + d.value_no == 0, ("%s, %s convicted: %s: %d of %d, worst %.4g at %s"):format(run.name, kernel.name, where,
      d.class_no + d.value_no, d.count, d.worst_ratio_hi, tostring(d.first_value_no or d.first_class_no)))
  end
end

--- One formula in one format over its data and sizes: none of its kernels is convicted, and what must be convicted is.
---@param number integer names the random streams
---@param options table {format=, data={exponents=, values=}, sizes={wide=, per_row=}, least=results, sharp=share, rounds=}
function M.run(number, options)
  local formula, format = M.formulas[number], options.format
  local run = { name = formula.name, judged = 0, vacuous = 0, worst = 0.0 }
  local started, convicted = core.clock(), 0
  local good = M.kernels(formula, format)
  local bad = M.kernel(M.bodies[formula.convicts], M.orders[1], format, false, formula.per_row)
  for i, dist in ipairs(options.data[formula.data]) do
    for j, size in ipairs(formula.per_row and options.sizes.per_row or options.sizes.wide) do
      for round = 1, options.rounds do
        local key, n, d = 100000 * number + 1000 * i + 10 * j + 10000000 * round, table.unpack(size)
        local s = M.sample(formula, format, { x = fill(format, { n, d }, key, dist), w = fill(format, { d }, key + 1, uniform(0.5, 2)),
                                              b = fill(format, { d }, key + 2, uniform(-1, 1)) })
        judge_all(run, good, s, ("%s(%g, %g), n %d, d %d, round %d"):format(dist.kind, dist.a or 0, dist.b or 0, n, d, round))
        local decision = M.judge(bad, s)
        if decision.class_no + decision.value_no > 0 then convicted = convicted + 1 end
      end
    end
  end
  assert(run.judged >= options.least, ("%s: only %d elements were judged"):format(run.name, run.judged))
  assert(run.worst >= options.sharp, ("%s: kernels use only %.3f of the tolerance: it has become loose"):format(run.name, run.worst))
  assert(convicted > 0, ("%s: %s is never convicted"):format(run.name, formula.convicts))
  print(("%s in %s: %d passed: none convicted, %.1f %% vacuous; largest share %.3f; %s convicted in %d samples; %.1f s"):format(run.name,
    format, run.judged, 100 * run.vacuous / run.judged, run.worst, formula.convicts, convicted, core.clock() - started))
end

--- Ranges of data for `exponents` (softmax and its kin) and `values` (statistics).
M.normal, M.subnormal, M.uniform = { kind = "normal", a = 0.0, b = 1.0 }, { kind = "subnormal" }, uniform
function M.log_uniform(a, b) return { kind = "log_uniform", a = a + 0.0, b = b + 0.0, c = 0.0 } end

return M
