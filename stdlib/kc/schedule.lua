---@module kc.schedule
-- In which order the operations of a recorded program run. What happens before what is known beforehand (queues and events), so the only
-- choices that can matter are those between operations that touch common memory and that nothing orders: persistent sets and sleep sets,
-- after Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", LNCS 1032, 1996. See spec/ranks.md.
local M = {}

-- Sets of operations are lists of words of 64 bits.
local function word(i) return (i - 1 >> 6) + 1 end
local function bit(i) return 1 << (i - 1 & 63) end
local function has(set, i) return (set[word(i)] or 0) & bit(i) ~= 0 end

-- For each operation the set of those that happen before it; those it follows directly stand earlier in the list.
local function ancestors(operations)
  local all = {}
  for i, operation in ipairs(operations) do
    local mine = {}
    for w = 1, word(i) do mine[w] = 0 end
    for _, p in ipairs(operation.after) do
      for w, bits in ipairs(all[p]) do mine[w] = mine[w] | bits end
      mine[word(p)] = mine[word(p)] | bit(p)
    end
    all[i] = mine
  end
  return all
end

-- For each operation those that touch common memory, one of the two writing, and that nothing orders.
local function races(operations)
  local before, touched, list, found = ancestors(operations), {}, {}, {}
  for i, operation in ipairs(operations) do
    list[i] = {}
    for _, a in ipairs(operation.accesses) do
      local others = touched[a.block] or {}
      touched[a.block] = others
      for _, b in ipairs(others) do
        local j, key = b.operation, b.operation * #operations + i
        local conflict = (a.write or b.write) and a.first <= b.last and b.first <= a.last
        if conflict and j ~= i and not found[key] and not has(before[i], j) then
          found[key] = true
          list[i][#list[i] + 1], list[j][#list[j] + 1] = j, i
        end
      end
      others[#others + 1] = { operation = i, write = a.write, first = a.first, last = a.last }
    end
  end
  return list
end

local Schedule = {}
Schedule.__index = Schedule

--- Prepares a program.
---@param operations table in program order: {after={indices of earlier operations}, accesses={{block=, first=, last=, write=}}, run=}
---@return table schedule
function M.new(operations)
  local self = { operations = operations, races = races(operations), missing = {}, racing = {}, followers = {}, done = {}, ready = {},
                 asleep = {} }
  for i, operation in ipairs(operations) do
    self.followers[i], self.missing[i], self.racing[i] = {}, #operation.after, #self.races[i]
    for _, p in ipairs(operation.after) do self.followers[p][#self.followers[p] + 1] = i end
    if #operation.after == 0 then self.ready[#self.ready + 1] = i end
  end
  return setmetatable(self, Schedule)
end

function Schedule:add_all(list, member, candidates)
  for _, i in ipairs(candidates) do
    if not self.done[i] and not member[i] then
      member[i] = true
      list[#list + 1] = i
    end
  end
end

-- The ready operations of a set that contains `seed` and with each ready member all that race with it, with each other member one
-- operation that it waits for: whatever runs outside of the set first commutes with all of its ready members. Members are noted in `seen`.
function Schedule:persistent(seed, seen)
  local member, list, ready, i = { [seed] = true }, { seed }, {}, 0
  while i < #list do
    i = i + 1
    local operation = list[i]
    seen[operation] = true
    if self.missing[operation] == 0 then
      ready[#ready + 1] = operation
      self:add_all(list, member, self.races[operation])
    else
      for _, p in ipairs(self.operations[operation].after) do
        if not self.done[p] then
          self:add_all(list, member, { p })
          break
        end
      end
    end
  end
  table.sort(ready)
  return ready
end

-- The smallest of these sets, the first among equals; a member of one that was looked at is no seed again.
function Schedule:choices()
  for _, i in ipairs(self.ready) do
    if self.racing[i] == 0 then return { i } end
  end
  local best, seen = nil, {}
  for _, seed in ipairs(self.ready) do
    local set = not seen[seed] and self:persistent(seed, seen)
    if set and (not best or #set < #best) then best = set end
  end
  return best
end

function Schedule:execute(i)
  self.operations[i].run()
  self.done[i] = true
  for _, r in ipairs(self.races[i]) do self.racing[r] = self.racing[r] - 1 end
  local still = {}
  for _, r in ipairs(self.ready) do if r ~= i then still[#still + 1] = r end end
  for _, f in ipairs(self.followers[i]) do
    self.missing[f] = self.missing[f] - 1
    if self.missing[f] == 0 then still[#still + 1] = f end
  end
  table.sort(still)
  self.ready = still
end

-- Operation i is taken instead of those listed. An exhaustive search has taken these at this point already: until something runs that
-- races with one of them, taking it would only give an interleaving that was seen, with commuting operations exchanged.
function Schedule:put_to_sleep(passed, i)
  for _, p in ipairs(passed) do self.asleep[p] = true end
  for _, r in ipairs(self.races[i]) do self.asleep[r] = nil end
end

--- Runs every operation, each after those that happen before it; where the order may matter, `choose` decides. Every choice leads to
--- the end: events are waited for after they were recorded, so nothing waits for itself.
---@param choose function choose(n) gives 1..n
---@param exhaustive boolean|nil choices are taken in the order 1..n by a search over all of them
---@return boolean new false when the rest would repeat an interleaving that such a search has seen, and was left out
function Schedule:run(choose, exhaustive)
  while #self.ready > 0 do
    local open, passed = {}, {}
    for _, i in ipairs(self:choices()) do
      if not self.asleep[i] then open[#open + 1] = i end
    end
    if #open == 0 then return false end
    local choice = #open == 1 and 1 or choose(#open)
    if exhaustive then
      table.move(open, 1, choice - 1, 1, passed)
      self:put_to_sleep(passed, open[choice])
    end
    self:execute(open[choice])
  end
  return true
end

return M
