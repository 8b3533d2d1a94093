-- The prompt as a person uses it: keys, history, completion, entries of several lines, Ctrl-C, what it prints.
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()

local PROMPT, UP, CTRL_A, CTRL_C, CTRL_D, CTRL_R, TAB = "kc> ", "\27[A", "\1", "\3", "\4", "\18", "\t"

-- Sessions share a state directory, so that history goes on.
local function session(steps, arguments, env, program)
  local file = t:file("steps.json", json.encode(steps))
  local words = { "/usr/bin/env", "NO_COLOR=1", "LC_ALL=C.UTF-8", "TERM=xterm", "XDG_STATE_HOME=" .. t.directory .. "/state",
                  "XDG_CONFIG_HOME=" .. t.directory .. "/config", "KC_CACHE=" .. t.directory .. "/cache" }
  table.move(env or {}, 1, #(env or {}), #words + 1, words)
  table.move({ "/usr/bin/python3", "tests/cli/terminal.py", program or t.kc }, 1, 3, #words + 1, words)
  table.move(arguments or {}, 1, #(arguments or {}), #words + 1, words)
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = "'" .. word .. "'" end
  local pipe = assert(io.popen(table.concat(quoted, " ") .. " <" .. file .. " 2>&1"))
  local said = pipe:read("a")
  local ok = pipe:close()
  if not ok then error(said, 2) end
  t.passed = t.passed + 1
end

-- Of an entry and what it prints.
local function prints(steps, entry, ...)
  steps[#steps + 1] = { "send", entry .. "\r" }
  for _, text in ipairs { ... } do steps[#steps + 1] = { "expect", text } end
  steps[#steps + 1] = { "expect", PROMPT }
end

local steps = { { "expect", PROMPT } }
prints(steps, "1 + 1", "\r\n2\r\n")
prints(steps, "_ * 10, 'b'", "\r\n20\r\n", '"b"\r\n')
prints(steps, "_1 + _2", "\r\n22\r\n")
prints(steps, "0.1 + 0.2", "0.30000000000000004")
prints(steps, "x = 5")
prints(steps, "kc.ulp", "function kc.ulp(x, y, format)\r\n")
prints(steps, "x, nil", "\r\n5\r\n", "nil")
prints(steps, "x + 1;")
prints(steps, "_", "\r\n6\r\n")
prints(steps, "kc.f16(0.1)", "0.0999755859375 (0x1.998p-4, f16, code 0x2e66)")
prints(steps, "kc.f16(0.1) + kc.f16(0.2)", "(0x1.33")
prints(steps, "print(kc.explain(kc.e4m3fn(0.3)))", "0 0101 010", "below       0.28125")
prints(steps, "{ 1, { a = 2, b = { c = { d = 1 } } }, 'x' }", "{ 1, { a = 2, b = { c = { ... } } }, \"x\" }")
prints(steps, "t = {} t.t = t")
prints(steps, "t", "{ t = { itself } }")
prints(steps, "b = kc.buffer('f16', { 2, 12 }) b:fillvalue(1) b[2], b[3], b[4] = -2, 0, 65504")
prints(steps, "b", "f16[2,12]: 24 elements, from -2.0 to 65504.0, 1 zero", "1.0 -2.0 0.0 65504.0 ... 1.0")
prints(steps, "?kc.ulp", "kc.ulp(x, y, format)", "How many numbers")
prints(steps, "?kc.bufer", "did you mean 'kc.buffer'")
prints(steps, "for i = 1, 2 do\rprint('line ' .. i)\rend", "line 1\r\nline 2")
prints(steps, "1 +* 2", "prompt:1: ")
prints(steps, "error('on purpose')", "prompt:1: on purpose\r\n")
prints(steps, "function f()\rlocal z = {}\rreturn z.a.b\rend")
prints(steps, "f()", "prompt:3: attempt to index a nil value (field 'a')\r\n  3 | return z.a.b\r\n\tprompt:3: in function <prompt:1>")
prints(steps, "{\r1 2\r}", "prompt:2: '}' expected", "\r\n  2 | 1 2\r\n")
local failing = t:file("fails.lua", "local x = 1\nerror(x .. ' fails')\n")
prints(steps, "dofile '" .. failing .. "'", "fails.lua:2: 1 fails\r\n  2 | error(x .. ' fails')\r\n")
prints(steps, "kc.sweep(math.exp, function(x) return kc.exp(x) end, 'bf18').worst", "unknown format 'bf18'; did you mean 'bf16'?")
prints(steps, "kc.sweep(math.exp, function(x) return kc.exp(x) end, 'e5m2', { from = 0, to = 1 }).count", "\r\n62\r\n")
prints(steps, "kc.f17(1)", "kc has no 'f17'; did you mean 'f16'?")
steps[#steps + 1] = { "send", CTRL_D }
steps[#steps + 1] = { "exit", 0 }
session(steps)

-- Keys: a line is edited, given up, completed, found again.
session {
  { "expect", PROMPT }, { "send", "23\0271 + 1" .. CTRL_A .. "4 + \r" }, { "expect", PROMPT },
  { "send", "never sent" .. CTRL_C }, { "expect", PROMPT }, { "send", UP .. UP .. "\r" }, { "expect", PROMPT },
  { "send", "kc.roundi" .. TAB .. "(1)\r" }, { "expect", "RNE" }, { "expect", PROMPT },
  { "send", "kc.to" .. TAB .. TAB .. ".ex" .. TAB .. "\r" }, { "expect", "function" }, { "expect", PROMPT },
  { "send", "kc.is" .. TAB }, { "expect", "isinf" }, { "expect", "isnan" }, { "send", CTRL_C }, { "expect", PROMPT },
  { "send", 'b = kc.buffer("e4m3fnu' .. TAB .. '", 3)\r' }, { "expect", PROMPT },
  { "send", "b:forma" .. TAB .. "()\r" }, { "expect", '"e4m3fnuz"' }, { "expect", PROMPT },
  { "send", 's = "C-EXC-01/rel' .. TAB .. '"\r' }, { "expect", PROMPT }, { "send", "s\r" }, { "expect", "C-EXC-01/relu.f32" },
  { "expect", PROMPT },
  { "send", 'c = dofile "contracts/C-EXC-01.relu.f32/contract.lua"\r' }, { "expect", PROMPT },
  { "send", "c.proto" .. TAB .. ".sampl" .. TAB .. "\r" }, { "expect", "\r\n4096\r\n" }, { "expect", PROMPT },
  { "send", "c.scope.shapes\r" }, { "expect", "{ n = " }, { "expect", PROMPT },
  { "send", "kc.contract { postco" .. TAB .. CTRL_C }, { "expect", "ndition" }, { "expect", PROMPT },
  { "send", 'require "kc.jso' .. TAB .. '".encode({ 7 })\r' }, { "expect", '"[7]"' }, { "expect", PROMPT },
  { "send", "n = 41\r" }, { "expect", PROMPT }, { "send", "exi" .. CTRL_C }, { "expect", PROMPT },
  { "resize", 10, 40 }, { "send", "n + 1\r" }, { "expect", "42" }, { "expect", PROMPT },
  { "send", CTRL_D }, { "exit", 0 },
}

-- An entry of several lines is edited as one: a line of it changed before it runs, or recalled from the history; pasted text is taken as it
-- is, tabs and all, and runs on Enter only.
local DOWN, HOME, PASTE, PASTED = "\27[B", "\1", "\27[200~", "\27[201~"
session {
  { "expect", PROMPT }, { "send", "for i = 1, 2 do\rprint('one', i)\rend" .. UP .. HOME .. "print('zero') " .. DOWN .. "\r" },
  { "expect", "zero\r\none\t1\r\nzero\r\none\t2\r\n" }, { "expect", PROMPT },
  { "send", UP .. UP .. HOME .. "print('new') " .. "\r" }, { "expect", "new\r\nzero\r\none\t1" }, { "expect", PROMPT },
  { "send", PASTE .. "a = 'x\ty'\nb = #a" .. PASTED }, { "send", "\r" }, { "expect", PROMPT },
  { "send", PASTE .. "é = 1" .. PASTED, "bytes" }, { "send", "\r" }, { "expect", "unexpected symbol near '<\\195>'" }, { "expect", PROMPT },
  { "send", PASTE .. "u = 'é\27[x'\nv = #u" .. PASTED, "bytes" }, { "send", "\r" }, { "expect", PROMPT },
  { "send", "v\r" }, { "expect", "\r\n5\r\n" }, { "expect", PROMPT },
  { "send", "a, b\r" }, { "expect", '"x\\9y"' }, { "expect", "3\r\n" }, { "expect", PROMPT },
  { "send", CTRL_D }, { "exit", 0 },
}

-- A contract that is edited and loaded again is another value; the old one keeps what it said.
os.execute(("cp -r contracts/C-EXC-01.relu.f32 '%s/relu'"):format(t.directory))
local path = t.directory .. "/relu/contract.lua"
session {
  { "expect", PROMPT }, { "send", ("old = dofile '%s'\r"):format(path) }, { "expect", PROMPT },
  { "send", ("os.execute [[sed -i 's/version = \"1.0\"/version = \"1.1\"/' '%s']];\r"):format(path) }, { "expect", PROMPT },
  { "send", ("new = dofile '%s'\r"):format(path) }, { "expect", PROMPT },
  { "send", "old.identifier.version, new.identifier.version, old == new\r" }, { "expect", '"1.0"\r\n"1.1"\r\nfalse\r\n' },
  { "expect", PROMPT },
  { "send", CTRL_D }, { "exit", 0 },
}

-- History goes on in the next run, and can be searched.
session {
  { "expect", PROMPT }, { "send", UP .. "\r" }, { "expect", "nil" }, { "expect", PROMPT },
  { "send", CTRL_R .. "e4m3fnu" }, { "expect", "e4m3fnuz" }, { "send", "\r" }, { "expect", PROMPT },
  { "send", CTRL_D }, { "exit", 0 },
}

-- Ctrl-C comes back to the prompt from Lua and from a kernel; a runner that was killed is started again.
t:file("endless.k", "KC_KERNEL void k(KC_GLOBAL kc_i32 *x, kc_i32 forever) {\n  do x[0] += 1; while (forever);\n}\n")
local build = ("d = kc.device('cpu'); k = d:kernel { file = '%s', entry = 'k', params = { 'x: i32[]', 'forever: i32' } }\r"):format(
  t.directory .. "/endless.k")
session {
  { "expect", PROMPT }, { "send", "io.write('go', 'es on\\n') while true do end\r" }, { "expect", "goes on" },
  { "send", CTRL_C }, { "expect", "interrupted" }, { "expect", PROMPT },
  { "send", build }, { "expect", PROMPT },
  { "send", "x = kc.buffer('i32', 1); d:launch(k, { x, 0 });\r" }, { "expect", PROMPT },
  { "send", "x[1]\r" }, { "expect", "1\r\n" }, { "expect", PROMPT },
  { "send", "io.write('st', 'art\\n') d:launch(k, { kc.buffer('i32', 1), 1 })\r" }, { "expect", "start" }, { "send", CTRL_C },
  { "expect", "interrupted" }, { "expect", PROMPT },
  { "send", "d:launch(k, { x, 0 }).evidence, x[1]\r" }, { "expect", "2\r\n" }, { "expect", PROMPT },
  { "send", CTRL_D }, { "exit", 0 },
}

-- The prompt of kc as a library, in a process of stock Lua, whose own handler is back when the prompt ends.
local here = require("kc.core").exe():match "^(.*)/"
if os.execute(("nm -D '%s/libkc.so' | grep -q __asan"):format(here)) then
  print "skipped: stock Lua cannot load a libkc.so that has the sanitizer, so the prompt is not tried in its process"
elseif os.execute "command -v lua5.4 >/dev/null" then
  local script = t:file("embedded.lua", ([[
    package.cpath = "%s/lua/?.so;" .. package.cpath
    local kc = require "kc"
    local x = 17
    kc.repl()
    io.write("beh", "ind\n")
    while true do end]]):format(here))
  session({
    { "expect", PROMPT }, { "send", "x + 1\r" }, { "expect", "18\r\n" }, { "expect", PROMPT },
    { "send", "io.write('go', 'es on\\n') while true do end\r" }, { "expect", "goes on" }, { "send", CTRL_C }, { "expect", "interrupted" },
    { "expect", PROMPT }, { "send", build }, { "expect", PROMPT }, { "send", "k ~= nil\r" }, { "expect", "true\r\n" },
    { "expect", PROMPT }, { "send", "io.write('st', 'art\\n') d:launch(k, { kc.buffer('i32', 1), 1 })\r" }, { "expect", "start" },
    { "send", CTRL_C }, { "expect", "interrupted" }, { "expect", PROMPT },
    { "send", CTRL_D }, { "expect", "behind" }, { "send", CTRL_C }, { "expect", "interrupted!" }, { "exit", 1 },
  }, { script }, nil, "/usr/bin/lua5.4")
else
  print "skipped: no lua5.4, so the prompt is not tried in its process"
end

-- Large and odd input: a long line, a paste of 1 MB, bytes that are no UTF-8, an entry without its end given up.
session {
  { "expect", PROMPT }, { "send", PASTE .. "big = '" .. ("0123456789abcde\\\n"):rep(1 << 16) .. "'" .. PASTED }, { "send", "\r" },
  { "expect", PROMPT }, { "send", "#big\r" }, { "expect", ("%d\r\n"):format(16 << 16) }, { "expect", PROMPT },
  { "send", CTRL_D }, { "exit", 0 },
}
session {
  { "expect", PROMPT }, { "send", "#'" .. ("y"):rep(3000) .. "'\r" }, { "expect", "3000\r\n" }, { "expect", PROMPT },
  { "send", "#'\200\255'\r", "bytes" }, { "expect", PROMPT }, { "send", "7 * 6\r" }, { "expect", "42\r\n" }, { "expect", PROMPT },
  { "send", "if x then\r" .. CTRL_C }, { "expect", PROMPT }, { "send", CTRL_D }, { "exit", 0 },
}

-- The user's own file runs first, unless told not to.
t:file("config/kc/rc.lua", "greeting = 'from the rc file'\n")
session { { "expect", PROMPT }, { "send", "greeting\r" }, { "expect", "from the rc file" }, { "expect", PROMPT }, { "send", CTRL_D },
          { "exit", 0 } }
session({ { "expect", PROMPT }, { "send", "greeting\r" }, { "expect", "nil" }, { "expect", PROMPT }, { "send", CTRL_D }, { "exit", 0 } },
  { "--no-rc" })

-- From a script, with the variables of its function.
local script = t:file("script.lua", "local function f()\n  local secret = 12\n  kc.repl()\nend\nf()\nprint('after ' .. 1)\n")
session({ { "expect", PROMPT }, { "send", "secret * 2\r" }, { "expect", "24" }, { "expect", PROMPT }, { "send", CTRL_D },
          { "expect", "after 1" }, { "exit", 0 } }, { script })
t:done "repl"
