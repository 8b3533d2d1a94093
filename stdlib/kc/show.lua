---@module kc.show
-- Values as a prompt prints them: exact, of bounded depth and width, tensors by their class counts and corner values.
local words = require "kc.words"
local M = {}

local LIMITS = { depth = 3, items = 24, width = 100, text = 400 }

--- The shortest decimal for which `same` holds.
---@param x number
---@param same function|nil told the number that a decimal reads as; equal to x when omitted
---@return string
function M.shortest(x, same)
  if x ~= x then return "nan" end
  if x == math.huge or x == -math.huge then return x > 0 and "inf" or "-inf" end
  if not same and x == math.floor(x) and math.abs(x) < 1e15 and x ~= 0 then return ("%.0f"):format(x) end
  for digits = 1, 17 do
    local text = ("%%.%dg"):format(digits):format(x)
    local y = tonumber(text)
    if same and same(y) or not same and y == x then return text end
  end
  return ("%.17g"):format(x)
end

--- A float in decimal, with a point where it is whole.
---@param x number
---@return string
function M.decimal(x)
  local text = M.shortest(x)
  return text:find("[.en]") and text or text .. ".0"
end

local function quoted(text)
  local cut = #text > LIMITS.text
  local shown = ("%q"):format(cut and text:sub(1, LIMITS.text) or text):gsub("\\\n", "\\n"):gsub("[\127-\255]", function(c)
    return utf8.len(text) and c or ("\\x%02x"):format(c:byte())
  end)
  return cut and ("%s .. (%d bytes)"):format(shown, #text) or shown
end

-- ---- tensors --------------------------------------------------------------------------------------------------------------

local CORNER = 4 -- numbers at each end of a row

local function plainly(buffer, i)
  local x = buffer[i]
  return math.type(x) == "integer" and tostring(x) or M.decimal(x)
end

local function row_text(buffer, first, count, element)
  local parts = {}
  for i = 1, count do
    if count > 2 * CORNER and i == CORNER + 1 then parts[#parts + 1] = "..." end
    if count <= 2 * CORNER or i <= CORNER or i > count - CORNER then parts[#parts + 1] = element(buffer, first + i - 1) end
  end
  return table.concat(parts, element == plainly and " " or "  ")
end

-- The finite range, and how many elements are of each other class.
local function facts(buffer)
  local least, most, counts = math.huge, -math.huge, {}
  for i = 1, #buffer do
    local x = buffer[i]
    local class = x ~= x and "NaN" or (x == math.huge or x == -math.huge) and "infinite" or x == 0 and "zero" or "finite"
    counts[class] = (counts[class] or 0) + 1
    if class == "finite" or class == "zero" then least, most = math.min(least, x), math.max(most, x) end
  end
  local parts = {}
  for _, class in ipairs { "NaN", "infinite", "zero" } do
    if counts[class] then parts[#parts + 1] = ("%d %s"):format(counts[class], class) end
  end
  if least <= most then table.insert(parts, 1, ("from %s to %s"):format(M.decimal(least + 0.0), M.decimal(most + 0.0))) end
  return table.concat(parts, ", ")
end

--- A tensor: format, shape, range, counts of classes, and its corners.
---@param buffer userdata
---@param element function|nil text of element i, called with the buffer and i; its number in decimal when omitted
---@return string text
function M.tensor(buffer, element)
  local shape, n = buffer:shape(), #buffer
  local lines = { ("%s[%s]: %d elements%s"):format(buffer:format(), table.concat(shape, ","), n, n > 0 and ", " .. facts(buffer) or "") }
  local width = n > 0 and shape[#shape] or 0
  local rows = width > 0 and n // width or 0
  for r = 1, rows do
    if rows > 2 * CORNER and r == CORNER + 1 then lines[#lines + 1] = "  ..." end
    if rows <= 2 * CORNER or r <= CORNER or r > rows - CORNER then
      lines[#lines + 1] = "  " .. row_text(buffer, (r - 1) * width + 1, width, element or plainly)
    end
  end
  return table.concat(lines, "\n")
end

-- ---- tables ---------------------------------------------------------------------------------------------------------------

local identifier = "^[%a_][%w_]*$"

local show

local function items_of(t, depth, seen)
  local parts, n = {}, 0
  for i, value in ipairs(t) do
    n = i
    if i <= LIMITS.items then parts[#parts + 1] = show(value, depth + 1, seen) end
  end
  local shown, hidden = #parts, math.max(0, n - LIMITS.items)
  for _, key in ipairs(words.keys(t)) do
    if not (math.type(key) == "integer" and key >= 1 and key <= n) then
      if shown < LIMITS.items then
        local name = type(key) == "string" and key:match(identifier) or ("[%s]"):format(show(key, depth + 1, seen))
        parts[#parts + 1] = ("%s = %s"):format(name, show(t[key], depth + 1, seen))
        shown = shown + 1
      else
        hidden = hidden + 1
      end
    end
  end
  if hidden > 0 then parts[#parts + 1] = ("... %d more"):format(hidden) end
  return parts
end

local function table_text(t, depth, seen)
  if seen[t] then return "{ itself }" end
  if #words.keys(t) == 0 then return "{}" end -- next() sees nothing of a frozen table
  if depth >= LIMITS.depth then return "{ ... }" end
  seen[t] = true
  local parts = items_of(t, depth, seen)
  seen[t] = nil
  local line = "{ " .. table.concat(parts, ", ") .. " }"
  if #line + 2 * depth <= LIMITS.width and not line:find("\n", 1, true) then return line end
  local indent = ("  "):rep(depth + 1)
  return "{\n" .. indent .. table.concat(parts, ",\n" .. indent) .. "\n" .. ("  "):rep(depth) .. "}"
end

function show(value, depth, seen)
  local kind = type(value)
  if kind == "string" then return quoted(value) end
  if math.type(value) == "float" then return M.decimal(value) end
  if kind == "userdata" and tostring(value):match("^kc%.buffer") and pcall(value.shape, value) then
    return depth == 0 and M.tensor(value) or tostring(value)
  end
  if kind == "function" then return "function " .. (require("kc.help").call_of(value) or tostring(value):gsub("^function: ", "")) end
  if kind ~= "table" then return tostring(value) end
  local meta = debug.getmetatable(value)
  if meta and meta.__tostring then return tostring(value) end
  return table_text(value, depth, seen)
end

local Page = { __name = "kc.page", __metatable = false }
function Page.__tostring(page) return page.text end
function Page.__concat(a, b) return tostring(a) .. tostring(b) end

--- Text of several lines as a value, which the prompt shows as it is and not as a string in quotes; print and tostring give the text.
---@param text string
---@return table page
function M.page(text) return setmetatable({ text = text }, Page) end

--- A value as text.
---@param value any
---@return string text
function M.text(value) return show(value, 0, {}) end

return M
