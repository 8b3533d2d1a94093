-- Soundness of T-DOT: kernels that conform to the declaration are never convicted, whatever the order of their sums, the data, the
-- formats, alpha and beta; and the largest share of the tolerance that they use (sharpness). KC_THOROUGH=1 takes ten times as many.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local thorough = os.getenv "KC_THOROUGH" == "1"

local device = kc.device("cpu", { isolation = "none" })

-- ---- conforming kernels -----------------------------------------------------------------------------------------------------

local decode = { f32 = "%s", f16 = "kc_f16_to_f32(%s)", bf16 = "kc_bf16_to_f32(%s)" }
local encode = { f32 = "%s", f16 = "kc_f32_to_f16(%s)", bf16 = "kc_f32_to_bf16(%s)" }
local types = { f32 = "kc_f32", f16 = "kc_u16", bf16 = "kc_u16" }

-- Ways to sum TERM(k), k = 0 .. K - 1, into `sum`; each has height K - 1 at most.
local orders = {
  { "sequential", "for (k = 0; k < K; k++) sum = TERM(k) + sum;" },
  { "backwards", "for (k = K - 1; k >= 0; k--) sum = TERM(k) + sum;" },
  { "fused", "for (k = 0; k < K; k++) sum = kc_fma(LEFT(k), RIGHT(k), sum);" },
  { "lanes", [[kc_f32 lane[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (k = 0; k < K; k++) lane[k & 7] += TERM(k);
    sum = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));]] },
  { "pairwise", [[kc_f32 part[256]; kc_i32 n = K;
    for (k = 0; k < K; k++) part[k] = TERM(k);
    while (n > 1) {
      for (k = 0; k < n / 2; k++) part[k] = part[2 * k] + part[2 * k + 1];
      if (n & 1) part[n / 2] = part[n - 1];
      n = (n + 1) / 2;
    }
    if (K > 0) sum = part[0];]] },
}

local function source(order, input, output, scaled)
  local element = decode[input]
  return ([[
#define LEFT(k) (%s)
#define RIGHT(k) (%s)
#define TERM(k) (LEFT(k) * RIGHT(k))
KC_KERNEL void gemm(KC_GLOBAL const %s *A, KC_GLOBAL const %s *B, KC_GLOBAL const kc_f32 *D, KC_GLOBAL %s *C, kc_f32 alpha, kc_f32 beta,
                    kc_i32 M, kc_i32 N, kc_i32 K) {
  kc_i32 column = kc_gid(0), row = kc_gid(1), k;
  if (row < M && column < N) {
    kc_f32 sum = 0.0f;
    %s
    %s
    C[row * N + column] = %s;
  }
}
]]):format(element:format("A[row * K + (k)]"), element:format("B[(k) * N + column]"), types[input], types[input], types[output], order,
    scaled and "sum = alpha * sum + beta * D[row * N + column];" or "", encode[output]:format("sum"))
end

-- ---- one case: formats, scaling, data ----------------------------------------------------------------------------------------

local function fill(format, shape, key, dist)
  local b = kc.buffer(format, shape)
  b:fill(key, dist)
  return b
end

local function log_uniform(a, b) return { kind = "log_uniform", a = a, b = b, c = 0 } end

local normal, subnormal = { kind = "normal", a = 0, b = 1 }, { kind = "subnormal" }

-- Formats of input and output, alpha and beta, denormals, and data of both operands.
local cases = {
  { "f32", "f32", 1, 0, "preserve", normal, normal },
  { "f32", "f32", 1, 0, "preserve", { kind = "uniform", a = 0, b = 1 }, { kind = "uniform", a = 0, b = 1 } },
  { "f32", "f32", 1, 0, "preserve", log_uniform(-20, 20), log_uniform(-20, 20) },
  { "f32", "f32", 1, 0, "preserve", log_uniform(-80, -60), log_uniform(-80, -60) }, -- products underflow
  { "f32", "f32", 1, 0, "preserve", subnormal, log_uniform(-2, 20) },
  { "f32", "f32", 1, 0, "preserve", log_uniform(55, 64), log_uniform(55, 64) }, -- near and beyond overflow
  { "f32", "f32", 1, 0, "preserve", { kind = "integers", a = -63, b = 63 }, { kind = "integers", a = -63, b = 63 } }, -- exact
  { "f32", "f32", 0x1.666666p-1, -0x1.4cccccp0, "preserve", normal, normal },
  { "f32", "f32", 0x1p-30, 3.0, "preserve", log_uniform(-60, -40), log_uniform(-60, -40) },
  { "f32", "f32", 1, 0, "flush", log_uniform(-70, -50), log_uniform(-70, -50) },
  { "f32", "f32", 1, 0, "flush", subnormal, log_uniform(-2, 20) },
  { "f16", "f16", 1, 0, "preserve", { kind = "finite_bits" }, log_uniform(-14, 0) },
  { "f16", "f16", 1, 0, "preserve", log_uniform(-14, -8), log_uniform(-14, -8) }, -- results are subnormal
  { "f16", "f32", 1, 0, "preserve", normal, normal },
  { "bf16", "f32", 1, 0, "preserve", log_uniform(-75, -60), log_uniform(-75, -60) },
  { "bf16", "bf16", 1.5, 0.5, "preserve", normal, normal },
}

local sizes = { { 2048, 4, 1 }, { 2048, 4, 2 }, { 1024, 4, 3 }, { 512, 4, 17 }, { 256, 4, 100 }, { 64, 4, 256 } }

local judged, vacuous, by_terms, expected_worst = 0, 0, {}, 0.0
local random = { normal = true, uniform = true }

local function decided(case, kernel, order, inputs, shape)
  local input, output, alpha, beta, denormals = table.unpack(case)
  local m, n, k = table.unpack(shape)
  local scaled = alpha ~= 1 or beta ~= 0
  local c = kc.buffer(output, { m, n })
  device:launch(kernel, { inputs.A, inputs.B, inputs.D, c, alpha, beta, m, n, k },
    { grid = { (n + 3) // 4, (m + 63) // 64 }, group = { 4, 64 } })
  local product = scaled and kc.oracle.matmul("A", "B", "D", { alpha = alpha, beta = beta }) or kc.oracle.matmul("A", "B")
  local references = inputs.references or { C = oracle.evaluate(product, inputs) }
  inputs.references, inputs.bound = references, inputs.bound or {}
  local function bound(kind)
    inputs.bound[kind] = inputs.bound[kind] or kc.tolerance.dot { kind = kind, accumulator = "f32", terms = "K", height = "K - 1",
      denormals = denormals }:bind { oracles = { C = product }, inputs = inputs, references = references, sizes = { K = k },
        formats = { A = input, B = input, D = "f32" }, outputs = { { name = "C", format = output } }, shapes = { C = { m, n } } }
    return inputs.bound[kind]:core(references.C)
  end
  local d = core.decide(c, references.C, bound "proved")
  judged, vacuous = judged + d.count, vacuous + d.vacuous
  by_terms[k] = math.max(by_terms[k] or 0, d.worst_ratio_hi)
  if random[case[6].kind] and random[case[7].kind] then
    expected_worst = math.max(expected_worst, core.decide(c, references.C, bound "expected").worst_ratio_hi)
  end
  if d.value_no + d.class_no > 0 then
    error(("%s convicted: %s -> %s, alpha %g, beta %g, %s, %s x %s, M %d N %d K %d: %d of %d, worst %.4g at element %d"):format(order,
      input, output, alpha, beta, denormals, case[6].kind, case[7].kind, m, n, k, d.value_no, d.count, d.worst_ratio_hi, d.first_value_no))
  end
end

local seconds = core.clock()
for number, case in ipairs(cases) do
  local input, output, alpha, beta, denormals, left, right = table.unpack(case)
  local kernels = {}
  for i, order in ipairs(orders) do
    kernels[i] = device:kernel { source = source(order[2], input, output, alpha ~= 1 or beta ~= 0), entry = "gemm", denormals = denormals,
      params = { "A: " .. input .. "[]", "B: " .. input .. "[]", "D: f32[]", "C: " .. output .. "[]", "alpha: f32", "beta: f32",
                 "M: i32", "N: i32", "K: i32" } }
  end
  for s, shape in ipairs(sizes) do
    local m, n, k = table.unpack(shape)
    for round = 1, thorough and 10 or 1 do
      local key = 1000 * number + 10 * s + 100000 * round
      local inputs = { A = fill(input, { m, k }, key, left), B = fill(input, { k, n }, key + 1, right),
                       D = fill("f32", { m, n }, key + 2, normal) }
      for i, order in ipairs(orders) do decided(case, kernels[i], order[1], inputs, shape) end
    end
  end
end
assert(judged >= 1000000, ("only %d elements were judged"):format(judged))
assert(expected_worst <= 1, ("the expected bound was exceeded %.3g times on random data"):format(expected_worst))

-- The expected bound holds for random data only: equal terms make every rounding error equal too.
local x, sum = kc.buffer("f32", { 1, 65536 }), 0.0
x:fillvalue(0.1)
for i = 1, #x do sum = kc.decode("f32", kc.encode("f32", sum + x[i])) end
local constant = { C = oracle.evaluate(kc.oracle.sum("x"), { x = x }) }
for _, row in ipairs { { "proved", 1 }, { "expected", -1 } } do
  local t = kc.tolerance.dot { kind = row[1], accumulator = "f32", terms = "k", height = "k - 1", denormals = "preserve" }:bind {
    oracles = { C = kc.oracle.sum("x") }, inputs = { x = x }, references = constant, sizes = { k = 65536 }, formats = { x = "f32" },
    outputs = { { name = "C", format = "f32" } }, shapes = { C = { 1 } } }
  local d = core.decide(kc.buffer("f32", { 1 }, { sum }), constant.C, t:core(constant.C))
  assert((d.value_yes == 1) == (row[2] == 1), ("a sum of equal terms: %s, ratio %.3g"):format(row[1], d.worst_ratio_hi))
end

-- N eps max|x| is exceeded by a plain sum of terms of one sign, and accepts zero for a sum of mean zero in bf16.
local function share_of(name, terms, key, dist, format)
  local inputs = { x = fill(format, { 1, terms }, key, dist) }
  local references = { C = oracle.evaluate(kc.oracle.sum("x"), inputs) }
  local t = kc.tolerance.fpna { accumulator = format, terms = "k", denormals = "preserve" }:bind { oracles = { C = kc.oracle.sum("x") },
    inputs = inputs, references = references, sizes = { k = terms }, formats = { x = format },
    outputs = { { name = "C", format = format } }, shapes = { C = { 1 } } }
  local total = 0.0
  for i = 1, name == "zero" and 0 or terms do total = kc.decode(format, kc.encode(format, total + inputs.x[i])) end
  return core.decide(kc.buffer(format, { 1 }, { total }), references.C, t:core(references.C))
end
local exceeded = 0
for key = 1, 20 do
  exceeded = exceeded + share_of("sum", 20000, key, { kind = "uniform", a = 0.0, b = 1.0 }, "f32").value_no
end
assert(exceeded > 0, "N eps max|x| was never exceeded")
assert(share_of("zero", 4096, 1, normal, "bf16").value_yes == 1, "N eps max|x| rejects zero in bf16")

local shares = {}
for _, shape in ipairs(sizes) do shares[#shares + 1] = ("K=%d %.3f"):format(shape[3], by_terms[shape[3]]) end
print(("dot: %d passed: none convicted, %.1f %% vacuous; largest share of the proved bound %s, of the expected %.3f; %.1f s")
  :format(judged, 100 * vacuous / judged, table.concat(shares, ", "), expected_worst, core.clock() - seconds))
