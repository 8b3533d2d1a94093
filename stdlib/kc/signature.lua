---@module kc.signature
-- What measured accuracy says of the arithmetic behind it.
local M = {}

-- Significand bits and the formats that have them.
local precisions = {
  { 53, "f64" }, { 24, "f32" }, { 12, "hf32" }, { 11, "f16 or tf32" }, { 8, "bf16" }, { 4, "e4m3" }, { 3, "e5m2" },
}

--- The format whose significand a number of effective bits betrays: rounding to p bits leaves relative errors up to 2^-p, so that
--- -log2 of the largest one seen lies between p and p + 1 once a few hundred values were tried; towards zero one less.
---@param bits number measurement:bits(label)
---@return string|nil formats e.g. "bf16"; nil when no format is near
function M.format_of(bits)
  for _, row in ipairs(precisions) do
    if bits > row[1] - 0.3 and bits < row[1] + 0.9 then return row[2] end
  end
end

return M
