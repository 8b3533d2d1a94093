local kc = require "kc"

-- What the ranks hold is added: directly, without ranks, or by operations of which `between` says more.
local function add(name, between)
  return kc.implementation { name = name, run = function(device, x, y, sizes)
    if not between then
      for i = 1, sizes.R * sizes.n do
        y.y[i] = 0
        for s = 1, sizes.R do y.y[i] = y.y[i] + x.weights[s] * x.g[(s - 1) * sizes.n + (i - 1) % sizes.n + 1] end
      end
      return
    end
    local world = device:ranks(sizes.R)
    local g, results, queues = world:tensor(x.g), world:tensor(y.y), {}
    local rows = {}
    for r = 1, sizes.R do
      queues[r], rows[r] = world:rank(r):queue "q", results:slice((r - 1) * sizes.n + 1, sizes.n)
      queues[r]:scale(rows[r], g:slice((r - 1) * sizes.n + 1, sizes.n), x.weights[r])
    end
    world:ring_all_reduce(queues, rows)
    between(world, rows)
    world:run()
  end }
end

-- Two unordered writes of the same value: a race, but the bits are the same.
local function benign(world)
  for _, name in ipairs { "a", "b" } do
    local queue, flag = world:rank(1):queue(name), world.flag or world:rank(1):allocate("f32", 1)
    world.flag = flag
    queue:fill(flag, 1)
  end
end

local calls = 0
local function changes(world)
  calls = calls + 1
  local flag = world:rank(1):allocate("f32", 1)
  for i = 1, 1 + calls do world:rank(1):queue("q" .. i):fill(flag, 1) end
end

local function raises(world)
  local flag, first = world:rank(1):allocate("f32", 1), nil
  for i = 1, 2 do
    world:rank(1):queue("q" .. i):operation { writes = { flag }, run = function()
      first = first or i
      if first == 2 then error "second before first" end
    end }
  end
end

-- Rank 2's result is spoilt in a place that depends on when it happens.
local function spoils(world, rows)
  world:rank(2):queue("other"):fill(rows[2]:slice(1, 2), 7)
  world:rank(2):queue("q"):copy(rows[2]:slice(1, 2), rows[1]:slice(1, 2))
end

return kc.suite {
  name  = "interleavings",
  judge = { { contract = "../../../contracts/C-ORD-03.all_reduce.f32/contract.lua",
              implementations = { add "no_ranks", add("benign", benign), add("changes", changes), add("raises", raises),
                                  add("spoils", spoils) } } },
}
