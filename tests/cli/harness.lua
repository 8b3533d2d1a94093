-- Runs kc as a user would and looks at exit code, stdout and stderr. Each harness has a cache and a scratch directory of its own.
local core = require "kc.core"
local H = {}
H.__index = H

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read("a") or ""
  if file then file:close() end
  return text
end

local function new()
  local directory = os.tmpname()
  os.remove(directory)
  assert(core.mkdirs(directory))
  return setmetatable({ directory = directory, passed = 0, kc = core.exe() }, H)
end

--- Starts kc with arguments; env is a list of NAME=VALUE. Returns a handle for finish.
function H:start(arguments, env)
  local out, err = self.directory .. "/stdout", self.directory .. "/stderr"
  local argv = { "/usr/bin/env", "KC_CACHE=" .. self.directory .. "/cache" }
  table.move(env or {}, 1, #(env or {}), #argv + 1, argv)
  for _, word in ipairs { "/bin/sh", "-c", 'out=$1 err=$2; shift 2; exec "$@" >"$out" 2>"$err"', "sh", out, err, self.kc } do
    argv[#argv + 1] = word
  end
  table.move(arguments, 1, #arguments, #argv + 1, argv)
  return assert(core.spawn { argv = argv, stderr = "inherit" })
end

--- Waits for a started kc.
function H:finish(process, arguments)
  local how, code, name = process:wait(800)
  return { how = how, code = how == "exited" and code or name or how, stdout = read(self.directory .. "/stdout"),
           stderr = read(self.directory .. "/stderr"), command = "kc " .. table.concat(arguments, " ") }
end

--- Runs kc.
function H:run(arguments, env) return self:finish(self:start(arguments, env), arguments) end

--- Runs kc and demands an exit code and texts: {code, out = {...}, err = {...}, no = {...}}.
function H:expect(arguments, want, env)
  local got = self:run(arguments, env)
  local function fail(text)
    error(("%s\n  %s\n--- stdout\n%s\n--- stderr\n%s"):format(got.command, text, got.stdout, got.stderr), 3)
  end
  if got.code ~= want.code then fail(("expected exit code %s, got %s"):format(want.code, got.code)) end
  for _, text in ipairs(want.out or {}) do
    if not got.stdout:find(text, 1, true) then fail(("'%s' is not on stdout"):format(text)) end
  end
  for _, text in ipairs(want.err or {}) do
    if not got.stderr:find(text, 1, true) then fail(("'%s' is not on stderr"):format(text)) end
  end
  for _, text in ipairs(want.no or {}) do
    if got.stdout:find(text, 1, true) or got.stderr:find(text, 1, true) then fail(("'%s' must not appear"):format(text)) end
  end
  self.passed = self.passed + 1
  return got
end

--- Writes a file into the scratch directory and returns its path.
function H:file(name, text)
  local path = self.directory .. "/" .. name
  assert(core.mkdirs(path:match("^(.*)/")))
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

H.read = read

--- Prints the count and removes the scratch directory.
function H:done(name)
  os.execute("rm -rf '" .. self.directory .. "'")
  print(("%s: %d passed"):format(name, self.passed))
end

return new
