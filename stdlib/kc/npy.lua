---@module kc.npy
-- Tensors in .npy files (NumPy's format), for scripts and contracts: kc.npy.read, kc.npy.write.
local core = require "kc.core"
local M = {}

--- Reads a .npy file into a new buffer: row-major, native byte order; NumPy's bool as u8. A format that NumPy lacks (bf16, 8-bit
--- floats) is stored as integers or raw bytes: `format` says what they are.
---@param path string
---@param options table|nil {format=}
---@return userdata|nil buffer, string|nil message, string|nil code
function M.read(path, options) return core.npyread(path, options) end

--- Writes a buffer as a .npy file, row-major. Formats that NumPy lacks become unsigned integers of their size.
---@param path string
---@param buffer userdata
---@return boolean|nil ok, string|nil message, string|nil code
function M.write(path, buffer) return core.npywrite(path, buffer) end

--- What the header of a .npy file says.
---@param path string
---@return table|nil info {format (nil: raw bytes), itemsize, count, fortran, bigendian, shape}
---@return string|nil message, string|nil code
function M.info(path) return core.npyinfo(path) end

return M
