---@module kc
-- Tensors as text ("A: f16[M,K]"), ranges of dimensions, and the shapes a protocol draws from them.
local core = require "kc.core"
local words = require "kc.words"
local M = {}

--- A range of sizes of one dimension, both ends included.
--- > kc.range(1, 512)
--- { hi = 512, kind = "range", lo = 1 }
---@param lo integer
---@param hi integer
---@return table range
function M.range(lo, hi)
  if math.type(lo) ~= "integer" or math.type(hi) ~= "integer" or lo < 0 or hi < lo then
    error(("kc.range: expected integers 0 <= lo <= hi, got %s and %s"):format(tostring(lo), tostring(hi)), 2)
  end
  return { kind = "range", lo = lo, hi = hi }
end

--- A fixed choice of sizes of one dimension.
--- > kc.choice { 64, 128 }
--- { kind = "choice", sizes = { 64, 128 } }
---@param sizes table list of integers >= 0
---@return table choice
function M.choice(sizes)
  if type(sizes) ~= "table" or #sizes == 0 then error("kc.choice: expected a list of sizes", 2) end
  for i, n in ipairs(sizes) do
    if math.type(n) ~= "integer" or n < 0 then error(("kc.choice: item %d is not an integer >= 0"):format(i), 2) end
  end
  return { kind = "choice", sizes = sizes }
end

--- Parses a tensor: "A: f16[M,K]".
---@param text string
---@return table|nil tensor {name=, format=, dims={names or integers}}
---@return string|nil message
function M.tensor(text)
  if type(text) ~= "string" then return nil, "expected text like \"A: f16[M,K]\", got " .. words.show(text) end
  local name, format, list = text:match("^%s*([%a_][%w_]*)%s*:%s*([%w]+)%s*%[([^%]]*)%]%s*$")
  if not name then return nil, ("expected text like \"A: f16[M,K]\", got %q"):format(text) end
  if not core.format(format) then
    return nil, ("unknown format '%s' in %q; %s"):format(format, text, words.hint(format, core.formats()))
  end
  local dims = {}
  for item in list:gmatch("[^,]+") do
    local dim = item:match("^%s*([%w_]+)%s*$")
    local size = math.tointeger(tonumber(dim))
    if not dim or not (size or dim:match("^[%a_]")) then
      return nil, ("dimension %d of %q: expected a name or a size, got %q"):format(#dims + 1, text, item)
    end
    dims[#dims + 1] = size or dim
  end
  return { name = name, format = format, dims = dims }
end

--- The tensor's shape for given sizes of the named dimensions.
---@param tensor table
---@param sizes table dimension name -> size
---@return table shape
function M.shape(tensor, sizes)
  local shape = {}
  for i, dim in ipairs(tensor.dims) do shape[i] = math.type(dim) == "integer" and dim or sizes[dim] end
  return shape
end

local function bounds(domain)
  if domain.kind == "range" then return domain.lo, domain.hi end
  local lo, hi = math.huge, 0
  for _, n in ipairs(domain.sizes) do lo, hi = math.min(lo, n), math.max(hi, n) end
  return lo, hi
end

--- Work of one tensor group: the product of the sizes of all named dimensions, what a budget is counted in.
---@param names table dimension names
---@param sizes table
---@return integer work
function M.work(names, sizes)
  local work = 1
  for _, name in ipairs(names) do work = work * sizes[name] end
  return work
end

-- Uniform in [0, 1) from a name: 24 bits are enough to choose a size and exact in a double.
local function unit(key, counter)
  return core.philox({ counter, 0, 0, 0 }, { key & 0xffffffff, (key >> 32) & 0xffffffff })[1] / 4294967296.0
end

local function contains(domain, n)
  if domain.kind == "range" then return n >= domain.lo and n <= domain.hi end
  for _, size in ipairs(domain.sizes) do if size == n then return true end end
  return false
end

-- One size: log-uniform over a range, so that small and large sizes are equally likely; integer arithmetic decides the end.
local function draw_size(domain, u)
  if domain.kind == "choice" then return domain.sizes[1 + math.floor(u * #domain.sizes)] end
  local lo, hi = math.max(domain.lo, 1), math.max(domain.hi, 1)
  local octaves = 0
  while (lo << (octaves + 1)) <= hi do octaves = octaves + 1 end
  local octave = math.floor(u * (octaves + 1))
  local fraction = u * (octaves + 1) - octave
  local from, to = lo << octave, math.min(hi, (lo << (octave + 1)) - 1)
  return from + math.floor(fraction * (to - from + 1))
end

--- Sizes for draw number `index` of a scope: first the edges (all smallest, all 1, all largest that fit the budget), then
--- log-uniform ones, shrunk by halving until their work fits.
---@param names table dimension names in order
---@param domains table name -> range or choice
---@param key integer 64-bit key of the sample's name
---@param index integer from 1
---@param limit number largest work of one draw
---@return table sizes
function M.draw(names, domains, key, index, limit)
  local sizes = {}
  for i, name in ipairs(names) do
    local domain = domains[name]
    local lo, hi = bounds(domain)
    if index == 1 then
      sizes[name] = lo
    elseif index == 2 then
      sizes[name] = contains(domain, 1) and 1 or lo
    elseif index == 3 then
      sizes[name] = hi
    else
      sizes[name] = draw_size(domain, unit(key, i - 1))
    end
  end
  M.shrink(names, domains, sizes, limit)
  return sizes
end

--- Halves the largest range dimension until the work fits `limit` or nothing can shrink.
function M.shrink(names, domains, sizes, limit)
  while M.work(names, sizes) > limit do
    local largest
    for _, name in ipairs(names) do
      local lo = bounds(domains[name])
      local can = domains[name].kind == "range" and sizes[name] > lo
      if can and (not largest or sizes[name] > sizes[largest]) then largest = name end
    end
    if not largest then return end
    sizes[largest] = math.max(bounds(domains[largest]), sizes[largest] // 2)
  end
end

--- Sizes as text: "n = 3, k = 17".
---@param names table dimension names
---@param sizes table
---@return string text
function M.sizes_text(names, sizes)
  local parts = {}
  for i, name in ipairs(names) do parts[i] = ("%s = %d"):format(name, sizes[name]) end
  return table.concat(parts, ", ")
end

--- Least and largest size of a domain.
---@param domain table range or choice
---@return integer least, integer largest
M.bounds = bounds

--- Text of a domain: "1..512" or "{64, 128}".
function M.domain_text(domain)
  if domain.kind == "range" then return ("%d..%d"):format(domain.lo, domain.hi) end
  return "{" .. table.concat(domain.sizes, ", ") .. "}"
end

return M
