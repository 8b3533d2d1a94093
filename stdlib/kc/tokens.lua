---@module kc.tokens
-- The words of a Lua function's own source: what must be read because no metamethod sees it.
local loader = require "kc.loader"
local M = {}

local function part(text, first, last)
  local lines, number = {}, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    if number >= first and number <= last then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

--- The lines that a function stands on, whole; nil when its source cannot be read.
---@param fn function
---@return string|nil text
function M.lines(fn)
  local info = debug.getinfo(fn, "S")
  local path = info.source:match("^@(.*)")
  local text = path and loader.read(path) or require("kc.chunks")[info.source]
  if not path and not text and info.source:sub(1, 1) ~= "=" then text = info.source end
  return text and part(text, info.linedefined, info.lastlinedefined)
end

-- Patterns tried in order at each position; those without a name are blank.
local lexicon = {
  { "^%s+" }, { "^%-%-%[(=*)%[.-%]%1%]" }, { "^%-%-[^\n]*" }, { "^%[(=*)%[.-%]%1%]", "text" },
  { "^\"[^\"\\\n]*\"", "text" }, { "^'[^'\\\n]*'", "text" },
  { "^[%a_][%w_]*", "word" }, { "^0[xX][%x.]+[pP]?[+-]?%d*", "number" },
  { "^%d[%d.]*[eE]?[+-]?%d*", "number" }, { "^[=~]=", "comparison" }, { "^[<>]=?", "order" }, { "^.", "sign" },
}

-- A string with escapes is walked by hand: a backslash takes the next character along.
local function skip_string(text, at)
  local quote = text:sub(at, at)
  if quote ~= "\"" and quote ~= "'" then return nil end
  local i = at + 1
  while i <= #text and text:sub(i, i) ~= quote do i = i + (text:sub(i, i) == "\\" and 2 or 1) end
  return i + 1
end

local function next_token(text, at)
  local stop = skip_string(text, at)
  if stop then return stop, "text" end
  for _, row in ipairs(lexicon) do
    local _, last = text:find(row[1], at)
    if last then return last + 1, row[2] end
  end
end

--- The tokens of a text, comments and blanks left out.
---@param text string
---@return table tokens list of {kind="word"|"number"|"text"|"comparison"|"order"|"sign", text=, line=from 0, at=}
function M.of(text)
  local list, at, line = {}, 1, 0
  while at <= #text do
    local stop, kind = next_token(text, at)
    local piece = text:sub(at, stop - 1)
    if kind then list[#list + 1] = { kind = kind, text = piece, line = line, at = at } end
    line = line + select(2, piece:gsub("\n", ""))
    at = stop
  end
  return list
end

local opens = { ["function"] = true, ["if"] = true, ["do"] = true, ["repeat"] = true }

-- Index of the token that ends the function that begins at `first`.
local function last_of(tokens, first)
  local depth = 0
  for j = first, #tokens do
    if opens[tokens[j].text] then depth = depth + 1 end
    if tokens[j].text == "end" or tokens[j].text == "until" then depth = depth - 1 end
    if depth == 0 then return j end
  end
  return #tokens
end

-- The names of what a function takes from outside, in order.
local function upvalues(fn)
  local names = {}
  for i = 1, math.huge do
    names[i] = debug.getupvalue(fn, i)
    if not names[i] then return names end
  end
end

-- A stripped function without inner ones ends with three bytes for each upvalue, which say where it is found outside, and these counts, all
-- zero: inner functions, lines, absolute lines, local variables, names of upvalues (lundump.c of Lua 5.4).
local TAIL = 5

-- Is `fn` what this text of a function compiles to, wherever it stands? Of two that are not told apart the code is the same.
local function compiles_to(fn, text)
  local names, outside = upvalues(fn), ""
  for _, name in ipairs(names) do
    if name ~= "_ENV" then outside = ("%slocal %s "):format(outside, name) end -- every chunk has _ENV
  end
  local chunk = load(("\n"):rep(debug.getinfo(fn, "S").linedefined - 1) .. outside .. "return " .. text, "=text", "t")
  if not chunk then return false end
  local other = chunk()
  if table.concat(upvalues(other), " ") ~= table.concat(names, " ") then return false end
  local a, b = string.dump(fn, true), string.dump(other, true)
  local from = #a - TAIL - 3 * #names
  return #a == #b and a:sub(1, from) == b:sub(1, from)
end

-- The text of the function that begins at `first`, without its name.
local function nameless(text, tokens, first, last)
  local open = first + 1
  while open < last and tokens[open].text ~= "(" do open = open + 1 end
  return "function" .. text:sub(tokens[open].at, tokens[last].at + #tokens[last].text - 1)
end

-- Of several functions on one line the one that compiles to `fn`: index of its first token. One that holds others is not looked at.
local function meant(fn, text, tokens, starts)
  for k, first in ipairs(starts) do
    local last = last_of(tokens, first)
    local inner = starts[k + 1] and starts[k + 1] < last
    if not inner and compiles_to(fn, nameless(text, tokens, first, last)) then return first end
  end
end

--- The tokens of a function's own body, nil when its source cannot be read. Where it cannot be told from others on its first line, all
--- of them are read.
---@param fn function
---@return table|nil tokens
---@return boolean|nil several functions are among them
function M.body(fn)
  local text = M.lines(fn)
  if not text then return nil end
  local tokens, starts = M.of(text), {}
  for i, token in ipairs(tokens) do
    if token.text == "function" and token.line == 0 then starts[#starts + 1] = i end
  end
  local first = starts[1]
  if #starts > 1 then first = meant(fn, text, tokens, starts) end
  if not first then return tokens, #starts > 1 end
  return table.move(tokens, first, last_of(tokens, first), 1, {})
end

--- The words that stand behind a dot or colon in a function: fields that it reads. nil when its source cannot be read, or when it
--- indexes by what is computed.
---@param fn function
---@return table|nil set
function M.fields(fn)
  local body, set = M.body(fn), {}
  for i = 2, #(body or {}) do
    local before = body[i - 1]
    if body[i].text == "[" and (before.kind == "word" or before.text == "]" or before.text == ")") then return nil end
    if before.text == "." or before.text == ":" then set[body[i].text] = true end
  end
  return body and set
end

-- Index after the closing parenthesis of kc.static( ... ), or nil when it does not begin at i.
local function after_static(tokens, i)
  if tokens[i] and tokens[i].text == "kc" and tokens[i + 1] and tokens[i + 1].text == "." then i = i + 2 end
  if not (tokens[i] and tokens[i].text == "static" and tokens[i + 1] and tokens[i + 1].text == "(") then return nil end
  local depth = 0
  for j = i + 1, #tokens do
    if tokens[j].text == "(" then depth = depth + 1 end
    if tokens[j].text == ")" then depth = depth - 1 end
    if depth == 0 then return j + 1 end
  end
end

--- The tokens of a list that stand outside of kc.static(...) and for which `wanted` holds.
---@param tokens table
---@param wanted function of a token
---@return table list
function M.outside_static(tokens, wanted)
  local list, i = {}, 1
  while i <= #tokens do
    local skip = after_static(tokens, i)
    if not skip and wanted(tokens[i], after_static(tokens, i + 1)) then list[#list + 1] = tokens[i] end
    i = skip or i + 1
  end
  return list
end

return M
