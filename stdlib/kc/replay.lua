---@module kc.replay
-- The token that replays one result bit for bit: contract file, implementation, device, seed, sample, digest of the
-- contract and of
-- the outputs; where no file holds the implementation, also what it is. Fields are joined by ':' and hold only characters that no
-- shell interprets.
local M = {}

local function quote(field)
  return (tostring(field):gsub("[^%w_./+-]", function(c) return ("%%%02X"):format(c:byte()) end))
end

local function unquote(field) return (field:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)) end

--- The token of one sample of a cell.
---@param request table {path=, implementation=, device=, seed=, given=|nil}
---@param digest string of what was judged
---@param m table measurement
---@param index integer sample
---@return string token
function M.token(request, digest, m, index)
  local output = "-"
  for _, record in ipairs(m.samples) do
    if record.index == index and record.digest then output = record.digest:sub(1, 12) end
  end
  local fields = { request.path, request.implementation, request.device, request.seed, index, digest:sub(1, 12), output }
  if request.given then fields[8], fields[9] = request.given.kind, request.given.with end
  for i, field in ipairs(fields) do fields[i] = quote(field) end
  return table.concat(fields, ":")
end

local kinds = { command = true, dumped = true }

--- Reads a token.
---@param token string
---@return table|nil fields {path=, implementation=, device=, seed=, sample=, digest=, output=, given={kind=, with=}|nil}
---@return string|nil message
function M.parse(token)
  local fields = {}
  for field in (token .. ":"):gmatch("(.-):") do fields[#fields + 1] = unquote(field) end
  local seed, sample = math.tointeger(tonumber(fields[4])), math.tointeger(tonumber(fields[5]))
  local given = kinds[fields[8] or ""] and { kind = fields[8], with = fields[9] }
  if #fields ~= (given and 9 or 7) or not seed or not sample then
    return nil, "not a replay token: expected CONTRACT:IMPLEMENTATION:DEVICE:SEED:SAMPLE:DIGEST:OUTPUT as a result prints it"
  end
  return { path = fields[1], implementation = fields[2], device = fields[3], seed = seed, sample = sample, digest = fields[6],
           output = fields[7], given = given or nil }
end

return M
