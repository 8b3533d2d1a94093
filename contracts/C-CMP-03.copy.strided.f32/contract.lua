local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function copy(name, defines)
  return kc.kernel { name = name, file = "copy.k", entry = "copy", args = { "storage", "layout", "y", "m", "n" }, group = { 16, 16 },
                     grid = { "n", "m" }, defines = defines }
end

local STORAGE = 45000

-- A view of the storage: element [i, j] lies at offset + i row + j column. `place`, which no kernel reads, tells the oracle so.
local function view(label, m, n, offset, row, column)
  assert(offset + (m - 1) * row + (n - 1) * column < STORAGE, label)
  return sample.named(label, sample.draws(1, sample.at({ m = m, n = n, s = STORAGE }, sample.inputs {
    storage = sample.bits(), layout = sample.values { offset, row, column }, place = sample.affine(offset, { row, column }) })))
end

local whole = view("view of all columns", 40, 50, 0, 50, 1)
local inputs = { whole }
for _, n in ipairs { 1, 15, 16, 17, 47 } do
  inputs[#inputs + 1] = view("view of some columns", n, 33, 0, 64, 1)
  inputs[#inputs + 1] = view("view transposed", 33, n, 0, 1, 40)
  inputs[#inputs + 1] = view("view from an offset", n, 9, 1000 + n, 9, 1)
  inputs[#inputs + 1] = view("view of every third", n, 7, 2, 21, 3)
end
inputs[#inputs + 1] = view("view of one row many times", 20, 30, 0, 0, 1)
inputs[#inputs + 1] = view("view beyond 16-bit offsets", 100, 32, 8000, 340, 1)

return kc.contract {
  identifier    = { class = "C-CMP-03", name = "copy.strided.f32", version = "1.0" },
  scope         = { operation = "copy of a strided view", inputs = { "storage: f32[s]", "layout: i32[3]", "place: i32[m,n]" },
                    outputs = { "y: f32[m,n]" },
                    shapes = { s = kc.choice { STORAGE }, m = kc.range(1, 100), n = kc.range(1, 50) } },
  precondition  = function(x) return { kc.any_value(x.storage), kc.any_value(x.layout), kc.any_value(x.place) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.exact { denormals = "preserve" },
  oracle        = kc.oracle.gather("storage", "place"),
  protocol      = { inputs = inputs, judged = "tensor", samples = 1, budget = 1e10, vacuous = 0.0,
                    statistic = "max", pass = "every view right", repeats = 1 },
  signature     = { pattern = "right for some views only",
                    test = function(m)
                      if m:wrong(whole.label) or not m:wrong "view" then return kc.no "none" end
                      for _, kind in ipairs { "of some columns", "transposed", "from an offset", "beyond 16-bit offsets" } do
                        if m:wrong("view " .. kind) then return kc.yes("wrong first for views " .. kind) end
                      end
                      return kc.no "none"
                    end },
  calibration   = { baseline = copy("first", "FIRST=1"),
                    bad = { copy("assumes_rows", "ASSUMES_ROWS=1"), copy("swaps_strides", "SWAPS_STRIDES=1"),
                            copy("ignores_offset", "IGNORES_OFFSET=1"), copy("narrow_index", "NARROW_INDEX=1") },
                    good = { copy "copy", copy("linear", "LINEAR=1") },
                    probes = { sample.at({ m = 5, n = 6, s = STORAGE }, sample.inputs { storage = sample.uniform(2, 3),
                               layout = sample.values { 100, 6, 1 }, place = sample.affine(100, { 6, 1 }) }) },
                    functional = { inputs = { whole }, rtol = 0, atol = 0 } },
}
