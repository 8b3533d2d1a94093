---@module kc.help
-- help(): what is known of a function, a value, or a topic. Functions have their comments, collected from all sources when kc is
-- built (kc.docs); everything else is a topic of kc.manual.
local manual = require "kc.manual"
local words = require "kc.words"
local M = {}

local function index() return require "kc.docs" end

-- ---- functions --------------------------------------------------------------------------------------------------------------

-- "kc.buffer:fill", "buffer.fill" and "buffer:fill" are one name.
local function plain(name) return (name:gsub(":", "."):gsub("^kc%.", "")) end

local function row_text(row) return ("%s%s\n\n%s"):format(row.name, row.args, row.doc) end

-- A function that somebody holds comes from a module that is loaded.
local function row_of(f)
  for _, row in ipairs(index()) do
    local module = not row.class and package.loaded[row.module]
    if type(module) == "table" and rawequal(rawget(module, row.field), f) then return row end
  end
end

--- A documented function as one calls it: "kc.ulp(x, y, format)"; nil for another one.
---@param f function
---@return string|nil call
function M.call_of(f)
  local row = row_of(f)
  return row and row.name .. row.args
end

-- ---- topics -----------------------------------------------------------------------------------------------------------------

-- What a topic means: a list of {name = how to ask for just this, text = function}. Full names and names of groups first, then the groups
-- in their order (functions of kc itself after commands), then functions of that name elsewhere.
local function functions_called(topic, found)
  for _, row in ipairs(index()) do
    if plain(row.name) == topic then found[#found + 1] = { name = row.name, text = function() return row_text(row) end } end
  end
end

local function functions_ending(topic, found)
  for _, row in ipairs(index()) do
    if row.field == topic and plain(row.name) ~= topic then
      found[#found + 1] = { name = row.name, text = function() return row_text(row) end }
    end
  end
end

local function in_group(group, topic, found)
  local list = group[3]
  for _, name in ipairs(list.names()) do
    if name:lower() == topic or name:lower() == "kc." .. topic then
      local title = group[2] .. " " .. name
      found[#found + 1] = { name = title, text = function() return title .. "\n\n" .. list.text(name) end }
    end
  end
end

local function whole_group(group)
  local lines = { group[1], "" }
  for _, name in ipairs(group[3].names()) do lines[#lines + 1] = ("  %-24s %s"):format(name, group[3].line(name)) end
  return table.concat(lines, "\n")
end

local function whole_groups(topic, found)
  for _, group in ipairs(manual.groups) do
    if group[1] == topic then found[#found + 1] = { name = group[1], text = function() return whole_group(group) end } end
  end
end

-- "oracle softmax", "type buffer": one group only.
local function qualified(topic, found)
  local kind, rest = topic:match("^(%l+)[%s.](.+)$")
  for _, group in ipairs(manual.groups) do if group[2] == kind then in_group(group, rest, found) end end
end

local function meanings(asked)
  asked = asked:gsub("^spec/([%w_]+)%.md$", "chapter %1")
  local topic, found = plain(asked:lower():gsub("^%-%-", ""):gsub("%(.*%)$", "")), {}
  local named = asked:find("^kc%.") or asked:find("[.:]")
  if asked:lower() == "kc" then topic = "kc" end
  if named then functions_called(topic, found) else whole_groups(topic, found) end
  for _, group in ipairs(manual.groups) do
    if not named or group[2] == "module" or group[2] == "format" then in_group(group, topic, found) end
    if group[2] == "command" and not named then functions_called(topic, found) end
  end
  qualified(topic, found)
  if not named then functions_ending(topic, found) end
  return found
end

-- ---- texts --------------------------------------------------------------------------------------------------------------------

--- Everything that help knows: groups of topics, topics, functions and methods.
---@return table names
function M.names()
  local names = {}
  for _, group in ipairs(manual.groups) do
    names[#names + 1] = group[1]
    for _, name in ipairs(group[3].names()) do names[#names + 1] = name end
  end
  for _, row in ipairs(index()) do names[#names + 1] = row.name end
  return names
end

local function of_topic(topic)
  local found = meanings(topic)
  if not found[1] then
    local near = words.nearest(topic, M.names()) or words.nearest("kc." .. topic, M.names())
    return nil, ("no documentation of '%s'; %s"):format(topic, near and ("did you mean '%s'?"):format(near) or "see 'kc help'")
  end
  local others, seen = {}, { [found[1].name] = true }
  for i = 2, #found do
    if not seen[found[i].name] and #others < 8 then others[#others + 1] = found[i].name end
    seen[found[i].name] = true
  end
  local more = #others > 0 and ("\n\nsee also: %s"):format(table.concat(others, ", ")) or ""
  return found[1].text() .. more .. "\n"
end

-- The module or the type that a value is of.
local function of_value(value)
  for _, row in ipairs(index().modules) do
    if type(value) == "table" and rawequal(package.loaded[row[1]], value) then return of_topic("module " .. row[1]) end
  end
  local meta = debug.getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  local text = type(name) == "string" and of_topic("type " .. name:gsub("^kc%.", ""))
  if text then return text end
  return nil, "no documentation of a " .. type(value)
end

--- Text of the documentation of a function or another value, or of what is called `topic`; nil and a message when there is none.
---@param topic any
---@return string|nil text, string|nil message
function M.text(topic)
  if type(topic) == "string" then return of_topic(topic) end
  local row = type(topic) == "function" and row_of(topic)
  if row then return row_text(row) .. "\n" end
  return of_value(topic)
end

-- ---- overview -----------------------------------------------------------------------------------------------------------------

local function listed(title, names)
  return ("%-12s%s"):format(title, words.wrapped(table.concat(names, " "), (" "):rep(12), 100):sub(13))
end

-- What authors of contracts use: module kc and the modules that it offers.
local offered = { "kc", "kc.tolerance", "kc.sample", "kc.signature", "kc.npy" }

local function fields_of(page)
  local names = {}
  for _, row in ipairs(index()) do
    if row.page == page and not row.class and row.field ~= "is" then names[#names + 1] = row.field end
  end
  return names
end

--- What topics there are, grouped.
---@return string text
function M.overview()
  local lines = { "kc help TOPIC explains any of these; kc --help lists commands and options.", "" }
  for _, group in ipairs(manual.groups) do
    if group[1] ~= "modules" and group[1] ~= "chapters" and group[1] ~= "options" then
      lines[#lines + 1] = listed(group[1], group[3].names())
    end
  end
  lines[#lines + 1] = "\nfunctions, by module"
  for _, page in ipairs(offered) do lines[#lines + 1] = listed(page, fields_of(page)) end
  lines[#lines + 1] = "\nmore: kc help options | modules | chapters | exit codes | environment variables"
  return table.concat(lines, "\n") .. "\n"
end

--- Prints the documentation of a function or another value, or of what is called `topic`; without a topic, an overview.
---@param topic any
function M.help(topic)
  if topic == nil then
    io.write(M.overview())
    return
  end
  local text, message = M.text(topic)
  io.write(text or message .. "\n")
end

return M
