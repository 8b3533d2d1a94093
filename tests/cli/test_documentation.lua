-- The documentation lint passes here and catches each mistake in a deliberately wrong source; the rendered pages are well formed
-- and cover every documented name.
local core = require "kc.core"
local docs = require "kc.docs"
local t = dofile "tests/cli/harness.lua"()
local bin = t.kc:match("^(.*)/")
local lint = "tests/lint/documentation.lua"

-- ---- the lint ---------------------------------------------------------------------------------------------------------------

t:expect({ lint }, { code = 0, out = { "every public function has its comment" } })

t:file("wrong/host/wrong.h", "KC_API int kc_wrong(void);\n")
t:file("wrong/lua/lkc_wrong.c", [[
/*--- Registered.
---@param other integer
function core.renamed(x) end */
/*--- Nowhere registered.
function core.gone() end */
/*--- Its parameter has no tag.
function thing.untagged(self, x) end */
static const luaL_Reg functions[] = {{"renamed", f}, {"silent", f}, {"untagged", f}, {"__gc", f}, {NULL, NULL}};
]])
t:file("wrong/stdlib/kc/wrong.lua", [[
---@module kc.wrong
local M = {}

function M.uncommented() end

--- Two parameters, of which one has a tag.
---@param a integer
function M.tagged(a, b) return a + b end

--- Taken away again.
function M.removed() end
M.removed = nil

--- Another function than the one documented.
function M.replaced(a, b) return a + b end
M.replaced = function(a) return a end

--- Right.
---@param a integer
function M.right(a, ...) return a, ... end

return M
]])
t:file("wrong/stdlib/kc/nameless.lua", "return {}\n")
local wrong = t.directory .. "/wrong"
local static = {
  "wrong.h:1: public function without a comment", "wrong.c:3: core.renamed takes (x), its comment says (other)",
  "documentation of a binding that is not registered: core.gone", "thing:untagged takes (x), its comment says ()",
  "binding without documentation: silent", "public function without a comment: M.uncommented",
  "kc.wrong.tagged takes (a, b), its comment says (a)", "nameless.lua:1: the first line names the module",
}
local dynamic = { "kc.wrong.removed is documented, and is nil", "kc.wrong.replaced is documented with (a, b), and takes 1" }
local both = table.move(dynamic, 1, #dynamic, #static + 1, { table.unpack(static) })
local said = t:expect({ lint, wrong }, { code = 1, out = both, no = { "kc.wrong.right", "__gc" } })
-- core.gone, core.renamed are not in kc.core either.
assert(said.stdout:find("core.gone is documented, and is nil", 1, true), said.stdout)
local pipe = assert(io.popen(("lua5.4 %s '%s' 2>&1"):format(lint, wrong)))
local plain = pipe:read("a")
assert(not pipe:close(), plain)
for _, text in ipairs(static) do assert(plain:find(text, 1, true), text .. " is not in\n" .. plain) end
t.passed = t.passed + 1

-- ---- stubs: valid Lua, every documented name, with its parameters --------------------------------------------------------------

local stubs = {}
for _, module in ipairs(docs.modules) do
  local path = ("%s/types/%s.lua"):format(bin, module[1])
  local chunk, message = loadfile(path)
  assert(chunk, message)
  stubs[module[1]] = { module = chunk(), text = t.read(path) }
  assert(stubs[module[1]].text:match("^%-%-%-@meta " .. module[1]:gsub("%.", "%%.") .. "\n"), path)
end
for _, row in ipairs(docs) do
  local stub = stubs[row.page]
  if row.class then
    local spelled = ("function T_%s:%s%s end"):format(row.class, row.field, row.args)
    assert(stub.text:find(spelled, 1, true), row.page .. ": no stub of " .. row.name)
  else
    local f = stub.module[row.field]
    assert(type(f) == "function", row.page .. ": no stub of " .. row.name)
    local fixed = select(2, row.args:gsub("[%w_]+", ""))
    assert(debug.getinfo(f, "u").nparams == fixed, row.name)
  end
end
for _, name in ipairs(core.formats()) do assert(stubs.kc.text:find("\n---@field " .. name .. " fun(", 1, true), name) end
assert(stubs.kc.text:find("---@return kc.buffer buffer\nfunction M.buffer(format, shape, values) end", 1, true))
assert(stubs["kc.oracle"].module.softmax, "kc.oracle has no stub of an oracle")
t.passed = t.passed + 1

local skipped = {}

-- Runs a checker that may be absent; the lines that it prints and that are no exception are mistakes.
local function check(program, command, exception)
  if not os.execute("command -v " .. program .. " >/dev/null") then
    skipped[#skipped + 1] = program .. " is not installed"
    return
  end
  local output = assert(io.popen(command .. " 2>&1"))
  for line in output:lines() do assert(exception and line:find(exception, 1, true), line) end
  output:close()
  t.passed = t.passed + 1
end

check("lua-language-server", ("lua-language-server --check '%s/types' --checklevel=Error >'%s/said' || cat '%s/said'"):format(bin,
  t.directory, t.directory))

-- ---- man pages and HTML -----------------------------------------------------------------------------------------------------

-- The pages refer to each other before they are installed.
check("mandoc", ("mandoc -T lint '%s/doc/man/kc.1' '%s/doc/man/kc-contract.5'"):format(bin, bin), "referenced manual not found")

local man, contract = t.read(bin .. "/doc/man/kc.1"), t.read(bin .. "/doc/man/kc-contract.5")
for _, row in ipairs(require("kc.cli").commands) do
  assert(man:find((".It \\fB%s\\fR"):format(row[1]:gsub("%-", "\\-") .. ""), 1, true), row[1] .. " is not in kc(1)")
end
for _, row in ipairs(require("kc.cli").options) do assert(man:find("\\-\\-" .. row[1], 1, true), row[1] .. " is not in kc(1)") end
for _, code in ipairs { "0", "1", "3", "4", "5", "64", "130" } do assert(man:find("\n.It " .. code .. "\n", 1, true), code) end
for _, clause in ipairs(require("kc.contract").clauses) do
  assert(contract:find((".It \\fB%s\\fR"):format(clause), 1, true), clause .. " is not in kc-contract(5)")
end
t.passed = t.passed + 1

-- Every link of every page leads somewhere, and none into a network.
local pages, anchors = {}, {}
for _, name in ipairs(core.listdir(bin .. "/doc/html")) do
  pages[name] = t.read(bin .. "/doc/html/" .. name)
  for id in pages[name]:gmatch(' id="([^"]*)"') do anchors[name .. "#" .. id] = true end
end
for name, text in pairs(pages) do
  for address in text:gmatch('href="([^"]*)"') do
    assert(pages[address] or anchors[address], ("%s: no such place: %s"):format(name, address))
  end
  assert(not text:find("<script", 1, true) and not text:find('src="', 1, true), name)
end
for _, row in ipairs(docs) do
  local page = (row.class and "type." .. row.class or row.page) .. ".html"
  assert(anchors[page .. "#" .. row.name:gsub(":", ".")], "no page has " .. row.name)
end
assert(pages["kc.html"]:find('<a href="type.buffer.html">kc.buffer</a>', 1, true), "types are not linked")
t.passed = t.passed + 1

t:done "documentation"
for _, why in ipairs(skipped) do print("skipped: " .. why) end
