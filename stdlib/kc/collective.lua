---@module kc.collective
-- All-reduce over the ranks of kc.ranks. A rank's queue takes part from the point where it stands: what its tensor needs must be waited
-- for before. When the queue has passed the collective, its tensor holds the sum and no other rank reads it any more.
local M = {}

-- Ranks pull: a queue waits for what its peer has enqueued so far, then works on the peer's tensor.
local function pull(queue, event, apply)
  queue:wait(event)
  apply()
  return queue:record()
end

local function demand(queues, tensors)
  if #queues ~= #tensors then error(("all_reduce: %d queues and %d tensors"):format(#queues, #tensors), 3) end
  for r = 2, #tensors do
    if #tensors[r] ~= #tensors[1] then error(("all_reduce: rank %d has %d elements, rank 1 %d"):format(r, #tensors[r], #tensors[1]), 3) end
  end
end

local function events(queues)
  local list = {}
  for r, queue in ipairs(queues) do list[r] = queue:record() end
  return list
end

-- Nobody leaves before whoever reads its tensor has done so.
local function leave(queues)
  local last = events(queues)
  for _, queue in ipairs(queues) do
    for _, event in ipairs(last) do queue:wait(event) end
  end
end

-- The part of a tensor that belongs to chunk c, counted from 0 modulo the number of ranks.
local function chunk(tensor, c, ranks)
  c = c % ranks
  local first, next_first = c * #tensor // ranks, (c + 1) * #tensor // ranks
  return tensor:slice(first + 1, next_first - first)
end

--- R - 1 steps in which every rank adds one chunk of its neighbour's to its own, R - 1 in which it copies a finished one: each sum is
--- made once, so that all ranks have the same bits (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69, 2009).
---@param queues table a queue of each rank
---@param tensors table a tensor of each rank
function M.ring(queues, tensors)
  demand(queues, tensors)
  local R, before = #queues, events(queues)
  local function step(s, word)
    local after = {}
    for r = 1, R do
      local peer = r > 1 and r - 1 or R
      local c = word == "add" and r - 1 - s or r - s
      after[r] = pull(queues[r], before[peer], function()
        queues[r][word](queues[r], chunk(tensors[r], c, R), chunk(tensors[peer], c, R))
      end)
    end
    before = after
  end
  for s = 1, R - 1 do step(s, "add") end
  for s = 1, R - 1 do step(s, "copy") end
  leave(queues)
end

--- Sums along a binary tree to rank 1, whose result goes back the same way.
---@param queues table a queue of each rank
---@param tensors table a tensor of each rank
function M.tree(queues, tensors)
  demand(queues, tensors)
  local R, distance = #queues, 1
  local function level(word)
    for r = 1, R - distance, 2 * distance do
      local child = r + distance
      local to, from = word == "add" and r or child, word == "add" and child or r
      pull(queues[to], queues[from]:record(), function() queues[to][word](queues[to], tensors[to], tensors[from]) end)
    end
  end
  while distance < R do
    level "add"
    distance = 2 * distance
  end
  while distance > 1 do
    distance = distance // 2
    level "copy"
  end
  leave(queues)
end

return M
