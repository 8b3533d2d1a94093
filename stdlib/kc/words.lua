---@module kc.words
-- Nearest names for messages, and list text.
local M = {}

local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local substitute = diagonal + (a:byte(i) == b:byte(j) and 0 or 1)
      diagonal = row[j]
      row[j] = math.min(substitute, row[j] + 1, row[j - 1] + 1)
    end
  end
  return row[#b]
end

--- The listed name nearest to `word`, or nil when none is near.
--- > require("kc.words").nearest("sofmax", { "softmax", "relu" })
--- "softmax"
---@param word string
---@param names table
---@return string|nil name
function M.nearest(word, names)
  local best, limit = nil, #word // 2 + 1
  if #word > 64 then return nil end
  for _, name in ipairs(names) do
    local d = #name <= 64 and distance(word, name) or math.huge
    if d < limit or (d == limit and not best) then best, limit = name, d end
  end
  return best
end

local MOST_NAMES = 24 -- in a message

--- "did you mean 'x'?" or the list of what is known, cut where it is long.
---@param word string
---@param names table
---@return string hint
function M.hint(word, names)
  local near = M.nearest(word, names)
  if near then return ("did you mean '%s'?"):format(near) end
  local cut = #names > MOST_NAMES and (", ... (%d in all)"):format(#names) or ""
  return ("expected one of: %s%s"):format(table.concat(names, ", ", 1, math.min(#names, MOST_NAMES)), cut)
end

--- Why a value is none of the names: "unknown format 'bf17'; did you mean 'bf16'?"
---@param what string what the names are of
---@param value any
---@param names table
---@return string text
function M.unknown(what, value, names)
  if type(value) ~= "string" then
    return ("expected the name of a %s, such as \"%s\", got %s"):format(what, names[#names], M.show(value))
  end
  return ("unknown %s '%s'; %s"):format(what, value, M.hint(value, names))
end

--- Sorted keys of a table with string keys; frozen tables too.
---@param t table
---@return table keys
function M.keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end -- ordered below
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

--- Is a value in a list?
---@param list table
---@param value any
---@return boolean
function M.holds(list, value)
  for _, item in ipairs(list) do if item == value then return true end end
  return false
end

--- What is wrong with a table of options: no table, or a field that nobody reads; nil when nothing is.
---@param options any
---@param known table list of fields
---@return string|nil message
function M.unfit(options, known)
  if type(options) ~= "table" then return "expected a table of options, got " .. M.show(options) end
  for _, key in ipairs(M.keys(options)) do
    if not M.holds(known, key) then return ("unknown field '%s'; %s"):format(tostring(key), M.hint(tostring(key), known)) end
  end
end

--- Text broken at spaces, every line indented.
---@param text string
---@param indent string
---@param width integer columns, the indent included
---@return string lines without the last line break
function M.wrapped(text, indent, width)
  local lines, line = {}, indent
  for word in text:gmatch("%S+") do
    if #line + 1 + #word > width and line ~= indent then
      lines[#lines + 1] = line
      line = indent
    end
    line = line == indent and indent .. word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

--- How a value is shown in a message: type, and the value where it is short.
---@param value any
---@return string text
function M.show(value)
  if type(value) == "string" then return ("the string %q"):format(#value > 40 and value:sub(1, 37) .. "..." or value) end
  if type(value) == "number" or type(value) == "boolean" then return ("the %s %s"):format(type(value), tostring(value)) end
  if value == nil then return "nothing" end
  if type(value) == "table" and next(value) == nil and getmetatable(value) == nil then return "an empty table" end
  return "a " .. type(value)
end

return M
