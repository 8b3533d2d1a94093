local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local other = "../C-EXC-02.gather.clamp.f32/"

-- A check on the device, whose status the host turns into an error, and the gather.
local function gather(name, file, defines)
  return kc.implementation { name = name, kernels = { "check.k", other .. file }, run = function(device, x, y, sizes)
    local grid, status = { (sizes.m + 63) // 64 }, kc.buffer("i32", 1)
    if defines then
      local check = device:kernel { file = "check.k", entry = "check", params = { "index: i32[]", "status: i32[]", "n: i32", "m: i32" },
                                    defines = defines }
      device:launch(check, { x.index, status, sizes.n, sizes.m }, { grid = grid, group = { 64 } })
      if status[1] ~= 0 then error "index out of range" end
    end
    local kernel = device:kernel { file = other .. file, entry = "gather",
                                   params = { "data: f32[]", "index: i32[]", "y: f32[]", "n: i32", "m: i32" } }
    device:launch(kernel, { x.data, x.index, y.y, sizes.n, sizes.m }, { grid = grid, group = { 64 } })
  end }
end

-- The check on the host, before anything is launched.
local on_host = kc.implementation { name = "checks_on_host", kernels = { other .. "unchecked.k" }, run = function(device, x, y, sizes)
  for i = 1, #x.index do
    if x.index[i] < 0 or x.index[i] >= sizes.n then error(("index %d is out of range"):format(x.index[i])) end
  end
  local kernel = device:kernel { file = other .. "unchecked.k", entry = "gather",
                                 params = { "data: f32[]", "index: i32[]", "y: f32[]", "n: i32", "m: i32" } }
  device:launch(kernel, { x.data, x.index, y.y, sizes.n, sizes.m }, { grid = { (sizes.m + 63) // 64 }, group = { 64 } })
end }

local refuses = kc.implementation { name = "always_raises", run = function() error "not supported" end }

local function indices(label, base)
  return sample.named(label, sample.draws(2, sample.inputs { data = sample.log_uniform(0, 8), index = base }))
end
local inside = indices("control: all inside", sample.integers(0, 999))
local function one(label, value, place) return indices(label, sample.plant(sample.integers(0, 999), value, { place })) end

return kc.contract {
  identifier    = { class = "C-EXC-02", name = "gather.raise.f32", version = "1.0" },
  scope         = { operation = "gather; an index outside raises", inputs = { "data: f32[n]", "index: i32[m]" },
                    outputs = { "y: f32[m]" }, shapes = { n = kc.choice { 1000 }, m = kc.choice { 256 } } },
  precondition  = function(x) return { kc.finite(x.data), kc.any_value(x.index) } end,
  postcondition = function(x, y, ref, t)
    return kc.raises_when(~kc.inside(x.index, 0, 1000), y,
      function() return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end)
  end,
  tolerance     = tol.policy { policy = "RAISE", denormals = "preserve" },
  oracle        = kc.oracle.gather("data", "index", { outside = "zero" }),
  protocol      = { inputs = { inside, one("raise: one beyond", 1000, "middle"), one("raise: one before", -1, "last"),
                               one("raise: a tile beyond", 1063, "first"), indices("raise: many", sample.integers(-500, 1500)),
                               one("raise: far beyond", 2147483647, "last"), one("raise: far before", -2147483648, "first") },
                    judged = "tensor", samples = 2, budget = 1e8, vacuous = 0.0,
                    statistic = "max", pass = "raises where it must, and is right where it must not", repeats = 1 },
  signature     = { pattern = "an index outside is accepted",
                    test = function(m)
                      if m:raised "control" > 0 then return kc.yes "none is accepted: it raises for indices inside too" end
                      local whose = m:foreign "raise"
                      if whose then return kc.yes("it returns memory of its neighbour: " .. whose) end
                      for _, place in ipairs { "one beyond", "one before", "a tile beyond", "many" } do
                        if m:wrong("raise: " .. place) then return kc.yes("it returns a value: " .. place) end
                      end
                      return kc.no "none"
                    end },
  calibration   = { baseline = refuses,
                    bad = { gather("unchecked", "unchecked.k"), gather("returns_zero", "zeroes.k"), gather("clamps", "clamps.k"),
                            gather("wraps", "wraps.k"), gather("one_tile_late", "zeroes.k", "LIMIT=64"),
                            gather("beyond_only", "zeroes.k", "LIMIT=0 BEYOND_ONLY=1") },
                    good = { gather("checks_on_device", "unchecked.k", "LIMIT=0"), on_host },
                    probes = { indices("probe", sample.integers(1, 999)) },
                    functional = { inputs = { inside }, rtol = 0, atol = 0 } },
}
