---@module kc
-- What authors see: `local kc = require "kc"`. Each name is loaded from its module when it is first used.
local words = require "kc.words"

-- name -> { module, field } (no field: the module itself)
local origin = {
  contract = { "contract", "contract" }, suite = { "suite", "suite" },
  incident = { "incident", "incident" }, accuracy = { "accuracy", "accuracy" },
  kernel = { "implementation", "kernel" }, library = { "implementation", "library" },
  implementation = { "implementation", "implementation" }, command = { "implementation", "command" },
  range = { "scope", "range" }, choice = { "scope", "choice" },
  invocations = { "determinism", "invocations" },
  relation = { "relation", "relation" }, equal = { "relation", "equal" }, all_equal = { "relation", "all_equal" },
  scaled = { "relation", "scaled" }, reversed = { "relation", "reversed" },
  tolerance = { "tolerance" }, sample = { "sample" }, oracle = { "oracle" }, signature = { "signature" },
  finite = { "predicate", "finite" }, same_class = { "predicate", "same_class" }, within = { "predicate", "within" },
  any_value = { "predicate", "any_value" }, inside = { "predicate", "inside" },
  raised = { "predicate", "raised" }, raises_when = { "predicate", "raises_when" },
  all = { "check", "all" }, any = { "check", "any" }, yes = { "check", "yes" }, no = { "check", "no" },
  unknown = { "check", "unknown" },
  device = { "device", "device" }, devices = { "device", "devices" }, archs = { "device", "archs" },
  compile = { "device", "compile" }, judge = { "session", "judge" },
  formats = { "numbers", "formats" }, encode = { "numbers", "encode" }, decode = { "numbers", "decode" },
  classify = { "numbers", "classify" }, ulp = { "numbers", "ulp" }, ulp_at = { "numbers", "ulp_at" },
  npy = { "npy" }, next = { "numbers", "next" }, buffer = { "numbers", "buffer" }, metric = { "numbers", "metric" },
  metrics = { "numbers", "metrics" }, real = { "numbers", "real" }, reals = { "numbers", "reals" },
  constant = { "mathematics", "constant" }, ratio = { "mathematics", "ratio" }, static = { "mathematics", "static" },
  exp = { "mathematics", "exp" }, exp2 = { "mathematics", "exp2" }, expm1 = { "mathematics", "expm1" }, log = { "mathematics", "log" },
  log2 = { "mathematics", "log2" }, log1p = { "mathematics", "log1p" }, tanh = { "mathematics", "tanh" }, erf = { "mathematics", "erf" },
  sqrt = { "mathematics", "sqrt" }, rsqrt = { "mathematics", "rsqrt" }, sin = { "mathematics", "sin" }, cos = { "mathematics", "cos" },
  cbrt = { "mathematics", "cbrt" }, abs = { "mathematics", "abs" }, floor = { "mathematics", "floor" },
  sigmoid = { "mathematics", "sigmoid" }, silu = { "mathematics", "silu" }, gelu = { "mathematics", "gelu" },
  lt = { "mathematics", "lt" }, le = { "mathematics", "le" }, gt = { "mathematics", "gt" }, ge = { "mathematics", "ge" },
  eq = { "mathematics", "eq" }, ne = { "mathematics", "ne" }, max = { "mathematics", "max" }, min = { "mathematics", "min" },
  where = { "mathematics", "where" }, isnan = { "mathematics", "isnan" }, isinf = { "mathematics", "isinf" },
  sum = { "mathematics", "sum" }, mean = { "mathematics", "mean" }, reduce_max = { "mathematics", "reduce_max" },
  reduce_min = { "mathematics", "reduce_min" }, cumsum = { "mathematics", "cumsum" }, size = { "mathematics", "size" },
  matmul = { "mathematics", "matmul" }, transpose = { "mathematics", "transpose" }, rounded = { "mathematics", "rounded" },
  number = { "number", "number" }, explain = { "number", "explain" }, roundings = { "number", "roundings" }, repl = { "repl", "repl" },
  sweep = { "sweep", "sweep" }, plot = { "plot", "plot" }, compare = { "compare", "compare" }, across = { "across", "across" },
  view = { "view", "view" },
  help = { "help", "help" }, version = { "core", "version" },
}

-- kc.f16(x) and so on for every format.
local function of_format(kc, name)
  local function make(x, options) return kc.number(name, x, options) end
  rawset(kc, name, make)
  return make
end

-- All that kc has, without loading it: the modules' names and the formats.
local function known_names()
  local known, formats = words.keys(origin), require("kc.core").formats()
  table.move(formats, 1, #formats, #known + 1, known)
  return known
end

return setmetatable({}, {
  names = known_names,
  __index = function(kc, name)
    local from = origin[name]
    if not from and type(name) == "string" and require("kc.core").format(name) then return of_format(kc, name) end
    if not from then
      error(("kc has no '%s'; %s"):format(tostring(name), words.hint(tostring(name), known_names())), 2)
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
