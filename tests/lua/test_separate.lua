-- The simplest predicate on sizes that separates failing shapes from passing ones.
local separate = require "kc.separate"
local n = 0

local function of(fails)
  local shapes = {}
  for _, M in ipairs { 1, 15, 16, 17, 24, 33, 64, 128 } do
    for _, N in ipairs { 1, 8, 16, 20, 64, 128 } do shapes[#shapes + 1] = { sizes = { M = M, N = N }, failed = fails(M, N) } end
  end
  return separate.predicate(shapes)
end
local function check(expected, fails)
  n = n + 1
  local got = of(fails)
  assert(got == expected, ("expected %s, got %s"):format(expected, got))
end

check("M == 24", function(M) return M == 24 end)
check("M ~= 64", function(M) return M ~= 64 end)
check("N > 16", function(_, N) return N > 16 end)
check("N < 16", function(_, N) return N < 16 end)
check("M % 16 ~= 0", function(M) return M % 16 ~= 0 end)
check("M % 16 ~= 0 or N % 16 ~= 0", function(M, N) return M % 16 ~= 0 or N % 16 ~= 0 end)
check("M * N > 1024", function(M, N) return M * N > 1056 end)
check("not (M == 64 and N == 64)", function(M, N) return not (M == 64 and N == 64) end)
-- Nothing to separate, or nothing that does.
assert(of(function() return true end) == nil and of(function() return false end) == nil)
assert(of(function(M, N) return (M + N) % 3 == 1 end) == nil)
print(("separate: %d passed"):format(n + 2))
