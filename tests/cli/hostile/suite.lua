local kc = require "kc"

-- Implementations that misbehave, each in one way; values are right wherever they get to write them.
local function c(name) return kc.kernel { name = name, file = name .. ".c", entry = "relu", args = { "x", "y", "n" }, group = { 1 }, grid = { 1 } } end
local function k(name) return kc.kernel { name = name, file = name .. ".k", entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } } end

return kc.suite {
  name = "hostile implementations of relu",
  judge = { { contract = "C-EXC-01/relu.f32", implementations = {
    k "right", k "no_compile", k "past_the_end", k "before_the_start", k "unwritten_tail", k "divergent", k "local_overrun",
    c "divides_by_zero", c "endless", c "aborts", c "exits", c "forks", c "silent", c "flush_to_zero", c "rounds_up", c "null",
    c "far_away", c "compares_with_nothing",
    kc.kernel { name = "no_such_file", file = "no_such_file.k", entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } },
    kc.kernel { name = "no_such_entry", file = "right.k", entry = "rellu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } },
    kc.kernel { name = "wrong_argument", file = "right.k", entry = "relu", args = { "x", "z", "n" }, group = { 64 }, grid = { "n" } },
    kc.implementation { name = "lua_raises", run = function() error("on purpose") end },
    kc.implementation { name = "lua_right", run = function(device, inputs, outputs, sizes)
      local kernel = device:kernel { file = "right.k", entry = "relu", params = { "x: f32[]", "y: f32[]", "n: i32" } }
      device:launch(kernel, { inputs.x, outputs.y, sizes.n }, { grid = { (sizes.n + 63) // 64 }, group = { 64 } })
    end },
  } } },
}
