-- Commands as candidates: right in several ways, wrong in one way each; what they leave behind, and what is said of them.
local core = require "kc.core"
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local suite, relu = "tests/cli/candidates/suite.lua", "contracts/C-EXC-01.relu.f32"
local scratch = t.directory .. "/scratch"
assert(core.mkdirs(scratch))
local env = { "TMPDIR=" .. scratch }

-- Of one run: what each is found to be, and why.
local got = t:run({ "run", suite, "--timeout", "10", "--format", "json", "--trace", t.directory .. "/trace" }, env)
assert(got.code == 1, got.stderr)
local results = {}
for _, r in ipairs(assert(json.decode(got.stdout)).results) do results[r.implementation] = r end
local function is(name, verdict, text)
  local r = assert(results[name], name .. " has no result")
  local reason = r.verdict.reason or ""
  assert(r.verdict.name == verdict and reason:find(text or "", 1, true), ("%s is %s: %s"):format(name, r.verdict.name, reason))
  assert(r.device == "external" and r.external.kind == "command" and type(r.external.run) == "string")
  assert(not reason:find(scratch, 1, true), "a reason names what is another path in each run: " .. reason)
  results[name] = nil
  t.passed = t.passed + 1
end
for _, name in ipairs { "npy", "npz", "npz_deflated", "safetensors", "big_endian", "extra_files", "escaped", "by_environment" } do
  is(name, "held")
end
is("wrong", "violated", "elements exceed the tolerance")
is("wrong_shape", "violated", "'out/y.npy' holds f32[2], expected f32[1]")
is("wrong_rank", "violated", "'out/y.npy' holds f32[1,1], expected f32[1]")
is("wrong_dtype", "violated", "'out/y.npy' holds f64[1], expected f32[1]")
is("integers", "violated", "holds u32[1], expected f32[1]")
is("objects", "violated", "Python objects are not supported")
is("missing", "violated", "left output 'y' unwritten: 'out/y.npy' is not there")
is("truncated", "violated", "'out/y.npy' holds 3 bytes of data, its shape needs 4")
is("too_long", "violated", "'out/y.npy' holds 5 bytes of data, its shape needs 4")
is("no_npy", "violated", "is not a .npy file")
is("huge_header", "violated", "a header of 2147483648 bytes in a file of")
is("huge_shape", "violated", "more than 2^63 bytes")
is("link", "violated", "'out/y.npy' is a link, expected a regular file")
is("linked_directory", "violated", "links are not followed")
is("pipe", "violated", "is a pipe or a device, expected a regular file")
is("directory", "violated", "is a directory, expected a regular file")
is("no_member", "violated", "left output 'y' unwritten: 'out/outputs.npz' has no member 'y.npy'")
is("no_zip", "violated", "'out/outputs.npz' is no sound zip archive")
is("damaged_zip", "violated", "CRC error")
is("bomb", "violated", "has 268435456 bytes, expected at most")
is("lies_about_size", "violated", "unpacks to more than")
is("large_zip", "violated", "expected at most")
is("wrong_format", "violated", "'out/outputs.npz' is not there")
is("st_no_tensor", "violated", "has no tensor 'y'")
is("st_wrong_dtype", "violated", "is I32, expected F32")
is("st_wrong_shape", "violated", "holds f32[1,1], expected f32[1]")
is("st_past_the_end", "violated", "the file has 0 for them")
is("st_wrong_offsets", "violated", "its offsets span 0 bytes, dtype and shape need 4")
is("st_huge_header", "violated", "a header of 9223372036854775808 bytes, expected at most 1048576")
is("st_long_header", "violated", "a header of 524288 bytes in a file of")
is("st_no_json", "violated", "header:")
is("st_overlap", "violated", "without gap or overlap")
is("exits", "violated", "exited with status 3: on purpose")
is("raises", "violated", "ZeroDivisionError")
is("killed", "violated", "crashed: killed by signal 11")
is("in_a_part", "violated", "crashed: killed by signal 11")
is("hangs", "unknown", "time-out")
is("no_such_program", "unknown", "cannot be run: the shell's status is 127")
is("no_such_place", "unknown", "cannot be run: the shell's status is 127")
is("no_command", "violated", "Syntax error")
assert(next(results) == nil, "not looked at: " .. tostring(next(results)))

-- Nothing outlives a run: neither directories, also of what was killed, nor processes that left the command's tree.
local function nothing_left()
  local left = core.listdir(scratch)
  assert(#left == 0, "left behind: " .. table.concat(left, " "))
  local pipe = assert(io.popen("ps -eo args | grep -c '^sleep 48.25'"))
  assert(tonumber(pipe:read("a")) == 0, "a grandchild outlived the run")
  pipe:close()
end
nothing_left()
local arguments = { "run", suite, "--impl", "hangs", "--timeout", "60", "--trace", t.directory .. "/interrupted" }
local process = t:start(arguments, env)
local deadline = core.clock() + 60
while not t.read(t.directory .. "/interrupted"):find('"type":"calibration"', 1, true) and core.clock() < deadline do core.sleep(0.05) end
while #core.listdir(scratch) == 0 and core.clock() < deadline do core.sleep(0.01) end
assert(#core.listdir(scratch) == 1, "no command was running")
process:kill(2)
got = t:finish(process, arguments)
assert(got.code == 130, "expected 130, got " .. tostring(got.code))
nothing_left()

-- A trace says what ran, under its name.
local traced
for line in io.lines(t.directory .. "/trace") do
  local row = json.decode(line)
  if row.implementation == "npz" then traced = row end
end
assert(traced.external.run == "/usr/bin/python3 numpy_relu.py npz {in} {out}" and traced.external.exchange == "npz")
t:expect({ "list", suite }, { code = 0, out = { "candidate npz: /usr/bin/python3 numpy_relu.py npz {in} {out}" } })

-- On the command line, in the directory where kc is started; the token replays it, and tells when a file of it has changed.
local script = t:file("my relu.py", t.read "tests/cli/candidates/numpy_relu.py")
local copy = t:file("relu.py", t.read(script))
local command = ("/usr/bin/python3 %s npz {in} {out}"):format(copy)
got = t:expect({ "run", relu, "--candidate", command, "--exchange", "npz" },
  { code = 0, out = { "held       " .. command, "1 held" } }, env)
local own = t:expect({ "run", relu, "--impl", "less_else_x" }, { code = 0 })
local token = got.stdout:match("kc replay (%S+)")
local function bits(text) return text:match("kc replay [^:]+:[^:]+:cpu:%d+:%d+:%x+:(%x+)") end
assert(bits(got.stdout) == bits(own.stdout), "NumPy and the contract's own good kernel give the same bits")
t:expect({ "replay", token }, { code = 0, out = { "the same bits as recorded", "held" } }, env)
t:file("relu.py", t.read(script) .. "\n")
t:expect({ "replay", token }, { code = 64, err = { "is not what it was", "--force" } }, env)
t:expect({ "replay", token:match("^(.*):") }, { code = 64, err = { "not a replay token" } }, env)
command = ("/usr/bin/python3 '%s' npy {in} {out}"):format(script)
t:expect({ "run", relu, "--candidate", command, "--candidate", "false", "--list" }, { code = 0, out = { "candidate " .. command,
                                                                                                      "candidate false" } })
t:expect({ "run", relu, "--candidate", command, "--candidate", "exit 5" }, { code = 1, out = { "1 held, 1 violated",
                                                                                              "exited with status 5" } }, env)

-- What a command cannot show is unknown, never held; what it does wrong is seen all the same.
t:expect({ "run", "contracts/C-MEM-01.tril_matmul.f32", "--candidate", "false" }, { code = 1, out = { "exited with status 1" } }, env)
local zeros = t:file("zeros.py", [[
import sys, json, numpy as np
sizes = json.load(open(sys.argv[1] + "/sizes.json"))
A, B = np.load(sys.argv[1] + "/A.npy"), np.load(sys.argv[1] + "/B.npy")
np.save(sys.argv[2] + "/C.npy", np.tril(A.astype(np.float64) @ B.astype(np.float64)).astype(np.float32))
]])
t:expect({ "run", "contracts/C-MEM-01.tril_matmul.f32", "--candidate", "/usr/bin/python3 " .. zeros .. " {in} {out}" },
  { code = 3, out = { "unknown", "C-MEM-01 asks whether every element was written" } }, env)

-- kc's own failure convicts nobody.
t:expect({ "run", relu, "--candidate", "true" }, { code = 4, out = { "unknown", "cannot create directory '/no/such/place" } },
  { "TMPDIR=/no/such/place" })

-- The command line.
t:expect({ "run", relu, "--candidate", "true", "--impl", "x" }, { code = 64, err = { "--impl" } })
t:expect({ "run", relu, "--candidate", "true", "--exchange", "csv" }, { code = 64, err = { "npy, npz, safetensors" } })
t:expect({ "calibrate", relu, "--candidate", "true" }, { code = 64, err = { "'--candidate' is not of 'calibrate', but of 'run'" } })
t:expect({ "run", suite, "--candidate", "true" }, { code = 64, err = { "is a suite" } })
local bad = t:file("bad.lua", 'local kc = require "kc"\nreturn kc.command { run = "x", exchange = "csv" }\n')
t:expect({ "run", bad }, { code = 64, err = { "kc.command: field 'exchange'" } })
nothing_left()
t:done "command"
