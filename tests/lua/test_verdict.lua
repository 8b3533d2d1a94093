-- What verdicts say and how they combine.
local sample = require "kc.sample"
local verdict = require "kc.verdict"
local n = 0
local function check(ok, text)
  n = n + 1
  assert(ok, text)
end

-- No failure in n draws: known bounds at 95 % (the rule of three gives 3 / n nearly).
for _, row in ipairs { { 1024, "0.293" }, { 100, "2.96" }, { 50, "5.82" }, { 299, "0.997" }, { 1, "95" }, { 1000000, "0.0003" } } do
  local text = verdict.proven(verdict.proves(row[1], "element"))
  check(text:find(("rate <= %s %% (95 %%)"):format(row[2]), 1, true), ("%d: %s, expected %s"):format(row[1], text, row[2]))
end
-- The bound is what it says: (1 - p)^n = 0.05, and what is printed is not below it.
for _, draws in ipairs { 1, 2, 3, 7, 28, 299, 4096, 15352 } do
  local p = verdict.proves(draws, "tensor").rate
  check(math.abs((1 - p) ^ draws - 0.05) < 1e-9, draws)
  local printed = tonumber(verdict.proven(verdict.proves(draws, "tensor")):match "<= (%S+) %%") / 100
  check(printed >= p and printed < p * 1.011, draws)
end

-- Lists of cases were tried completely: they are no draws.
for _, item in ipairs { sample.normal(), sample.bits(), sample.stratified(), sample.exceptional(0.1, sample.constant(1)),
                        sample.named("a", sample.at({ n = 1 }, sample.uniform(0, 1))),
                        sample.inputs { x = sample.constant(1), y = sample.normal() }, sample.ill_conditioned(10, "x", "y"),
                        sample.plant(sample.normal(), 0, { "first" }), sample.within(0, 1, sample.normal()) } do
  check(sample.random(item), tostring(item))
end
for _, item in ipairs { sample.constant(1), sample.values { 1, 2 }, sample.exhaustive(0), sample.around({ 0 }, 3),
                        sample.inputs { x = sample.constant(1) }, sample.named("a", sample.values { 1 }) } do
  check(not sample.random(item), tostring(item))
end

-- Combining only worsens.
for _, a in ipairs(verdict.order) do
  for _, b in ipairs(verdict.order) do
    local worse = verdict.worse(verdict.new(a), verdict.new(b)).name
    check(verdict.severity[worse] == math.max(verdict.severity[a], verdict.severity[b]), a .. " " .. b)
  end
end
print(("verdict: %d passed"):format(n))
