---@module kc.report.markup
-- Text and elements of XML and HTML. All that is written passes through here: names, reasons and logs are a candidate's.
local M = {}

local function hex(bytes) return (bytes:gsub(".", function(c) return ("\\x%02x"):format(c:byte()) end)) end

-- Bytes that are no UTF-8 in hexadecimal.
local function utf8_only(text)
  local parts, at = {}, 1
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if bad then parts[#parts + 1] = hex(text:sub(bad, bad)) end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

-- What XML 1.0 forbids or readers do not show: control characters, noncharacters, marks that turn the direction of writing.
local unseen = { "[\0-\8\11-\31\127]", "\xC2[\x80-\x9F]", "\xEF\xBF[\xBE\xBF]", "\xE2\x80[\xAA-\xAE]", "\xE2\x81[\xA6-\xA9]" }

--- Text as UTF-8 that every reader of XML takes; what may not be in it is shown as \x1b.
---@param text any
---@return string
function M.printable(text)
  text = utf8_only(tostring(text))
  for _, pattern in ipairs(unseen) do text = text:gsub(pattern, hex) end
  return text
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- Text as content of an element.
---@param text any
---@return string
function M.escape(text) return (M.printable(text):gsub("[&<>\"']", entities)) end

local kept = { ["\n"] = "&#10;", ["\t"] = "&#9;" }

--- A start tag's attributes, or an element.
---@param name string
---@param attributes table|nil name, value, name, value ...; a value of false leaves the attribute out
---@param body string|nil markup; an empty element when nil
---@return string markup
function M.tag(name, attributes, body)
  local parts = { name }
  for i = 1, #(attributes or {}), 2 do
    local value = attributes[i + 1]
    if value ~= false then parts[#parts + 1] = ('%s="%s"'):format(attributes[i], (M.escape(value):gsub("[\n\t]", kept))) end
  end
  local head = table.concat(parts, " ")
  return body and ("<%s>%s</%s>"):format(head, body, name) or ("<%s />"):format(head)
end

return M
