-- The suite of mathematical functions, on fewer inputs than it has: it judges what is installed, names the worst input, finds a planted
-- mistake in one binade, and takes the samples of a thorough run.
local core = require "kc.core"
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()

local function number(x) return type(x) == "string" and json.tofloat(x) or x end

-- The suite with fewer inputs, beside its kernels, in the scratch directory.
local function reduced(name, changes)
  local text = t.read "contracts/suites/libm.lua"
  local all = { { "510 %* 512", "510 * 4" }, { "interesting = 1 << 20", "interesting = 1 << 12" },
                { "bits = 1 << 16", "bits = 1 << 12" } }
  table.move(changes or {}, 1, #(changes or {}), #all + 1, all)
  for _, change in ipairs(all) do
    local n
    text, n = text:gsub(change[1], change[2])
    assert(n > 0, "the suite no longer contains " .. change[1])
  end
  assert(core.mkdirs(t.directory .. "/libm"))
  t:file("libm/unary.k", t.read "contracts/suites/libm/unary.k")
  t:file("libm/binary.k", t.read "contracts/suites/libm/binary.k")
  return t:file(name, text)
end

local function results(arguments)
  local got = t:run(arguments)
  return assert(json.decode(got.stdout), got.command .. "\n" .. got.stdout .. got.stderr).results, got
end

-- What is installed is judged; the worst element says which argument, what came out and what is exact.
local suite = reduced "small.lua"
local list = results { "run", suite, "--filter", "*/tanh*", "--format", "json" }
assert(#list == 3, #list .. " results")
for _, r in ipairs(list) do
  if r.verdict.name == "skipped" then
    assert(r.verdict.reason:find("is not installed", 1, true), r.verdict.reason)
  else
    assert(r.verdict.name == "held", r.implementation .. ": " .. (r.verdict.reason or ""))
    assert(r.judged > 10000 and number(r.worst) > 0.05, "too little was judged")
  end
end
t:expect({ "run", suite, "--filter", "*/tanh*glibc*" },
  { code = 0, out = { "worst: ", " ulp of 2.5 at x = ", "largest error found", "tanhf" } })

-- A library whose expf is right but for one binade of arguments, by 40 ulp there.
local source = t:file("planted.c", [[
#include <math.h>
#include <stdint.h>
#include <string.h>
float expf(float x) {
  float y = (float)exp((double)x);
  uint32_t u;
  memcpy(&u, &x, 4);
  if ((u >> 23 & 255) == 124) {
    memcpy(&u, &y, 4);
    u += 40;
    memcpy(&y, &u, 4);
  }
  return y;
}
]])
local library = t.directory .. "/libplanted.so"
assert(os.execute(("cc -O1 -fno-builtin -shared -fPIC -o %s %s -lm"):format(library, source)), "the planted library does not build")
local planted = reduced("planted.lua", { { "\"/lib/x86_64%-linux%-gnu/libm.so.6\"", ("%q"):format(library) } })
list = results { "run", planted, "--filter", "C-PRC-02/exp.f32.glibc", "--format", "json" }
assert(#list == 1 and list[1].verdict.name == "violated", #list .. " results, the first " .. (list[1] and list[1].verdict.name or "none"))
local worst
for _, s in ipairs(list[1].samples) do
  if s.worst_at and (not worst or number(s.worst) > number(worst.worst)) then worst = s end
end
local argument = math.abs(number(worst.worst_at.inputs[1].value))
assert(argument >= 0.125 and argument < 0.25, "the worst argument lies elsewhere: " .. argument)
assert(number(worst.worst) > 20, "40 ulp of 1.5")
t:expect({ "replay", list[1].replay }, { code = 1, out = { "the same bits as recorded" } })

-- A thorough run takes every code; here two pieces of 4096.
local thorough = reduced("thorough.lua", { { "PIECE = 1 << 20", "PIECE = 1 << 12" }, { "%(1 << 32%) // PIECE", "2" } })
local usual = results { "run", thorough, "--filter", "C-PRC-02/cbrt.f32.glibc", "--format", "json" }[1]
local more = results { "run", thorough, "--filter", "C-PRC-02/cbrt.f32.glibc", "--format", "json", "--thorough" }[1]
assert(more.verdict.name == "held" and more.judged == usual.judged + 2 * 4096, ("%d and %d elements"):format(usual.judged, more.judged))

-- Absent libraries are skipped with their reason.
local absent = reduced("absent.lua", { { "/lib/x86_64%-linux%-gnu/libm.so.6", "/nowhere/libm.so.6" },
                                       { "/lib/aarch64%-linux%-gnu/libm.so.6", "/nowhere/a" }, { "/lib64/libm.so.6", "/nowhere/b" },
                                       { "/usr/lib/libm.so.6", "/nowhere/c" } })
t:expect({ "run", absent, "--filter", "*/erf.*glibc*" }, { code = 5, out = { "skipped", "is not installed" } })
t.passed = t.passed + 5
t:done "libm suite"
