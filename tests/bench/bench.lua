-- Speed as ratios measured side by side in one run (machines are noisy): build/kc tests/bench/bench.lua
local core = require "kc.core"
local clients = require "kc.client"

local function median(list)
  table.sort(list)
  return list[#list // 2 + 1]
end

local function seconds(f)
  local started = core.clock()
  f()
  return core.clock() - started
end

-- Alternates the two, so that both meet the same noise.
local function versus(rounds, f, g)
  local a, b = {}, {}
  for i = 1, rounds do a[i], b[i] = seconds(f), seconds(g) end
  return median(a), median(b)
end

local rows = {}
local function row(name, value, unit, target) rows[#rows + 1] = { name, value, unit, target } end

local function spawn(...)
  local argv = { ... }
  return function() assert(core.spawn { argv = argv }):wait(60) end
end

local ours, theirs = versus(41, spawn(core.exe(), "-e", ""), spawn("lua5.4", "-e", ""))
row("kc -e '' / lua5.4 -e ''", ours / theirs, "times", "< 3")

-- One cell's overhead: a runner started, 1 MiB shared in and out, a launch of one work-group, the runner killed.
local n = 262144
local kc = require "kc"
local x, y = kc.buffer("f32", n), kc.buffer("f32", n)
local build = { dialect = "kc", entry = "relu", file = "bitwise.k", contract = false, flush = false, fast_math = false, defines = "",
                source = assert(require("kc.loader").read "contracts/C-EXC-01.relu.f32/bitwise.k"),
                params = { { name = "x", format = "f32", buffer = true }, { name = "y", format = "f32", buffer = true },
                           { name = "n", format = "i32", buffer = false } },
                cache = require("kc.paths").cache_dir "kernels" }
core.subreaper()
local function cell()
  local client = clients.new { device = "cpu" }
  local kernel = assert(client:kernel(build, 60))
  local inputs, outputs = assert(client:share(x, false)), assert(client:share(y, true))
  assert(client:launch(kernel, { { buffer = inputs }, { buffer = outputs }, { value = 64 } }, { grid = { 1 }, group = { 64 } }, 60))
  client:close()
end
cell() -- compiles
local overhead, process = versus(21, cell, spawn "/bin/true")
row("a cell's overhead (runner, 1 MiB in, 1 MiB out)", overhead * 1000, "ms", "< 10")
row("the same / starting /bin/true", overhead / process, "times", "")

local directory = os.tmpname()
os.remove(directory)
local function run() return spawn("/usr/bin/env", "KC_CACHE=" .. directory, core.exe(), "run", "contracts", "--quiet") end
row("kc run contracts, cold cache", seconds(run()), "s", "< 60")
row("kc run contracts, warm cache", seconds(run()), "s", "< 20")
os.execute("rm -rf " .. directory)

local mib = math.tointeger(tonumber(arg and arg[1])) or 64
local different, compared, equal, again = dofile "tests/bench/bench_diff.lua"(mib, versus)
row(("kc diff, 2 x %d MiB that differ / cmp, equal ones"):format(mib), different / compared, "times", "< 2")
row(("kc diff, 2 x %d MiB of equal ones / cmp"):format(mib), equal / again, "times", "")

for _, r in ipairs(rows) do print(("%-52s %10.3g %-6s %s"):format(r[1], r[2], r[3], r[4])) end

-- Matrix products against MPFR, and launches on devices: programs of their own, whose rows look the same.
for _, program in ipairs { "bench_matmul", "bench_device" } do
  for line in io.popen(core.exe():match("^.*/") .. "tests/" .. program):lines() do print(line) end
end
