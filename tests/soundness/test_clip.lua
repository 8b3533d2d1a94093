-- Soundness of the bound for clipping to a norm: kernels that sum the squares in every order, divide or multiply by the reciprocal, fused
-- or not, are never convicted by T-REL with G((ceil((h + 1) / 2) + 3) u); a coefficient in a narrower format is. KC_THOROUGH=1 takes more.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local derived = require "kc.derived"
local rows = dofile "tests/soundness/rows.lua"
local rounds = os.getenv "KC_THOROUGH" == "1" and 10 or 1

local SUM = "SUM(kept(X(j) * X(j))) s = kept(kc_sqrt(sum)); s = s > 1.0f ? s : 1.0f; "
local bodies = { SUM .. "for (j = 0; j < d; j++) OUT(j, X(j) / s);",
                 SUM .. "r = kept(1.0f / s); for (j = 0; j < d; j++) OUT(j, X(j) * r);" }
local narrow = SUM .. "r = kc_f16_to_f32((kc_u16)(kc_f32_to_f16(1.0f / s) & 0xfff0)); for (j = 0; j < d; j++) OUT(j, X(j) * r);"
local exact = oracle.expression(function(v) return v.x / kc.max(kc.sqrt(kc.sum(v.x * v.x, -1)), 1) end)

-- Data whose squares, sums and results stay among the normal numbers of the format.
local cases = {
  { "f32", { rows.normal, rows.uniform(1, 2), rows.log_uniform(-30, 30), rows.uniform(0.999, 1.001), rows.log_uniform(-12, -2) },
    { { 2000, 1 }, { 2000, 2 }, { 1000, 3 }, { 400, 17 }, { 100, 100 }, { 30, 1000 } } },
  { "bf16", { rows.uniform(1, 2), rows.log_uniform(-20, 20), rows.log_uniform(-6, 0) },
    { { 2000, 1 }, { 2000, 2 }, { 1000, 7 }, { 200, 40 } } },
  { "f16", { rows.uniform(1, 2), rows.log_uniform(-3, 3) }, { { 2000, 1 }, { 2000, 2 }, { 1000, 7 }, { 200, 40 } } },
}

local judged, convicted, worst = 0, 0, 0.0

-- A sample as rows.judge takes it.
local function sample(format, inputs, n, d)
  local function options(height)
    local theta = (math.ceil((derived.count(height, { d = d }) + 1) / 2) + 3) * core.roundoff(format)
    return { kind = "rel", value = theta / (1 - theta), denormals = "preserve" }
  end
  return { format = format, inputs = inputs, shape = { n, d }, n = n, d = d, options = options,
           reference = oracle.evaluate(exact, { x = inputs.x }) }
end

local seconds = core.clock()
for number, case in ipairs(cases) do
  local format, data, sizes = table.unpack(case)
  local kernels = {}
  for _, body in ipairs(bodies) do
    for _, order in ipairs(rows.orders) do
      for _, fused in ipairs(format == "f32" and { false, true } or { false }) do
        kernels[#kernels + 1] = rows.kernel(body, order, format, fused, false)
      end
    end
  end
  local bad = rows.kernel(narrow, rows.orders[1], format, false, false)
  local ones = kc.buffer(format, { 1000 })
  ones:fillvalue(1)
  for i, dist in ipairs(data) do
    for j, size in ipairs(sizes) do
      for round = 1, rounds do
        local n, d = table.unpack(size)
        local inputs = { x = kc.buffer(format, { n, d }), w = ones, b = ones }
        inputs.x:fill(100000 * number + 1000 * i + 10 * j + 10000000 * round, dist)
        local s = sample(format, inputs, n, d)
        for _, kernel in ipairs(kernels) do
          local found = rows.judge(kernel, s)
          judged, worst = judged + found.count, math.max(worst, found.worst_ratio_hi)
          assert(found.class_no + found.value_no == 0, ("%s convicted: %s(%g, %g), n %d, d %d: %d, worst %.4g at %s"):format(kernel.name,
            dist.kind, dist.a, dist.b, n, d, found.value_no, found.worst_ratio_hi, tostring(found.first_value_no)))
        end
        convicted = convicted + rows.judge(bad, s).value_no
      end
    end
  end
end
assert(judged >= 1000000, ("only %d results were judged"):format(judged))
assert(worst >= 0.5, ("kernels use only %.3f of the tolerance: it has become loose"):format(worst))
assert(convicted >= 20000, ("only %d results with a narrow coefficient are convicted"):format(convicted))
print(("clip: %d passed: none convicted, largest share %.3f; %d results with a narrow coefficient convicted; %.1f s"):format(judged, worst,
  convicted, core.clock() - seconds))
