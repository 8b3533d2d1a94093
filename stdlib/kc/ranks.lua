---@module kc.ranks
-- A virtual device of many ranks for Lua implementations: each has named queues and an allocator. Operations are only enqueued; what was
-- enqueued is a static graph of operations, and runs at the end, in program order or in an interleaving that the judge chose. See
-- spec/ranks.md.
local collective = require "kc.collective"
local core = require "kc.core"
local json = require "kc.json"
local words = require "kc.words"
local M = {}

local function class(name)
  local c = { __name = name, __metatable = false }
  c.__index = c
  return c
end

local World, Rank, Queue, Tensor, Event = class "kc.ranks", class "kc.rank", class "kc.queue", class "kc.tensor", class "kc.event"
local made = setmetatable({}, { __mode = "k" }) -- object -> what it is

local function new(kind, fields)
  local object = setmetatable(fields, kind)
  made[object] = kind
  return object
end

local function expect(value, kind, where)
  if made[value] ~= kind then error(("%s: expected a %s, got %s"):format(where, kind.__name, words.show(value)), 3) end
end

local function is_count(n) return math.type(n) == "integer" and n >= 0 end

--- The ranks of a virtual device.
---@param device table
---@param count integer
---@return table world
function M.new(device, count)
  if not is_count(count) or count == 0 then error("device:ranks: expected how many ranks, got " .. words.show(count), 3) end
  local world = new(World, { device = device, operations = {}, ranks = {}, blocks = {}, tensors = {} })
  for r = 1, count do world.ranks[r] = new(Rank, { world = world, number = r, queues = {}, freed = {} }) end
  return world
end

--- A rank, from 1.
function World:rank(r) return self.ranks[r] or error(("rank %s: there are 1 to %d"):format(words.show(r), #self.ranks), 2) end

-- ---- memory --------------------------------------------------------------------------------------------------------------

local function whole(allocation, count)
  return new(Tensor, { allocation = allocation, buffer = allocation.block, first = 1, count = count })
end

--- The elements of a buffer of the judge's, an input or an output, as one row.
---@param buffer userdata
---@return table tensor
function World:tensor(buffer)
  self.tensors[buffer] = self.tensors[buffer] or { block = buffer, live = true }
  return whole(self.tensors[buffer], #buffer)
end

-- The block freed last among those that are large enough.
local function reuse(freed, format, count)
  for i = #freed, 1, -1 do
    if freed[i]:format() == format and #freed[i] >= count then return table.remove(freed, i) end
  end
end

--- Memory of this rank: the block that was freed last, where it is large enough, as a caching allocator gives it, which knows nothing of
--- what the queues still have to do; else a new one.
---@param format string
---@param count integer
---@return table tensor
function Rank:allocate(format, count)
  if not is_count(count) then error("rank:allocate: expected a number of elements, got " .. words.show(count), 2) end
  local block = reuse(self.freed, format, count)
  if not block then
    block = assert(core.buffer(format, { count }, { guard = 0 }))
    self.world.blocks[#self.world.blocks + 1] = block
  end
  return whole({ block = block, rank = self, live = true }, count)
end

--- Gives memory back at once, whatever is enqueued: the next allocation may get it.
---@param tensor table what rank:allocate gave
function Rank:free(tensor)
  expect(tensor, Tensor, "rank:free")
  local allocation = tensor.allocation
  if allocation.rank ~= self then error("rank:free: this tensor was not allocated by this rank", 2) end
  if not allocation.live then error("rank:free: freed twice", 2) end
  allocation.live = false
  self.freed[#self.freed + 1] = allocation.block
end

--- A part of a tensor.
---@param first integer from 1
---@param count integer
---@return table tensor
function Tensor:slice(first, count)
  if not is_count(count) or not is_count(first) or first < 1 or first + count - 1 > self.count then
    error(("tensor:slice: expected a first element and a count within %d elements, got %s and %s"):format(self.count, words.show(first),
      words.show(count)), 2)
  end
  return new(Tensor, { allocation = self.allocation, buffer = self.buffer, first = self.first + first - 1, count = count })
end

--- Element i, for what an operation runs.
function Tensor:get(i) return self.buffer[self.first + i - 1] end

--- Sets element i, rounding to the format.
function Tensor:set(i, x) self.buffer[self.first + i - 1] = x end

function Tensor:__len() return self.count end

-- ---- queues and events -----------------------------------------------------------------------------------------------------

--- A queue by its name, made when it is first asked for. The operations of a queue run one after the other; those of a relaxed one are
--- unordered among themselves but for fences, as stores are that other processors see in any order.
---@param name string
---@param options table|nil {relaxed=boolean}
---@return table queue
function Rank:queue(name, options)
  local relaxed = options ~= nil and options.relaxed == true
  local queue = self.queues[name] or new(Queue, { rank = self, name = name, relaxed = relaxed, after = {}, since = {} })
  if options and queue.relaxed ~= relaxed then error(("rank:queue: '%s' exists and is of the other kind"):format(tostring(name)), 2) end
  self.queues[name] = queue
  return queue
end

local function append(list, more) for _, item in ipairs(more) do list[#list + 1] = item end end

--- An event: reached when the operation enqueued last is done (in a relaxed queue: that one alone).
---@return table event
function Queue:record()
  local event = { world = self.rank.world, operations = {} }
  append(event.operations, #self.since > 0 and { self.since[#self.since] } or {})
  if #self.since == 0 or not self.relaxed then append(event.operations, self.after) end
  return new(Event, event)
end

--- Operations enqueued from now on run after the event was reached.
---@param event table what record gave
function Queue:wait(event)
  if made[event] ~= Event or event.world ~= self.rank.world then
    error("queue:wait: expected an event of the same ranks, got " .. words.show(event), 2)
  end
  append(self.after, event.operations)
end

--- Operations enqueued from now on run after all that were enqueued before. An ordered queue needs none.
function Queue:fence()
  if not self.relaxed then return end
  append(self.after, self.since)
  self.since = {}
end

local function unique(list)
  local seen, out = {}, {}
  for _, item in ipairs(list) do
    if not seen[item] then out[#out + 1] = item end
    seen[item] = true
  end
  return out
end

local function enqueue(queue, name, accesses, run)
  local world = queue.rank.world
  if world.ran then error(("queue:%s: these ranks have run"):format(name), 3) end
  local after, i = { table.unpack(queue.after) }, #world.operations + 1
  if queue.relaxed then
    queue.since[#queue.since + 1] = i
  else
    append(after, queue.since)
    queue.since, queue.after = { i }, {}
  end
  world.operations[i] = { name = name, after = unique(after), accesses = accesses, run = run }
end

local function touch(list, tensors, write, where)
  for _, tensor in ipairs(tensors) do
    expect(tensor, Tensor, where)
    if not tensor.allocation.live then error(where .. ": this tensor was freed before", 4) end
    if tensor.count > 0 then
      list[#list + 1] = { block = tensor.buffer, first = tensor.first, last = tensor.first + tensor.count - 1, write = write }
    end
  end
  return list
end

--- Enqueues an operation. What it reads and writes is taken at its word.
---@param options table {name=, reads={tensors}, writes={tensors}, run=function}
function Queue:operation(options)
  if type(options) ~= "table" or type(options.run) ~= "function" then error("queue:operation: field 'run': expected a function", 2) end
  local accesses = touch({}, options.reads or {}, false, "queue:operation, reads")
  enqueue(self, options.name or "operation", touch(accesses, options.writes or {}, true, "queue:operation, writes"), options.run)
end

local function elementwise(queue, name, target, source, apply)
  expect(target, Tensor, "queue:" .. name)
  if source then
    expect(source, Tensor, "queue:" .. name)
    if source.count ~= target.count then error(("queue:%s: %d and %d elements"):format(name, target.count, source.count), 3) end
  end
  local where = "queue:" .. name
  local accesses = touch(touch({}, { source }, false, where), { target }, true, where)
  enqueue(queue, name, accesses, function()
    local to, from, t, s = target.buffer, source and source.buffer, target.first - 1, source and source.first - 1
    for i = 1, target.count do apply(to, t + i, from, s and s + i) end
  end)
end

--- target = source: the bits where the formats are the same.
function Queue:copy(target, source)
  elementwise(self, "copy", target, source, function(to, i, from, j)
    if to:format() == from:format() then to:setcode(i, from:code(j)) else to[i] = from[j] end
  end)
end

--- target = target + source, rounded once: the sum of doubles that are numbers of f32 is rounded first to binary64 and then to f32, which
--- is the same as rounding it once, since 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", SIGNUM 30, 1995).
function Queue:add(target, source)
  elementwise(self, "add", target, source, function(to, i, from, j) to[i] = to[i] + from[j] end)
end

--- target = factor * source, rounded once: binary64 holds products of two numbers of f32.
function Queue:scale(target, source, factor)
  elementwise(self, "scale", target, source, function(to, i, from, j) to[i] = factor * from[j] end)
end

--- Every element of target = value.
function Queue:fill(target, value)
  elementwise(self, "fill", target, nil, function(to, i) to[i] = value end)
end

-- ---- running -----------------------------------------------------------------------------------------------------------------

-- SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
local function random(seed)
  local state = seed
  return function(n)
    state = state + 0x9e3779b97f4a7c15
    local z = (state ~ state >> 30) * 0xbf58476d1ce4e5b9
    z = (z ~ z >> 27) * 0x94d049bb133111eb
    return 1 + ((z ~ z >> 31) >> 33) % n
  end
end

-- Takes the judge's choices in order, then random or first ones, and notes how many there were each time.
local function chooser(device)
  local facts, plan = device.facts, device.interleaving
  facts.branching, facts.taken = facts.branching or json.list {}, facts.taken or json.list {}
  device.draw = device.draw or plan.seed and random(plan.seed)
  return function(n)
    local i = #facts.branching + 1
    local choice = plan.prefix[i] or device.draw and device.draw(n) or 1
    facts.branching[i], facts.taken[i] = n, math.min(choice, n)
    return facts.taken[i]
  end
end

--- Runs what was enqueued, once: in program order, each operation finished before the next begins, unless the judge asked for another
--- interleaving.
function World:run()
  if self.ran then error("world:run: these ranks have run", 2) end
  self.ran = true
  if self.device.interleaving then
    local plan, facts = self.device.interleaving, self.device.facts
    local complete = require("kc.schedule").new(self.operations):run(chooser(self.device), not plan.seed)
    facts.repeats = facts.repeats or not complete
  else
    for _, operation in ipairs(self.operations) do operation.run() end
  end
  for _, block in ipairs(self.blocks) do block:close() end
end

World.ring_all_reduce = function(_, queues, tensors) return collective.ring(queues, tensors) end
World.tree_all_reduce = function(_, queues, tensors) return collective.tree(queues, tensors) end

return M
