-- Metrics: the vectorised f32 path against a plain loop over codes, at lengths around its blocks, and figures worked by hand.
local kc = require "kc"
local core = require "kc.core"

-- The number line without the code under test: sign and magnitude of an f32 code.
local function line(code)
  local magnitude = code & 0x7fffffff
  return code >> 31 == 1 and -magnitude or magnitude
end

local function finite(code) return code & 0x7f800000 ~= 0x7f800000 end

local function bin(d)
  if d == 0 then return 1 end
  local k = 33
  while 2.0 ^ (k - 33) < d do k = k + 1 end
  return math.min(k, 65) + 1
end

local function plain(a, b)
  local s = { finite = 0, max = 0.0, sum = 0, histogram = {}, bit_differences = 0 }
  for i = 1, 66 do s.histogram[i] = 0 end
  for i = 1, #a do
    local x, y = a:code(i), b:code(i)
    if x ~= y then s.bit_differences = s.bit_differences + 1 end
    if finite(x) and finite(y) then
      local d = math.abs(line(x) - line(y))
      s.finite, s.sum = s.finite + 1, s.sum + d
      if d > s.max or not s.worst then s.max, s.worst = d, i end
      s.histogram[bin(d)] = s.histogram[bin(d)] + 1
    end
  end
  return s
end

local function compare(a, b, what)
  local got, want = core.metric("ulp", a, b), plain(a, b)
  for _, key in ipairs { "finite", "bit_differences", "worst" } do
    assert(got[key] == want[key], ("%s: %s is %s, expected %s"):format(what, key, tostring(got[key]), tostring(want[key])))
  end
  assert(got.max == want.max, what .. ": max")
  if want.finite > 0 then assert(got.mean == want.sum / want.finite, what .. ": mean") end
  for i = 1, 66 do
    assert(got.histogram[i] == want.histogram[i], ("%s: bin %d is %d, expected %d"):format(what, i, got.histogram[i], want.histogram[i]))
  end
end

for _, n in ipairs { 0, 1, 3, 1023, 1024, 1025, 5000 } do
  for _, kind in ipairs { "bits", "finite_bits", "normal" } do
    local a, b = kc.buffer("f32", n), kc.buffer("f32", n)
    a:fill(1, { kind = kind, a = 0, b = 1 })
    b:fill(2, { kind = kind, a = 0, b = 1 })
    compare(a, b, kind .. " " .. n)
    compare(a, a, "equal " .. kind .. " " .. n)
    for _, spread in ipairs { 2, 17, 40, 1 << 20 } do
      b:setraw(a:raw())
      for i = 1, n do
        local code = a:code(i)
        if finite(code) and finite(code + i % spread) then b:setcode(i, (code + i % spread) & 0xffffffff) end
      end
      compare(a, b, ("%s %d spread %d"):format(kind, n, spread))
    end
  end
end

-- The ends of the line: -max to max is the largest distance there is.
local a, b = kc.buffer("f32", 1), kc.buffer("f32", 1)
a:setcode(1, 0x7f7fffff)
b:setcode(1, 0xff7fffff)
assert(core.metric("ulp", a, b).max == 2 * 0x7f7fffff)

-- By hand.
a, b = kc.buffer("bf16", 4, { 1, 2, 0, 4 }), kc.buffer("bf16", 4, { 1, 2.015625, -0.0, 4 })
local s = core.metric("ulp", a, b)
assert(s.max == 1 and s.worst == 2 and s.class_mismatches == 1 and s.first_mismatch == 3 and s.mean == 0.25)
assert(core.metric("abs", a, b).max == 0.015625)
assert(core.metric("rel", a, b).max == 0.015625 / 2.015625)
assert(core.metric("ulp", a, b, { as = "f16" }).max == 0.015625 / 2.0 ^ -9)
assert(core.metric("denom", a, b, { denominator = kc.buffer("f64", 4, { 1, 0.5, 1, 1 }) }).max == 0.03125)
assert(core.metric("bits", kc.buffer("f32", 1, { 1 + 2.0 ^ -10 }), kc.buffer("f32", 1, { 1 })).max == 10)
assert(core.metric("bitwise", a, b).mean == 0.5)
assert(core.metric("class", a, b).first_mismatch == 3)

local function raises(text, ...)
  local ok, message = pcall(core.metric, ...)
  assert(not ok and message:find(text, 1, true), tostring(message))
end
raises("did you mean 'ulp'?", "upl", a, b)
raises("formats differ", "ulp", a, kc.buffer("f16", 4))
raises("shapes differ", "ulp", a, kc.buffer("bf16", 5))
raises("denominator", "denom", a, b)
raises("as many elements", "denom", a, b, { denominator = kc.buffer("f64", 3) })
raises("no format called 'f17'", "ulp", a, b, { as = "f17" })
print("metric: passed")
