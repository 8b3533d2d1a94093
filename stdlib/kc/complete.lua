---@module kc.complete
-- What can follow at the prompt: globals, fields, methods; in a string formats, devices, contracts and files.
local core = require "kc.core"
local paths = require "kc.paths"
local words = require "kc.words"
local M = {}

local keywords = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
                   "or", "repeat", "return", "then", "true", "until", "while" }

local function starting(list, prefix)
  local out = {}
  for _, name in ipairs(list) do if name:sub(1, #prefix) == prefix then out[#out + 1] = name end end
  table.sort(out)
  return out
end

local function string_keys(t)
  local list = {}
  for _, key in ipairs(words.keys(t)) do
    if type(key) == "string" and key:match("^[%a_][%w_]*$") then list[#list + 1] = key end
  end
  return list
end

-- Fields of a table, methods of userdata.
local function fields_of(value)
  if type(value) == "string" then return string_keys(string) end
  local meta = debug.getmetatable(value)
  if meta and rawget(meta, "names") then return meta.names() end -- kc itself: listing its fields would load them all
  local list = type(value) == "table" and string_keys(value) or {}
  local methods = meta and (rawget(meta, "methods") or rawget(meta, "__index"))
  for _, name in ipairs(type(methods) == "table" and string_keys(methods) or {}) do list[#list + 1] = name end
  return list
end

-- The value that "a.b.c" names in an environment; nothing is called, but fields are read.
local function resolve(path, env)
  local value = env
  for part in path:gmatch("[%w_]+") do
    local ok, item = pcall(function() return value[part] end)
    if not ok or item == nil then return nil end
    value = item
  end
  return value
end

-- Inside kc.contract{...}, the names of clauses.
local function clauses(text)
  return text:find("kc%.contract%s*%b{}") == nil and text:find("kc%.contract%s*{") and require("kc.contract").clauses or {}
end

local function name_candidates(word, env, text)
  local path, last = word:match("^(.*)[.:]([%w_]*)$")
  if path then
    local value = resolve(path, env)
    return value ~= nil and starting(fields_of(value), last) or {}, last
  end
  local list = string_keys(env)
  for _, name in ipairs(string_keys(_G)) do list[#list + 1] = name end
  for _, more in ipairs { keywords, clauses(text) } do table.move(more, 1, #more, #list + 1, list) end
  return starting(list, word), word
end

local function files(prefix)
  local directory, name = prefix:match("^(.*/)([^/]*)$")
  if not directory then directory, name = "", prefix end
  local out = {}
  for _, file in ipairs(starting(core.listdir(directory == "" and "." or directory) or {}, name)) do
    local stat = core.stat(directory .. file)
    out[#out + 1] = directory .. file .. (stat and stat.type == "directory" and "/" or "")
  end
  return out
end

local function contracts()
  local list = {}
  for _, root in ipairs(paths.contract_roots()) do
    for _, name in ipairs(core.listdir(root) or {}) do
      local class, rest = name:match("^(C%-%w+%-%d+)%.(.+)$")
      if class then list[#list + 1] = class .. "/" .. rest end
    end
  end
  return list
end

-- Modules whose functions are documented.
local function modules()
  local list, seen = { "kc" }, {}
  for _, row in ipairs(require "kc.docs") do
    local name = row.name:match("^(kc%.[%l_]+)[.:]")
    if name and not seen[name] then list[#list + 1] = name end
    seen[name or ""] = true
  end
  return list
end

-- After `require`, modules; elsewhere formats, devices, contracts.
local function string_candidates(prefix, before)
  if before:find("require%s*%(?%s*$") then return starting(modules(), prefix), prefix end
  local list = core.formats()
  table.move(core.drivers(), 1, #core.drivers(), #list + 1, list)
  local ids = contracts()
  table.move(ids, 1, #ids, #list + 1, list)
  local found = starting(list, prefix)
  if prefix ~= "" then
    local named = files(prefix)
    table.move(named, 1, #named, #found + 1, found)
  end
  return found, prefix
end

-- The text since the last opening quote, or nil outside of strings.
local function open_string(text)
  local quote, from
  local i = 1
  while i <= #text do
    local c = text:sub(i, i)
    if quote and c == "\\" then i = i + 1
    elseif quote and c == quote then quote = nil
    elseif not quote and (c == '"' or c == "'") then quote, from = c, i end
    i = i + 1
  end
  if quote then return text:sub(from + 1), text:sub(1, from - 1) end
end

--- Completes the text before the cursor.
---@param text string
---@param env table globals of the prompt
---@return table candidates
---@return string typed the part of them that is there already
function M.candidates(text, env)
  local inside, before = open_string(text)
  if inside then return string_candidates(inside, before) end
  return name_candidates((text:match("[%w_.:]*$"):gsub("^[.:]+", "")), env, text)
end

local function common(list)
  local prefix = list[1]
  for _, name in ipairs(list) do
    while name:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  return prefix
end

local function columns(list, width)
  local widest = 0
  for _, name in ipairs(list) do widest = math.max(widest, #name) end
  local per, lines = math.max(1, width // (widest + 2)), {}
  for i = 1, #list, per do
    local parts = {}
    for j = i, math.min(i + per - 1, #list) do parts[#parts + 1] = list[j] .. (" "):rep(widest + 2 - #list[j]) end
    lines[#lines + 1] = (table.concat(parts):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

--- What a line editor inserts at the cursor, and what it shows where there is a choice.
---@param text string before the cursor
---@param env table
---@param width integer columns of the terminal
---@return string insert
---@return string|nil shown
function M.answer(text, env, width)
  local list, typed = M.candidates(text, env)
  if #list == 0 then return "" end
  local insert = common(list):sub(#typed + 1)
  if #list > 1 and insert == "" then return "", columns(list, width) end
  return insert
end

return M
