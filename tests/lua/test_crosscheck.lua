-- Every tensor oracle written in C against the same mathematics written as an expression: two engines, bounds that must overlap, and
-- the same class where both know it.
local kc = require "kc"
local oracle = require "kc.oracle"
local passed = 0

local pairs_of = {
  { kc.oracle.sum("x"), function(v) return kc.sum(v.x, -1) end },
  { kc.oracle.sum("x", { axis = 0 }), function(v) return kc.sum(v.x, 0) end },
  { kc.oracle.sum("x", { magnitude = true }), function(v) return kc.sum(kc.abs(v.x), -1) end },
  { kc.oracle.mean("x"), function(v) return kc.mean(v.x, -1) end },
  { kc.oracle.cumsum("x"), function(v) return kc.cumsum(v.x, -1) end },
  { kc.oracle.dot("x", "y"), function(v) return kc.sum(v.x * v.y, -1) end },
  { kc.oracle.softmax("x"), function(v)
    local e = kc.exp(v.x - kc.reduce_max(v.x, -1))
    return e / kc.sum(e, -1)
  end },
  { kc.oracle.softmax("x", { axis = 0 }), function(v) return kc.exp(v.x) / kc.sum(kc.exp(v.x), 0) end },
  { kc.oracle.log_softmax("x"), function(v) return v.x - kc.log(kc.sum(kc.exp(v.x), -1)) end },
  { kc.oracle.logsumexp("x"), function(v) return kc.log(kc.sum(kc.exp(v.x), -1)) end },
  { kc.oracle.variance("x"), function(v) return kc.mean((v.x - kc.mean(v.x, -1)) ^ 2, -1) end },
  { kc.oracle.variance("x", { ddof = 1 }), function(v)
    return kc.sum(v.x ^ 2, -1) / (kc.size(v.x, -1) - 1) - kc.sum(v.x, -1) ^ 2 / (kc.size(v.x, -1) * (kc.size(v.x, -1) - 1))
  end },
  { kc.oracle.layernorm("x", "w", "b", { epsilon = 0x1p-17 }), function(v)
    local d = v.x - kc.mean(v.x, -1)
    return d / kc.sqrt(kc.mean(d * d, -1) + kc.constant "0x1p-17") * v.w + v.b
  end },
  { kc.oracle.rmsnorm("x", "w", { epsilon = 0x1p-17 }), function(v)
    return v.x * kc.rsqrt(kc.mean(v.x * v.x, -1) + kc.constant "0x1p-17") * v.w
  end },
  { kc.oracle.matmul("x", "y", { transpose_b = true }), function(v) return kc.matmul(v.x, kc.transpose(v.y)) end },
  { kc.oracle.matmul("x", "y", "c", { transpose_b = true, alpha = 0.75, beta = -1.5 }), function(v)
    return 0.75 * kc.matmul(v.x, kc.transpose(v.y)) - 1.5 * v.c
  end },
  { kc.oracle.gelu("x"), function(v) return kc.gelu(v.x) end }, { kc.oracle.silu("x"), function(v) return kc.silu(v.x) end },
  { kc.oracle.sigmoid("x"), function(v) return kc.sigmoid(v.x) end }, { kc.oracle.tanh("x"), function(v)
    return (kc.exp(2 * v.x) - 1) / (kc.exp(2 * v.x) + 1)
  end },
  { kc.oracle.cbrt("x"), function(v) return kc.cbrt(v.x) end }, { kc.oracle.exp2("x"), function(v) return kc.exp2(v.x + 0) end },
  { kc.oracle.div("x", "y"), function(v) return v.x / v.y end },
}

local data = {
  { "f32", { kind = "normal", a = 0, b = 1 } }, { "f32", { kind = "log_uniform", a = -20, b = 6, c = 0 } },
  { "f16", { kind = "uniform", a = -8, b = 8 } }, { "f64", { kind = "log_uniform", a = -40, b = 5, c = 0 } },
  { "bf16", { kind = "integers", a = -7, b = 7 } },
}

local function overlap(description, k, c, e)
  assert(#c == #e, ("%s: %d elements against %d"):format(description, #c, #e))
  for i = 1, #c do
    local lo, hi, classes = c:at(i)
    local low, high, others = e:at(i)
    local where = ("%s, data %d, element %d: [%a, %a] %s against [%a, %a] %s"):format(description, k, i, lo, hi, table.concat(classes, " "),
      low, high, table.concat(others, " "))
    assert(lo <= high and low <= hi, where)
    assert(hi - lo <= 0x1p-50 * math.max(math.abs(lo), math.abs(hi)) + 0x1p-1060, where .. " is wide")
    if #classes == 1 and #others == 1 then assert(classes[1] == others[1], where) end
    passed = passed + 1
  end
end

for k, row in ipairs(data) do
  local inputs = { x = kc.buffer(row[1], { 6, 40 }), y = kc.buffer(row[1], { 6, 40 }), w = kc.buffer(row[1], { 40 }),
                   b = kc.buffer(row[1], { 40 }), c = kc.buffer(row[1], { 6, 6 }) }
  for i, name in ipairs { "x", "y", "w", "b", "c" } do inputs[name]:fill(100 * k + i, row[2]) end
  for i = 1, #inputs.y do if inputs.y[i] == 0 then inputs.y[i] = 1 end end
  for _, both in ipairs(pairs_of) do
    overlap(tostring(both[1]), k, oracle.evaluate(both[1], inputs), oracle.evaluate(kc.oracle.expression(both[2]), inputs))
  end
end
print(("crosscheck: %d passed"):format(passed))
