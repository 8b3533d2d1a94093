local kc = require "kc"

-- relu in NumPy: right in several ways, then wrong in one way each. Commands run in this directory.
local function relu(name, how, exchange)
  return kc.command { name = name, run = ("/usr/bin/python3 numpy_relu.py %s {in} {out}"):format(how or name), exchange = exchange }
end
local function npz(name) return relu(name, name, "npz") end
local function safetensors(name) return relu(name, name, "safetensors") end

-- The contract of relu on two tensors: a command is started for each.
local tol, sample = kc.tolerance, kc.sample
local function kernel(name)
  return kc.kernel { file = ("../../../contracts/C-EXC-01.relu.f32/%s.k"):format(name), entry = "relu", args = { "x", "y", "n" },
                     group = { 64 }, grid = { "n" } }
end
local short = kc.contract {
  identifier    = { class = "C-EXC-01", name = "relu.short.f32", version = "1.0" },
  scope         = { operation = "relu", inputs = { "x: f32[n]" }, outputs = { "y: f32[n]" }, shapes = { n = kc.range(1, 4096) } },
  precondition  = function(x) return kc.any_value(x.x) end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.y, ref.y, t), kc.within(y.y, ref.y, t) } end,
  tolerance     = tol.policy { policy = "IEEE_PROPAGATE", denormals = "preserve" },
  oracle        = kc.oracle.relu("x"),
  protocol      = { inputs = { sample.at({ n = 1 }, sample.values { 0 / 0 }),
                               sample.at({ n = 4096 }, sample.exceptional(0.1, sample.bits())) },
                    judged = "element", samples = 1, budget = 1e4, vacuous = 0.0,
                    statistic = "max", pass = "class admissible and value equal", repeats = 1 },
  signature     = { pattern = "NaN swallowed", test = function(m) return m:swallowed "" > 0 or m:wrong "" end },
  calibration   = { baseline = kernel "identity", bad = { kernel "greater_else_zero", kernel "fmax" }, good = { kernel "bitwise" },
                    probes = { sample.at({ n = 256 }, sample.uniform(-1, 1)) },
                    functional = { inputs = { sample.at({ n = 1024 }, sample.normal()) }, rtol = 1e-5, atol = 1e-8 } },
}

return kc.suite {
  name = "relu in NumPy",
  judge = { { contract = short, implementations = {
    relu "npy", npz "npz", npz "npz_deflated", safetensors "safetensors", relu "big_endian", relu "extra_files", relu "escaped",
    kc.command { name = "by_environment", run = "/usr/bin/python3 numpy_relu.py npy \"$KC_IN\" \"$KC_OUT\"" },
    relu "wrong", relu "wrong_shape", relu "wrong_rank", relu "wrong_dtype", relu "integers", relu "objects", relu "missing",
    relu "truncated", relu "too_long", relu "no_npy", relu "huge_header", relu "huge_shape", relu "link", relu "linked_directory",
    relu "pipe", relu "directory",
    npz "no_member", npz "no_zip", npz "damaged_zip", npz "bomb", npz "lies_about_size", npz "large_zip",
    relu("wrong_format", "npy", "npz"),
    safetensors "st_no_tensor", safetensors "st_wrong_dtype", safetensors "st_wrong_shape", safetensors "st_past_the_end",
    safetensors "st_wrong_offsets", safetensors "st_huge_header", safetensors "st_long_header", safetensors "st_no_json",
    safetensors "st_overlap",
    relu "exits", relu "raises", relu "killed", relu "hangs",
    kc.command { name = "in_a_part", run = "/usr/bin/python3 numpy_relu.py killed {in} {out} && true" },
    kc.command { name = "no_such_program", run = "no_such_program {in} {out}" },
    kc.command { name = "no_such_place", run = "exec no/such/program" },
    kc.command { name = "no_command", run = "if {in} {out}" },
  } } },
}
