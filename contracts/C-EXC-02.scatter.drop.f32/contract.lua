local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function scatter(name, defines)
  return kc.kernel { name = name, file = "" .. (defines and "scatter.k" or name .. ".k"), entry = "scatter",
                     args = { "base", "index", "v", "y", "n", "m" }, group = { 64 }, grid = { "n" }, defines = defines }
end

local function indices(label, base)
  return sample.named(label, sample.inputs { base = sample.uniform(1, 2), index = base, v = sample.uniform(4, 8) })
end
local inside = indices("write inside", sample.affine(3, { 2 }))

return kc.contract {
  identifier    = { class = "C-EXC-02", name = "scatter.drop.f32", version = "1.0" },
  scope         = { operation = "y[index[i]] = v[i]; a write outside is dropped, the last of several stays",
                    inputs = { "base: f32[n]", "index: i32[m]", "v: f32[m]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.choice { 300 }, m = kc.choice { 100 } } },
  precondition  = function(x) return { kc.finite(x.base), kc.any_value(x.index), kc.finite(x.v) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "DROP", denormals = "preserve" },
  oracle        = kc.oracle.scatter("base", "index", "v", { outside = "drop", tie = "last" }),
  protocol      = { inputs = { inside,
                               indices("write: just beyond", sample.affine(250, { 1 })),
                               indices("write: just before", sample.affine(-50, { 1 })),
                               indices("write: mixed", sample.integers(-200, 500)),
                               indices("write: far outside", sample.values { 65536, -65536, 2147483647, -2147483648 }) },
                    judged = "element", samples = 300, budget = 1e7, vacuous = 0.0,
                    statistic = "max", pass = "value equal", repeats = 1 },
  signature     = { pattern = "right inside, a write outside is not dropped",
                    test = function(m)
                      if m:wrong(inside.label) then return kc.no "wrong inside too" end
                      if m:saw("guards", "write") then return kc.yes "it writes beside the tensor" end
                      if m:saw("crash", "write") then return kc.yes "unchecked: it writes until it crashes" end
                      return m:wrong "write: just" and kc.yes "it lands on another element" or kc.no "none"
                    end },
  calibration   = { baseline = scatter("copies_base", "COPIES_BASE=1"),
                    bad = { scatter("unchecked", "UNCHECKED=1"), scatter("wraps", "WRAPS=1"), scatter("clamps", "CLAMPS=1") },
                    good = { scatter("in_order", "IN_ORDER=1"), scatter "by_element" },
                    probes = { indices("probe", sample.affine(0, { 1 })) },
                    functional = { inputs = { indices("functional", sample.affine(10, { 2 })) }, rtol = 0, atol = 0 } },
}
