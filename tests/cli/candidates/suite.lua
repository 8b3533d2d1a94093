local kc = require "kc"

-- relu in NumPy: right in several ways, then wrong in one way each. Commands run in this directory.
local function relu(name, how, exchange)
  return kc.command { name = name, run = ("/usr/bin/python3 numpy_relu.py %s {in} {out}"):format(how or name), exchange = exchange }
end
local function npz(name) return relu(name, name, "npz") end
local function safetensors(name) return relu(name, name, "safetensors") end

return kc.suite {
  name = "relu in NumPy",
  judge = { { contract = "C-EXC-01/relu.f32", implementations = {
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
