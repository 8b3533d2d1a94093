-- Three-valued checks and the severity of verdicts.
local kc = require "kc"
local check = require "kc.check"
local verdict = require "kc.verdict"

local yes, no, unknown = kc.yes "y", kc.no "n", kc.unknown "u"
local function answer(c, expected) assert(c.answer == expected, ("expected %s, got %s"):format(expected, tostring(c))) end

-- Kleene's tables, all nine pairs.
local order = { no = 1, unknown = 2, yes = 3 }
for _, a in ipairs { yes, no, unknown } do
  for _, b in ipairs { yes, no, unknown } do
    local least = order[a.answer] < order[b.answer] and a or b
    local most = order[a.answer] > order[b.answer] and a or b
    answer(a & b, least.answer)
    answer(a | b, most.answer)
    answer(kc.all { a, b }, least.answer)
    answer(kc.any { a, b }, most.answer)
  end
end
answer(~yes, "no")
answer(~no, "yes")
answer(~unknown, "unknown")
answer(yes & true, "yes")
answer(check.clause({ yes, false }, "here"), "no")
answer(check.clause(true, "here"), "yes")
for _, bad in ipairs { {}, "text", 1 } do assert(not pcall(check.clause, bad, "here"), "refused: " .. tostring(bad)) end
local ok, message = pcall(check.clause, nil, "the postcondition")
assert(not ok and message:find("the postcondition", 1, true) and message:find("return", 1, true), message)
ok, message = pcall(check.clause, { yes, {} }, "here")
assert(not ok and message:find("item 2", 1, true), message)
assert((no & yes).text == "n", "the evidence of what decided is kept")

for i, worse in ipairs(verdict.order) do
  for j = i, #verdict.order do
    assert(verdict.worse(verdict.new(worse), verdict.new(verdict.order[j])).name == worse)
    assert(verdict.worse(verdict.new(verdict.order[j]), verdict.new(worse)).name == worse)
  end
end

-- Exit codes: the first that applies.
local function code(counts, state, expected)
  local got = verdict.exit_code(counts, state or {})
  assert(got == expected, ("expected %d, got %d"):format(expected, got))
end
code({ held = 3 }, nil, 0)
code({ held = 1, skipped = 1 }, nil, 0)
code({ skipped = 2 }, nil, 5)
code({}, nil, 5)
code({ held = 1, unknown = 1 }, nil, 3)
code({ held = 1, undeclared = 1 }, nil, 3)
code({ held = 1, mistrusted = 1 }, nil, 3)
code({ unknown = 1 }, { host = true }, 4)
code({ violated = 1 }, { host = true }, 1)
code({ violated = 1 }, { usage = true }, 64)
code({ violated = 1 }, { usage = true, interrupted = true }, 130)
print("check: passed")
