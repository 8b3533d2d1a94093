-- What became of NaN and infinities, by the dependency relation: counted by hand on small tensors.
local kc = require "kc"
local exceptions = require "kc.exceptions"
local n = 0
local nan, inf = 0 / 0, math.huge

local x = kc.buffer("f32", { 2, 3 }, { 1, nan, 3, 4, 5, 6 })
local enclosure = kc.oracle.evaluate(kc.oracle.max("x", "x", { nan = "propagate" }), { x = x })

local function check(reach, results, expected)
  local counts = { swallowed = 0, leaked = 0, widened = 0, flipped = 0 }
  exceptions.count({ buffer = kc.buffer("f32", { 2, 3 }, results), enclosure = enclosure, depends = { x = reach }, rows = 2 }, { x = x },
    counts)
  for _, kind in ipairs { "swallowed", "leaked", "widened", "flipped" } do
    n = n + 1
    assert(counts[kind] == (expected[kind] or 0), ("%s, %s: %d, expected %d"):format(reach, kind, counts[kind], expected[kind] or 0))
  end
end

check("element", { 1, nan, 3, 4, 5, 6 }, {})
check("element", { 1, 2, 3, 4, 5, 6 }, { swallowed = 1 })
check("element", { 1, inf, 3, 4, 5, 6 }, { flipped = 1 })
check("element", { nan, nan, 3, 4, 5, 6 }, { widened = 1 })
check("row", { nan, nan, 3, 4, 5, 6 }, { leaked = 1 })
check("row", { nan, nan, inf, nan, 5, 6 }, { leaked = 2, widened = 1 })
check("all", { nan, 2, inf, nan, 5, -inf }, { leaked = 4, swallowed = 1 })
-- A number that is wrong is no exceptional value.
check("all", { 7, nan, 3, 4, 5, 6 }, {})
print(("exceptions: %d passed"):format(n))
