-- Inputs written for another machine, and outputs dumped there: bound to each other, judged, refused.
local core = require "kc.core"
local json = require "kc.json"
local kc = require "kc"
local t = dofile "tests/cli/harness.lua"()
local contract = "contracts/C-PRC-01.matmul.f16.acc_f32"
local program = "/usr/bin/python3 tests/cli/candidates/numpy_matmul.py"
local inputs, outputs = t.directory .. "/inputs", t.directory .. "/outputs"

local function shell(text, ...)
  assert(core.spawn({ argv = { "/bin/sh", "-ec", text:format(...) } }):wait(60) == "exited")
end

-- What another machine does: a run for each directory, and the manifest copied.
local function compute(from, to)
  shell("mkdir %s; for d in %s/0*; do o=%s/$(basename $d); mkdir $o; %s $d $o; done; cp %s/manifest.json %s", to, from, to, program, from,
    to)
end

-- ---- the manifest --------------------------------------------------------------------------------------------------------------

t:expect({ "export-inputs", contract, "--out", inputs }, { code = 0, out = { "inputs of 14 samples", "OUTDIR/0001/C.npy",
                                                                             "kc run " .. contract } })
local manifest = assert(json.decode(t.read(inputs .. "/manifest.json")))
assert(manifest.contract == "C-PRC-01/matmul.f16.acc_f32" and manifest.seed == 0 and manifest.exchange == "npy" and #manifest.samples == 14)
for i, sample in ipairs(manifest.samples) do
  assert(sample.index == i and sample.directory == ("%04d"):format(i))
  local sizes = assert(json.decode(t.read(("%s/%s/sizes.json"):format(inputs, sample.directory))))
  assert(sizes.M == sample.sizes.M and sizes.K == sample.sizes.K and sizes.N == sample.sizes.N)
  for _, input in ipairs(sample.inputs) do
    local b = assert(kc.npy.read(inputs .. "/" .. input.file))
    assert(b:format() == input.format and b:digest() == input.sha256 and b:shape()[1] == input.shape[1])
  end
  local C = sample.outputs[1]
  assert(C.file == sample.directory .. "/C.npy" and C.format == "f32" and C.shape[1] == sizes.M and C.shape[2] == sizes.N)
end
t:expect({ "export-inputs", contract, "--out", inputs }, { code = 64, err = { "is not empty" } })
t:expect({ "export-inputs", contract }, { code = 64, err = { "--out" } })
t:expect({ "export-inputs", "C-PRC-01", "--out", t.directory .. "/many" }, { code = 64, err = { "names 6 contracts; name one" } })
t:expect({ "export-inputs", contract, "--out", "/proc/no" }, { code = 64, err = { "/proc/no" } })

-- ---- outputs that are right, in two formats, and replayed ---------------------------------------------------------------------------

compute(inputs, outputs)
local judge = { "run", contract, "--inputs", inputs, "--outputs", outputs }
local got = t:expect(judge, { code = 0, out = { "held       " .. outputs, "1 held" } })
local token = got.stdout:match("kc replay (%S+)")
t:expect({ "replay", token }, { code = 0, out = { "the same bits as recorded", "held" } })
local packed = t.directory .. "/packed"
t:expect({ "export-inputs", contract, "--out", packed, "--exchange", "npz", "--seed", "7" }, { code = 0, out = { "0001/outputs.npz",
                                                                                                                "--seed 7" } })
compute(packed, packed .. ".out")
t:expect({ "run", contract, "--inputs", packed, "--outputs", packed .. ".out", "--seed", "7" }, { code = 0, out = { "1 held" } })
t:expect({ "export-inputs", contract, "--out", t.directory .. "/st", "--exchange", "safetensors" }, { code = 0 })
assert(core.stat(t.directory .. "/st/0001/inputs.safetensors"))

-- ---- what does not belong together --------------------------------------------------------------------------------------------------

local function refused(text, from, to, ...)
  t:expect({ "run", contract, "--inputs", from, "--outputs", to, ... }, { code = 64, err = { text } })
end
refused("holds inputs of seed 7, not 0; say --seed 7", packed, packed .. ".out")
refused("of other inputs", inputs, packed .. ".out")
refused("of other inputs", packed, outputs, "--seed", "7")
refused("no inputs", t.directory .. "/none", outputs)
refused("do not say which inputs they are of", inputs, t.directory .. "/st/0001")
refused("holds no inputs of a thorough run", inputs, outputs, "--thorough")
t:expect({ "run", "contracts/C-PRC-01.dot.f32", "--inputs", inputs, "--outputs", outputs },
  { code = 64, err = { "holds inputs of C-PRC-01/matmul" } })
t:expect({ "run", contract, "--outputs", outputs }, { code = 64, err = { "belong together" } })
t:expect({ "run", contract, "--inputs", inputs, "--outputs", outputs, "--exchange", "npz" }, { code = 64, err = { "manifest" } })

-- Instead of a copy: the digest of the manifest.
local text = t.read(inputs .. "/manifest.json")
local bound = outputs .. "/manifest.json"
local function write(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end
write(bound, ('{"inputs":"%s","machine":"another"}'):format(core.sha256(text)))
t:expect(judge, { code = 0 })
write(bound, ('{"inputs":"%s"}'):format(core.sha256(text .. " ")))
refused("of other inputs", inputs, outputs)

-- Another text of the contract, and a manifest that was changed with its copy: the inputs are compared with what is drawn.
local function forged(pattern, with, code, err)
  local changed, n = text:gsub(pattern, with, 1)
  assert(n == 1)
  write(inputs .. "/manifest.json", changed)
  write(bound, changed)
  t:expect(judge, { code = code, err = code == 64 and { err } or nil, out = code == 4 and { err } or nil })
end
forged('"digest":"%x+"', '"digest":"' .. ("0"):rep(64) .. '"', 64, "holds inputs of another text of C-PRC-01/matmul.f16.acc_f32")
forged('"sha256":"%x+"', '"sha256":"' .. ("0"):rep(64) .. '"', 4, "input 'A' of the manifest is not what the protocol draws")
forged('"directory":"0001"', '"directory":"../x"', 64, "not a manifest")
forged('"file":"0001/C.npy"', '"file":"../../C.npy"', 64, "not a manifest")
forged('^{', '[', 64, "not a manifest")
write(inputs .. "/manifest.json", text)
write(bound, text)

-- ---- outputs that are wrong ----------------------------------------------------------------------------------------------------------

local function damaged(how, code, ...)
  local copy = t.directory .. "/damaged"
  shell("rm -rf %s; cp -r %s %s; cd %s/0003; %s", copy, outputs, copy, copy, how)
  t:expect({ "run", contract, "--inputs", inputs, "--outputs", copy }, { code = code, out = { ... } })
end
damaged("rm C.npy", 1, "left output 'C' unwritten", "/damaged/0003/C.npy' is not there")
damaged("cd ..; rm -r 0003", 1, "left output 'C' unwritten")
damaged("cp ../0001/C.npy .", 1, "violated", "holds f32[32,32], expected f32[1,1024]")
damaged("truncate -s -4 C.npy", 1, "holds 4092 bytes of data, its shape needs 4096")
damaged("mv C.npy D.npy; ln -s D.npy C.npy", 1, "is a link, expected a regular file")
damaged("cd ..; mv 0003 x; ln -s x 0003", 1, "links are not followed")
damaged("printf '\\377\\377\\377\\377' | dd of=C.npy bs=1 seek=128 conv=notrunc 2>/dev/null", 1, "violated", "element 1")

-- ---- what one run cannot show ----------------------------------------------------------------------------------------------------------

local function unknown(name, reason)
  local from, to = t.directory .. "/from", t.directory .. "/to"
  shell("rm -rf %s %s", from, to)
  t:expect({ "export-inputs", name, "--out", from }, { code = 0, out = { "cannot be held", reason } })
  shell("mkdir %s; cp %s/manifest.json %s", to, from, to)
  return { "run", name, "--inputs", from, "--outputs", to }
end
-- Nothing can be said where raising is what is asked for; elsewhere what is missing is missing.
t:expect(unknown("contracts/C-EXC-02.gather.raise.f32", "the policy RAISE"), { code = 3, out = { "unknown", "the policy RAISE" } })
t:expect(unknown("contracts/C-ORD-02.sum.d0.f32", "runs of each tensor"), { code = 1, out = { "unwritten" } })

-- A relation's second run is no sample of an export; the rest held is not the contract held.
local own = t:file("twice/contract.lua", (t.read(contract .. "/contract.lua"):gsub("holds = function%(x, y%)",
  "change = function(x) return x end, %0")))
shell("cp %s/*.k %s", contract, own:match("^(.*)/"))
local from, to = t.directory .. "/twice.in", t.directory .. "/twice.out"
t:expect({ "export-inputs", own, "--out", from }, { code = 0, out = { "left out, as one run cannot answer them: 4\n" } })
compute(from, to)
t:expect({ "run", own, "--inputs", from, "--outputs", to }, { code = 3, out = { "unknown", "asks for a second run on other inputs" } })
t:done "dump"
