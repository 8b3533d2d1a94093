local kc = require "kc"

-- What other checkers were seen to accept: results of a right relu or exp, spoilt in one way each.
local inf, nan = math.huge, 0 / 0

local function relu(x) return x < 0 and 0 or x end
local function is_nan(x) return x ~= x end

local function spoilt(name, right, spoil)
  return kc.implementation { name = name, run = function(_, inputs, outputs)
    local x, y = inputs.x, outputs.y
    for i = 1, #x do y[i] = spoil(right(x[i]), x[i], i) end
  end }
end

local function of_relu(name, spoil) return spoilt("relu_" .. name, relu, spoil) end

-- exp in double is within a fraction of an f32 ulp; the runner has no libm of ours to offer, so this is Lua's.
local function of_exp(name, spoil) return spoilt("exp_" .. name, math.exp, spoil) end

local function same(y) return y end

-- A right matrix product, spoilt afterwards; `narrow` rounds the operands first, as a device that coerces silently does.
local function of_matmul(name, spoil, narrow)
  local file = "../../../contracts/C-PRC-01.matmul.f16.acc_f32/acc_f32.k"
  return kc.implementation { name = "matmul_" .. name, kernels = { file }, run = function(device, inputs, outputs, sizes)
    local kernel = device:kernel { file = file, entry = "matmul",
      params = { "A: f16[]", "B: f16[]", "C: f32[]", "M: i32", "N: i32", "K: i32" } }
    local A = inputs.A
    if narrow then
      A = inputs.A:copy()
      for i = 1, #A do A[i] = kc.decode(narrow, kc.encode(narrow, A[i])) end
    end
    device:launch(kernel, { A, inputs.B, outputs.C, sizes.M, sizes.N, sizes.K },
      { grid = { (sizes.N + 15) // 16, (sizes.M + 15) // 16 }, group = { 16, 16 } })
    if spoil then spoil(outputs.C) end
  end }
end

local function fill(value) return function(c) for i = 1, #c do c[i] = value end end end
local function first(value) return function(c) if #c > 0 then c[1] = value end end end

local function of_raise(name, run) return kc.implementation { name = "raise_" .. name, run = run } end

local function pick(x, y, outside)
  for i = 1, #x.index do
    local k = x.index[i]
    y.y[i] = k >= 0 and k < #x.data and x.data[k + 1] or outside(x, k)
  end
end

return kc.suite {
  name = "results that other checkers accept",
  judge = {
    { contract = "C-EXC-01/relu.f32", implementations = {
      of_relu("control", same),
      of_relu("all_nan", function() return nan end),
      of_relu("all_inf", function() return inf end),
      of_relu("one_nan", function(y, _, i) return i == 1 and nan or y end),
      of_relu("one_inf", function(y, _, i) return i == 1 and inf or y end),
      of_relu("nan_becomes_inf", function(y, x) return is_nan(x) and inf or y end),
      of_relu("inf_becomes_nan", function(y, x) return x == inf and nan or y end),
      of_relu("inf_becomes_minus_inf", function(y, x) return x == inf and -inf or y end),
      of_relu("nan_becomes_zero", function(y, x) return is_nan(x) and 0 or y end),
      of_relu("finite_values_wrong", function(y) return y ~= inf and y * 2 or y end),
      of_relu("last_element_wrong", function(y, x, i) return i == 4096 and x == x and 7 or y end),
      of_relu("zero_where_small", function(y) return y < 1e-2 and 0 or y end),
      kc.implementation { name = "relu_always_raises", run = function() error "refused" end },
    } },
    { contract = "C-PRC-01/matmul.f16.acc_f32", implementations = {
      of_matmul("control"),
      of_matmul("all_nan", fill(nan)), of_matmul("one_nan", first(nan)), of_matmul("one_inf", first(inf)), of_matmul("all_inf", fill(inf)),
      of_matmul("zeros", fill(0)),
      of_matmul("bf16_coerced", nil, "bf16"), of_matmul("e4m3_coerced", nil, "e4m3fn"),
      of_matmul("last_element_off_by_one_ulp", function(c)
        local last = c[#c]
        if #c == 1024 and last == math.floor(last) then c[#c] = kc.next(last, "f32") end
      end),
      kc.implementation { name = "matmul_always_raises", run = function() error "refused" end },
    } },
    { contract = "C-PRC-02/exp.f32", implementations = {
      of_exp("control", same),
      of_exp("zero_where_small", function(y) return y < 1e-2 and 0 or y end),
      of_exp("one_per_mille_off", function(y) return y * 1.001 end),
      of_exp("f16_coerced", function(y) return kc.decode("f16", kc.encode("f16", y)) end),
      of_exp("bf16_coerced", function(y) return kc.decode("bf16", kc.encode("bf16", y)) end),
      of_exp("inf_for_large", function(y, x) return x > 80 and inf or y end),
      of_exp("all_nan", function() return nan end),
    } },
    { contract = "C-EXC-02/gather.raise.f32", implementations = {
      of_raise("control", function(_, x, y) pick(x, y, function() error "index out of range" end) end),
      of_raise("always_raises", function() error "index out of range" end),
      of_raise("returns_zero", function(_, x, y) pick(x, y, function() return 0 end) end),
      of_raise("raises_and_is_wrong_inside", function(_, x, y)
        pick(x, y, function() error "index out of range" end)
        y.y[1] = y.y[1] + 1
      end),
    } },
    { contract = "C-EXC-02/gather.undefined.f32", implementations = {
      of_raise("undefined_control", function(_, x, y) pick(x, y, function() return nan end) end),
      of_raise("undefined_wrong_inside", function(_, x, y)
        pick(x, y, function() return nan end)
        y.y[1] = y.y[1] + 1
      end),
    } },
    { contract = "C-CMP-03/matmul.f32", implementations = {
      kc.implementation { name = "shapes_zeros", run = function(_, _, y) fill(0)(y.C) end },
      kc.implementation { name = "shapes_two_of_fifty_wrong", kernels = { "../../../contracts/C-CMP-03.matmul.f32/matmul.k" },
        run = function(device, x, y, sizes)
          local kernel = device:kernel { file = "../../../contracts/C-CMP-03.matmul.f32/matmul.k", entry = "matmul",
            params = { "A: f32[]", "B: f32[]", "C: f32[]", "M: i32", "N: i32", "K: i32" } }
          device:launch(kernel, { x.A, x.B, y.C, sizes.M, sizes.N, sizes.K },
            { grid = { (sizes.N + 15) // 16, (sizes.M + 15) // 16 }, group = { 16, 16 } })
          if sizes.M % 25 == 24 and #y.C > 0 then y.C[1] = y.C[1] + 1 end
        end },
    } },
  },
}
