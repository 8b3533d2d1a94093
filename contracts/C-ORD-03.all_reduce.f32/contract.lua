local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- A backward pass gives its gradients in buckets, and each bucket is reduced while the next one is computed.
local BUCKETS = 2

local function range(b, n) return (b - 1) * n // BUCKETS + 1, b * n // BUCKETS - (b - 1) * n // BUCKETS end

-- What an implementation may vary: `compute` gives a bucket of weight * gradient, `publish` lets the reduction wait for it, `give` takes
-- the bucket back when reduction and copy are enqueued.
local function overlapped(name, steps, all_reduce)
  return kc.implementation { name = name, run = function(device, x, y, sizes)
    local world = device:ranks(sizes.R)
    local gradients, results = world:tensor(x.g), world:tensor(y.y)
    local ranks, queues = {}, {}
    for r = 1, sizes.R do
      local rank = world:rank(r)
      queues[r] = rank:queue "communication"
      ranks[r] = { rank = rank, compute = rank:queue("compute", { relaxed = steps.relaxed or false }), communication = queues[r],
                   flag = rank:allocate("f32", 1), size = (sizes.n + BUCKETS - 1) // BUCKETS }
    end
    for b = 1, BUCKETS do
      local first, count = range(b, sizes.n)
      local function row(tensor, r) return tensor:slice((r - 1) * sizes.n + first, count) end
      local buckets = {}
      for r, state in ipairs(ranks) do
        buckets[r] = steps.compute(state, b, row(gradients, r), x.weights[r])
        steps.publish(state)
      end
      if all_reduce then world[all_reduce](world, queues, buckets) end
      for r, state in ipairs(ranks) do
        queues[r]:copy(row(results, r), buckets[r])
        steps.give(state, b)
      end
    end
    world:run()
  end }
end

-- ---- how a bucket comes and goes -----------------------------------------------------------------------------------------

-- A fixed number of buckets in turn; the computation waits for the reduction that used the same one before.
local function in_turn(number)
  return {
    compute = function(state, b, gradient, weight)
      local i = (b - 1) % number + 1
      state.buckets, state.done = state.buckets or {}, state.done or {}
      state.buckets[i] = state.buckets[i] or state.rank:allocate("f32", state.size)
      if state.done[i] then state.compute:wait(state.done[i]) end
      local bucket = state.buckets[i]:slice(1, #gradient)
      state.compute:scale(bucket, gradient, weight)
      return bucket
    end,
    give = function(state, b) state.done[(b - 1) % number + 1] = state.communication:record() end,
  }
end

local function without_wait(number) return { compute = in_turn(number).compute, give = function() end } end

-- Workspace and bucket from the allocator, each given back as soon as its last use is enqueued: the next workspace lies where the last
-- bucket was.
local function allocated(wait)
  return {
    compute = function(state, _, gradient, weight)
      local workspace, bucket = state.rank:allocate("f32", state.size), state.rank:allocate("f32", state.size)
      local work, result = workspace:slice(1, #gradient), bucket:slice(1, #gradient)
      state.compute:copy(work, gradient)
      state.compute:scale(result, work, weight)
      state.rank:free(workspace)
      state.bucket = bucket
      return result
    end,
    give = function(state)
      -- What a caching allocator asks for: the queue that writes the block next must wait for the last reader.
      if wait then state.compute:wait(state.communication:record()) end
      state.rank:free(state.bucket)
    end,
  }
end

-- ---- how the communication queue learns that a bucket is full --------------------------------------------------------------

local function event(state) state.communication:wait(state.compute:record()) end
local function own_event(state) state.communication:wait(state.communication:record()) end

-- A flag that is stored after the data. Stores become visible in any order unless a fence stands between them.
local function flag(fenced)
  return function(state)
    if fenced then state.compute:fence() end
    state.compute:fill(state.flag, 1)
    state.communication:wait(state.compute:record())
  end
end

local function steps(bucket, publish, relaxed)
  return { compute = bucket.compute, give = bucket.give, publish = publish, relaxed = relaxed }
end

-- ---- the contract ------------------------------------------------------------------------------------------------------------

local function equal_rows(w)
  local R = w:shape()[1]
  for i = R + 1, #w do
    if w[i] ~= w[i - R] then return false end
  end
  return true
end

local function on(R, n, weight, g)
  return sample.draws(1, sample.at({ R = R, n = n }, sample.inputs { weights = sample.constant(weight), g = g }))
end

-- Sums of 8 stay exact in f32, so that a mismatch is no rounding error.
local whole = sample.integers(-0x1p20, 0x1p20)
local integers = sample.named("integers on 2 ranks", on(2, 16, 1, whole))
local floats = sample.named("floats on 2 ranks", on(2, 16, 0.5, sample.normal()))

local function places(spans)
  local buckets, ranks, text = {}, {}, {}
  for _, s in ipairs(spans) do
    ranks[s.row] = true
    for b = 1, BUCKETS do
      local first, count = range(b, s.sizes.n)
      if s.first < first + count and s.last >= first then buckets[b] = true end
    end
  end
  for _, list in ipairs { { "rank", ranks, 8 }, { "bucket", buckets, BUCKETS } } do
    for i = 1, list[3] do
      if list[2][i] then text[#text + 1] = ("%s %d"):format(list[1], i) end
    end
  end
  return table.concat(text, ", ")
end

local function same_places(a, b)
  if #a ~= #b then return false end
  for i, s in ipairs(a) do
    if s.row ~= b[i].row or s.first ~= b[i].first or s.last ~= b[i].last then return false end
  end
  return true
end

-- A hazard takes whole chunks, the same whatever the numbers are.
local function test(m)
  local i, f = m:interleavings(integers.label), m:interleavings(floats.label)
  if i.differing == 0 or f.differing == 0 then return kc.no "no interleaving differs" end
  for _, s in ipairs(i.spans) do
    if s.last == s.first then return kc.no "single elements differ" end
  end
  if not same_places(i.spans, f.spans) then return kc.no "integers and floats differ in other places" end
  return kc.yes(("%d of %d interleavings of integers, %d of %d of floats, in %s"):format(i.differing, i.tried, f.differing, f.tried,
    places(i.spans)))
end

return kc.contract {
  identifier    = { class = "C-ORD-03", name = "all_reduce.f32", version = "1.0" },
  scope         = { operation = "weighted sum over ranks, left on every rank", inputs = { "weights: f32[R,R]", "g: f32[R,n]" },
                    outputs = { "y: f32[R,n]" }, shapes = { R = kc.choice { 2, 4, 8 }, n = kc.range(1, 256) } },
  -- All ranks ask for the same sum.
  precondition  = function(x) return { kc.finite(x.weights), kc.finite(x.g), equal_rows(x.weights) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "R", height = "R - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.matmul("weights", "g"),
  protocol      = { inputs = { integers, floats },
                    further = { sample.named("integers on 4 ranks", on(4, 37, 1, whole)),
                                sample.named("floats on 8 ranks", on(8, 50, 0.125, sample.normal())),
                                sample.named("fewer elements than buckets", on(4, 2, 0.25, sample.normal())) },
                    judged = "element", samples = 32, budget = 1e5, vacuous = 0.5,
                    interleavings = { exhaustive = 64, samples = 16, thorough = 1024 },
                    statistic = "max", pass = "error / tolerance <= 1, and every interleaving gives the same bits", repeats = 1 },
  signature     = { pattern = "some interleaving gives other results than program order, in whole chunks, integers and floats alike",
                    test = test },
  calibration   = { baseline = overlapped("nothing_is_reduced", steps(in_turn(2), event)),
                    bad = { overlapped("bucket_overwritten", steps(without_wait(1), event), "ring_all_reduce"),
                            overlapped("waits_on_the_wrong_queue", steps(in_turn(2), own_event), "ring_all_reduce"),
                            overlapped("bucket_freed_early", steps(allocated(false), event), "ring_all_reduce"),
                            overlapped("flag_before_data", steps(in_turn(1), flag(false), true), "ring_all_reduce") },
                    good = { overlapped("two_buckets", steps(in_turn(2), event), "ring_all_reduce"),
                             overlapped("one_bucket", steps(in_turn(1), event), "tree_all_reduce"),
                             overlapped("bucket_freed_after_use", steps(allocated(true), event), "ring_all_reduce"),
                             overlapped("flag_after_fence", steps(in_turn(1), flag(true), true), "tree_all_reduce") },
                    probes = { on(2, 16, 1, sample.uniform(1, 2)) },
                    functional = { inputs = { on(4, 24, 0.25, sample.uniform(-1, 1)) }, rtol = 1e-5, atol = 1e-6 } },
}
