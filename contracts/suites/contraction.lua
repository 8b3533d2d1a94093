-- One text, compiled with contraction off, on, and with fast mathematics: which roundings of a x + b x are left, device by device. See
-- README.md beside this file.
local kc = require "kc"

-- The variants of a kernel that ships with a contract; `level` keeps their names apart.
local function variants(level)
  local list = {}
  local rows = { { "separate" }, { "contracted", contraction = true }, { "fast", contraction = true, fast_math = true } }
  for i, row in ipairs(rows) do
    list[i] = kc.kernel { name = level .. "/" .. row[1], file = "../C-CMP-01.axbx.f0.f32/plain.k", entry = "axbx",
                          args = { "a", "b", "x", "y", "n" }, group = { 64 }, grid = { "n" },
                          contraction = row.contraction, fast_math = row.fast_math }
  end
  return list
end

local fused = [[
The compiler was allowed to contract, and made fma(a, x, b x) or fma(b, x, a x) of a x + b x: one product is not rounded before the sum.
Where the products cancel (b = -a) the result is that product's rounding error instead of 0. This is what C's FP_CONTRACT and OpenCL's
default permit and what nvcc does unless told --fmad=false: no defect of the compiler, but no kernel that promises F0 may be built so.]]

local reassociated = [[
Fast mathematics permits what contraction does and reassociation besides. gcc makes (a + b) x of a x + b x: two roundings instead of three,
and other ones, also where nothing cancels. clang (PoCL's compiler) fuses a product as it does without it.]]

return kc.suite {
  name = "contraction",
  judge = {
    { contract = "../C-CMP-01.axbx.f0.f32", matrix = "a x + b x, every operation rounded (F0)", implementations = variants "f0",
      explain = { { case = "*", implementation = "*/fast", text = reassociated },
                  { case = "*", implementation = "*/contracted", text = fused } } },
    { contract = "../C-CMP-01.axbx.f1.f32", matrix = "a x + b x, contraction allowed (F1)", implementations = variants "f1" },
  },
}
