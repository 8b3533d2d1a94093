---@module kc.new.elementwise
-- The scaffold of class C-PRC-02: a function of each element, within a number of ulps.
local formats = require "kc.new.formats"
local new = require "kc.new"
local M = { about = "a function of each element, within ulps", formats = formats.names, stand_in = "x / (1 + exp(-x))" }

-- Operation -> the exact function in the dialect's f64 arithmetic, where it is tried, and (other than both signs of 2^-8 to 1) small
-- arguments.
local positive = "sample.log_uniform(-8, 0, true)"
M.operations = {
  exp = { "kc_exp(v)", -10, 10 }, exp2 = { "kc_exp2(v)", -10, 10 }, expm1 = { "kc_expm1(v)", -5, 5 },
  log = { "kc_log(v)", 0.01, 1000, positive }, log2 = { "kc_log2(v)", 0.01, 1000, positive },
  log10 = { "kc_log10(v)", 0.01, 1000, positive }, log1p = { "kc_log1p(v)", -0.5, 1000, positive },
  tanh = { "kc_tanh(v)", -4, 4 }, erf = { "kc_erf(v)", -3, 3 }, erfc = { "kc_erfc(v)", -3, 3 },
  sigmoid = { "1.0 / (1.0 + kc_exp(-v))", -10, 10 }, silu = { "v / (1.0 + kc_exp(-v))", -10, 10 },
  gelu = { "0.5 * v * kc_erfc(-v * 0.70710678118654752)", -3, 8 }, rsqrt = { "1.0 / kc_sqrt(v)", 0.01, 1000, positive },
  sqrt = { "kc_sqrt(v)", 0.01, 1000, positive }, cbrt = { "kc_cbrt(v)", -1000, 1000 },
  sin = { "kc_sin(v)", -100, 100 }, cos = { "kc_cos(v)", -100, 100 }, tan = { "kc_tan(v)", -1.5, 1.5 },
  sinh = { "kc_sinh(v)", -5, 5 }, cosh = { "kc_cosh(v)", -5, 5 }, asin = { "kc_asin(v)", -0.99, 0.99 },
  acos = { "kc_acos(v)", -0.99, 0.99 }, atan = { "kc_atan(v)", -10, 10 }, asinh = { "kc_asinh(v)", -100, 100 },
  acosh = { "kc_acosh(v)", 1.1, 1000, "sample.uniform(1.1, 2)" }, atanh = { "kc_atanh(v)", -0.9, 0.9, "sample.log_uniform(-8, -1)" },
}

local contract = [[
local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

-- A kernel of this directory. `args` names tensors and dimensions of the scope in the kernel's order (spec/clauses.md).
local function kernel(name)
  return kc.kernel { file = name .. ".k", entry = "$ENTRY$", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
end

-- CHANGE: where the operation is used, and where it is hard.
local whole = sample.named("the domain of $OPERATION$", sample.uniform($LOW$, $HIGH$))
local small = sample.named("small arguments", $SMALL$)

return kc.contract {
  identifier    = { class = "C-PRC-02", name = "$OPERATION$.$FORMAT$", version = "0.1" },
  scope         = { operation = "$OPERATION$", inputs = { "x: $FORMAT$[n]" }, outputs = { "y: $FORMAT$[n]" },
                    shapes = { n = kc.range(0, 1024) } },
  -- For which inputs the contract speaks. kc.any_value(x.x) promises something for NaN and infinities too.
  precondition  = function(x) return kc.finite(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  -- CHANGE: the limit that somebody promises, and where (a standard, a paper, a vendor's table).
  tolerance     = tol.ulp { limit = $LIMIT$, denormals = "preserve", source = "chosen by kc new; CHANGE" },
$ORACLE$
  protocol      = { inputs = { whole, small },
                    judged = "element", samples = 1024, budget = 1e5, vacuous = 0.1,
                    statistic = "max", pass = "error / tolerance <= 1", repeats = 1 },
  -- CHANGE: how violations of this contract look; every bad implementation must be recognised.
  signature     = { pattern = "fewer bits than $FORMAT$ has, or elements left at zero",
                    test = function(m)
                      local zeros = m:confusion("+finite", "+0", whole.label) + m:confusion("-finite", "+0", whole.label)
                      if zeros > 0 then return kc.yes "elements are left at zero" end
                      return m:ratio(whole.label) > 1 and kc.yes "the last bits are lost" or kc.no "none"
                    end },
  -- baseline fails an ordinary test; bad ones pass it and are violated all the same; good ones are held. Add yours to `good`.
  calibration   = { baseline = kernel "zeros", bad = { kernel "truncated", kernel "drops_tail" }, good = { kernel "double" },
                    probes = { whole },
                    functional = { inputs = { sample.at({ n = 1024 }, whole) }, rtol = $RTOL$, atol = 1e-3 } },
}
]]

local named_oracle = [[
  oracle        = kc.oracle.$OPERATION$("x"),]]

local traced_oracle = [[
  -- CHANGE: the exact function (spec/oracles.md lists what such a function may use).
  oracle        = function(x) return x.x / (1 + kc.exp(-x.x)) end,]]

local kernel = [[
/* $WHAT$ */
KC_KERNEL void $ENTRY$(KC_GLOBAL const $TYPE$ *x, KC_GLOBAL $TYPE$ *y, kc_i32 n) {
  kc_i32 i = kc_gid(0);
  if (i < $COUNT$) {
    kc_f64 v = (kc_f64)$READ$;
    y[i] = $RESULT$;
  }$REST$
}
]]

local readme = [[
# C-PRC-02 $OPERATION$.$FORMAT$

CHANGE: what the contract says in one sentence, where its tolerance comes from, and what goes wrong where it is violated.

    kc lint .            # what is wrong without running anything
    kc calibrate .       # baseline, bad, good and vacuous implementations told apart
    kc run .             # the good ones judged
    kc explain .         # the contract as prose
    kc watch .           # again whenever a file changes

Bad: `truncated` loses the last bits of every result; `drops_tail` leaves what does not fill a block of 16.
Good: `double` computes in f64 and rounds once. Put your kernel beside it and its name into `good` of contract.lua.
]]

-- Where elements beyond `count` are not computed they are zero.
local function kernel_of(o, what, expression, options)
  return new.fill(kernel, { what = what, entry = o.entry, type = o.type, read = formats.read(o.format, "x[i]"),
    count = options and options.count or "n", result = expression,
    rest = options and options.rest and " else if (i < n) {\n    y[i] = " .. options.rest .. ";\n  }" or "" })
end

--- The files of a scaffold.
---@param o table {operation=, format=, entry=, known=boolean}
---@return table files list of {name, text}
function M.files(o)
  local row = M.operations[o.operation] or { "v / (1.0 + kc_exp(-v))", -10, 10 }
  local narrow = o.format ~= "f32"
  o.type = formats.type(o.format)
  local zero = formats.write(o.format, "0.0f")
  local values = { operation = o.operation, format = o.format, entry = o.entry, low = row[2], high = row[3],
                   small = row[4] or "sample.log_uniform(-8, 0)", limit = narrow and "1.0" or "2.0",
                   rtol = o.format == "bf16" and "5e-2" or "1e-2" }
  values.oracle = new.fill(o.known and named_oracle or traced_oracle, values)
  return {
    { "contract.lua", new.fill(contract, values) }, { "README.md", new.fill(readme, values) },
    { "zeros.k", kernel_of(o, "Not implemented.", zero) },
    { "truncated.k", kernel_of(o, "The last bits of the result are lost.", formats.truncated(o.format, row[1])) },
    { "drops_tail.k", kernel_of(o, "Leaves out what does not fill a block of 16.", formats.write(o.format, row[1]),
                                { count = "n / 16 * 16", rest = zero }) },
    { "double.k", kernel_of(o, "In f64, rounded once. CHANGE: or put your kernel beside it.", formats.write(o.format, row[1])) },
  }
end

return M
