-- Every public function has its comment: KC_API functions in host/*.h, functions of Lua modules, functions and methods of bindings.
local docs = dofile("lua/docs.lua")
local failures = 0

local function files(pattern)
  local pipe = assert(io.popen("git ls-files -co --exclude-standard -- " .. pattern))
  local list = {}
  for path in pipe:lines() do list[#list + 1] = path end
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
for _, path in ipairs(files("'host/*.h' 'lua/kc_*.h'")) do
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
for _, path in ipairs(files("'stdlib/*.lua'")) do
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

-- Bindings: every name registered in a luaL_Reg has a documented synopsis in the same file, unless it is a metamethod.
local documented = {}
docs.each(".", function(d)
  documented[d.path] = documented[d.path] or {}
  documented[d.path][d.name:match("[%w_]+$")] = true
end)
for _, path in ipairs(files("'lua/lkc_*.c'")) do
  local known = documented["./" .. path] or {}
  for number, line in ipairs(lines_of(path)) do
    for name in line:gmatch('{"([%w_]+)",%s*[%w_]+}') do
      if not name:match("^__") and not known[name] then complain(path, number, "binding without documentation: " .. name) end
    end
  end
end

print(failures == 0 and "documentation: every public function has its comment" or failures .. " functions without documentation")
os.exit(failures == 0 and 0 or 1)
