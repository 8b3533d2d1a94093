---@module kc.verdict
-- Verdicts, how they combine, and the exit code they give. See spec/verdicts.md.
local M = {}

-- Worst first: combining can only worsen.
M.order = { "violated", "mistrusted", "unknown", "undeclared", "skipped", "held" }
M.severity = {}
for i, name in ipairs(M.order) do M.severity[name] = #M.order - i end

--- A verdict: name and, except for held, a reason (for violated: the signature).
---@param name string one of M.order
---@param reason string|nil
---@return table verdict {name=, reason=}
function M.new(name, reason)
  assert(M.severity[name], "unknown verdict " .. tostring(name))
  return { name = name, reason = reason }
end

--- The worse of two verdicts; the first when they are equally bad.
---@param a table
---@param b table
---@return table verdict
function M.worse(a, b) return M.severity[b.name] > M.severity[a.name] and b or a end

-- Confidence of what a sampled pass proves.
M.CONFIDENCE = 0.95

--- What no failure among n independent draws proves: the rate p above which it would be less likely than 1 - confidence,
--- (1 - p)^n = 1 - confidence. See spec/verdicts.md, "What a pass proves".
---@param n integer draws, at least 1
---@param unit string "element" or "tensor"
---@return table proves {drawn=, unit=, rate=, confidence=}
function M.proves(n, unit)
  return { drawn = n, unit = unit, rate = 1 - (1 - M.CONFIDENCE) ^ (1 / n), confidence = M.CONFIDENCE }
end

-- A share in per cent with three digits, rounded up.
local function percent(share)
  local text = ("%.3g"):format(100 * share)
  if tonumber(text) >= 100 * share then return text end
  local step = 10.0 ^ (math.floor(math.log(100 * share, 10)) - 2)
  return ("%.3g"):format(tonumber(text) + step)
end

--- What a pass proves, in words; rates that travelled come as text.
---@param proves table
---@return string text
function M.proven(proves)
  local rate = require("kc.json").number(proves.rate)
  return ("none of %d drawn %ss failed: rate <= %s %% (95 %%)"):format(proves.drawn, proves.unit, percent(rate))
end

-- Exit codes, the first that applies (design: 130 64 1 4 3 5 0). 64 and 130 never come from verdicts.
M.exit = { interrupted = 130, usage = 64, violation = 1, host = 4, undecided = 3, nothing = 5, held = 0 }

--- Exit code of a run.
---@param counts table verdict name -> number
---@param state table {interrupted=, usage=, host=} booleans
---@return integer code
function M.exit_code(counts, state)
  local function n(name) return counts[name] or 0 end
  if state.interrupted then return M.exit.interrupted end
  if state.usage then return M.exit.usage end
  if n "violated" > 0 then return M.exit.violation end
  if state.host then return M.exit.host end
  if n "unknown" + n "undeclared" + n "mistrusted" > 0 then return M.exit.undecided end
  if n "held" == 0 then return M.exit.nothing end
  return M.exit.held
end

local refusals = { usage = M.exit.usage, contract = M.exit.usage, interrupted = M.exit.interrupted }

--- Says on stderr why a request came to nothing, and what exit code that is.
---@param reply table {error=text, code=}
---@return integer code
function M.refused(reply)
  io.stderr:write("kc: ", reply.error, "\n")
  return refusals[reply.code] or M.exit.host
end

--- A verdict in one line.
---@param v table
---@return string text
function M.text(v) return v.reason and ("%s (%s)"):format(v.name, v.reason) or v.name end

return M
