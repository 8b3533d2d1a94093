---@module kc.expression_source
-- What tracing cannot see: Lua decides `and`, `or`, `not`, `if` and comparisons with numbers before a metamethod could tell. So the
-- source of a traced function is read for them, and the function is run on plain numbers and compared with its own trace.
local tokens = require "kc.tokens"
local M = {}

local advice = {
  ["and"] = "use kc.where", ["or"] = "use kc.where", ["not"] = "use kc.where or 1 - x", ["if"] = "use kc.where",
  ["elseif"] = "use kc.where", ["while"] = "use kc.where", ["until"] = "use kc.where", ["=="] = "use kc.eq", ["~="] = "use kc.ne",
}
local decides = { ["if"] = true, ["elseif"] = true, ["while"] = true, ["until"] = true }

--- Raises when the source of a function that is to be traced contains what Lua would decide by itself: and, or, not, if, while,
--- until, ==, ~=. What stands inside kc.static(...) is exempt; a function whose source cannot be read is refused.
---@param fn function
function M.check(fn)
  if type(fn) ~= "function" then error("expected a function of the inputs, got " .. require("kc.words").show(fn), 3) end
  local info, body, several = debug.getinfo(fn, "S"), tokens.body(fn)
  if not body then
    error("the function's source cannot be read, so it cannot be traced; write one around it: function(t) return f(t.x) end", 3)
  end
  local found = tokens.outside_static(body, function(token, static_follows)
    return token.kind ~= "text" and advice[token.text] and not (decides[token.text] and static_follows)
  end)[1]
  if not found then return end
  error(("%s:%d: '%s' in an expression is decided by Lua, which sees only that a traced value is there; %s, or kc.static(...) for "
    .. "what is known beforehand%s"):format(info.short_src, info.linedefined + found.line, found.text, advice[found.text],
    several and "; several functions stand on this line, and which is meant cannot be told: give it a line of its own" or ""), 0)
end

-- ---- running it on plain numbers ------------------------------------------------------------------------------------------

-- Points at which a function that secretly branches is likely to differ, and a few without meaning.
local points = { 0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 0.8173, -1.3391, 5.25, 17.0 }

local function one_element(x, shape) return require("kc.numbers").buffer("f64", shape, { x }) end

-- The bounds are those of arithmetic with about as many bits as a double has: where plain numbers cancel, they are as wide. NaN and
-- infinity may come from an overflow that only doubles have, and prove nothing.
local function agree(plain, lo, hi, class)
  if plain ~= plain or plain == math.huge or plain == -math.huge then return true end
  local slack = 8 * (hi - lo) + 1e-6 * (1 + math.max(math.abs(lo), math.abs(hi)))
  return class ~= "nan" and plain >= lo - slack and plain <= hi + slack
end

-- The points, and the numbers that stand in the function's own text, of both signs.
local function points_of(fn)
  local list = table.move(points, 1, #points, 1, {})
  for _, token in ipairs(tokens.body(fn) or {}) do
    local x = token.kind == "number" and tonumber(token.text)
    if x and #list < 40 then list[#list + 1], list[#list + 2] = x + 0.0, -x end
  end
  return list
end

-- The trace on tensors of one element, of the lowest rank that its axes allow; nil where it has none.
local function at_point(own, values)
  for rank = 1, 4 do
    local shape, buffers = {}, {}
    for i = 1, rank do shape[i] = 1 end
    for _, name in ipairs(own.names) do buffers[name] = one_element(values[name], shape) end
    local ok, enclosure = pcall(own.evaluate, own, buffers, { precision = 48, rising = false })
    if ok then return enclosure end
  end
end

local function demand_agreement(expression, plain, enclosure, values)
  local lo, hi, classes = enclosure:at(1)
  -- Of several classes, one that is no number means that the trace itself cannot tell.
  local class = classes[1]
  for _, other in ipairs(classes) do
    if #classes > 1 and (other == "nan" or other:find("inf", 1, true)) then return end
  end
  if type(plain) ~= "number" or agree(plain, lo, hi, class) then return end
  local shown = {}
  for i, name in ipairs(expression.names) do shown[i] = ("%s = %g"):format(name, values[name]) end
  error(("the function and its trace differ at %s: %.17g against [%.17g, %.17g]; it depends on values in a way that Lua decides")
    :format(table.concat(shown, ", "), plain, lo, hi), 0)
end

--- Compares a traced function with itself on plain numbers, and raises where they differ: then something in it depends on values in a
--- way that the trace does not hold.
---@param expression table
function M.compare(expression)
  local own, list = expression:own_part(), points_of(expression.written or expression.fn)
  for k = 1, #list do
    local values = {}
    for i, name in ipairs(expression.names) do values[name] = list[(k + 3 * (i - 1) - 1) % #list + 1] end
    local ok, plain = pcall(expression.plain, expression, values)
    if not ok then error("the function cannot be run on plain numbers: " .. tostring(plain), 0) end
    -- Arithmetic on comparisons fails with booleans, and proves nothing then.
    local _, with_booleans = require("kc.mathematics").with_booleans(expression.plain, expression, values)
    local enclosure = at_point(own, values)
    for _, result in ipairs(enclosure and { plain, type(with_booleans) == "number" and with_booleans or nil } or {}) do
      demand_agreement(expression, result, enclosure, values)
    end
  end
end

return M
