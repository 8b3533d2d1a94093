-- markdown.lua - the Markdown that spec/ is written in, as blocks and spans: headings, paragraphs, lists, tables, code.
local manual = require "kc.manual"
local markdown = {}

local function starts(line)
  local marks, title = line:match("^(#+)%s+(.*)$")
  if marks then return { kind = "heading", level = #marks, text = title } end
  local bullet, item = line:match("^([-%d]+%.?)%s+(.*)$")
  if bullet == "-" or bullet and bullet:match("^%d+%.$") then
    return { kind = "item", ordered = bullet ~= "-", text = item }
  end
  local cells = manual.cells(line)
  if cells then return { kind = "row", cells = not line:match("^|[%s:|-]+$") and cells or nil } end
end

-- Items and rows that follow each other are one list or table.
local function group(blocks, block)
  local last = blocks[#blocks]
  local whole = ({ item = "list", row = "table" })[block.kind]
  if not whole then
    blocks[#blocks + 1] = block
    return
  end
  if not last or last.kind ~= whole or last.done then
    last = { kind = whole, ordered = block.ordered }
    blocks[#blocks + 1] = last
  end
  if block.text or block.cells then last[#last + 1] = block.text or block.cells end
end

local function fenced(lines, i)
  local code = {}
  while lines[i] and not lines[i]:match("^```") do
    code[#code + 1] = lines[i]
    i = i + 1
  end
  return { kind = "code", text = table.concat(code, "\n") }, i
end

local function indented(lines, i)
  local code = {}
  while lines[i] and (lines[i]:match("^    ") or lines[i] == "" and (lines[i + 1] or ""):match("^    ")) do
    code[#code + 1] = lines[i]:sub(5)
    i = i + 1
  end
  return { kind = "code", text = table.concat(code, "\n") }, i - 1
end

-- A line that goes on with what the last block says.
local function continue(blocks, line)
  local last = blocks[#blocks]
  if last and not last.done and last.kind == "paragraph" then
    last.text = last.text .. "\n" .. line
  elseif last and not last.done and last.kind == "list" then
    last[#last] = last[#last] .. "\n" .. line:match("^%s*(.*)$")
  else
    blocks[#blocks + 1] = { kind = "paragraph", text = line }
  end
end

--- Blocks {kind = heading | paragraph | list | table | code, ...} of a text.
function markdown.blocks(text)
  local lines, blocks, i = {}, {}, 1
  for line in (text .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
  while lines[i] do
    local line, block = lines[i], nil
    local fresh = #blocks == 0 or blocks[#blocks].done or blocks[#blocks].kind == "code" or blocks[#blocks].kind == "heading"
    if line:match("^```") then
      block, i = fenced(lines, i + 1)
    elseif fresh and line:match("^    %S") then
      block, i = indented(lines, i)
    elseif line == "" then
      if blocks[#blocks] then blocks[#blocks].done = true end
    elseif not line:match("^<!%-%-") then
      block = starts(line)
      if not block then continue(blocks, line) end
    end
    if block then group(blocks, block) end
    i = i + 1
  end
  return blocks
end

--- Calls visit(kind, text) for the spans of a line: "code", "strong", "emphasis", "plain".
function markdown.spans(text, visit)
  local at = 1
  while at <= #text do
    local rest = text:sub(at)
    local code, strong, emphasis = rest:match("^`([^`]+)`"), rest:match("^%*%*([^*]+)%*%*"), rest:match("^%*(%a[^*]*)%*")
    local plain = rest:match("^[^`*]+") or rest:sub(1, 1)
    if code then visit("code", code)
    elseif strong then visit("strong", strong)
    elseif emphasis then visit("emphasis", emphasis)
    else visit("plain", plain) end
    at = at + (code and #code + 2 or strong and #strong + 4 or emphasis and #emphasis + 2 or #plain)
  end
end

return markdown
