local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local LANES = { 1, 4, 16 } -- the schedules among which a tuner chooses
local REPEATS = 3          -- launches of each while it does

-- A tuned operation. choice 1 to 3: this schedule alone; 0: the tuned one, which on the first call for a shape launches every schedule
-- several times into the output, as tuners do; -1: the tuned one after a warm-up call, which is what a usual test sees.
-- `of(lanes)` gives a schedule's defines; `clear`: the output is set to 0 before a call, since the kernel adds to it.
local function tuned(name, of, clear)
  local chosen = {}
  return kc.implementation { name = name, kernels = { "sum.k" }, run = function(device, x, y, sizes)
    local kernels = {}
    local function launch(choice)
      kernels[choice] = kernels[choice] or device:kernel { file = "sum.k", entry = "sum", defines = of(choice, LANES[choice]),
                                                           params = { "x: f32[]", "s: f32[]", "n: i32", "k: i32" } }
      device:launch(kernels[choice], { x.x, y.s, sizes.n, sizes.k }, { grid = { (sizes.n + 63) // 64 }, group = { 64 } })
    end
    local function call()
      if clear then y.s:fillvalue(0) end
      local shape = ("%d x %d"):format(sizes.n, sizes.k)
      for choice = 1, chosen[shape] and 0 or #LANES do
        for _ = 1, REPEATS do launch(choice) end
      end
      chosen[shape] = chosen[shape] or #LANES
      launch(chosen[shape])
      return "schedule " .. chosen[shape]
    end
    if x.choice[1] > 0 then
      if clear then y.s:fillvalue(0) end
      launch(math.tointeger(x.choice[1]))
      return "schedule " .. math.tointeger(x.choice[1])
    end
    if x.choice[1] < 0 then call() end
    return call()
  end }
end

local function lanes(_, n) return "LANES=" .. n end
local function one_drops_its_tail(_, n) return n == 4 and "LANES=4 DROPS_TAIL=1" or lanes(_, n) end
local function halves(choice, n) return ("LANES=%d HALF=%d"):format(n, choice % 2) end
local function accumulates(_, n) return ("LANES=%d ACCUMULATES=1"):format(n) end

-- Integers whose sums are exact, so that all schedules agree bit for bit; and terms of one sign against the proved bound.
local integers, positive = sample.integers(-31, 1023), sample.uniform(0, 1)
local function called(label, choice, n, k, base)
  return sample.named(label, sample.draws(1, sample.at({ n = n, k = k },
    sample.inputs { x = base or integers, choice = sample.constant(choice) })))
end

local inputs = {}
for i, k in ipairs { 64, 257, 1023 } do
  inputs[#inputs + 1] = called("tuned: first call", 0, 30 + i, k)
  inputs[#inputs + 1] = called("tuned: later call", 0, 30 + i, k)
end
for choice in ipairs(LANES) do
  for _, k in ipairs { 1, 3, 64, 257, 1023 } do
    inputs[#inputs + 1] = called(("schedule %d alone"):format(choice), choice, 33, k)
    inputs[#inputs + 1] = called(("schedule %d alone"):format(choice), choice, 34, k, positive)
  end
end

local invariant = kc.relation {
  name = "every schedule gives the same sums of integers", draws = 2,
  inputs = { sample.at({ n = 40, k = 771 }, sample.inputs { x = integers, choice = sample.constant(1) }) },
  change = function(x)
    local other = x.choice:copy()
    other[1] = 3
    return { choice = other }
  end,
  holds = function(_, y, _, y2) return kc.equal(y.s, y2.s) end,
}

return kc.contract {
  identifier    = { class = "C-CMP-02", name = "sum.tuned.f32", version = "1.0" },
  scope         = { operation = "sum over the last axis by a tuned schedule", inputs = { "x: f32[n,k]", "choice: i32[1]" },
                    outputs = { "s: f32[n]" }, shapes = { n = kc.range(1, 64), k = kc.range(1, 2048) } },
  precondition  = function(x) return { kc.finite(x.x), kc.any_value(x.choice) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.sum("x"),
  protocol      = { inputs = inputs, judged = "tensor", samples = 1, budget = 1e8, vacuous = 0.0, relations = { invariant },
                    statistic = "max", pass = "every schedule alone, the first call and a later one", repeats = 1 },
  signature     = { pattern = "the result depends on the schedule or on tuning",
                    test = function(m)
                      local first, later, alone = m:wrong "tuned: first call", m:wrong "tuned: later call", {}
                      for choice in ipairs(LANES) do
                        if m:wrong(("schedule %d alone"):format(choice)) then alone[#alone + 1] = choice end
                      end
                      if #alone == #LANES and not first then return kc.yes "no schedule is right alone: together they hide it" end
                      if #alone > 0 and #alone < #LANES then return kc.yes("schedule " .. table.concat(alone, ", ") .. " is wrong") end
                      return first and not later and kc.yes "the first call is wrong, later ones are right: tuning has side effects"
                        or kc.no "none"
                    end },
  calibration   = { baseline = tuned("drops_every_tail", function(_, n) return ("LANES=%d DROPS_TAIL=1"):format(n == 1 and 2 or n) end),
                    bad = { tuned("accumulates_while_tuning", accumulates, true), tuned("halves", halves),
                            tuned("one_drops_its_tail", one_drops_its_tail) },
                    good = { tuned("overwrites", lanes), tuned("cleared_before", lanes, true) },
                    probes = { sample.at({ n = 16, k = 64 }, sample.inputs { x = sample.uniform(1, 2), choice = sample.constant(1) }) },
                    functional = { inputs = { sample.draws(1, sample.at({ n = 32, k = 129 },
                      sample.inputs { x = positive, choice = sample.constant(-1) })) }, rtol = 1e-4, atol = 1e-4 } },
}
