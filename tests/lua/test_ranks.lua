-- Ranks with queues: what is ordered has one interleaving, what is not has as many as differ, and a search finds each of them once.
local core = require "kc.core"
local interleave = require "kc.interleave"
local kc = require "kc"
local passed = 0

local function check(condition, text)
  if not condition then error(text or "check failed", 2) end
  passed = passed + 1
end

local function raises(f, pattern)
  local ok, message = pcall(f)
  check(not ok and tostring(message):find(pattern, 1, true), ("expected '%s', got '%s'"):format(pattern, tostring(message)))
end

-- Runs a program in one interleaving (in program order without one).
local function once(ranks, program, plan)
  local device = kc.device("cpu", { isolation = "none" })
  device.interleaving = plan
  local result = program(device:ranks(ranks))
  local facts = device.facts
  device:close()
  return facts, result
end

-- Number of interleavings, whether these are all, and how many distinct results they gave.
local function count(ranks, program, bounds)
  local results, distinct, last = {}, 0, nil
  local found = interleave.enumerate(bounds or { exhaustive = 5000, samples = 1 }, 0, function(plan)
    local facts
    facts, last = once(ranks, program, plan)
    return facts
  end, function()
    if last and not results[last] then
      results[last], distinct = true, distinct + 1
    end
  end)
  return found.tried, found.complete, distinct
end

-- A program of fills: each of the queues writes its number to the tensor that it is given.
local function fills(queues, tensor_of)
  return function(world)
    local a, b = world:rank(1):allocate("f32", 1), world:rank(1):allocate("f32", 1)
    local log = {}
    for q = 1, queues do
      world:rank(1):queue("q" .. q):operation { writes = { tensor_of(q, a, b) }, run = function() log[#log + 1] = q end }
    end
    world:run()
    return table.concat(log, " ")
  end
end

local function expect(n, distinct, ranks, program)
  local tried, complete, results = count(ranks, program)
  check(tried == n and complete, ("%d interleavings, expected %d"):format(tried, n))
  check(results == distinct, ("%d results, expected %d"):format(results, distinct))
end

-- ---- how many there are ----

expect(2, 2, 1, fills(2, function(_, a) return a end))
expect(6, 6, 1, fills(3, function(_, a) return a end))
expect(1, 1, 1, fills(4, function(q, a) return a:slice(1, q == 1 and 1 or 0) end)) -- independent
expect(4, 4, 1, fills(4, function(q, a, b) return q <= 2 and a or b end)) -- two races
expect(1, 1, 1, function(world) -- ordered by events
  local a, event, log = world:rank(1):allocate("f32", 1), nil, {}
  for q = 1, 4 do
    local queue = world:rank(1):queue("q" .. q)
    if event then queue:wait(event) end
    queue:operation { writes = { a }, run = function() log[#log + 1] = q end }
    event = queue:record()
  end
  world:run()
  return table.concat(log)
end)

-- Reading is no conflict; parts of one block are apart.
expect(1, 1, 1, function(world)
  local a = world:rank(1):allocate("f32", 4)
  for q = 1, 3 do
    world:rank(1):queue("r" .. q):operation { reads = { a:slice(3, 2) }, run = function() end }
    if q < 3 then world:rank(1):queue("w" .. q):fill(a:slice(q, 1), q) end
  end
  world:run()
  return "same"
end)

-- A flag that may be seen before the data; with a fence it may not.
local function flagged(fence)
  return function(world)
    local rank, seen = world:rank(1), nil
    local data, flag = rank:allocate("f32", 1), rank:allocate("f32", 1)
    rank:queue("stores", { relaxed = true }):fill(data, 1)
    if fence then rank:queue("stores"):fence() end
    rank:queue("stores"):fill(flag, 1)
    rank:queue("loads"):wait(rank:queue("stores"):record())
    rank:queue("loads"):operation { reads = { data, flag }, run = function() seen = data:get(1) == 1 and flag:get(1) == 1 end }
    world:run()
    return tostring(seen)
  end
end
expect(2, 2, 1, flagged(false))
expect(1, 1, 1, flagged(true))
check(select(2, once(1, flagged(false))) == "true", "program order")

-- An event carries what its queue waits for, also when nothing was enqueued since.
expect(1, 1, 1, function(world)
  local rank = world:rank(1)
  local a = rank:allocate("f32", 1)
  rank:queue("x"):fill(a, 1)
  rank:queue("y"):wait(rank:queue("x"):record())
  rank:queue("z"):wait(rank:queue("y"):record())
  rank:queue("z"):fill(a, 2)
  world:run()
  return "same"
end)

-- ---- against brute force: programs of up to 6 operations on 3 blocks, in queues and with events drawn at random ----

local state = 1
local function draw(n)
  state = (state * 6364136223846793005 + 1442695040888963407)
  return 1 + (state >> 33) % n
end

local function random_program()
  local plan, n = {}, 2 + draw(4)
  for i = 1, n do
    plan[i] = { queue = draw(4), block = draw(3), write = draw(3) > 1, after = i > 1 and draw(3) == 1 and draw(i - 1) or nil }
  end
  return plan
end

-- Classes of the linear extensions: orders of the conflicting pairs.
local function classes(plan)
  local n, seen, total = #plan, {}, 0
  local function before(i, j) return i < j and plan[i].queue == plan[j].queue or plan[j].after == i end
  local at, used = {}, {}
  local function extend(k)
    if k > n then
      local key = {}
      for i = 1, n do
        for j = i + 1, n do
          local conflict = plan[i].block == plan[j].block and (plan[i].write or plan[j].write)
          if conflict then key[#key + 1] = at[i] < at[j] and "<" or ">" end
        end
      end
      key = table.concat(key)
      total, seen[key] = total + (seen[key] and 0 or 1), true
      return
    end
    for i = 1, n do
      local free = not used[i]
      for j = 1, n do free = free and (used[j] or not before(j, i)) end
      if free then
        used[i], at[i] = true, k
        extend(k + 1)
        used[i] = nil
      end
    end
  end
  extend(1)
  return total
end

local function enqueued(plan)
  return function(world)
    local rank, blocks, events = world:rank(1), {}, {}
    for b = 1, 3 do blocks[b] = rank:allocate("f32", 1) end
    for i, operation in ipairs(plan) do
      local queue = rank:queue("q" .. operation.queue)
      if operation.after then queue:wait(events[operation.after]) end
      local list = { blocks[operation.block] }
      queue:operation { reads = not operation.write and list or nil, writes = operation.write and list or nil, run = function() end }
      events[i] = queue:record()
    end
    world:run()
  end
end

for _ = 1, 150 do
  local plan = random_program()
  local expected, tried, complete = classes(plan), count(1, enqueued(plan))
  check(complete and tried == expected, ("%d interleavings, brute force finds %d"):format(tried, expected))
end

-- ---- bounds: what is beyond them is drawn, and the same again ----

local many = fills(6, function(_, a) return a end)
local tried, complete = count(1, many, { exhaustive = 50, samples = 40 })
check(not complete and tried > 80 and tried <= 90, tostring(tried))
check(tried == count(1, many, { exhaustive = 50, samples = 40 }))
tried, complete = count(1, many)
check(complete and tried == 720)
local changing = 0
local found = interleave.enumerate({ exhaustive = 9, samples = 1 }, 0, function(plan)
  changing = changing + 1
  return (once(1, fills(1 + changing, function(_, a) return a end), plan))
end)
check(found.changed and not found.complete, "another program at each call")

-- ---- collectives: sums, the same bits on all ranks, and ordered ----

local function reduced(word, ranks, n)
  return function(world)
    local y, queues, tensors = core.buffer("f32", { ranks, n }), {}, {}
    for r = 1, ranks do
      queues[r], tensors[r] = world:rank(r):queue "q", world:tensor(y):slice((r - 1) * n + 1, n)
      for i = 1, n do tensors[r]:set(i, r * 1000 + i) end
    end
    world[word](world, queues, tensors)
    for r = 1, ranks do queues[r]:scale(tensors[r], tensors[r], 2) end -- nobody reads it any more
    world:run()
    for r = 1, ranks do
      for i = 1, n do check(y[(r - 1) * n + i] == ranks * (ranks + 1) * 1000 + 2 * ranks * i, word) end
    end
    local digest = y:digest()
    y:close()
    return digest
  end
end

for _, word in ipairs { "ring_all_reduce", "tree_all_reduce" } do
  for _, ranks in ipairs { 1, 2, 3, 4, 7, 8 } do
    for _, n in ipairs { 1, 5, 16 } do
      once(ranks, reduced(word, ranks, n))
      expect(1, 1, ranks, reduced(word, ranks, n))
    end
  end
end

-- ---- the allocator gives the block that was freed last ----

once(1, function(world)
  local rank = world:rank(1)
  local a, b = rank:allocate("f32", 8), rank:allocate("f32", 8)
  rank:free(a)
  rank:free(b)
  local c, d = rank:allocate("f32", 4), rank:allocate("f16", 8)
  check(c.buffer == b.buffer and d.buffer ~= a.buffer)
  check(rank:allocate("f32", 9).buffer ~= a.buffer and rank:allocate("f32", 8).buffer == a.buffer)
  raises(function() rank:queue("q"):fill(a, 0) end, "was freed before")
  raises(function() rank:free(a) end, "freed twice")
  raises(function() rank:free(c:slice(1, 9)) end, "within 4 elements, got the number 1 and the number 9")
  raises(function() rank:free(3) end, "expected a kc.tensor, got the number 3")
  raises(function() rank:queue("q"):add(c, d) end, "4 and 8 elements")
  raises(function() rank:queue("q"):wait({}) end, "an event of the same ranks")
  raises(function() rank:queue("q", { relaxed = true }) end, "of the other kind")
  raises(function() world:rank(2) end, "there are 1 to 1")
  raises(function() rank:queue("q"):operation {} end, "field 'run'")
  world:run()
  raises(function() world:run() end, "have run")
  raises(function() rank:queue("q"):fill(c, 0) end, "have run")
end)
raises(function() once(0, function() end) end, "how many ranks, got the number 0")

-- ---- bounds are checked ----

check(interleave.misfit { exhaustive = 1, samples = 1 } == nil and interleave.misfit { exhaustive = 1, samples = 1, thorough = 9 } == nil)
check(interleave.misfit { exhaustive = 0, samples = 1 }:find("exhaustive", 1, true))
check(interleave.misfit { exhaustiv = 1 }:find("did you mean 'exhaustive'", 1, true))
check(interleave.misfit(7):find("expected a table", 1, true))

print(("ranks: %d passed"):format(passed))
