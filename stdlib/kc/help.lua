---@module kc
-- help(): prints the comment that documents a function. The texts are collected from all sources when kc is built.
local words = require "kc.words"
local M = {}

local function index() return require "kc.docs" end

local function resolve(name)
  local value = name:sub(1, 5) == "core." and require "kc.core" or require "kc"
  for part in name:gsub("^%w+[.:]?", "", 1):gmatch("[%w_]+") do
    if type(value) ~= "table" then return nil end
    local ok, item = pcall(function() return value[part] end)
    if not ok then return nil end
    value = item
  end
  return value
end

local function find(topic)
  local names = {}
  for _, row in ipairs(index()) do
    if row.name == topic or row.name == "kc." .. tostring(topic) then return row end
    if type(topic) == "function" and rawequal(resolve(row.name), topic) then return row end
    names[#names + 1] = row.name
  end
  return nil, names
end

-- Oracles are rows of tables in C; their line is their documentation.
local function oracle_text(topic)
  local name = topic:match("^kc%.oracle%.([%w_]+)$") or topic:match("^oracle%.([%w_]+)$")
  for _, list in ipairs(name and { require("kc.core").oracles(), require("kc.exact").oracles() } or {}) do
    for _, row in ipairs(list) do
      local inputs = row.least == row.most and ("%d"):format(row.least or row.arity) or ("%d to %d"):format(row.least, row.most)
      if row.name == name then return ("kc.oracle.%s: %s (inputs: %s)\n"):format(name, row.doc, inputs) end
    end
  end
end

--- A documented function as one calls it: "kc.ulp(x, y, format)"; nil for another one.
---@param f function
---@return string|nil call
function M.call_of(f)
  local row = find(f)
  return row and row.name .. row.args
end

--- Text of the documentation of a function, or of what is called `topic`; nil and a message when there is none.
---@param topic function|string
---@return string|nil text, string|nil message
function M.text(topic)
  local row, names = find(topic)
  if row then return ("%s%s\n\n%s\n"):format(row.name, row.args, row.doc) end
  local oracle = type(topic) == "string" and oracle_text(topic)
  if oracle then return oracle end
  if type(topic) == "string" then return nil, ("no documentation of '%s'; %s"):format(topic, words.nearest(topic, names) and
    words.hint(topic, names) or "see help()") end
  return nil, "no documentation of a " .. type(topic)
end

--- All documented names that begin with `kc.`, one a line with their first sentence.
---@return string text
function M.overview()
  local lines = {}
  for _, row in ipairs(index()) do
    local public = row.name:match("^kc%.[%w_]+$") or row.name:match("^kc%.tolerance%.") or row.name:match("^kc%.sample%.")
    if public and resolve(row.name) ~= nil then
      lines[#lines + 1] = ("%-28s %s"):format(row.name, row.doc:match("^[^\n]*"))
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Prints the documentation of a function, or of what is called `topic`; without a topic, an overview.
---@param topic function|string|nil
function M.help(topic)
  if topic == nil then
    io.write(M.overview())
    return
  end
  local text, message = M.text(topic)
  io.write(text or message .. "\n")
end

return M
