-- docs.lua - the one documentation source: collects LuaCATS comments from stdlib/*.lua and from the bindings' C comments.
-- A documented function is a run of `---` lines followed by `function NAME(ARGS)`; in C the same text stands in a comment that
-- begins with `/*---`. Used by embed.lua (help, and from there every page) and by the documentation lint. See spec/documentation.md.
local docs = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function list(root, pattern)
  local pipe = assert(io.popen(("find '%s' -name '%s' 2>/dev/null | LC_ALL=C sort"):format(root, pattern)))
  local files = {}
  for line in pipe:lines() do files[#files + 1] = line end
  pipe:close()
  return files
end

-- ---- comments -------------------------------------------------------------------------------------------------------------

-- Calls add(name, args, doc, line) for every commented function of a text.
local function scan(text, add)
  local block, number = {}, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    local comment = line:match("^%s*%-%-%-(.*)$")
    local name, args = line:match("^%s*function%s+([%w_.:]+)%s*(%b())")
    if comment then
      block[#block + 1] = (comment:gsub("^ ", ""))
    else
      if name and #block > 0 then add(name, args, table.concat(block, "\n"), number) end
      block = {}
    end
  end
end

-- "(self, a, b)" -> "(a, b)"
local function without_self(args) return (args:gsub("^%(%s*[%w_]+%s*,?%s*", "(")) end

-- What module kc takes from others: exported["kc.numbers"].ulp == "ulp".
local function exports(root)
  local exported = {}
  local file = io.open(root .. "/stdlib/kc/init.lua")
  if not file then return exported end
  for name, module, field in file:read("a"):gmatch('([%w_]+) = { "([%w_]+)", "([%w_]+)" }') do
    module = "kc." .. module
    exported[module] = exported[module] or {}
    exported[module][field] = name
  end
  file:close()
  return exported
end

--- stdlib/kc/report/text.lua -> kc.report.text; stdlib/kc/init.lua -> kc
function docs.module_of(path) return (path:match("stdlib/(.*)%.lua$"):gsub("/", "."):gsub("%.init$", "")) end

-- Public name and page of `function M.field` in a module, or of a method of one of its types.
local function place_lua(row, spelled, exported)
  local owner, mark, field = spelled:match("^([%w_]+)([.:])([%w_]+)$")
  local public = owner == "M" and (exported[row.module] or {})[field]
  row.field = field
  if public then
    row.name, row.page = "kc." .. public, "kc"
  elseif owner == "M" then
    row.name, row.page = row.module .. "." .. field, row.module
  elseif owner then
    row.class = owner == "methods" and row.module:match("[%w_]+$") or owner:lower()
    row.name, row.page = row.class .. ":" .. field, row.module
    if mark == "." then row.args = without_self(row.args) end
  end
  return row.name ~= nil
end

local libraries = { core = true, exact = true, zip = true, line = true }

-- The library that a C file belongs to: that of the functions which it documents; methods alone belong to the core.
local function library_of(text)
  for block in text:gmatch("/%*(%-%-%-.-)%*/") do
    local owner = block:match("function%s+(%w+)%.")
    if libraries[owner] then return "kc." .. owner end
  end
  return "kc.core"
end

local function place_c(row, spelled)
  local owner, field = spelled:match("^([%w_]+)%.([%w_]+)$")
  row.page, row.field = row.module, field
  if libraries[owner] then
    row.name = spelled
  else
    row.class, row.name, row.args = owner, owner .. ":" .. field, without_self(row.args)
  end
end

local function lines_before(text, at) return select(2, text:sub(1, at):gsub("\n", "")) end

--- Calls add{name, args, doc, module, page, field, class, path, line} for every documented function below root, in a stable order.
--- `module` is what require takes, `page` where it is public, `class` the type of a method.
function docs.each(root, add)
  local exported = exports(root)
  for _, path in ipairs(list(root .. "/stdlib", "*.lua")) do
    scan(read(path), function(name, args, doc, line)
      local row = { args = args, doc = doc, module = docs.module_of(path), path = path, line = line }
      if place_lua(row, name, exported) then add(row) end
    end)
  end
  for _, path in ipairs(list(root .. "/lua", "lkc_*.c")) do
    local text = read(path)
    local library = library_of(text)
    for at, block in text:gmatch("()/%*(%-%-%-.-)%*/") do
      scan(block, function(name, args, doc, line)
        local row = { args = args, doc = doc, module = library, path = path, line = lines_before(text, at) + line }
        place_c(row, name)
        add(row)
      end)
    end
  end
end

-- ---- what is embedded -------------------------------------------------------------------------------------------------------

local bindings = { ["kc.core"] = "Bindings of the host: formats, buffers, devices, processes, files.",
                   ["kc.exact"] = "Reals (MPFR) and certified oracles (Arb); loaded when the first of them is used.",
                   ["kc.zip"] = "Archives of tensors (.npz); loaded when one is read or written.",
                   ["kc.line"] = "The prompt's line editor." }

-- The comment that follows the first line of a module.
local function heading(text)
  local lines = {}
  for line in text:gsub("^[^\n]*\n", "", 1):gmatch("(.-)\n") do
    local comment = line:match("^%-%- ?(.*)$")
    if not comment then break end
    lines[#lines + 1] = comment
  end
  return table.concat(lines, "\n")
end

local function modules(root)
  local rows = {}
  for _, path in ipairs(list(root .. "/stdlib", "*.lua")) do rows[#rows + 1] = { docs.module_of(path), heading(read(path)) } end
  for _, name in ipairs { "kc.core", "kc.exact", "kc.line", "kc.zip" } do rows[#rows + 1] = { name, bindings[name] } end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  return rows
end

--- Source text of module kc.docs: a list of {name, args, doc, module, page, field, class}, and modules, a list of {name, doc}.
function docs.index(root)
  local rows = {}
  docs.each(root, function(d)
    rows[#rows + 1] = ("{ name = %q, args = %q, doc = %q, module = %q, page = %q, field = %q, class = %q },"):format(d.name, d.args,
      d.doc, d.module, d.page, d.field, d.class or false)
  end)
  rows[#rows + 1] = "modules = {"
  for _, row in ipairs(modules(root)) do rows[#rows + 1] = ("{ %q, %q },"):format(row[1], row[2]) end
  return "return {\n" .. table.concat(rows, "\n") .. "\n} }\n"
end

local function texts(paths)
  local rows = {}
  for _, path in ipairs(paths) do rows[#rows + 1] = ("[%q] = %q,"):format(path:match("([^/]+)%.md$"), read(path)) end
  return "return {\n" .. table.concat(rows, "\n") .. "\n}\n"
end

--- Source text of module kc.classes: class -> the text of spec/classes/CLASS.md.
function docs.classes(root) return texts(list(root .. "/spec/classes", "C-*.md")) end

--- Source text of module kc.spec: name -> the text of spec/NAME.md.
function docs.spec(root)
  local paths = {}
  for _, path in ipairs(list(root .. "/spec", "*.md")) do
    if not path:match("/classes/") then paths[#paths + 1] = path end
  end
  return texts(paths)
end

return docs
