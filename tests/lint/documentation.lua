-- documentation.lua [ROOT] - every public function has its comment, and every comment is of a function: KC_API functions in host/*.h,
-- functions of Lua modules, functions and methods of bindings; the parameters of a comment are those of the function. Run by kc
-- it also looks at the functions themselves: a documented one must exist and take as many arguments.
local root = arg[1] or "."
local docs = dofile("lua/docs.lua")
local comment = dofile("lua/comment.lua")
local live = pcall(require, "kc.core")
local failures = 0

local function files(pattern)
  local pipe = assert(io.popen(("cd '%s' && ls %s 2>/dev/null"):format(root, pattern)))
  local list = {}
  for path in pipe:lines() do list[#list + 1] = root .. "/" .. path end
  pipe:close()
  return list
end

local function complain(path, number, text)
  failures = failures + 1
  print(("%s:%d: %s"):format(path, number, text))
end

local function lines_of(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

-- C: a line with KC_API must follow a documentation comment, directly or after another declaration that shares it (kc.h groups
-- accessors under one sentence: each line of such a group follows the one before).
for _, path in ipairs(files "host/*.h lua/kc_*.h") do
  local covered = false
  for number, line in ipairs(lines_of(path)) do
    if line:match("^%s*/%*%*") then covered = true end
    if line:match("^KC_API") and not covered and not line:match("^KC_API.*#define") then
      complain(path, number, "public function without a comment /** ... */: " .. line:sub(1, 60))
    end
    if line:match("^%s*$") then covered = false end
  end
end

-- Lua modules: `function M.name` and methods `function Type:name` at top level.
for _, path in ipairs(files "stdlib/kc/*.lua stdlib/kc/*/*.lua") do
  local lines = lines_of(path)
  for number, line in ipairs(lines) do
    local name = line:match("^function (M[.:][%w_]+)")
    if name then
      local above = lines[number - 1] or ""
      if not above:match("^%-%-%-") then complain(path, number, "public function without a comment: " .. name) end
    end
  end
  if not lines[1]:match("^%-%-%-@module kc") then complain(path, 1, "the first line names the module: ---@module kc...") end
end

local rows, documented = {}, {} -- documented[path][field]
docs.each(root, function(row)
  rows[#rows + 1] = row
  documented[row.path] = documented[row.path] or {}
  documented[row.path][row.field] = true
end)

-- Bindings: every name registered in a luaL_Reg has a documented synopsis in the same file, unless it is a metamethod, and every
-- documented one is registered there: in a luaL_Reg, or as a row X(name, function) of which one is made.
local registered = {} -- registered[path][name]
for _, path in ipairs(files "lua/lkc_*.c") do
  local known, own = documented[path] or {}, {}
  local function register(name, number)
    own[name] = true
    if not name:match("^__") and not known[name] then complain(path, number, "binding without documentation: " .. name) end
  end
  for number, line in ipairs(lines_of(path)) do
    for name in line:gmatch('{%s*"([%w_]+)",%s*[%w_]+%s*}') do register(name, number) end
    for name in line:gmatch("X%(([%w_]+), [%w_]+%)") do register(name, number) end
  end
  registered[path] = own
end
for _, row in ipairs(rows) do
  if row.path:match("%.c$") and not registered[row.path][row.field] then
    complain(row.path, row.line, "documentation of a binding that is not registered: " .. row.name)
  end
end

-- Parameters: those of the synopsis have tags of the same names in the same order. A function of Lua may do without tags.
local function names_in(args)
  local names = {}
  for name in args:gmatch("[%w_]+") do if name ~= "self" then names[#names + 1] = name end end
  return table.concat(names, ", ")
end

for _, row in ipairs(rows) do
  local tags = {}
  for _, what in ipairs(comment.parse(row.doc).params) do
    if what.name ~= "self" and what.name ~= "..." then tags[#tags + 1] = what.name end
  end
  local said, taken = table.concat(tags, ", "), names_in(row.args)
  if said ~= taken and (#tags > 0 or row.path:match("%.c$")) then
    complain(row.path, row.line, ("%s takes (%s), its comment says (%s)"):format(row.name, taken, said))
  end
end

-- The functions themselves. Methods are reached through values only, so theirs are not looked at.
local function count_of(args) return select(2, args:gsub("[%w_]+", "")) end

local function look_at(row)
  local ok, module = pcall(require, row.module)
  local value = ok and rawget(module, row.field)
  if type(value) ~= "function" then
    complain(row.path, row.line, ("%s is documented, and is %s"):format(row.name, ok and type(value) or "in a module that does not load"))
    return
  end
  local info = debug.getinfo(value, "u")
  if row.path:match("%.lua$") and (info.nparams ~= count_of(row.args) or info.isvararg ~= (row.args:find("...", 1, true) ~= nil)) then
    complain(row.path, row.line, ("%s is documented with %s, and takes %d"):format(row.name, row.args, info.nparams))
  end
end

if live then
  package.path = root .. "/stdlib/?.lua;" .. package.path
  for _, row in ipairs(rows) do if not row.class then look_at(row) end end
end

print(failures == 0 and "documentation: every public function has its comment" or failures .. " mistakes in the documentation")
os.exit(failures == 0 and 0 or 1)
