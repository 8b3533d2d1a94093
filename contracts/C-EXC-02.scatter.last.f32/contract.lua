local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function scatter(name, defines)
  return kc.kernel { name = name, file = "../C-EXC-02.scatter.drop.f32/" .. (defines and "scatter.k" or name .. ".k"), entry = "scatter",
                     args = { "base", "index", "v", "y", "n", "m" }, group = { 64 }, grid = { "n" }, defines = defines }
end

local function indices(label, base)
  return sample.named(label, sample.inputs { base = sample.uniform(1, 2), index = base, v = sample.uniform(4, 8) })
end
local inside = indices("distinct places", sample.affine(3, { 2 }))

return kc.contract {
  identifier    = { class = "C-EXC-02", name = "scatter.last.f32", version = "1.0" },
  scope         = { operation = "y[index[i]] = v[i]; the last of several stays",
                    inputs = { "base: f32[n]", "index: i32[m]", "v: f32[m]" },
                    outputs = { "y: f32[n]" }, shapes = { n = kc.choice { 300 }, m = kc.choice { 100 } } },
  precondition  = function(x) return { kc.finite(x.base), kc.any_value(x.index), kc.finite(x.v) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "LAST WRITER", denormals = "preserve" },
  oracle        = kc.oracle.scatter("base", "index", "v", { outside = "drop", tie = "last" }),
  protocol      = { inputs = { inside,
                               indices("repeated places", sample.integers(0, 40)),
                               indices("one place", sample.constant(7)),
                               indices("two places", sample.values { 12, 290 }),
                               indices("repeated and negative", sample.integers(-40, 40)) },
                    judged = "element", samples = 300, budget = 1e7, vacuous = 0.0,
                    statistic = "max", pass = "value equal", repeats = 1 },
  signature     = { pattern = "right where places are distinct, another winner where they repeat",
                    test = function(m)
                      if m:wrong(inside.label) then return kc.no "wrong for distinct places too" end
                      if m:wrong "repeated places" then return kc.yes "another value than the last stays" end
                      return m:wrong "repeated and negative" and kc.yes "negative indices count from the end" or kc.no "none"
                    end },
  calibration   = { baseline = scatter("copies_base", "COPIES_BASE=1"),
                    bad = { scatter("first_stays", "BACKWARDS=1"), scatter("negative_wraps", "NEGATIVE_WRAPS=1") },
                    good = { scatter("in_order", "IN_ORDER=1"), scatter "by_element" },
                    probes = { indices("probe", sample.affine(0, { 1 })) },
                    functional = { inputs = { indices("functional", sample.affine(10, { 2 })) }, rtol = 0, atol = 0 } },
}
