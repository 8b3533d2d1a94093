-- Soundness of T-DOT for expressions: sums of inputs and of products of two inputs, in every order and contracted in every way, are never
-- convicted; kernels that are narrower than declared, or add in a higher tree, are. KC_THOROUGH=1 takes ten times as many.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local device = kc.device("cpu", { isolation = "none" })
local rounds = os.getenv "KC_THOROUGH" == "1" and 10 or 1

local decode = { f32 = "%s", f16 = "kc_f16_to_f32(%s)", bf16 = "kc_bf16_to_f32(%s)" }
local encode = { f32 = "%s", f16 = "kc_f32_to_f16(%s)", bf16 = "kc_f32_to_bf16(%s)" }
local types = { f32 = "kc_f32", f16 = "kc_u16", bf16 = "kc_u16" }

-- Expressions of four inputs p, q, r, s: terms, height, conforming bodies and one that must be convicted (products or sums in bf16).
local NARROW = "kc_bf16_to_f32(kc_f32_to_bf16(%s))"
local forms = {
  { name = "p r + q r", terms = 2, height = 1, oracle = function(v) return v.p * v.r + v.q * v.r end,
    bodies = { "P * R + Q * R", "kc_fma(P, R, Q * R)", "kc_fma(Q, R, P * R)", "(kc_f32)((kc_f64)P * (kc_f64)R + (kc_f64)Q * (kc_f64)R)" },
    convicts = NARROW:format("P * R") .. " + Q * R" },
  { name = "p q + r", terms = 2, height = 1, oracle = function(v) return v.r + v.q * v.p end,
    bodies = { "P * Q + R", "kc_fma(P, Q, R)" }, convicts = NARROW:format("P * Q") .. " + R" },
  { name = "p + q - r + s", terms = 4, height = 3, oracle = function(v) return v.p + v.q - v.r + v.s end,
    bodies = { "((P + Q) - R) + S", "P + (Q + (S - R))", "(P + Q) + (S - R)", "((P + S) - R) + Q" },
    convicts = NARROW:format("P + Q") .. " - R + S" },
  { name = "p q - r s - p", terms = 3, height = 2, oracle = function(v) return -(v.r * v.s - v.p * v.q) - v.p end,
    bodies = { "(P * Q - R * S) - P", "kc_fma(-R, S, P * Q) - P", "kc_fma(P, Q, -kc_fma(R, S, P))", "P * Q - (R * S + P)" },
    convicts = NARROW:format("P * Q") .. " - R * S - P" },
}

local function log_uniform(a, b) return { kind = "log_uniform", a = a + 0.0, b = b + 0.0, c = 0.0 } end
local normal = { kind = "normal", a = 0.0, b = 1.0 }

-- Format of the inputs and of the output, denormals, data of p and r, data of q and s.
local cases = {
  { "f32", "f32", "preserve", normal, normal },
  { "f32", "f32", "preserve", { kind = "uniform", a = 1.0, b = 2.0 }, { kind = "uniform", a = -2.0, b = -1.0 } },
  { "f32", "f32", "preserve", log_uniform(-30, 30), log_uniform(-30, 30) },
  { "f32", "f32", "preserve", log_uniform(-80, -60), log_uniform(-80, -60) }, -- products underflow
  { "f32", "f32", "preserve", { kind = "subnormal" }, log_uniform(-2, 20) },
  { "f32", "f32", "preserve", log_uniform(60, 66), log_uniform(58, 64) }, -- near and beyond overflow
  { "f32", "f32", "preserve", { kind = "integers", a = -2000.0, b = 2000.0 }, { kind = "integers", a = -2000.0, b = 2000.0 } }, -- exact
  { "f32", "f32", "flush", log_uniform(-70, -50), log_uniform(-70, -50) },
  { "f32", "f32", "flush", { kind = "subnormal" }, log_uniform(-2, 20) },
  { "f16", "f16", "preserve", { kind = "finite_bits" }, log_uniform(-14, 0) },
  { "f16", "f32", "preserve", normal, normal },
  { "bf16", "bf16", "preserve", normal, normal },
  { "bf16", "f32", "preserve", log_uniform(-75, -60), log_uniform(-75, -60) },
}

local N, judged, vacuous, convicted, worst = 2000, 0, 0, 0, 0.0

local function build(body, case)
  local load = decode[case[1]]
  local source = ([[
#define P %s
#define Q %s
#define R %s
#define S %s
KC_KERNEL void terms(KC_GLOBAL const @in *p, KC_GLOBAL const @in *q, KC_GLOBAL const @in *r, KC_GLOBAL const @in *s, KC_GLOBAL @out *y,
                     kc_i32 n) {
  kc_i32 i = kc_gid(0);
  if (i < n) y[i] = %s;
}
]]):format(load:format "p[i]", load:format "q[i]", load:format "r[i]", load:format "s[i]", encode[case[2]]:format(body))
  local params = { "n: i32" }
  for i, name in ipairs { "p", "q", "r", "s" } do table.insert(params, i, ("%s: %s[]"):format(name, case[1])) end
  table.insert(params, 5, ("y: %s[]"):format(case[2]))
  return device:kernel { entry = "terms", denormals = case[3], params = params,
                         source = source:gsub("@(%w+)", { ["in"] = types[case[1]], out = types[case[2]] }) }
end

local function decide(kernel, case, inputs, reference, options)
  local y = kc.buffer(case[2], N)
  device:launch(kernel, { inputs.p, inputs.q, inputs.r, inputs.s, y, N }, { grid = { (N + 63) // 64 }, group = { 64 } })
  return core.decide(y, reference, options)
end

local function options_for(form, case, traced, inputs, reference)
  local formats = {}
  for _, name in ipairs { "p", "q", "r", "s" } do formats[name] = case[1] end
  return kc.tolerance.dot { kind = "proved", accumulator = "f32", terms = form.terms, height = form.height, denormals = case[3] }:bind {
    oracles = { y = traced }, inputs = inputs, formats = formats, references = { y = reference }, sizes = {},
    outputs = { { name = "y", format = case[2] } }, shapes = { y = { N } } }:core(reference)
end

local seconds = core.clock()
for f, form in ipairs(forms) do
  local traced = oracle.expression(form.oracle)
  for c, case in ipairs(cases) do
    local kernels = {}
    for i, body in ipairs(form.bodies) do kernels[i] = build(body, case) end
    local narrow = build(form.convicts, case)
    for round = 1, rounds do
      local inputs = {}
      for i, name in ipairs { "p", "q", "r", "s" } do
        inputs[name] = kc.buffer(case[1], N)
        inputs[name]:fill(1000000 * round + 1000 * f + 10 * c + i, case[i % 2 == 1 and 4 or 5])
      end
      local reference = oracle.evaluate(traced, inputs)
      local options = options_for(form, case, traced, inputs, reference)
      for i, kernel in ipairs(kernels) do
        local d = decide(kernel, case, inputs, reference, options)
        judged, vacuous, worst = judged + d.count, vacuous + d.vacuous, math.max(worst, d.worst_ratio_hi)
        assert(d.value_no + d.class_no == 0, ("%s as %s convicted: %s -> %s, %s, %s and %s: %d, worst %.4g at element %s"):format(form.name,
          form.bodies[i], case[1], case[2], case[3], case[4].kind, case[5].kind, d.value_no, d.worst_ratio_hi, tostring(d.first_value_no)))
      end
      local d = decide(narrow, case, inputs, reference, options)
      convicted = convicted + d.value_no
    end
  end
end
assert(judged >= 360000, ("only %d results were judged"):format(judged))
assert(worst >= 0.9, ("kernels use only %.3f of the tolerance: it has become loose"):format(worst))
assert(convicted >= 40000, ("only %d results of narrow kernels are convicted"):format(convicted))
print(("terms: %d passed: none convicted, %.1f %% vacuous; largest share %.3f; %d results of narrow kernels convicted; %.1f s"):format(
  judged, 100 * vacuous / judged, worst, convicted, core.clock() - seconds))
