-- help: each kind of topic, what a value or a function leads to, and that everything listed has a text.
local help = require "kc.help"
local manual = require "kc.manual"

local passed = 0

local function says(topic, ...)
  local text, message = help.text(topic)
  if not text then error(("%s: %s"):format(tostring(topic), message), 2) end
  for _, part in ipairs { ... } do
    if not text:find(part, 1, true) then error(("help of %s lacks '%s':\n%s"):format(tostring(topic), part, text), 2) end
  end
  passed = passed + 1
end

local function refuses(topic, hint)
  local text, message = help.text(topic)
  assert(not text and message:find(hint, 1, true), message or "it has a text")
  passed = passed + 1
end

says("kc.ulp", "kc.ulp(x, y, format)", "ordered line")
says("ulp", "kc.ulp(x, y, format)", "see also: metric ulp")
says("kc.ulp(x)", "ordered line")
says("kc.sample", "kc.sample.normal(exponent)", "kc.sample.log_uniform(lo, hi, positive)")
says("buffer:fill", "buffer:fill(key, distribution, first)", "distribution")
says("buffer.fill", "buffer:fill(key, distribution, first)")
says("type buffer", "buffer:fill", "buffer:guards")
says("run", "usage: kc run [OPTIONS] [CONTRACT|SUITE|DIR]...", "--candidate COMMAND", "--help")
says("replay", "--force")
says("tolerance", "what it is: a `kc.tolerance`", "module kc.tolerance")
says("scope", "`shapes`: each dimension", "checked: formats exist")
says("calibration", "`bad` passes the functional test")
says("T-DOT", "Higham")
says("T-LOGSUMEXP", "tolerance.softmax{...}")
says("f16", "16 bits", "5 bits of exponent, 10 of fraction", "65504.0", "-14 to 15, bias 15")
says("kc.f16", "format f16")
says("u8", "2^8 - 1")
says("oracle softmax", "kc.oracle.softmax", "axis")
says("kc.oracle.matmul", "kc.oracle.matmul(INPUT, INPUT[, INPUT], { alpha =,", "parameters: alpha")
says("oracle relu", "kc.oracle.relu(INPUT)\n")
says("spec/clauses.md", "chapter clauses", "chapters in it: ")
says("new", "OPERATION[.FORMAT]", "C-EXC-01", "operations relu")
says("C-PRC-01", "declared accumulator")
says("c-prc-01", "declared accumulator")
says("exit codes", "| 64 | bad command line")
says("seed", "--seed N", "taken by run, calibrate")
says("determinism", "`protocol.determinism`")
says("formats", "e4m3fn", "8 bits")
says("commands", "calibrate", "compare two dumped tensors")
says(require("kc").ulp, "kc.ulp(x, y, format)")
says(require("kc.core").sha256, "core.sha256(text)")
says(require("kc").sample, "module kc.sample")
says(require("kc").buffer("f16", 1), "type buffer", "buffer:fill")
refuses("uplx", "did you mean")
refuses("kc.bufer", "did you mean 'kc.buffer'?")
refuses("qqqqqqqqqqqqqqqqqqqqqqqqqqqq", "kc help")
refuses(12, "a number")

-- Every name that a group lists has a line and a text of its own.
for _, group in ipairs(manual.groups) do
  local names = group[3].names()
  assert(#names > 0, group[1] .. " is empty")
  for _, name in ipairs(names) do
    assert((group[3].line(name) or ""):find("%S"), group[1] .. ": no line on " .. name)
    assert(help.text(group[2] .. " " .. name), group[1] .. ": no text on " .. name)
  end
  passed = passed + 1
end

local overview = help.overview()
for line in overview:gmatch("[^\n]+") do assert(#line <= 100, line) end
local _, lines = overview:gsub("\n", "")
assert(lines < 60, "the overview is no longer short: " .. lines)
print(("help: %d passed"):format(passed))
