-- Soundness of the row formulas where partial results are kept in f16 or bf16: there products of relative errors are no longer small
-- beside the errors themselves, and sums overflow, stand still and underflow within ordinary data. KC_THOROUGH=1 takes ten times as many.
local rows = dofile "tests/soundness/rows.lua"
local normal, uniform, log_uniform, subnormal = rows.normal, rows.uniform, rows.log_uniform, rows.subnormal

local data = {
  exponents = { normal, uniform(-0.001, 0.001), uniform(0, 10), uniform(-20, 0), uniform(-100, 0), log_uniform(-12, 5), subnormal },
  values = { normal, uniform(0, 1), uniform(9, 11), uniform(99, 101), log_uniform(-8, 4), log_uniform(-14, -7), subnormal,
             log_uniform(7, 15) },
}
local sizes = {
  wide = { { 64, 1 }, { 128, 2 }, { 64, 5 }, { 16, 33 }, { 1, 2048 } },
  per_row = { { 512, 1 }, { 1024, 2 }, { 512, 3 }, { 256, 8 }, { 8, 129 }, { 1, 2048 } },
}
for _, format in ipairs { "f16", "bf16" } do
  for number in ipairs(rows.formulas) do
    rows.run(number, { format = format, data = data, sizes = sizes, least = 15000, sharp = 0.1,
                       rounds = os.getenv "KC_THOROUGH" == "1" and 10 or 1 })
  end
end
