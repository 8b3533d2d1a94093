-- Implementations that misbehave: each is a result with a clear reason, the run goes on, and nothing survives it.
local core = require "kc.core"
local t = dofile "tests/cli/harness.lua"()
local suite = "tests/cli/hostile/suite.lua"

local function judged(name, code, ...)
  t:expect({ "run", suite, "--impl", name, "--timeout", "3" }, { code = code, out = { name, ... } })
end

judged("right", 0, "held")
judged("lua_right", 0, "held")
judged("no_compile", 3, "unknown", "does not build", "no_compile.k:3:")
judged("no_such_file", 3, "unknown", "no_such_file.k")
judged("no_such_entry", 3, "unknown", "rellu")
judged("wrong_argument", 3, "unknown", "argument 'z'", "neither a tensor nor a dimension")
judged("past_the_end", 1, "violated", "wrote outside output 'y'")
judged("before_the_start", 1, "violated", "wrote outside output 'y'")
judged("unwritten_tail", 1, "violated", "unwritten")
judged("silent", 1, "violated", "unwritten")
judged("divergent", 1, "violated", "barrier")
judged("local_overrun", 1, "violated", "tile")
judged("divides_by_zero", 1, "violated", "SIGFPE")
judged("aborts", 1, "violated", "SIGABRT")
judged("exits", 1, "violated", "exited with status 0 before completing")
judged("null", 1, "violated", "SIGSEGV")
judged("writes_input", 1, "violated", "SIGSEGV at byte 4 of buffer 1")
judged("flush_to_zero", 1, "violated", "FTZ")
judged("rounds_up", 1, "violated", "round")
judged("lua_raises", 1, "violated", "on purpose")
judged("endless", 3, "unknown", "time-out")
judged("races", 1, "violated")
judged("reads_output", 1, "violated")
judged("writes_when_asked_again", 1, "violated", "unwritten")
judged("kills_parent", 4, "unknown", "the judge was killed by SIGKILL")
judged("stops", 3, "unknown", "time-out")
judged("overflows_stack", 1, "violated", "SIGSEGV")
judged("floods", 3, "unknown", "the runner sent")
judged("forges_reply", 1, "violated", "without having completed")
judged("compares_with_nothing", 1, "violated", "NaN swallowed", "kc replay ")

-- The grandchild that left its session is gone when the run ends.
judged("forks", 0, "held")
local pipe = assert(io.popen("ps -eo args | grep -c '^sleep 47.25'"))
assert(tonumber(pipe:read("a")) == 0, "a grandchild outlived the run")
pipe:close()

-- A function of a shared library, and a library that is not there.
t:file("lib.c", [[#include <stdint.h>
void relu(const float *x, float *y, int32_t n) { for (int32_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i]; }
]])
assert(os.execute(("cc -shared -fPIC -o %s/lib.so %s/lib.c"):format(t.directory, t.directory)))
local libraries = t:file("libraries.lua", (([[local kc = require "kc"
local function l(name, file, entry)
  return kc.library { name = name, file = file, entry = entry, args = { "x", "y", "n" } }
end
return kc.suite { name = "libraries", judge = { { contract = "C-EXC-01/relu.f32", implementations = {
  l("present", "DIR/lib.so", "relu"), l("absent", "DIR/none.so", "relu"), l("no_symbol", "DIR/lib.so", "rellu") } } } }
]]):gsub("DIR", t.directory)))
local judged_library = t:expect({ "run", libraries, "--impl", "present", "--format", "json" }, { code = 0, out = { "held" } })
local which = assert(require("kc.json").decode(judged_library.stdout)).results[1].library
assert(which.path == t.directory .. "/lib.so" and which.sha256 == core.sha256file(which.path), "the library is named by file and digest")
t:expect({ "run", libraries, "--impl", "absent" }, { code = 3, out = { "none.so" } })
t:expect({ "run", libraries, "--impl", "no_symbol" }, { code = 3, out = { "rellu" } })

-- All of them in one run: every one is judged, none takes another along.
local got = t:run { "run", suite, "--timeout", "3", "--format", "json" }
assert(got.code == 1, got.stdout .. got.stderr)
local document = assert(require("kc.json").decode(got.stdout))
assert(#document.results == 31, "results: " .. #document.results)
for _, r in ipairs(document.results) do
  local right = r.implementation == "right" or r.implementation == "lua_right" or r.implementation == "forks"
  assert((r.verdict.name == "held") == right, r.implementation .. " is " .. r.verdict.name)
end
assert(core.stat(t.directory))
t:done "hostile"
