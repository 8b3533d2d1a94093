-- Processes, channels and crash pages.
local core = require "kc.core"

assert(core.sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") -- FIPS 180-2, appendix B.1
assert(core.key("abc") == math.tointeger(0xba7816bf8f01cfea))

local a, b = core.channel()
assert(a:send(("x"):rep(100000), { 0, 1 }))
local text, fds = b:receive(1)
assert(#text == 100000 and #fds == 2 and fds[1] > 2)
for _, fd in ipairs(fds) do core.closefd(fd) end
assert(a:send("") and b:receive(1) == "")
local none, why, code = b:receive(0.01)
assert(none == nil and code == "timeout", why)
a:close()
none, why, code = b:receive(1)
assert(none == nil and code == "closed", why)
assert(not pcall(a.send, a, "x"), "use after close")
a:close()

-- A frame that announces too much, and one that stops half-way.
local c, d = core.channel()
local sender = assert(core.spawn { argv = { "/bin/sh", "-c", [[printf '\377\377\377\377' >&3]] }, fds = { { 3, c:fd() } } })
sender:wait(5)
none, why, code = d:receive(1)
assert(none == nil and code == "io", why)
c, d = core.channel()
sender = assert(core.spawn { argv = { "/bin/sh", "-c", [[printf '\012\000\000\000abc' >&3]] }, fds = { { 3, c:fd() } } })
sender:wait(5)
none, why, code = d:receive(0.05)
assert(none == nil and code == "timeout", why)

local p = assert(core.spawn { argv = { "/bin/sh", "-c", "exit 7" } })
local how, number = p:wait(5)
assert(how == "exited" and number == 7)
p = assert(core.spawn { argv = { "/bin/sh", "-c", "kill -SEGV $$" } })
local name
how, number, name = p:wait(5)
assert(how == "signaled" and number == 11 and name == "SIGSEGV")
none, why = core.spawn { argv = { "/no/such/program" } }
assert(none == nil and why:find("/no/such/program", 1, true))
assert(not pcall(core.spawn, { argv = {} }))

-- A grandchild that leaves its session and a double fork die with the tree.
core.subreaper()
local marker = os.tmpname()
local script = ("(setsid sh -c 'sleep 30; echo late > %s' & ) ; sh -c 'sleep 30 & sleep 30'"):format(marker)
p = assert(core.spawn { argv = { "/bin/sh", "-c", script } })
core.sleep(1)
local killed = core.killtree(p:pid())
killed = killed + core.killtree(nil, {})
assert(killed >= 3, "processes killed: " .. killed)
local pipe = io.popen("pgrep -f 'echo late > " .. marker .. "' | grep -v $$ | wc -l")
local left = pipe:read("a")
pipe:close()
assert(tonumber(left) <= 1, "left behind: " .. left) -- the shell that asks mentions the text itself
os.remove(marker)

local page = assert(core.crashpage())
assert(page:report() == nil)
page:close()
assert(not pcall(page.report, page))

local started = core.clock()
assert(#core.poll({}, 0.01) == 0 and core.clock() - started >= 0.009)
assert(core.stat("/").type == "directory" and core.stat(core.exe() .. "/none") == nil)
local names = assert(core.listdir("tests/lua"))
for i = 2, #names do assert(names[i - 1] < names[i]) end
print("system: passed")
