-- What a cell with a command costs beyond the command itself (a runner, 1 MiB written, 1 MiB read): build/kc tests/bench/bench_command.lua
local core = require "kc.core"
local candidates = require "kc.candidate"
local exchange = require "kc.exchange"
local kc = require "kc"

local ROUNDS, N = 41, 262144 -- 1 MiB of f32

local function median(list)
  table.sort(list)
  return list[#list // 2 + 1]
end

local function seconds(f)
  local started = core.clock()
  f()
  return core.clock() - started
end

core.subreaper()
local loaded = assert(require("kc.loader").contract "contracts/C-EXC-01.relu.f32/contract.lua")
local x, y, n = kc.buffer("f32", N), kc.buffer("f32", N), { n = N }
for i = 1, N do x[i], y[i] = i, i end
local inputs, outputs = { { name = "x", buffer = x } }, { { name = "y", buffer = y } }

local place = assert(core.tempdir "/tmp/kc_bench.")
for _, format in ipairs(exchange.formats) do
  -- The command reads its inputs and puts outputs there that were made before.
  local ready, given = ("%s/%s"):format(place, exchange.file(format, "y", "outputs")), exchange.file(format, "x", "inputs")
  assert(exchange.write(place, format, outputs, n))
  os.rename(("%s/%s"):format(place, exchange.file(format, "y", "inputs")), ready)
  local run = ("cat {in}/%s >/dev/null; cp %s {out}"):format(given, ready)
  local function judge()
    local candidate = candidates.new(loaded, kc.command { run = run, exchange = format }, { device = "cpu", directory = "." })
    assert(candidate:run(inputs, outputs, n, { timeout = 60 }))
    candidate:close()
  end
  assert(exchange.write(place, format, inputs, n))
  local shell = run:gsub("{in}", place):gsub("{out}", place .. "/copy")
  local judged, alone = {}, {}
  for i = 1, ROUNDS do
    y:poison(i % 2)
    judged[i] = seconds(judge)
    alone[i] = seconds(function() assert(core.spawn { argv = { "/bin/sh", "-c", shell } }):wait(60) end)
  end
  assert(y[N] == N, "the outputs were read")
  local a, b = median(judged), median(alone)
  print(("%-52s %10.3g %-6s %s"):format("a command judged, 1 MiB as ." .. format .. ", beyond it", (a - b) * 1000, "ms", "< 20"))
  print(("%-52s %10.3g %-6s"):format("the same / the command alone", a / b, "times"))
end
assert(core.removetree(place))
