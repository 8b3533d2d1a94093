local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function gather(name)
  return kc.kernel { file = name .. ".k", entry = "gather", args = { "data", "index", "y", "n", "m" }, group = { 64 }, grid = { "m" } }
end

-- Every number of data is another one, so that what came out says where it was read.
local function indices(label, base)
  return sample.named(label, sample.inputs { data = sample.log_uniform(0, 8), index = base })
end

local inside = indices("inside", sample.integers(0, 999))

return kc.contract {
  identifier    = { class = "C-EXC-02", name = "gather.clamp.f32", version = "1.0" },
  scope         = { operation = "gather; an index outside gives the nearest valid element", inputs = { "data: f32[n]", "index: i32[m]" },
                    outputs = { "y: f32[m]" }, shapes = { n = kc.choice { 1000 }, m = kc.choice { 256 } } },
  precondition  = function(x) return { kc.finite(x.data), kc.any_value(x.index) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "CLAMP", denormals = "preserve" },
  oracle        = kc.oracle.gather("data", "index", { outside = "clamp" }),
  protocol      = { inputs = { inside, indices("outside: just beyond", sample.integers(1000, 1100)),
                               indices("outside: just before", sample.integers(-100, -1)),
                               indices("mixed", sample.integers(-500, 1500)),
                               indices("far outside", sample.values { -2147483648, 2147483647, 65536, -65536 }) },
                    judged = "element", samples = 256, budget = 2e6, vacuous = 0.0,
                    statistic = "max", pass = "value equal", repeats = 1 },
  signature     = { pattern = "right inside, another policy outside",
                    test = function(m)
                      if m:wrong(inside.label) then return kc.no "wrong inside too" end
                      local whose = m:foreign "outside"
                      if whose then return kc.yes("memory of its neighbour: " .. whose) end
                      if m:saw("crash", "far outside") then return kc.yes "unchecked: it reads until it crashes" end
                      return m:wrong "outside" and kc.yes "it returns, silently" or kc.no "none"
                    end },
  calibration   = { baseline = gather "first", bad = { gather "unchecked", gather "wraps", gather "zeroes" },
                    good = { gather "clamps", gather "branches" },
                    probes = { indices("probe", sample.integers(1, 999)) },
                    functional = { inputs = { inside }, rtol = 0, atol = 0 } },
}
