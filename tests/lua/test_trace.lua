-- Traces: torn lines, resuming, hostile files, a full disk; replay tokens.
local core = require "kc.core"
local json = require "kc.json"
local replay = require "kc.replay"
local trace = require "kc.trace"

local path = os.tmpname()
local function write(text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end
local function read()
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

write ""
local t = assert(trace.create(path))
assert(t:add { type = "environment", schema = trace.SCHEMA, seed = 0 })
local cell = { type = "measurement", digest = "d", implementation = "i", device = "cpu", seed = 0, worst = 0.1 }
assert(t:add(cell))
assert(t:finish { counts = { held = 1 }, exit = 0 })
local whole = read()
local rows, size, torn = trace.read(path)
assert(#rows == 3 and size == #whole and not torn)
assert(rows[3].type == "end")
local before = whole:sub(1, #whole - #json.encode(rows[3]) - 1)
assert(rows[3].sha256 == core.sha256(before), "the digest covers all lines before it")
assert(select(2, trace.create(path)):find("--resume", 1, true), "an existing trace is not overwritten")

-- A torn last line loses nothing before it, at every place where it can be torn.
local first_line = whole:find("\n", 1, true)
for cut = first_line, #whole - 1, 7 do
  write(whole:sub(1, cut))
  local resumed = assert(trace.resume(path))
  local complete = select(2, whole:sub(1, cut):gsub("\n", ""))
  assert((resumed.done[trace.key(cell)] ~= nil) == (complete >= 2), "cut at " .. cut)
  assert(resumed:add { type = "measurement", digest = "e", implementation = "i", device = "cpu", seed = 0 })
  resumed:close()
  rows = assert(trace.read(path))
  assert(#rows == math.min(complete, 2) + 1, "cut at " .. cut)
end
write(whole:sub(1, first_line - 2))
assert(trace.resume(path) == nil, "nothing is left of a torn first line")
for _, text in ipairs { "", "not json\n", "[]\n", '{"type":"measurement"}\n', '{"type":"environment","schema":99}\n', "{}\n",
                        ("[" ):rep(10000) .. "\n" } do
  write(text)
  local resumed, message = trace.resume(path)
  assert(resumed == nil and message, "refused: " .. text:sub(1, 20))
end
os.remove(path)

-- A disk that is full: what was written stays, the failure is told once and nothing more is tried.
if core.stat("/dev/full") then
  local full = assert(trace.create("/dev/full"))
  local ok, message = full:add { type = "environment" }
  assert(not ok and message:find("/dev/full", 1, true), message)
  assert(select(2, full:add {}) == message and not full:finish {})
end

-- A disk that fills up half-way through a line (a file-size limit stands for it): the half line is cut off, the rest resumes.
os.remove(path)
local writer = os.tmpname()
local script = assert(io.open(writer, "w"))
script:write(([[local trace = require "kc.trace"
local t = assert(trace.create(%q))
assert(t:add { type = "environment", schema = trace.SCHEMA })
for i = 1, 100 do
  local ok, message = t:add { type = "measurement", digest = ("x"):rep(100), implementation = tostring(i), device = "cpu", seed = 0 }
  if not ok then return message:find("it holds what was measured before", 1, true) and 42 or 43 end
end]]):format(path))
script:close()
local limited = assert(core.spawn { argv = { "/bin/sh", "-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$1\"", core.exe(), writer } })
local how, code = limited:wait(20)
os.remove(writer)
assert(how == "exited" and code == 42, ("the writer %s with %s"):format(how, tostring(code)))
rows, size, torn = trace.read(path)
assert(#rows > 3 and #rows < 100 and not torn and size == #read(), "only whole lines are left")
local resumed = assert(trace.resume(path))
assert(resumed:add { type = "measurement", digest = "y", implementation = "last", device = "cpu", seed = 0 })
resumed:close()
assert(#trace.read(path) == #rows + 1)
os.remove(path)

local m = { samples = { { index = 3, digest = ("ab"):rep(32) } } }
local token = replay.token({ path = "a dir/it's:x.lua", implementation = "k$1", device = "cpu", seed = -5 }, ("cd"):rep(32), m, 3)
assert(not token:find("[^%w%%_./:+-]"), "no shell metacharacter: " .. token)
local fields = assert(replay.parse(token))
assert(fields.path == "a dir/it's:x.lua" and fields.implementation == "k$1" and fields.seed == -5 and fields.sample == 3)
assert(fields.digest == ("cd"):rep(6) and fields.output == ("ab"):rep(6))
for _, bad in ipairs { "", "a:b", "a:b:c:x:1:d:e", "a:b:c:1:1:d:e:f" } do
  local none, why = replay.parse(bad)
  assert(none == nil and why:find("replay token", 1, true))
end
print("trace: passed")
