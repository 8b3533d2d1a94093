-- The words of a function's own source, also where several functions stand on one line.
local tokens = require "kc.tokens"
local passed = 0

local function words(fn)
  local body, several = tokens.body(fn)
  local list = {}
  for i, token in ipairs(body) do list[i] = token.text end
  return table.concat(list, " "), several or false
end

local function is(fn, text, several)
  local found, open = words(fn)
  assert(found == text and open == (several or false), ("expected '%s', got '%s' (several: %s)"):format(text, found, open))
  passed = passed + 1
end

local k, m = 2, 3
local alone = function(x)
  return x and k
end
is(alone, "function ( x ) return x and k end")

-- Told apart by constants, by what they take from outside and its order, by operators, by globals and fields.
-- luacheck: push ignore 631
local a, b, c = function(x) return x * 2 + k end, function(x) return x * 3 + k end, function(x) return x * 2 + m end
is(a, "function ( x ) return x * 2 + k end")
is(b, "function ( x ) return x * 3 + k end")
is(c, "function ( x ) return x * 2 + m end")
local d, e, f = function(x) return k - m + x end, function(x) return m - k + x end, function(x) return x.first and x.second end
is(d, "function ( x ) return k - m + x end")
is(e, "function ( x ) return m - k + x end")
is(f, "function ( x ) return x . first and x . second end")
local g, h = function(x) return math.sin(x) end, function(x) return math.cos(x) end
is(g, "function ( x ) return math . sin ( x ) end")
is(h, "function ( x ) return math . cos ( x ) end")
local function named(x) return x + 1 end local function other(x) return x > 0 and other(x - 1) or named(x) end
is(named, "function named ( x ) return x + 1 end")
is(other, "function other ( x ) return x > 0 and other ( x - 1 ) or named ( x ) end")
local p, q = function(...) return ... end, function(x, y) return y, x end
is(p, "function ( . . . ) return . . . end")
is(q, "function ( x , y ) return y , x end")

-- A function that holds another is not told from what stands beside it; the one beside it is.
local outer, beside = function(x) return (function(y) return y end)(x) end, function(x) return x / 2 end
is(beside, "function ( x ) return x / 2 end")
is(outer, "local outer , beside = function ( x ) return ( function ( y ) return y end ) ( x ) end , function ( x ) return x / 2 end", true)

-- The same code twice is the same function, whichever is meant.
local r, s = function(x) return x ~= 1 end, function(y) return y ~= 1 end
is(r, "function ( x ) return x ~= 1 end")
is(s, "function ( x ) return x ~= 1 end")
-- luacheck: pop

-- What Lua would decide is found in the function that is traced, and only there.
local kc = require "kc"
assert(kc.sweep(function(x) if x < 0 then return 0 end return x end, function(x) return kc.max(x, 0) end, "e5m2").worst == 0)
local ok, message = pcall(kc.sweep, function(x) return x end, function(x) return x > 0 and x or 0 end, "e5m2")
assert(not ok and message:find("test_tokens.lua:58: 'and' in an expression", 1, true) and not message:find("several", 1, true), message)
print(("%d functions read"):format(passed + 2))
