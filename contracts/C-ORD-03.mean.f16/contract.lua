local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- An all-reduce of the ranks' terms, scaled by `before` on the way in and by `after` on the way out, in buckets of a format.
local function reduced(name, how)
  return kc.implementation { name = name, run = function(device, x, y, sizes)
    local ranks, n = sizes.R, sizes.n
    local world = device:ranks(ranks)
    local weights, g, out = world:tensor(x.weights), world:tensor(x.g), world:tensor(y.y)
    local queues, buckets = {}, {}
    for r = 1, ranks do
      local rank, from, bucket = world:rank(r), g:slice((r - 1) * n + 1, n), world:rank(r):allocate(how.payload, n)
      rank:queue("compute"):operation { name = "scale", reads = { weights, from }, writes = { bucket }, run = function()
        for i = 1, n do bucket:set(i, from:get(i) * (how.before and weights:get(r) or 1)) end
      end }
      queues[r], buckets[r] = rank:queue "communication", bucket
      queues[r]:wait(rank:queue("compute"):record())
    end
    world[how.collective](world, queues, buckets)
    for r, queue in ipairs(queues) do
      local bucket, to = buckets[r], out:slice((r - 1) * n + 1, n)
      queue:operation { name = "store", reads = { weights, bucket }, writes = { to }, run = function()
        for i = 1, n do to:set(i, bucket:get(i) * (how.before and 1 or weights:get(r))) end
      end }
    end
    world:run()
  end }
end

local zeros = kc.implementation { name = "zeros", run = function(_, _, y) y.y:fillvalue(0) end }

local function of(label, g)
  return sample.named(label, sample.at({ R = 8, n = 16 }, sample.inputs { weights = sample.constant(1 / 8), g = g }))
end

-- Powers of two: partial sums are multiples of 8192, which f16 holds up to its largest number, and of 1024 after a division.
local large = of("mean f16 large", sample.values { 8192, 16384, 8192 })
local small = of("mean f16 small", sample.log_uniform(-20, -15))
local normal = of("mean f16 normal", sample.normal())

return kc.contract {
  identifier    = { class = "C-ORD-03", name = "mean.f16", version = "1.0" },
  scope         = { operation = "y[r] = the sum over ranks s of weights[r,s] g[s], as if reduced in f32",
                    inputs = { "weights: f16[R,R]", "g: f16[R,n]" }, outputs = { "y: f16[R,n]" },
                    shapes = { R = kc.choice { 2, 8 }, n = kc.range(1, 16) } },
  precondition  = function(x)
    for i = 2, #x.weights do
      if x.weights[i] ~= x.weights[1] then return kc.no "a reduction gives every rank the same weight" end
    end
    return { kc.finite(x.weights), kc.finite(x.g) }
  end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "R", height = "R - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.matmul("weights", "g"),
  protocol      = { inputs = { large, small, normal }, judged = "element", samples = 128, budget = 1e5, vacuous = 0.5, statistic = "max",
                    pass = "error / tolerance <= 1 in program order, the same bits in every interleaving", repeats = 1,
                    interleavings = { exhaustive = 100, samples = 64, thorough = 1024 } },
  signature     = { pattern = "the payload's range is too small on one side of the division",
                    test = function(m)
                      local over, under = m:wrong(large.label), m:wrong(small.label)
                      if over == under then return kc.no "both sides, or none" end
                      return kc.yes(over and "sums overflow before they are divided" or "terms underflow after they are divided")
                    end },
  calibration   = { baseline = zeros,
                    bad = { reduced("f16_divides_after", { payload = "f16", collective = "ring_all_reduce" }),
                            reduced("f16_divides_before", { payload = "f16", collective = "ring_all_reduce", before = true }) },
                    good = { reduced("f32_divides_after", { payload = "f32", collective = "ring_all_reduce" }),
                             reduced("f32_divides_before", { payload = "f32", collective = "tree_all_reduce", before = true }) },
                    probes = { of("mean f16 probe", sample.integers(16, 100)) },
                    functional = { inputs = { normal }, rtol = 1e-2, atol = 1e-2 } },
}
