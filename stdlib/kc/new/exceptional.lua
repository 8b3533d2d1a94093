---@module kc.new.exceptional
-- The scaffold of class C-EXC-01: NaN, infinities and subnormals through a function that is exact.
local formats = require "kc.new.formats"
local new = require "kc.new"
local M = { about = "NaN, infinities and subnormals kept", formats = formats.names, stand_in = "relu" }

M.operations = { relu = {} }

local contract = [[
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- A kernel of this directory. `args` names tensors and dimensions of the scope in the kernel's order (spec/clauses.md).
local function kernel(name)
  return kc.kernel { file = name .. ".k", entry = "$ENTRY$", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

local among = sample.named("NaN and infinities", sample.exceptional(0.1, sample.normal()))
local tiny = sample.named("subnormals", sample.subnormal())

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "$OPERATION$.$FORMAT$", version = "0.1" },
  scope         = { operation = "$OPERATION$", inputs = { "x: $FORMAT$[n]" }, outputs = { "y: $FORMAT$[n]" },
                    shapes = { n = kc.range(0, 1024) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- CHANGE: what is promised of NaN, infinities and subnormals.
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.relu("x"), -- CHANGE: kc help kc.oracle lists what there is
  protocol      = { inputs = { among, sample.bits(), tiny },
                    judged = "element", samples = 1024, budget = 1e5, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  -- How violations of this contract look; every bad implementation must be recognised.
  signature     = { pattern = "NaN swallowed: a number comes out where a NaN went in",
                    test = function(m)
                      if m:wrong(tiny.label) then return kc.yes "no NaN, but subnormals: they are flushed" end
                      return m:swallowed(among.label) > 0
                    end },
  -- baseline fails an ordinary test; bad ones pass it and are violated all the same; good ones are held. Add yours to `good`.
  calibration   = { baseline = kernel "identity", bad = { kernel "greater_else_zero", kernel "fmax", kernel "flushes" },
                    good = { kernel "less_else_x" },
                    probes = { sample.uniform(-1, 1) },
                    functional = { inputs = { sample.normal() }, rtol = 1e-5, atol = 1e-4 } },
}
]]

local kernel = [[
/* $WHAT$ */
KC_KERNEL void $ENTRY$(KC_GLOBAL const $TYPE$ *x, KC_GLOBAL $TYPE$ *y, kc_i32 n) {
  kc_i32 i = kc_gid(0);
  if (i < n) {
    kc_f32 v = $READ$;
    y[i] = $RESULT$;
  }
}
]]

local kernels = {
  { "identity", "Forgets the operation.", "v" },
  { "greater_else_zero", "The usual spelling: NaN > 0 is false, so NaN becomes 0.", "v > 0.0f ? v : 0.0f" },
  { "fmax", "fmax returns the number when the other operand is NaN.", "kc_fmax(v, 0.0f)" },
  { "flushes", "Right for NaN, but subnormal inputs become 0.", "v < $NORMAL$ ? 0.0f : v" },
  { "less_else_x", "NaN < 0 is false, so NaN is kept. CHANGE: or put your kernel beside it.", "v < 0.0f ? 0.0f : v" },
}

local readme = [[
# C-EXC-01 $OPERATION$.$FORMAT$

CHANGE: what the contract says in one sentence, and which standard or documentation says what becomes of NaN and infinities.

    kc lint .            # what is wrong without running anything
    kc calibrate .       # baseline, bad, good and vacuous implementations told apart
    kc run .             # the good ones judged
    kc explain .         # the contract as prose
    kc watch .           # again whenever a file changes

Bad: `greater_else_zero` and `fmax` swallow NaN and pass every test on finite numbers; `flushes` loses subnormals.
Good: `less_else_x`. Put your kernel beside it and its name into `good` of contract.lua.
]]

--- The files of a scaffold.
---@param o table {operation=, format=, entry=, known=boolean}
---@return table files list of {name, text}
function M.files(o)
  local values = { operation = o.operation, format = o.format, entry = o.entry, read = formats.read(o.format, "x[i]") }
  values.type, values.normal = formats.type(o.format)
  local files = { { "contract.lua", new.fill(contract, values) }, { "README.md", new.fill(readme, values) } }
  for _, row in ipairs(kernels) do
    values.what, values.result = row[2], formats.write(o.format, new.fill(row[3], values))
    files[#files + 1] = { row[1] .. ".k", new.fill(kernel, values) }
  end
  return files
end

return M
