---@module kc
-- What authors see: `local kc = require "kc"`. Each name is loaded from its module when it is first used.
local words = require "kc.words"

-- name -> { module, field } (no field: the module itself)
local origin = {
  contract = { "contract", "contract" }, suite = { "suite", "suite" },
  kernel = { "implementation", "kernel" }, library = { "implementation", "library" },
  implementation = { "implementation", "implementation" },
  range = { "scope", "range" }, choice = { "scope", "choice" },
  tolerance = { "tolerance" }, sample = { "sample" }, oracle = { "oracle" }, signature = { "signature" },
  finite = { "predicate", "finite" }, same_class = { "predicate", "same_class" }, within = { "predicate", "within" },
  any_value = { "predicate", "any_value" },
  all = { "check", "all" }, any = { "check", "any" }, yes = { "check", "yes" }, no = { "check", "no" },
  unknown = { "check", "unknown" },
  device = { "device", "device" }, devices = { "device", "devices" }, judge = { "session", "judge" },
  formats = { "numbers", "formats" }, encode = { "numbers", "encode" }, decode = { "numbers", "decode" },
  classify = { "numbers", "classify" }, ulp = { "numbers", "ulp" }, ulp_at = { "numbers", "ulp_at" },
  npy = { "npy" }, next = { "numbers", "next" }, buffer = { "numbers", "buffer" }, metric = { "numbers", "metric" },
  metrics = { "numbers", "metrics" }, real = { "numbers", "real" }, reals = { "numbers", "reals" },
  constant = { "expression", "constant" }, ratio = { "expression", "ratio" }, static = { "expression", "static" },
  exp = { "expression", "exp" }, exp2 = { "expression", "exp2" }, expm1 = { "expression", "expm1" }, log = { "expression", "log" },
  log2 = { "expression", "log2" }, log1p = { "expression", "log1p" }, tanh = { "expression", "tanh" }, erf = { "expression", "erf" },
  sqrt = { "expression", "sqrt" }, rsqrt = { "expression", "rsqrt" }, sin = { "expression", "sin" }, cos = { "expression", "cos" },
  cbrt = { "expression", "cbrt" }, abs = { "expression", "abs" }, floor = { "expression", "floor" },
  sigmoid = { "expression", "sigmoid" }, silu = { "expression", "silu" }, gelu = { "expression", "gelu" },
  lt = { "expression", "lt" }, le = { "expression", "le" }, gt = { "expression", "gt" }, ge = { "expression", "ge" },
  eq = { "expression", "eq" }, ne = { "expression", "ne" }, max = { "expression", "max" }, min = { "expression", "min" },
  where = { "expression", "where" }, isnan = { "expression", "isnan" }, isinf = { "expression", "isinf" },
  sum = { "expression", "sum" }, mean = { "expression", "mean" }, reduce_max = { "expression", "reduce_max" },
  reduce_min = { "expression", "reduce_min" }, cumsum = { "expression", "cumsum" }, size = { "expression", "size" },
  matmul = { "expression", "matmul" }, transpose = { "expression", "transpose" },
  help = { "help", "help" }, version = { "core", "version" },
}

return setmetatable({}, {
  __index = function(kc, name)
    local from = origin[name]
    if not from then
      error(("kc has no '%s'; %s"):format(tostring(name), words.hint(tostring(name), words.keys(origin))), 2)
    end
    local module = require("kc." .. from[1])
    local value = from[2] and module[from[2]] or module
    rawset(kc, name, value)
    return value
  end,
  __newindex = function(_, name) error(("kc cannot be changed: '%s'"):format(tostring(name)), 2) end,
  __pairs = function(kc) -- in order of the names, so that listing is stable
    local names, i = words.keys(origin), 0
    return function()
      i = i + 1
      if names[i] then return names[i], kc[names[i]] end
    end
  end,
  __metatable = false,
})
