---@module kc.new.formats
-- How the kernels of a scaffold read and write a format: the type of an element, and what turns it into a number and back.
local M = {}

-- mask: what a code that has lost some of its last bits keeps.
local rows = {
  f32 = { type = "kc_f32", read = "%s", write = "(kc_f32)(%s)", mask = "kc_f32_of_bits(kc_bits_of_f32(%s) & 0xffff0000u)",
          normal = "1.17549435e-38f" },
  f16 = { type = "kc_u16", read = "kc_f16_to_f32(%s)", write = "kc_f32_to_f16((kc_f32)(%s))", mask = "(kc_u16)(%s & 0xfffcu)",
          normal = "6.10351562e-5f" },
  bf16 = { type = "kc_u16", read = "kc_bf16_to_f32(%s)", write = "kc_f32_to_bf16((kc_f32)(%s))", mask = "(kc_u16)(%s & 0xfffcu)",
           normal = "1.17549435e-38f" },
}

--- The formats that kernels of a scaffold can be written for.
M.names = { "f32", "f16", "bf16" }

--- The type of an element, and the smallest normal number, as the dialect writes them.
---@param format string
---@return string type, string normal
function M.type(format) return rows[format].type, rows[format].normal end

--- An element as a number, a number as an element, and one without its last bits.
---@param format string
---@param text string an expression in the dialect
---@return string expression
function M.read(format, text) return (rows[format].read:format(text)) end

--- A number as an element of a format.
---@param format string
---@param text string an expression in the dialect
---@return string expression
function M.write(format, text) return (rows[format].write:format(text)) end

--- The same, with the last bits of the code lost.
---@param format string
---@param text string an expression in the dialect
---@return string expression
function M.truncated(format, text) return (rows[format].mask:format(M.write(format, text))) end

return M
