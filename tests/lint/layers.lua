-- Who may use whom (README, "Where things are"): scans #include and require lines. Exits 1 naming file and line.
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

-- Where each header lives, by name.
local home = {}
for _, path in ipairs(files("'host/*.h' 'devices/*.h' 'lua/*.h'")) do home[path:match("[^/]+$")] = path:match("^[^/]+") end

local foreign = { "lua.h", "lauxlib.h", "lualib.h" }
local device_headers = { "cuda", "nvrtc", "hip", "CL/", "ffi.h" }
local public = { ["kc.h"] = true, ["kc_driver.h"] = true, ["kc_extension.h"] = true, ["npy.h"] = true, ["diff.h"] = true }
local exact_headers = { "mpfr.h", "arb.h", "flint", "gmp.h" }

local function mentions(list, name)
  for _, item in ipairs(list) do if name:find(item, 1, true) then return true end end
  return false
end

local rules = {
  host = function(name, path)
    if mentions(foreign, name) then return "host includes Lua" end
    if mentions(device_headers, name) then return "host includes a device header" end
    if mentions(exact_headers, name) and not path:match("^host/exact/") then return "only host/exact may include MPFR or Arb" end
    if home[name] and home[name] ~= "host" then return "host includes a header of " .. home[name] end
  end,
  devices = function(name)
    if mentions(foreign, name) then return "devices include Lua" end
    if mentions(exact_headers, name) then return "devices include MPFR or Arb" end
    if home[name] == "lua" then return "devices include a header of lua" end
    if home[name] == "host" and name ~= "kc.h" and name ~= "kc_driver.h" then return "devices include an internal header of host" end
  end,
  lua = function(name, path)
    if mentions(device_headers, name) then return "lua includes a device header" end
    local root = path:match("_main%.c$") or path:match("lkc_embedding%.h$")
    if home[name] == "devices" and not root then return "only the programs and libkc may include headers of devices" end
    local exact = path:match("lkc_exact%.c$") or path:match("lkc_real%.c$") or path:match("lkc_expression%.c$")
    local open = public[name] or (exact and (name == "exact.h" or name == "expression.h"))
    if mentions(exact_headers, name) and not exact then return "only kc.exact may include MPFR" end
    if home[name] == "host" and not open then return "lua includes an internal header of host" end
  end,
}

for layer, rule in next, rules do
  for _, path in ipairs(files(("'%s/*.c' '%s/*.h'"):format(layer, layer))) do
    local number = 0
    for line in io.lines(path) do
      number = number + 1
      local name = line:match('^%s*#%s*include%s*[<"]([^>"]+)')
      local why = name and rule(name, path)
      if why then complain(path, number, why .. " (" .. name .. ")") end
    end
  end
end

-- Lua: stdlib requires kc.*, cjson; contracts require "kc" only.
for _, path in ipairs(files("'stdlib/*.lua' 'contracts/*.lua'")) do
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    for name in line:gmatch("require%s*%(?%s*[\"']([^\"']+)") do
      local fine = path:match("^contracts/") and name == "kc" or path:match("^stdlib/") and (name:match("^kc") or name == "cjson")
      if not fine then complain(path, number, ("may not require '%s'"):format(name)) end
    end
  end
end

print(failures == 0 and "layers: every include and require is allowed" or failures .. " violations of the layers")
os.exit(failures == 0 and 0 or 1)
