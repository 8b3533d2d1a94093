-- Sums and row functions: exceptional rows as spec/oracles.md lists them, empty rows, ties, parameters. Values against MPFR:
-- tests/unit/test_row.c.
local kc = require "kc"
local core = require "kc.core"
local exact = require "kc.exact"
local inf, nan, max, min = math.huge, 0 / 0, 1.7976931348623157e308, 5e-324
local passed = 0

local function row(name, lists, params)
  local buffers = {}
  for i, list in ipairs(lists) do buffers[i] = kc.buffer("f64", #list, list) end
  return assert(exact.oracle(name, buffers, params))
end

-- Name, row, second input (factors or weights), classes of the results, value of the first where it is finite, parameters.
local exceptional = {
  { "sum", { 1, nan, inf }, nil, { "nan" } },
  { "sum", { inf, 1, -inf }, nil, { "nan" } },
  { "sum", { inf, 1, inf }, nil, { "+inf" } },
  { "sum", { max, -inf, max }, nil, { "-inf" } },
  { "sum", { 1, -1, 0 }, nil, { "-0 +0" } },
  { "sum", { -0.0, -0.0, -0.0 }, nil, { "-0 +0" } },
  { "sum", { max, max, -max }, nil, { "+finite" }, max },
  { "sum", { 1e300, 1e-300, -1e300 }, nil, { "+finite" }, 1e-300 },
  { "sum", { max, max, 1 }, nil, { "+finite" }, inf },
  { "sum", { min, -max, max }, nil, { "+finite" }, min },
  { "mean", { max, max, max }, nil, { "+finite" }, max },
  { "mean", { min, 0, 0 }, nil, { "+finite" }, 0 },
  { "mean", { -1, 1, inf }, nil, { "+inf" } },
  { "mean", { -1, 1, 0 }, nil, { "-0 +0" } },
  { "cumsum", { 1, -1, nan }, nil, { "+finite", "-0 +0", "nan" }, 1 },
  { "cumsum", { -inf, 5, inf }, nil, { "-inf", "-inf", "nan" } },
  { "cumsum", { nan, 5, inf }, nil, { "nan", "nan", "nan" } },
  { "variance", { 1, 1, inf }, nil, { "nan" } },
  { "variance", { 1, nan, 1 }, nil, { "nan" } },
  { "variance", { 1, 1, 1 }, nil, { "+0" } },
  { "variance", { -3, 0, 3 }, nil, { "+finite" }, 6 },
  { "variance", { max, 0, 0 }, nil, { "+finite" }, inf },
  { "dot", { inf, 1, 1 }, { 0, 1, 1 }, { "nan" } },
  { "dot", { inf, 1, 1 }, { -2, 1, 1 }, { "-inf" } },
  { "dot", { inf, 1, inf }, { -2, 1, 2 }, { "nan" } },
  { "dot", { max, max, 3 }, { max, -max, 1 }, { "+finite" }, 3 },
  { "dot", { min, 1, -1 }, { min, 1, 1 }, { "+finite" }, 0 },
  { "dot", { nan, 1, 1 }, { 0, 1, 1 }, { "nan" } },
  { "dot", { 0, -0.0, 5 }, { 1, 1, 0 }, { "-0 +0" } },
  { "sum", { inf, 1, -inf }, nil, { "+inf" }, nil, { magnitude = true } },
  { "cumsum", { -2, -inf, nan }, nil, { "+finite", "+inf", "nan" }, 2, { magnitude = true } },
  { "mean", { -1, 1, -1 }, nil, { "+finite" }, 1, { magnitude = true } },
  { "softmax", { 1, nan, 2 }, nil, { "nan", "nan", "nan" } },
  { "softmax", { 1, inf, 2 }, nil, { "nan", "nan", "nan" } },
  { "softmax", { -inf, -inf, -inf }, nil, { "nan", "nan", "nan" } },
  { "softmax", { 7, -inf, -inf }, nil, { "+finite", "+0", "+0" }, 1 },
  { "softmax", { -inf, 7, 7 }, nil, { "+0", "+finite", "+finite" } },
  { "softmax", { 0, max, -max }, nil, { "+finite", "+finite", "+finite" }, 0 },
  { "softmax", { 0, -800, -1e6 }, nil, { "+finite", "+finite", "+finite" }, 1 },
  { "log_softmax", { 1, nan, -inf }, nil, { "nan", "nan", "nan" } },
  { "log_softmax", { 1, inf, 2 }, nil, { "nan", "nan", "nan" } },
  { "log_softmax", { -inf, -inf, -inf }, nil, { "nan", "nan", "nan" } },
  { "log_softmax", { 7, -inf, -inf }, nil, { "-0 +0", "-inf", "-inf" } },
  { "log_softmax", { 0, -1e6, -max }, nil, { "-finite", "-finite", "-finite" }, 0 },
  { "log_softmax", { -max, max, 0 }, nil, { "-finite", "-finite", "-finite" }, -inf },
  { "logsumexp", { 1, nan, inf }, nil, { "nan" } },
  { "logsumexp", { 1, -inf, inf }, nil, { "+inf" } },
  { "logsumexp", { -inf, -inf, -inf }, nil, { "-inf" } },
  { "logsumexp", { -inf, 3, -inf }, nil, { "+finite" }, 3 },
  { "logsumexp", { -inf, -0.0, -inf }, nil, { "-0 +0" } },
  { "logsumexp", { 0, -1e9, -2e9 }, nil, { "+finite" }, 0 },
  { "logsumexp", { max, max, 0 }, nil, { "+finite" }, inf },
  { "layernorm", { 1, inf, 2 }, { 1, 1, 1 }, { "nan", "nan", "nan" } },
  { "layernorm", { 1, nan, 2 }, { 1, 1, 1 }, { "nan", "nan", "nan" } },
  { "layernorm", { 4, 4, 4 }, { 1, 1, 1 }, { "nan", "nan", "nan" } },
  { "layernorm", { 1, 2, 3 }, { inf, inf, nan }, { "-inf", "nan", "nan" } },
  { "layernorm", { 1, 2, 3 }, { 0, 5, -inf }, { "-0 +0", "-0 +0", "-inf" } },
  { "rmsnorm", { inf, 2, -3 }, { 1, 1, 1 }, { "nan", "+0", "-0" } },
  { "rmsnorm", { -inf, 2, 0 }, { 1, -1, inf }, { "nan", "-0", "nan" } },
  { "rmsnorm", { 1, nan, inf }, { 1, 1, 1 }, { "nan", "nan", "nan" } },
  { "rmsnorm", { 0, 0, -0.0 }, { 1, 1, 1 }, { "nan", "nan", "nan" } },
  { "rmsnorm", { -0.0, 0, 3 }, { 1, -1, inf }, { "-0", "-0", "+inf" } },
  { "rmsnorm", { 1, -2, 0 }, { -0.0, 0, nan }, { "-0", "-0", "nan" } },
  { "rmsnorm", { max, 0, 0 }, { 1, 1, 1 }, { "+finite", "+0", "+0" }, 0x1.bb67ae8584caap0 },
}
for _, case in ipairs(exceptional) do
  local name, x, y, classes, value, params = table.unpack(case, 1, 6)
  local e = row(name, y and { x, y } or { x }, params)
  local where = ("%s(%s%s)"):format(name, table.concat(x, " "), y and "; " .. table.concat(y, " ") or "")
  assert(#e == #classes, where .. ": " .. #e .. " results")
  for i, want in ipairs(classes) do
    local lo, hi, got = e:at(i)
    assert(table.concat(got, " ") == want, ("%s, result %d: %s, expected %s"):format(where, i, table.concat(got, " "), want))
    assert(i > 1 or not value or (lo <= value and value <= hi), ("%s: %s is not in [%a, %a]"):format(where, value, lo, hi))
    passed = passed + 1
  end
end

-- Length 0 gives what the empty sum and the empty maximum are; the other axis leaves nothing.
local empty = { sum = "+0", dot = "+0", mean = "nan", variance = "nan", logsumexp = "-inf", cumsum = false, softmax = false,
                log_softmax = false, layernorm = false, rmsnorm = false }
for name, class in next, empty do -- any order
  local x = kc.buffer("f32", { 2, 0 })
  local inputs = name == "dot" and { x, x } or { x }
  local e = assert(exact.oracle(name, inputs))
  assert(#e == (class and 2 or 0), name)
  for i = 1, #e do
    local _, _, got = e:at(i)
    assert(#got == 1 and got[1] == class, name .. " of nothing: " .. got[1])
  end
  assert(#assert(exact.oracle(name, inputs, { axis = 0 })) == 0, name)
  passed = passed + 1
end

-- Beyond and below the doubles a finite value stays finite.
local lo, hi = row("sum", { { max, max } }):at(1)
assert(lo == max and hi == inf)
lo, hi = row("softmax", { { 0, -800 } }):at(2)
assert(lo == 0 and hi == min)
lo, hi = row("softmax", { { 0, -800 } }):at(1)
assert(1 - 2.0 ^ -53 <= lo and lo < 1 and hi == 1)

-- The axis counts from 0, or from the end; the last when absent.
local cube = kc.buffer("f32", { 2, 3, 2 }, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 })
local function sums(params)
  local e, list = assert(exact.oracle("sum", { cube }, params)), {}
  for i = 1, #e do list[i] = ("%d"):format((e:at(i))) end
  return table.concat(list, " ")
end
assert(sums { axis = 0 } == "8 10 12 14 16 18")
assert(sums { axis = 1 } == "9 12 27 30")
assert(sums { axis = 2 } == "3 7 11 15 19 23" and sums() == sums { axis = 2 } and sums { axis = -1 } == sums())
assert(sums { axis = -3 } == sums { axis = 0 })

-- A description evaluates with its parameters, and a tie is decided: weight 1 + 2^-24 lies half-way between two f32 numbers.
local inputs = { x = kc.buffer("f64", 2, { -3, 5 }), w = kc.buffer("f64", 2, { 1, 1 + 2.0 ^ -24 }), b = kc.buffer("f64", 2, { 2, 0 }) }
local e = kc.oracle.evaluate(kc.oracle.layernorm("x", "w", "b", { axis = 0, epsilon = 0 }), inputs)
assert(e:at(1) == 1 and e:at(2) == 1 + 2.0 ^ -24)
local half = { kind = "ulp", value = 0.5, denormals = "preserve" }
for _, y in ipairs { 1, 1 + 2.0 ^ -23 } do
  assert(core.decide(kc.buffer("f32", 2, { 1, y }), e, half).value_yes == 2, "a tie is within half an ulp")
end
assert(core.decide(kc.buffer("f32", 2, { 1, 1 + 2.0 ^ -22 }), e, half).value_no == 1)

-- softmax(0, log 3 as a double) is off 1/4 by less than a double shows; a tolerance next to the error needs refinement.
local log3 = exact.log(exact.real(3, 300)):tonumber()
local real = exact.exp(exact.real(log3, 300))
local one = exact.real(1, 300)
local off = exact.abs((one / (one + real) - exact.real(0.25, 300)) / exact.real(0.25, 300)):tonumber()
e = row("softmax", { { 0, log3 } })
for _, side in ipairs { 1, -1 } do
  local d = core.decide(kc.buffer("f64", 2, { 0.25, 0.75 }), e, { kind = "rel", value = off * (1 + side * 1e-9), denormals = "preserve" })
  assert(d.value_unknown == 0 and d.refined >= 1 and d.first_value_no == (side < 0 and 1 or nil), "refined to " .. tostring(side))
end

local function raises(text, f, ...)
  local ok, message = pcall(f, ...)
  if ok then message = select(2, f(...)) end
  assert(tostring(message):find(text, 1, true), tostring(message))
  passed = passed + 1
end
raises("it reads no parameter 'ddof'", kc.oracle.softmax, "x", { ddof = 1 })
raises("did you mean 'epsilon'?", kc.oracle.layernorm, "x", { epsilom = 1 })
raises("expected 1 to 3 input names, got 4", kc.oracle.layernorm, "x", "w", "b", "c")
raises("oracle dot: expected 2 inputs, got 1", exact.oracle, "dot", { cube })
raises("oracle sum: axis 3: expected one of the 3 axes of f32[2,3,2]", exact.oracle, "sum", { cube }, { axis = 3 })
raises("oracle variance: ddof 2: expected 0..1 for rows of 2 elements", exact.oracle, "variance", { cube }, { ddof = 2 })
raises("oracle rmsnorm: input 2: expected a vector of 2 elements, got f64[3]", exact.oracle, "rmsnorm",
       { cube, kc.buffer("f64", 3) })
print(("row: %d passed"):format(passed))
