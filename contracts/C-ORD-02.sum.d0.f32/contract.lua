local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local file = "sum.k"

local function sum(name, defines)
  return kc.implementation { name = name, kernels = { file }, run = function(device, x, y, sizes)
    local groups = (sizes.k + 63) // 64
    local total, place = kc.buffer("f32", groups), kc.buffer("i32", 1)
    local partials = device:kernel { file = file, entry = "partials", defines = defines,
      params = { "x: f32[]", "total: f32[]", "place: i32[]", "s: f32[]", "k: i32" } }
    local finish = device:kernel { file = file, entry = "finish", defines = defines,
                                   params = { "total: f32[]", "place: i32[]", "s: f32[]", "groups: i32" } }
    y.s:fillvalue(0)
    device:launch(partials, { x.x, total, place, y.s, sizes.k }, { grid = { groups }, group = { 64 } })
    device:launch(finish, { total, place, y.s, groups }, { grid = { 1 }, group = { 1 } })
  end }
end

local terms = sample.named("terms, D0", sample.draws(1, sample.at({ k = 1000 }, sample.uniform(0, 1))))
local few = sample.named("terms, D0, few", sample.draws(1, sample.at({ k = 130 }, sample.uniform(0, 1))))

return kc.contract {
  identifier    = { class = "C-ORD-02", name = "sum.d0.f32", version = "1.0" },
  scope         = { operation = "sum of up to 1,024 terms in [0, 1), determinism class D0",
                    inputs = { "x: f32[k]" }, outputs = { "s: f32[1]" }, shapes = { k = kc.range(1, 1024) } },
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.sum("x"),
  protocol      = { inputs = { terms, few }, judged = "tensor", samples = 1, budget = 1e6, vacuous = 0.0,
                    determinism = "D0", repeats = kc.invocations { probability = 0.03 },
                    statistic = "max", pass = "every run right and all with the same bits" },
  signature     = { pattern = "the result depends on the order of groups or work-items",
                    test = function(m)
                      local distinct, runs, elements = m:distinct "terms, D0"
                      if distinct < 2 then return kc.no "one result" end
                      return kc.yes(("%d different results in %d runs, in %d elements"):format(distinct, runs, elements))
                    end },
  calibration   = { baseline = sum("zeros", "ZEROS=1"),
                    bad = { sum("float_atomics", "FLOAT_ATOMICS=1"), sum("group_atomics", "GROUP_ATOMICS=1"),
                            sum("order_of_arrival", "ARRIVAL=1"), sum("last_index_finishes", "LAST_INDEX=1") },
                    good = { sum("fixed_tree", "FIXED_TREE=1"), sum("fixed_point", "FIXED_POINT=1") },
                    probes = { sample.at({ k = 64 }, sample.uniform(0.5, 1)) },
                    functional = { inputs = { sample.draws(2, sample.at({ k = 1000 }, sample.uniform(0, 1))) },
                                   rtol = 1e-2, atol = 1e-3 } },
}
