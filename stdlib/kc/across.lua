---@module kc
-- kc.across: what an operation gives in each of several formats, beside its exact value.
local core = require "kc.core"
local number = require "kc.number"
local show = require "kc.show"
local words = require "kc.words"
local M = {}

local USUAL = { "f64", "f32", "tf32", "bf16", "f16", "e5m2", "e4m3fn" }
local PRECISION = 300 -- bits: beyond twice those of f64, so that products are exact and quotients are told apart

-- The error of a number in ulps of its format, as text.
local function error_text(y, exact, real)
  local value = y.value
  if value ~= value or math.abs(value) == math.huge then return "-" end
  local ulps = ((real(value, PRECISION) - exact) / real(core.ulp_at(y.format, value), PRECISION)):tonumber()
  return ("%.4g"):format(math.abs(ulps))
end

local function row(f, format, xs, exact, real)
  local operands = {}
  for i, x in ipairs(xs) do operands[i] = number.number(format, x) end
  local y = f(table.unpack(operands))
  if type(y) ~= "table" or rawget(y, "format") ~= format then
    error("kc.across: argument 1: expected a function by + - * / of its arguments; it gave " .. words.show(y), 0)
  end
  return { format, show.decimal(y.value + 0.0), ("0x%0" .. (core.format(format).bits + 3) // 4 .. "x"):format(y.code),
           error_text(y, exact, real) }
end

local function aligned(rows)
  local widths, lines = {}, {}
  for _, cells in ipairs(rows) do
    for i, cell in ipairs(cells) do widths[i] = math.max(widths[i] or 0, #cell) end
  end
  for n, cells in ipairs(rows) do
    local parts = {}
    for i, cell in ipairs(cells) do parts[i] = i < #cells and cell .. (" "):rep(widths[i] - #cell) or cell end
    lines[n] = table.concat(parts, "  ")
  end
  return table.concat(lines, "\n")
end

--- An operation in several formats: its arguments are rounded to the format, every operation rounds once more (in doubles in
--- between, which is innocent for formats of up to 25 bits and for f64), and the error is against the operation on the arguments as given.
---@param f function of numbers, by + - * /, e.g. function(a, b) return a * b end
---@param xs table its arguments, numbers or reals
---@param formats table|nil names; f64 f32 tf32 bf16 f16 e5m2 e4m3fn when omitted
---@return table page printed as text: format, result, code, error in ulps of the result
function M.across(f, xs, formats)
  if type(f) ~= "function" then error("kc.across: argument 1: expected a function, got " .. words.show(f), 2) end
  if type(xs) ~= "table" then error("kc.across: argument 2: expected a list of numbers, got " .. words.show(xs), 2) end
  local real, arguments = require("kc.exact").real, {}
  for i, x in ipairs(xs) do arguments[i] = type(x) == "number" and real(x, PRECISION) or x end
  local exact = f(table.unpack(arguments))
  local rows = { { "format", "result", "code", "error in ulp" } }
  for _, format in ipairs(formats or USUAL) do rows[#rows + 1] = row(f, format, xs, exact, real) end
  return show.page(aligned(rows))
end

return M
