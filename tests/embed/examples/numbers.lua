-- numbers.lua - kc in stock Lua: lua5.4 numbers.lua
local kc = require "kc"

-- Numbers of a format, rounded once.
print(kc.f16(0.1))
assert(tostring(kc.f16(0.1)) == "0.0999755859375 (0x1.998p-4, f16, code 0x2e66)")
assert(kc.ulp(1.0, 1.5, "bf16") == 64)

-- Tensors and how far apart they are.
local got, reference = kc.buffer("f32", 3, { 1, 2, 3 }), kc.buffer("f32", 3, { 1, 2, kc.next(3, "f32", -1) })
local far = kc.metric("ulp", got, reference)
print(("worst %g ulp at element %d"):format(far.max, far.worst))
assert(far.max == 1 and far.worst == 3)

-- MPFR, loaded on first use.
assert(tostring(kc.real "0.1"):sub(1, 12) == "0.1000000000")

-- A contract, judged as `kc run` does it.
for _, cell in ipairs(kc.judge("C-EXC-01/relu.f32", { impl = "*_else_*" })) do
  print(cell.implementation, cell.verdict.name, cell.verdict.signature or "")
  assert(cell.verdict.name == (cell.implementation == "less_else_x" and "held" or "violated"))
end
