---@module kc.json
-- The one canonical encoder, for digests, traces and messages: keys sorted by bytes, integers as integers, floats as hex-float
-- strings (JSON numbers lose bits), strings as bytes with everything outside printable ASCII escaped. lua-cjson only reads.
local M = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

-- Bytes 128..255 become \u0080..\u00ff: one byte is one character, so that any byte string survives, valid UTF-8 or not.
local function quote(s)
  if not s:find('[%c"\\\127-\255]') then return '"' .. s .. '"' end -- nearly every string
  return '"' .. s:gsub('[%c"\\\127-\255]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

--- Text of a float that loses nothing: hex float, inf, -inf or nan.
---@param x number
---@return string text
function M.float(x)
  if x ~= x then return "nan" end
  if x == math.huge then return "inf" end
  if x == -math.huge then return "-inf" end
  return ("%a"):format(x)
end

local special = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

--- The float that M.float wrote; nil when the text is none.
---@param text string
---@return number|nil x
function M.tofloat(text) return special[text] or tonumber(text) end

--- A number that may have travelled as text.
---@param x number|string|nil
---@return number|nil
function M.number(x)
  if type(x) == "string" then return M.tofloat(x) end
  return x
end

local encode

local function is_list(t)
  local n = #t
  local count = 0
  for key in pairs(t) do -- only counted
    if math.type(key) ~= "integer" or key < 1 or key > n then return false end
    count = count + 1
  end
  return count == n and (n > 0 or getmetatable(t) == M.list_marker)
end

local function encode_table(t, depth)
  if depth > 64 then error("canonical encoding: nested deeper than 64 levels", 0) end
  local parts = {}
  if is_list(t) then
    for i = 1, #t do parts[i] = encode(t[i], depth + 1) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys, n = {}, 0
  for key in pairs(t) do -- sorted below
    if type(key) ~= "string" then error("canonical encoding: keys are strings, got " .. type(key), 0) end
    n = n + 1
    keys[n] = key
  end
  if n > 1 then table.sort(keys) end
  for i, key in ipairs(keys) do parts[i] = quote(key) .. ":" .. encode(t[key], depth + 1) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local encoders = {
  string = quote,
  boolean = tostring,
  number = function(x) return math.type(x) == "integer" and ("%d"):format(x) or quote(M.float(x)) end,
  table = encode_table,
}

function encode(value, depth)
  local encoder = encoders[type(value)]
  if not encoder then error("canonical encoding: cannot encode a " .. type(value), 0) end
  return encoder(value, depth)
end

--- Marks a table as a list, so that it is written [] when empty.
---@param t table
---@return table t the same table
function M.list(t) return setmetatable(t, M.list_marker) end
M.list_marker = {}

--- Canonical JSON text of a value: the same bytes for equal values, on every machine.
---@param value any strings, booleans, numbers, lists and tables with string keys
---@return string text
function M.encode(value) return encode(value, 0) end

-- cjson turns integers into floats and null into a light userdata: undo both. Integers beyond 2^53 never occur in our own
-- files (they are written as strings), and a foreign one would be refused by whoever checks the field.
local function normalise(value, null, utf8_to_bytes)
  if value == null then return nil end
  if type(value) == "number" then return math.tointeger(value) or value end
  if type(value) == "string" then return utf8_to_bytes(value) end
  if type(value) ~= "table" then return value end
  local out = {}
  for key, item in next, value do out[key] = normalise(item, null, utf8_to_bytes) end -- key by key
  return out
end

-- The inverse of quote's \u0080..\u00ff; text that holds other code points is left as UTF-8.
local function to_bytes(s)
  if not s:find("[\128-\255]") then return s end
  local ok = pcall(function()
    for _, code in utf8.codes(s) do if code > 255 then error() end end
  end)
  if not ok then return s end
  return (s:gsub(utf8.charpattern, function(c) return #c > 1 and string.char(utf8.codepoint(c)) or nil end))
end

local MAX_TEXT = 64 * 1024 * 1024

--- Reads JSON text; integers stay integers.
---@param text string at most 64 MiB
---@return any value, string|nil message nil and a message when the text is not JSON
function M.decode(text)
  if #text > MAX_TEXT then return nil, "JSON text of more than 64 MiB" end
  local cjson = require "cjson"
  local ok, value = pcall(cjson.decode, text)
  if not ok then return nil, (tostring(value):gsub("^.-:%d+: ", "")) end
  return normalise(value, cjson.null, to_bytes)
end

return M
