---@module kc.separate
-- Which shapes fail: the simplest predicate on sizes that is true for every failing shape of a measurement and false for every
-- passing one.
local words = require "kc.words"
local M = {}

local LARGEST_MODULUS = 64

-- Predicates of one size, simplest first; each is {text, function of a size}.
local function of_one(name, values)
  local list = {}
  local function add(text, holds) list[#list + 1] = { text, function(sizes) return holds(sizes[name]) end } end
  for _, v in ipairs(values) do
    add(("%s == %d"):format(name, v), function(n) return n == v end)
    add(("%s ~= %d"):format(name, v), function(n) return n ~= v end)
  end
  for _, v in ipairs(values) do
    add(("%s > %d"):format(name, v), function(n) return n > v end)
    add(("%s < %d"):format(name, v), function(n) return n < v end)
  end
  for t = 2, LARGEST_MODULUS do
    add(("%s %% %d ~= 0"):format(name, t), function(n) return n % t ~= 0 end)
    add(("%s %% %d == 0"):format(name, t), function(n) return n % t == 0 end)
  end
  return list
end

-- Products of sizes, as index types see them.
local function of_products(names, shapes)
  local list = {}
  for i = 1, #names do
    for j = i + 1, #names do
      local a, b = names[i], names[j]
      for _, shape in ipairs(shapes) do
        local v = shape.sizes[a] * shape.sizes[b]
        list[#list + 1] = { ("%s * %s > %d"):format(a, b, v), function(sizes) return sizes[a] * sizes[b] > v end }
      end
    end
  end
  return list
end

-- The same modulus on several sizes, joined by "or"; and all sizes as they were tried most.
local function of_several(names, shapes)
  local list = {}
  for t = 2, LARGEST_MODULUS do
    for set = 1, (1 << #names) - 1 do
      local parts, chosen = {}, {}
      for i, name in ipairs(names) do
        if set >> (i - 1) & 1 == 1 then parts[#parts + 1], chosen[#chosen + 1] = ("%s %% %d ~= 0"):format(name, t), name end
      end
      if #chosen > 1 then
        list[#list + 1] = { table.concat(parts, " or "), function(sizes)
          for _, name in ipairs(chosen) do if sizes[name] % t ~= 0 then return true end end
          return false
        end }
      end
    end
  end
  for _, shape in ipairs(shapes) do
    if not shape.failed then
      local parts = {}
      for i, name in ipairs(names) do parts[i] = ("%s == %d"):format(name, shape.sizes[name]) end
      list[#list + 1] = { ("not (%s)"):format(table.concat(parts, " and ")), function(sizes)
        for _, name in ipairs(names) do if sizes[name] ~= shape.sizes[name] then return true end end
        return false
      end }
    end
  end
  return list
end

local function separates(predicate, shapes)
  for _, shape in ipairs(shapes) do
    if predicate(shape.sizes) ~= shape.failed then return false end
  end
  return true
end

local function distinct(shapes, name)
  local seen, values = {}, {}
  for _, shape in ipairs(shapes) do
    local n = shape.sizes[name]
    if not seen[n] then values[#values + 1] = n end
    seen[n] = true
  end
  table.sort(values)
  return values
end

--- The simplest predicate that separates failing shapes from passing ones: on one size, on several sizes with one modulus, on a product of
--- two sizes, or on all at once. nil where all pass, all fail, or none of these separates.
---@param shapes table list of {sizes=name -> size, failed=boolean}
---@return string|nil predicate
function M.predicate(shapes)
  local failed = 0
  for _, shape in ipairs(shapes) do failed = failed + (shape.failed and 1 or 0) end
  if failed == 0 or failed == #shapes then return nil end
  local names = words.keys(shapes[1].sizes)
  local families = { function() return of_several(names, shapes) end, function() return of_products(names, shapes) end }
  for i = #names, 1, -1 do
    table.insert(families, 1, function() return of_one(names[i], distinct(shapes, names[i])) end)
  end
  for _, family in ipairs(families) do
    for _, candidate in ipairs(family()) do
      if separates(candidate[2], shapes) then return candidate[1] end
    end
  end
end

return M
