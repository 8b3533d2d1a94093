---@module kc.exchange
-- Tensors in a directory, for programs that are not kc's: written for them and read from them as .npy, .npz or .safetensors. What is
-- read is untrusted: links are not followed, headers and sizes are bounded by what is asked for. See spec/external.md.
local core = require "kc.core"
local json = require "kc.json"
local M = {}

M.formats = { "npy", "npz", "safetensors" }

local HEADER = 1024 * 1024 -- bytes that a header may have, of .npy and of .safetensors
local RANK = 8 -- dimensions that a buffer may have
local ASIDE = 16 * 1024 * 1024 -- bytes of an archive for what is not asked for

-- kc's formats by the names of safetensors; those that it lacks are unsigned integers of their storage size.
local dtypes = { f64 = "F64", f32 = "F32", f16 = "F16", bf16 = "BF16", e4m3fn = "F8_E4M3", e5m2 = "F8_E5M2",
                 i8 = "I8", i16 = "I16", i32 = "I32", i64 = "I64", u8 = "U8", u16 = "U16", u32 = "U32", u64 = "U64" }
local widths = { F64 = 8, F32 = 4, F16 = 2, BF16 = 2, F8_E4M3 = 1, F8_E5M2 = 1, I8 = 1, I16 = 2, I32 = 4, I64 = 8, U8 = 1, U16 = 2,
                 U32 = 4, U64 = 8, BOOL = 1, F8_E8M0 = 1, F8_E4M3FNUZ = 1, F8_E5M2FNUZ = 1 }

--- The name that safetensors have for elements of a format.
---@param format string
---@return string dtype
function M.dtype(format) return dtypes[format] or ("U%d"):format(8 * core.format(format).storage) end

-- A failure of what was read: "absent" says that there is no such tensor, "output" that it is not what was asked for.
local function failure(message, code) return nil, message, code == "absent" and "absent" or "output" end

-- Where a file lies, and what messages call it.
local function open(from, name)
  local shown = ("%s/%s"):format(from.shown, name)
  local fd, message, code = core.openinside(from.directory, name)
  if fd then return fd, shown end
  return failure(("'%s' %s"):format(shown, message), code)
end

local function write_file(path, ...)
  local file, message = io.open(path, "wb")
  if not file then return nil, message end
  local ok, why = file:write(...)
  local closed, last = file:close()
  if ok and closed then return true end
  return nil, ("%s: %s"):format(path, why or last)
end

local files = {} -- format -> name of the file that holds a tensor
local writers, readers = {}, {}

-- ---- .npy: a file for each tensor ---------------------------------------------------------------------------------------------

function files.npy(name) return name .. ".npy" end

function writers.npy(directory, tensors)
  for _, tensor in ipairs(tensors) do
    local ok, message = core.npywrite(("%s/%s.npy"):format(directory, tensor.name), tensor.buffer)
    if not ok then return nil, message end
  end
  return true
end

function readers.npy(from, tensor)
  local fd, shown, code = open(from, tensor.name .. ".npy")
  if not fd then return nil, shown, code end
  local ok, why = core.npyfill(tensor.buffer, fd, shown)
  if not ok then return failure(why) end
  return true
end

-- ---- .npz: one archive of .npy files --------------------------------------------------------------------------------------------

function files.npz(_, group) return group .. ".npz" end

function writers.npz(directory, tensors, group) return require("kc.zip").create(("%s/%s.npz"):format(directory, group), tensors) end

function readers.npz(from, tensor, group)
  local member = tensor.name .. ".npy"
  local fd, path, code = open(from, group .. ".npz")
  if not fd then return nil, path, code end
  local size, most = core.sizeof(fd), 2 * from.bytes + ASIDE
  if size > most then
    core.closefd(fd)
    return failure(("'%s' has %d bytes, expected at most %d"):format(path, size, most))
  end
  local unpacked, why, which = require("kc.zip").extract(fd, path, member, tensor.buffer:bytes() + HEADER)
  if not unpacked then return failure(why, which) end
  local ok, wrong = core.npyfill(tensor.buffer, unpacked, ("%s:%s"):format(path, member))
  if not ok then return failure(wrong) end
  return true
end

-- ---- .safetensors: length of the header, the header, the data --------------------------------------------------------------------

function files.safetensors(_, group) return group .. ".safetensors" end

function writers.safetensors(directory, tensors, group)
  local header, raw, at = {}, {}, 0
  for i, tensor in ipairs(tensors) do
    local bytes = tensor.buffer:bytes()
    header[tensor.name] = { dtype = M.dtype(tensor.buffer:format()), shape = json.list(tensor.buffer:shape()),
                            data_offsets = { at, at + bytes } }
    raw[i], at = tensor.buffer:raw(), at + bytes
  end
  local text = json.encode(header)
  text = text .. (" "):rep(-#text % 8) -- the data begin at a multiple of 8
  return write_file(("%s/%s.safetensors"):format(directory, group), string.pack("<I8", #text), text, table.unpack(raw))
end

-- Bytes that a shape needs, or nil where the entry is malformed.
local function bytes_of(entry)
  local width = widths[entry.dtype or ""]
  if not width or type(entry.shape) ~= "table" then return nil end
  local bytes = width
  for _, n in ipairs(entry.shape) do
    if math.type(n) ~= "integer" or n < 0 or n > 1 << 53 or bytes > (1 << 62) // math.max(n, 1) then return nil end
    bytes = bytes * n
  end
  return bytes
end

local function extent_of(name, entry)
  local offsets = type(entry) == "table" and entry.data_offsets
  local from, to = type(offsets) == "table" and offsets[1], type(offsets) == "table" and offsets[2]
  if math.type(from) ~= "integer" or math.type(to) ~= "integer" or from < 0 or to < from then
    return nil, ("tensor '%s': expected two data_offsets in order"):format(name)
  end
  local bytes = bytes_of(entry)
  if not bytes then return nil, ("tensor '%s': expected a known dtype and a shape of sizes"):format(name) end
  if to - from ~= bytes then
    return nil, ("tensor '%s': its offsets span %d bytes, dtype and shape need %d"):format(name, to - from, bytes)
  end
  return { name = name, from = from, to = to }
end

-- The format leaves no byte out and lets no two tensors share one: so a name that stands twice shows, too.
local function check_extents(header, size)
  local list = {}
  for _, name in ipairs(require("kc.words").keys(header)) do
    if name ~= "__metadata__" then
      local extent, message = extent_of(name, header[name])
      if not extent then return message end
      list[#list + 1] = extent
    end
  end
  table.sort(list, function(a, b) return a.from < b.from or a.from == b.from and a.to < b.to end)
  local at = 0
  for _, extent in ipairs(list) do
    if extent.from ~= at then
      return ("tensor '%s' begins at byte %d of the data, expected %d: without gap or overlap"):format(extent.name, extent.from, at)
    end
    at = extent.to
  end
  if at ~= size then return ("the tensors take %d bytes, the file has %d for them"):format(at, size) end
end

-- An unsigned integer in decimal.
local function decimal(n)
  if n >= 0 then return tostring(n) end
  local tens = (n >> 1) // 5
  return ("%d%d"):format(tens, n - tens * 10)
end

-- The header and where the data begin; nil and what is wrong.
local function read_header(fd)
  local size = core.sizeof(fd)
  local prefix = core.readat(fd, 0, 8)
  if #prefix < 8 then return nil, ("%d bytes, expected at least 8"):format(size) end
  local length = string.unpack("<I8", prefix)
  if math.ult(HEADER, length) then return nil, ("a header of %s bytes, expected at most %d"):format(decimal(length), HEADER) end
  local text = core.readat(fd, 8, length)
  if #text < length then return nil, ("a header of %d bytes in a file of %d"):format(length, size) end
  local header, message = json.decode(text)
  if type(header) ~= "table" or text:sub(1, 1) ~= "{" then return nil, "header: " .. (message or "expected an object") end
  local wrong = check_extents(header, size - 8 - length)
  if wrong then return nil, wrong end
  return header, 8 + length
end

function readers.safetensors(from, tensor, group)
  local fd, path, code = open(from, group .. ".safetensors")
  if not fd then return nil, path, code end
  local header, begin = read_header(fd)
  local entry, dtype = header and header[tensor.name], M.dtype(tensor.buffer:format())
  local why
  if not header then
    why = ("'%s': %s"):format(path, begin)
  elseif not entry then
    core.closefd(fd)
    return failure(("'%s' has no tensor '%s'"):format(path, tensor.name), "absent")
  elseif entry.dtype ~= dtype then
    why = ("'%s': tensor '%s' is %s, expected %s"):format(path, tensor.name, entry.dtype, dtype)
  elseif #entry.shape > RANK then
    why = ("'%s': tensor '%s' has %d dimensions"):format(path, tensor.name, #entry.shape)
  end
  if why then
    core.closefd(fd)
    return failure(why)
  end
  local layout = { offset = begin + entry.data_offsets[1], shape = entry.shape }
  local ok, wrong = core.npyfill(tensor.buffer, fd, ("%s:%s"):format(path, tensor.name), layout)
  if not ok then return failure(wrong) end
  return true
end

-- ---- groups of tensors -----------------------------------------------------------------------------------------------------------

--- The file of a directory that holds a tensor.
---@param format string one of M.formats
---@param name string the tensor's
---@param group string "inputs" or "outputs"
---@return string file
function M.file(format, name, group) return files[format](name, group) end

--- Writes inputs into a directory, and their dimensions as sizes.json.
---@param directory string
---@param format string one of M.formats
---@param tensors table list of {name=, buffer=}
---@param sizes table dimension -> size
---@return boolean|nil ok, string|nil message
function M.write(directory, format, tensors, sizes)
  local ok, message = writers[format](directory, tensors, "inputs")
  if not ok then return nil, message end
  return write_file(directory .. "/sizes.json", json.encode(sizes), "\n")
end

--- Reads outputs from a directory into buffers. A tensor without elements need not be there.
---@param directory string
---@param format string one of M.formats
---@param tensors table list of {name=, buffer=}
---@param shown string|nil what messages call the directory
---@return boolean|nil ok
---@return string|nil message
---@return string|nil code "absent": no such tensor; "output": it is not what its buffer is
function M.read(directory, format, tensors, shown)
  local from = { directory = directory, shown = shown or directory, bytes = 0 }
  for _, tensor in ipairs(tensors) do from.bytes = from.bytes + tensor.buffer:bytes() end
  for _, tensor in ipairs(tensors) do
    local ok, message, code = readers[format](from, tensor, "outputs")
    if code == "absent" then message = ("left output '%s' unwritten: %s"):format(tensor.name, message) end
    if not ok and not (code == "absent" and #tensor.buffer == 0) then return nil, message, code end
  end
  return true
end

return M
