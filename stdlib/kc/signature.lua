---@module kc.signature
-- What measured accuracy says of the arithmetic behind it, and whether a contract's signature recognises a measurement.
local limit = require "kc.limit"
local M = {}

-- Significand bits and the formats that have them.
local precisions = {
  { 53, "f64" }, { 24, "f32" }, { 12, "hf32" }, { 11, "f16 or tf32" }, { 8, "bf16" }, { 4, "e4m3" }, { 3, "e5m2" },
}

--- The format whose significand a number of effective bits betrays: rounding to p bits leaves relative errors up to 2^-p, so that
--- -log2 of the largest one seen lies between p and p + 1 once a few hundred values were tried; towards zero one less.
---@param bits number measurement:bits(label)
---@return string|nil formats e.g. "bf16"; nil when no format is near
function M.format_of(bits)
  for _, row in ipairs(precisions) do
    if bits > row[1] - 0.3 and bits < row[1] + 0.9 then return row[2] end
  end
end

--- Recognises arithmetic that is narrower than declared in a measurement of sums of products, and names the format where it shows.
---@param m table measurement
---@param labels table {declared=format, identity=label of samples 1 * v|nil, short=label of samples with very few terms of one sign|nil,
---  integers=label of samples whose sums are exact}
---@return table check
function M.narrower(m, labels)
  local check = require "kc.check"
  for _, row in ipairs { { "identity", "1 * v has the bits of %s" }, { "short", "sums of two terms have the bits of %s" } } do
    local format = labels[row[1]] and M.format_of(m:bits(labels[row[1]]))
    if format and format ~= labels.declared then return check.yes(row[2]:format(format)) end
  end
  if m:confusion("+finite", "+inf", labels.integers) > 0 then
    return check.yes "finite sums overflow: partial sums have the range of f16"
  end
  if m:ratio(labels.integers) > 0 then return check.yes "sums of integers that should be exact are wrong" end
  return check.no "no narrower format shows"
end

--- Recognises NaN or infinities that are lost, leaked or turned into another in the samples drawn from samples with these label
--- prefixes, and names the first of them.
---@param m table measurement
---@param labels table list of label prefixes
---@return table check
function M.misplaced(m, labels)
  local check = require "kc.check"
  for _, label in ipairs(labels) do
    local n = m:misplaced(label)
    if n > 0 then return check.yes(("%d of '%s'"):format(n, label)) end
  end
  return check.no "every NaN and infinity is where it belongs"
end

--- Recognises failures that depend on the shape, in the samples drawn from samples with this label prefix, and says for which shapes: the
--- simplest predicate that separates those that fail from those that pass. Outputs without elements say nothing.
---@param m table measurement
---@param label string
---@return table check
function M.shapes(m, label)
  local check, shapes, failed = require "kc.check", m:shapes(label), 0
  for _, shape in ipairs(shapes) do failed = failed + (shape.failed and 1 or 0) end
  if failed == 0 then return check.no "no shape fails" end
  if failed == #shapes then return check.no "every shape fails" end
  local predicate = require("kc.separate").predicate(shapes)
  local where = predicate and "where " .. predicate or "no simple predicate says which"
  return check.yes(("%d of %d shapes fail: %s"):format(failed, #shapes, where))
end

--- Does a contract's signature recognise a measurement?
---@param contract table
---@param m table measurement, its own or another contract's
---@param seconds number|nil limit for the test
---@return boolean recognised
---@return string|nil text pattern and what the test said of it; when not recognised nil, or how the test failed
function M.recognise(contract, m, seconds)
  local signature = contract.signature
  local ok, answer = pcall(limit.call, seconds, contract.path .. ": signature", signature.test, m)
  if not ok then return false, ("the signature's test raised: %s"):format(tostring(answer)) end
  if answer ~= true and not (type(answer) == "table" and answer.answer == "yes") then return false end
  local said = type(answer) == "table" and answer.text
  return true, said and ("%s: %s"):format(signature.pattern, said) or signature.pattern
end

return M
