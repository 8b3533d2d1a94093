-- docs.lua - the one documentation source: collects LuaCATS comments from stdlib/*.lua and from the bindings' C comments.
-- A documented function is a run of `---` lines followed by `function NAME(ARGS)`; in C the same text stands in a comment that
-- begins with `/*---`. Used by embed.lua (help), by the documentation lint and by whatever renders pages.
local docs = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function list(root, pattern)
  local pipe = assert(io.popen(("find %s -name '%s' | LC_ALL=C sort"):format(root, pattern)))
  local files = {}
  for line in pipe:lines() do files[#files + 1] = line end
  pipe:close()
  return files
end

-- Public names: modules write `function M.name`; the module's public prefix is declared by a line `---@module kc.xyz`.
local function scan(text, path, prefix, add)
  local block, line_number = {}, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    line_number = line_number + 1
    local comment = line:match("^%s*%-%-%-(.*)$")
    local kind, name, args = line:match("^%s*(function)%s+([%w_.:]+)%s*(%b())")
    if comment then
      block[#block + 1] = (comment:gsub("^ ", ""))
    elseif kind and #block > 0 then
      add { name = (name:gsub("^M([.:])", prefix .. "%1")), args = args, doc = table.concat(block, "\n"),
            path = path, line = line_number }
      block = {}
    else
      block = {}
    end
  end
end

--- Calls add{name, args, doc, path, line} for every documented function below root, in a stable order.
function docs.each(root, add)
  for _, path in ipairs(list(root .. "/stdlib", "*.lua")) do
    local text = read(path)
    scan(text, path, text:match("%-%-%-@module%s+'?([%w_.]+)'?") or "?", add)
  end
  for _, path in ipairs(list(root .. "/lua", "lkc_*.c")) do
    for block in read(path):gmatch("/%*(%-%-%-.-)%*/") do scan(block, path, "?", add) end
  end
end

--- Source text of module kc.docs: a list of {name, args, doc}.
function docs.index(root)
  local rows = {}
  docs.each(root, function(d)
    rows[#rows + 1] = ("{ name = %q, args = %q, doc = %q },"):format(d.name, d.args, d.doc)
  end)
  return "return {\n" .. table.concat(rows, "\n") .. "\n}\n"
end

--- Source text of module kc.classes: class -> the text of spec/classes/CLASS.md.
function docs.classes(root)
  local rows = {}
  for _, path in ipairs(list(root .. "/spec/classes", "C-*.md")) do
    rows[#rows + 1] = ("[%q] = %q,"):format(path:match("([^/]+)%.md$"), read(path))
  end
  return "return {\n" .. table.concat(rows, "\n") .. "\n}\n"
end

return docs
