-- comment.lua - the parts of a documentation comment: text, examples, parameters, results. See spec/documentation.md.
-- An example is a run of lines that begins with "> CODE", as at the prompt (">> CODE" goes on), followed by what that prints.
local comment = {}

local function add_example(parts, line)
  local entry = line:match("^> ?(.*)$")
  local more = line:match("^>> ?(.*)$")
  local last = parts.examples[#parts.examples]
  if more then
    last.code = last.code .. "\n" .. more
  elseif entry then
    parts.examples[#parts.examples + 1] = { code = entry, output = "" }
  else
    last.output = last.output .. line .. "\n"
  end
end

local function add_param(parts, line)
  local name, kind, text = line:match("^@param%s+([%w_.]+)%s+(%S+)%s*(.*)$")
  if not name then name, kind, text = line:match("^@param%s+([%w_.]+)") or "?", "any", "" end
  parts.params[#parts.params + 1] = { name = name, kind = kind, text = text }
end

-- "@return string|nil text, string|nil message"
local function add_returns(parts, line)
  for item in (line:match("^@return%s+(.*)$") .. ","):gmatch("%s*(.-),") do
    local kind, text = item:match("^(%S+)%s*(.*)$")
    if kind then parts.returns[#parts.returns + 1] = { kind = kind, text = text } end
  end
end

--- {text, examples = {{code, output}}, params = {{name, kind, text}}, returns = {{kind, text}}} of a comment.
function comment.parse(doc)
  local parts = { text = "", examples = {}, params = {}, returns = {} }
  local tagged, example
  for line in (doc .. "\n"):gmatch("(.-)\n") do
    if line:match("^@param") then
      add_param(parts, line)
      tagged, example = parts.params, false
    elseif line:match("^@return") then
      add_returns(parts, line)
      tagged, example = parts.returns, false
    elseif line:match("^>") or example and line ~= "" then
      add_example(parts, line)
      example = true
    elseif tagged then
      tagged[#tagged].text = tagged[#tagged].text .. " " .. line:match("^%s*(.-)$")
    else
      example = false
      parts.text = parts.text .. line .. "\n"
    end
  end
  parts.text = parts.text:match("^%s*(.-)%s*$")
  return parts
end

--- The examples of a parsed comment, as they are written.
function comment.shown(parts)
  local out = {}
  for i, example in ipairs(parts.examples) do out[i] = "> " .. example.code:gsub("\n", "\n>> ") .. "\n" .. example.output end
  return table.concat(out)
end

--- Type and text of a parameter or a result; "userdata buffer" and "table|nil sample" name a type of kc's own (`types` has its name).
function comment.typed(what, types)
  local own = what.text:match("^%a+")
  if not (types[own] and (what.kind:match("userdata") or what.kind:match("table"))) then return what.kind, what.text end
  return what.kind:gsub("userdata", "kc." .. own):gsub("table", "kc." .. own) .. "", what.text
end

return comment
