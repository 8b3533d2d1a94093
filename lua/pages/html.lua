-- html.lua - one page a module and a type, pages of the specification, and an index; no scripts, nothing from a network.
local core = require "kc.core"
local docs = require "kc.docs"
local manual = require "kc.manual"
local words = require "kc.words"
local comment, markdown

local style = [[
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
pre, code { font-family: ui-monospace, monospace; font-size: 0.9em } pre { background: #f4f4f2; padding: 0.6rem 0.8rem; overflow-x: auto }
a { color: #0550ae; text-decoration: none } a:hover { text-decoration: underline } h3 { margin: 2rem 0 0.3rem }
table { border-collapse: collapse }
td, th { text-align: left; vertical-align: top; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid #ddd }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1b1b1b } pre { background: #262626 } a { color: #79b8ff } td, th { border-color: #444 }
}
]]

local function escaped(text) return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" })) end

local function anchor(name) return (name:gsub("[^%w_.-]", ".")) end

-- ---- links ------------------------------------------------------------------------------------------------------------------

local targets, types = {}, {} -- name -> address; names of types

local function function_file(row) return (row.class and "type." .. row.class or row.page) .. ".html" end

local function collect()
  for _, row in ipairs(docs.modules) do targets[row[1]] = row[1] .. ".html" end
  for _, name in ipairs(words.keys(require "kc.spec")) do targets["spec/" .. name .. ".md"] = "spec." .. name .. ".html" end
  for _, row in ipairs(docs) do
    local address = ("%s#%s"):format(function_file(row), anchor(row.name))
    targets[row.name] = targets[row.name] and not row.name:find("^kc%.%w+$") and targets[row.name] or address
    if row.class then types[row.class] = "type." .. row.class .. ".html" end
  end
end

local function link(name, address) return ('<a href="%s">%s</a>'):format(address, escaped(name)) end

-- Documented names become links.
local function linked(text)
  local out, at = {}, 1
  while at <= #text do
    local from, to = text:find("[%w_][%w_.:/%-]*", at)
    if not from then break end
    local word = text:sub(from, to):gsub("[.:/%-]+$", "")
    out[#out + 1] = escaped(text:sub(at, from - 1))
    out[#out + 1] = targets[word] and link(word, targets[word]) or escaped(word)
    at = from + #word
  end
  return table.concat(out) .. escaped(text:sub(at))
end

local tags = { code = "<code>%s</code>", strong = "<strong>%s</strong>", emphasis = "<em>%s</em>", plain = "%s" }

local function inline(text)
  local out = {}
  markdown.spans(text, function(kind, span) out[#out + 1] = (tags[kind]:gsub("%%s", (linked(span):gsub("%%", "%%%%")))) end)
  return table.concat(out)
end

-- ---- blocks -----------------------------------------------------------------------------------------------------------------

local function list(block)
  local tag, items = block.ordered and "ol" or "ul", {}
  for i, item in ipairs(block) do items[i] = "<li>" .. inline(item) .. "</li>" end
  return ("<%s>\n%s\n</%s>"):format(tag, table.concat(items, "\n"), tag)
end

local function row(cells, tag)
  local out = {}
  for i, cell in ipairs(cells) do out[i] = ("<%s>%s</%s>"):format(tag, inline(cell), tag) end
  return "<tr>" .. table.concat(out) .. "</tr>"
end

local function grid(rows)
  local out = {}
  for i, cells in ipairs(rows) do out[i] = row(cells, i == 1 and "th" or "td") end
  return "<table>\n" .. table.concat(out, "\n") .. "\n</table>"
end

local render = {
  heading = function(b) return ('<h%d id="%s">%s</h%d>'):format(b.level, anchor(b.text:lower()), inline(b.text), b.level) end,
  paragraph = function(b) return "<p>" .. inline(b.text) .. "</p>" end,
  code = function(b) return "<pre>" .. linked(b.text) .. "</pre>" end, list = list, table = grid,
}

local function body(text)
  local out = {}
  for i, block in ipairs(markdown.blocks(text)) do out[i] = render[block.kind](block) end
  return table.concat(out, "\n")
end

local function page(title, text)
  return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n' ..
    "<title>%s - kc</title>\n<style>\n%s</style>\n</head>\n<body>\n<p><a href=\"index.html\">kc %s</a></p>\n%s\n</body>\n</html>\n"):format(
    escaped(title), style, core.version, text)
end

-- ---- functions --------------------------------------------------------------------------------------------------------------

local function item(what)
  local kind, text = comment.typed(what, types)
  local of = kind:match("kc%.(%w+)")
  local shown = of and types[of] and link(kind, types[of]) or escaped(kind)
  return ("<code>%s%s</code> %s"):format(what.name and escaped(what.name) .. ": " or "", shown, inline(text))
end

local function items(title, whats)
  if #whats == 0 then return "" end
  local out = {}
  for i, what in ipairs(whats) do out[i] = "<li>" .. item(what) .. "</li>" end
  return ("<p>%s</p>\n<ul>\n%s\n</ul>\n"):format(title, table.concat(out, "\n"))
end

local function examples(parts)
  return #parts.examples == 0 and "" or "<pre>" .. linked(comment.shown(parts)) .. "</pre>\n"
end

local function described(entry)
  local parts = comment.parse(entry.doc)
  return ('<h3 id="%s"><code>%s</code></h3>\n<p>%s</p>\n%s%s%s'):format(anchor(entry.name), escaped(entry.name .. entry.args),
    inline(parts.text), examples(parts), items("Parameters", parts.params), items("Results", parts.returns))
end

local function functions(choose)
  local out = {}
  for _, entry in ipairs(docs) do if choose(entry) then out[#out + 1] = described(entry) end end
  return table.concat(out, "\n")
end

-- ---- pages ------------------------------------------------------------------------------------------------------------------

local function module_page(name, doc)
  local own, kinds, seen = functions(function(entry) return entry.page == name and not entry.class end), {}, {}
  for _, entry in ipairs(docs) do
    if entry.page == name and entry.class and not seen[entry.class] then
      kinds[#kinds + 1], seen[entry.class] = link(entry.class, types[entry.class]), true
    end
  end
  local of = #kinds > 0 and ("<p>Types: %s</p>\n"):format(table.concat(kinds, ", ")) or ""
  return page(name, ("<h1>%s</h1>\n<p>%s</p>\n%s%s"):format(name, inline(doc), of, own))
end

local function group_page(group)
  local out = { ("<h1>%s</h1>"):format(group[1]) }
  for _, name in ipairs(group[3].names()) do
    out[#out + 1] = ('<h3 id="%s"><code>%s</code></h3>\n<pre>%s</pre>'):format(anchor(name), escaped(name), linked(group[3].text(name)))
  end
  return page(group[1], table.concat(out, "\n"))
end

local paged = { commands = true, formats = true, oracles = true, metrics = true, classes = true, options = true }

local function index()
  local out = { "<h1>kc</h1>", "<h2>Reference</h2>", "<ul>" }
  for _, group in ipairs(manual.groups) do
    if paged[group[1]] then
      local names = {}
      for i, name in ipairs(group[3].names()) do names[i] = link(name, ("%s.html#%s"):format(group[1], anchor(name))) end
      out[#out + 1] = ("<li>%s: %s</li>"):format(link(group[1], group[1] .. ".html"), table.concat(names, " "))
    end
  end
  out[#out + 1] = "</ul>\n<h2>Specification</h2>\n<ul>"
  for _, name in ipairs(words.keys(require "kc.spec")) do out[#out + 1] = "<li>" .. link(name, "spec." .. name .. ".html") .. "</li>" end
  out[#out + 1] = "</ul>\n<h2>Types</h2>\n<p>"
  for _, name in ipairs(words.keys(types)) do out[#out + 1] = link(name, types[name]) end
  out[#out + 1] = "</p>\n<h2>Modules</h2>\n<table>"
  for _, entry in ipairs(docs.modules) do
    out[#out + 1] = ("<tr><td>%s</td><td>%s</td></tr>"):format(link(entry[1], entry[1] .. ".html"), inline(entry[2]:match("^[^\n]*")))
  end
  out[#out + 1] = "</table>"
  return page("index", table.concat(out, "\n"))
end

return function(write, context)
  comment, markdown = context.comment, context.markdown
  collect()
  local function put(name, text) write("doc/html/" .. name .. ".html", text) end
  for _, entry in ipairs(docs.modules) do put(entry[1], module_page(entry[1], entry[2])) end
  for _, name in ipairs(words.keys(types)) do
    local own = functions(function(entry) return entry.class == name end)
    put("type." .. name, page(name, ("<h1>Type %s</h1>\n%s"):format(name, own)))
  end
  for _, group in ipairs(manual.groups) do if paged[group[1]] then put(group[1], group_page(group)) end end
  for _, name in ipairs(words.keys(require "kc.spec")) do put("spec." .. name, page(name, body(manual.spec(name)))) end
  put("index", index())
end
