local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local LEAST = -2147483648

-- Raises for a division that has no result: by zero, or of the least number by -1; `checks` says which of the two it looks for.
local function divide(name, defines, checks)
  return kc.implementation { name = name, kernels = { "divide.k" }, run = function(device, x, y, sizes)
    for i = 1, #x.b do
      if checks.zero and x.b[i] == 0 then error "division by zero" end
      if checks.least and x.b[i] == -1 and x.a[i] == LEAST then error "the quotient overflows" end
    end
    local kernel = device:kernel { file = "divide.k", entry = "divide", params = { "a: i32[]", "b: i32[]", "y: i32[]", "n: i32" },
                                   defines = defines }
    device:launch(kernel, { x.a, x.b, y.y, sizes.n }, { grid = { (sizes.n + 63) // 64 }, group = { 64 } })
  end }
end

local function of(label, a, b) return sample.named(label, sample.draws(2, sample.at({ n = 64 }, sample.inputs { a = a, b = b }))) end
local numbers, divisors = sample.integers(-100000, 100000), sample.integers(1, 300)
local control = of("quotients that exist", numbers, divisors)

local function impossible(x)
  for i = 1, #x.b do
    if x.b[i] == 0 or x.b[i] == -1 and x.a[i] == LEAST then return kc.yes(("element %d has no quotient"):format(i)) end
  end
  return kc.no "every quotient exists"
end

return kc.contract {
  identifier    = { class = "C-EXC-01", name = "div.i32", version = "1.0" },
  scope         = { operation = "a / b of integers, towards zero; raises where there is no quotient", inputs = { "a: i32[n]", "b: i32[n]" },
                    outputs = { "y: i32[n]" }, shapes = { n = kc.range(1, 64) } },
  precondition  = function(x) return { kc.any_value(x.a), kc.any_value(x.b) } end,
  postcondition = function(x, y, ref, t)
    return kc.raises_when(impossible(x), y, function() return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end)
  end,
  tolerance     = tol.policy { policy = "RAISE", denormals = "preserve" },
  oracle        = function(x)
    local q = x.a / x.b
    return kc.where(kc.lt(q, 0), -kc.floor(-q), kc.floor(q))
  end,
  protocol      = { inputs = { control, of("raise: one divisor is zero", numbers, sample.plant(divisors, 0, { "middle" })),
                               of("raise: the last divisor is zero", numbers, sample.plant(divisors, 0, { "last" })),
                               of("raise: the least number by -1", sample.plant(numbers, LEAST, { "first" }),
                                  sample.plant(divisors, -1, { "first" })) },
                    judged = "tensor", samples = 2, budget = 1e6, vacuous = 0.0,
                    statistic = "max", pass = "raises where it must, and is right where it must not", repeats = 1 },
  signature     = { pattern = "a quotient that does not exist is returned",
                    test = function(m)
                      if m:wrong(control.label) then return kc.no "wrong where quotients exist" end
                      if m:wrong "raise: one divisor is zero" then return kc.yes "by zero" end
                      return m:wrong "raise: the least number" and kc.yes "of the least number by -1" or kc.no "none"
                    end },
  calibration   = { baseline = divide("one", "ONE=1", {}),
                    bad = { divide("all_ones", "ALL_ONES=1", {}), divide("zero", "ZERO=1", {}),
                            divide("dividend_plus_one", "DIVIDEND_PLUS_ONE=1", {}), divide("zero_only", "CHECKED=1", { zero = true }) },
                    good = { divide("checks_both", "CHECKED=1", { zero = true, least = true }),
                             divide("checks_both_and_zero", "ZERO=1", { zero = true, least = true }) },
                    probes = { sample.at({ n = 16 }, sample.inputs { a = sample.constant(23), b = sample.constant(7) }) },
                    functional = { inputs = { control }, rtol = 0, atol = 0 } },
}
