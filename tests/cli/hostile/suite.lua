local kc = require "kc"

-- Implementations that misbehave, each in one way; values are right wherever they get to write them.
local function k(name, file, entry, second)
  return kc.kernel { name = name, file = file or name .. ".k", entry = entry or "relu", args = { "x", second or "y", "n" },
                     group = { 64 }, grid = { "n" } }
end
local function c(name)
  return kc.kernel { name = name, file = name .. ".c", entry = "relu", args = { "x", "y", "n" }, group = { 1 }, grid = { 1 } }
end

return kc.suite {
  name = "hostile implementations of relu",
  judge = { { contract = "C-EXC-01/relu.f32", implementations = {
    k "right", k "no_compile", k "past_the_end", k "before_the_start", k "unwritten_tail", k "divergent", k "local_overrun",
    c "divides_by_zero", c "endless", c "aborts", c "exits", c "forks", c "silent", c "flush_to_zero", c "rounds_up", c "null",
    c "writes_input", c "compares_with_nothing",
    k "races", k "reads_output", c "writes_when_asked_again",
    c "kills_parent", c "stops", c "overflows_stack", c "floods", c "forges_reply",
    k("no_such_file"), k("no_such_entry", "right.k", "rellu"), k("wrong_argument", "right.k", "relu", "z"),
    kc.implementation { name = "lua_raises", run = function() error("on purpose") end },
    kc.implementation { name = "lua_right", kernels = { "right.k" }, run = function(device, inputs, outputs, sizes)
      local kernel = device:kernel { file = "right.k", entry = "relu", params = { "x: f32[]", "y: f32[]", "n: i32" } }
      device:launch(kernel, { inputs.x, outputs.y, sizes.n }, { grid = { (sizes.n + 63) // 64 }, group = { 64 } })
    end },
  } } },
}
