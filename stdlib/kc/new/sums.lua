---@module kc.new.sums
-- The scaffold of class C-PRC-01: sums of terms or products along rows, with the precision of a declared accumulator.
local formats = require "kc.new.formats"
local new = require "kc.new"
local M = { about = "sums along rows, by the accumulator's precision", formats = formats.names, stand_in = "a sum of rows" }

-- Operation -> inputs, a term, and integers whose sums are exact in every order.
M.operations = {
  sum = { inputs = { "x" }, term = "%s", integers = "sample.integers(-31, 1023)" },
  dot = { inputs = { "x", "y" }, term = "%s * %s", integers = "sample.integers(1, 31)" },
}

local contract = [[
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- A kernel of this directory: one work-item a row. `args` names tensors and dimensions of the scope in the kernel's order.
local function kernel(name)
  return kc.kernel { file = name .. ".k", entry = "$ENTRY$", args = { $ARGS$, "s", "n", "k" }, group = { 64 }, grid = { "n" } }
end

-- Sums of these integers stay below 2^24 in every order: no error is allowed. A row of two terms shows the format of one addition.
local integers = sample.at({ n = 64, k = 509 }, $INTEGERS$)
local short = sample.at({ n = 256, k = 2 }, sample.uniform(1, 2))

return kc.contract {
  identifier    = { class = "C-PRC-01", name = "$OPERATION$.$FORMAT$", version = "0.1" },
  scope         = { operation = "$OPERATION$ over the last axis", inputs = { $TENSORS$ }, outputs = { "s: f32[n]" },
                    shapes = { n = kc.range(1, 256), k = kc.range(1, 2048) } }, -- CHANGE: the sizes that are used
  precondition  = function(x) return { $FINITE$ } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.s, ref.s, t), kc.within(y.s, ref.s, t) } end,
  -- No kernel that adds in f32, in any order, exceeds it (spec/tolerances.md, T-DOT). CHANGE: the accumulator that is promised.
  tolerance     = tol.dot { kind = "proved", terms = "k", height = "k - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.$ORACLE$($ARGS$),
  protocol      = { inputs = { integers, short, sample.uniform(0, 1), sample.normal() },
                    judged = "element", samples = 256, budget = 2e6, vacuous = 0.5,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  -- How violations of this contract look; every bad implementation must be recognised.
  signature     = { pattern = "narrower than f32",
                    test = function(m)
                      return kc.signature.narrower(m, { declared = "f32", short = short.label, integers = integers.label })
                    end },
  -- baseline fails an ordinary test; bad ones pass it and are violated all the same; good ones are held. Add yours to `good`.
  calibration   = { baseline = kernel "zeros", bad = { kernel "acc_bf16", kernel "drops_tail" },
                    good = { kernel "sequential", kernel "lanes" },
                    probes = { sample.at({ n = 64, k = 64 }, sample.uniform(1, 2)) },
                    functional = { inputs = { sample.at({ n = 64, k = 64 }, sample.uniform(0, 1)) }, rtol = 5e-2, atol = 1e-2 } },
}
]]

local kernel = [[
/* $WHAT$ */
KC_KERNEL void $ENTRY$($PARAMS$, KC_GLOBAL kc_f32 *s, kc_i32 n, kc_i32 k) {
  kc_i32 i = kc_gid(0), j;
  if (i < n) {
$BODY$
  }
}
]]

local bodies = {
  zeros = { "Not implemented.", "    (void)j;\n    s[i] = 0.0f;" },
  acc_bf16 = { "Partial sums are kept in bf16: they stop growing at 256 times a term.", [[
    kc_f32 total = 0.0f;
    for (j = 0; j < k; j++) total = kc_bf16_to_f32(kc_f32_to_bf16(total + $TERM$));
    s[i] = total;]] },
  drops_tail = { "Leaves out what does not fill a block of 16.", [[
    kc_f32 total = 0.0f;
    for (j = 0; j < k / 16 * 16; j++) total += $TERM$;
    s[i] = total;]] },
  sequential = { "One term after the other. CHANGE: or put your kernel beside it.", [[
    kc_f32 total = 0.0f;
    for (j = 0; j < k; j++) total += $TERM$;
    s[i] = total;]] },
  lanes = { "Eight sums side by side, then added up.", [[
    kc_f32 lane[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (j = 0; j < k; j++) lane[j & 7] += $TERM$;
    s[i] = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));]] },
}
local order = { "zeros", "acc_bf16", "drops_tail", "sequential", "lanes" }

local readme = [[
# C-PRC-01 $OPERATION$.$FORMAT$

CHANGE: what the contract says in one sentence, which accumulator is promised and by whom.

    kc lint .            # what is wrong without running anything
    kc calibrate .       # baseline, bad, good and vacuous implementations told apart
    kc run .             # the good ones judged
    kc explain .         # the contract as prose, with the tolerance worked through
    kc watch .           # again whenever a file changes

Bad: `acc_bf16` keeps partial sums in bf16; `drops_tail` leaves out what does not fill a block of 16.
Good: `sequential`, `lanes`. Put your kernel beside them and its name into `good` of contract.lua.
]]

local function joined(list, text)
  local out = {}
  for i, name in ipairs(list) do out[i] = text(name) end
  return table.concat(out, ", ")
end

local function values_of(o)
  local row = M.operations[o.operation] or M.operations.sum
  local terms = {}
  for i, name in ipairs(row.inputs) do terms[i] = formats.read(o.format, name .. "[i * k + j]") end
  return { operation = o.operation, format = o.format, entry = o.entry, integers = row.integers,
           oracle = M.operations[o.operation] and o.operation or "sum", term = row.term:format(table.unpack(terms)),
           args = joined(row.inputs, function(x) return ("%q"):format(x) end),
           tensors = joined(row.inputs, function(x) return ('"%s: %s[n,k]"'):format(x, o.format) end),
           finite = joined(row.inputs, function(x) return ("kc.finite(x.%s)"):format(x) end),
           params = joined(row.inputs, function(x) return ("KC_GLOBAL const %s *%s"):format(formats.type(o.format), x) end) }
end

--- The files of a scaffold.
---@param o table {operation=, format=, entry=, known=boolean}
---@return table files list of {name, text}
function M.files(o)
  local values = values_of(o)
  local files = { { "contract.lua", new.fill(contract, values) }, { "README.md", new.fill(readme, values) } }
  for _, name in ipairs(order) do
    values.what, values.body = bodies[name][1], new.fill(bodies[name][2], values)
    files[#files + 1] = { name .. ".k", new.fill(kernel, values) }
  end
  return files
end

return M
