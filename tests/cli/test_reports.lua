-- Reports for other programs and for people: JUnit XML, TAP, HTML. What they say is compared with the JSON report of the same run by
-- parsers that are not kc's; what they look like in a browser, where there is one.
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local suite = "tests/cli/reports/suite.lua"
local right = { "run", suite, "--impl", "<script>*" }

local function with(arguments, ...)
  local list = table.move(arguments, 1, #arguments, 1, {})
  return table.move({ ... }, 1, select("#", ...), #list + 1, list)
end

local function path(name) return t.directory .. "/" .. name end

local function output(format, ...)
  local pipe = assert(io.popen(format:format(...) .. " 2>&1"))
  local text = pipe:read("a")
  local ok = pipe:close()
  return text, ok
end

local function has(program) return select(2, output("command -v %s", program)) end

local function count(text, what) return select(2, text:gsub(what:gsub("%p", "%%%0"), "")) end

-- ---- a real run: every kind of result, under names that would break a careless report -----------------------------------------

local got = t:expect(with({ "run", suite }, "--format", "json", "--report", path "r.xml"), { code = 1 })
t:file("r.json", got.stdout)
got = t:expect(with({ "run", suite }, "--format", "tap", "--report", path "r.html"), { code = 1, out = { "TAP version 14\n1..7\n" } })
t:file("r.tap", got.stdout)
local kinds = {}
for _, r in ipairs(assert(json.decode(t.read(path "r.json"))).results) do kinds[r.verdict.name] = (kinds[r.verdict.name] or 0) + 1 end
assert(kinds.held == 2 and kinds.violated == 2 and kinds.unknown == 1 and kinds.skipped == 1 and kinds.mistrusted == 1)
local said, ok = output("/usr/bin/python3 tests/cli/reports/check.py %s %s %s %s", path "r.json", path "r.xml", path "r.tap", path "r.html")
assert(ok and tonumber(said:match("^(%d+) checks")) > 1000, said)

-- Validated by a schema in the shape that CI services read.
local function validates(name)
  local text, valid = output("xmllint --noout --schema tests/cli/reports/junit.xsd %s", path(name))
  assert(valid, text)
end
validates "r.xml"

-- Perl's harness. Up to 3.44 it knows version 13, of which all that is used here is part.
local perl = [[perl -MTAP::Parser -e 'my $p = TAP::Parser->new({ tap => join "", <STDIN> }); $p->run;
printf "%%d planned, %%d passed, %%d failed, %%d skipped, %%d errors\n", $p->tests_planned, scalar $p->passed, scalar $p->failed,
  scalar $p->skipped, scalar $p->parse_errors;']]
if has "perl" and select(2, output("perl -MTAP::Parser -e 1")) then
  said = output("sed '1s/14/13/' %s | " .. perl, path "r.tap")
  assert(said == "7 planned, 3 passed, 4 failed, 1 skipped, 0 errors\n", said)
else
  print "skipped: no TAP::Parser of Perl, which would read TAP"
end

assert(count(t.read(path "r.html"), "elements by their error / allowed") > 0)

-- A browser sees the same, and nothing runs.
if has "chromium" then
  said = output("timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir=%s --dump-dom file://%s", path "browser",
    path "r.html")
  assert(count(said, '<tr class="cell">') == 7 and count(said, "<svg") == count(t.read(path "r.html"), "<svg"), said)
  assert(not said:lower():find("<script", 1, true) and said:find("&lt;script&gt;alert(1)&lt;/script&gt;", 1, true), said)
else
  print "skipped: no chromium, which would show the page"
end

-- ---- calibration, replay, incidents --------------------------------------------------------------------------------------------

-- One sound contract, one that is not, and one whose signature takes another class's bad implementations for its own.
got = t:expect({ "calibrate", suite, "--format", "html", "--report", path "c.xml" }, { code = 3, out = {
  "1 held, 0 violated, 2 not decided",
  "not specific: takes C-PRC-02/exp.f32 ", "<td>vacuous</td>", ">unwritten</th>", "signatures (rows) that recognise" } })
t:file("c.html", got.stdout)
assert(select(2, output("xmllint --noout %s", path "c.html")))
validates "c.xml"
local calibrated = t.read(path "c.xml")
for _, text in ipairs { '<testsuites name="kc calibrate" tests="3" failures="0" errors="2"', "not specific: takes C-PRC-02/exp.f32 ",
                        'classname="C-PRC-02/exp.f32" name="calibration@cpu"', "good fmax uses inf of the tolerance" } do
  assert(calibrated:find(text, 1, true), text .. "\n" .. calibrated)
end

local token = t.read(path "r.xml"):match("kc replay ([^%s<]*bytes[^%s<]*)")
t:expect({ "replay", token, "--report", path "replay.xml" }, { code = 1, out = { "the same bits" } })
validates "replay.xml"
assert(t.read(path "replay.xml"):find('tests="1" failures="1" errors="0"', 1, true))
t:expect({ "replay", (token:gsub("[^:]*$", "000000000000")), "--format", "tap", "--report", path "replay.html" },
  { code = 3, out = { "not ok 1 - ", 'message: "other bits than recorded' } })
assert(t.read(path "replay.html"):find("other bits than recorded", 1, true))
t:expect({ "replay", (token:gsub("%x+(:%x+)$", "000000000000%1")), "--format", "junit" },
  { code = 64, out = { 'tests="1" failures="0" errors="1"', "is not what it was" } })

-- ---- what is not there must not pass ------------------------------------------------------------------------------------------

t:expect(with(right, t:file("broken/contract.lua", "return 7"), "--format", "junit", "--report", path "broken.tap"),
  { code = 64, out = { 'errors="1"', 'type="incomplete"', "broken/contract.lua" } })
assert(t.read(path "broken.tap"):find("\nnot ok 2 - kc: run\n", 1, true), t.read(path "broken.tap"))
t:expect(with(right, "--device", "cpu:9", "--format", "tap"), { code = 4, out = { "1..1\nnot ok 1 - kc: run\n", "cpu:9" } })
t:expect({ "run", suite, "--filter", "nothing", "--format", "junit" },
  { code = 5, out = { 'tests="1" failures="0" errors="1"', "nothing was selected" } })

-- Rows made by hand: every verdict, one that nobody knows yet, and what else a run tells.
local verdicts = { "held", "violated", "unknown", "undeclared", "skipped", "mistrusted", "approved" }
local function rendered(format, more)
  local text = ""
  local report = require("kc.report." .. format).new(function(s) text = text .. s end, {})
  report:environment { kc = "1", seed = 3, system = "a & b", devices = { "cpu: <x>", "sim" }, time = "1700000000",
                       fingerprints = { { arch = "a" }, {} } }
  for i, name in ipairs(verdicts) do
    report:result { contract = "K", implementation = "i" .. i, device = "cpu", path = "p", role = "candidate", judged = 0, worst = "0x0p+0",
                    verdict = { name = name, reason = name ~= "held" and "why\nnot" or nil }, seconds = "0x1p-1" }
  end
  report:pair { contract = "K", implementation = "i1", devices = { "cpu", "sim" }, samples = 2, different = 0 }
  report:incident({ name = "N", summary = "S", timeline = { { when = "1999", text = "T", source = "U" } }, lesson = "L" }, "p")
  report:summary({ held = 1 }, verdicts, 2.0, "run")
  if more then more(report) end
  report:finish("run", { "a contract is missing" })
  return text
end
local junit = rendered "junit"
t:file("rows.xml", junit)
validates "rows.xml"
for _, text in ipairs { 'tests="8" failures="1" errors="5" time="2.000"',
                        'name="K" tests="7" failures="1" errors="4" skipped="1" time="3.500"',
                        'timestamp="2023-11-14T22:13:20"', 'value="a &amp; b"', '<error type="approved" message="why&#10;not">', "1999",
                        "i1, cpu beside sim: the same bits in one run of each of 2 samples" } do
  assert(junit:find(text, 1, true), text .. "\n" .. junit)
end
assert(count(junit, "<system-out>") == 2, "one passed, and the suite's remarks")
local tap = rendered "tap"
assert(count(tap, "\nok ") == 2 and count(tap, "\nnot ok ") == 6 and tap:find("1..8\n", 1, true), tap)
assert(tap:find("ok 5 - K: i5@cpu # SKIP why\\x0anot\n", 1, true) and tap:find('message: "why\\nnot"', 1, true), tap)
local page = rendered("html", function(report)
  report:specificity { classes = { "A", "B" }, rows = { A = { A = { recognised = 1, of = 2 } }, B = {} },
                       faults = { { contract = "K", bad = "<i>" } } }
end)
for _, text in ipairs { "a contract is missing", "not specific: takes &lt;i&gt; for its own", "<td>1/2</td>", "Incident N",
                        "cpu: &lt;x&gt;" } do
  assert(page:find(text, 1, true), text .. "\n" .. page)
end
t.passed = t.passed + 20

-- ---- formats, files and full disks ----------------------------------------------------------------------------------------------

t:expect(with(right, "--report", "r.pdf"), { code = 64, err = { "called .txt, .json, .xml, .tap or .html, got 'r.pdf'" } })
t:expect(with(right, "--report", "report"), { code = 64, err = { ".html, got 'report'" } })
t:expect(with(right, "--format", "xml"), { code = 64, err = { "text, json, junit, tap, html", "'xml'" } })
t:expect({ "diff", "a", "b", "--format", "tap" }, { code = 64, err = { "'--format': 'diff' writes text or json, got 'tap'" } })
t:expect({ "diff", "a", "b", "--report", "r.xml" }, { code = 64, err = { "'--report': 'diff' writes .txt or .json, got 'r.xml'" } })
t:expect({ "list", "--format", "json" }, { code = 64, err = { "is not of 'list', but of" } })
t:expect({ "doctor", "--report", "r.txt" }, { code = 64, err = { "is not of 'doctor', but of" } })
t:expect({ "--help" }, { code = 0, out = { "write a report; .txt .json .xml .tap .html", "on stdout: text json junit tap html" } })
t:expect(with(right, "--report", "/no/such/r.xml"), { code = 4, err = { "cannot write the report: /no/such/r.xml" } })
for _, extension in ipairs { "txt", "html" } do
  local full = path("full." .. extension)
  os.execute(("ln -s /dev/full '%s'"):format(full))
  t:expect(with(right, "--report", full), { code = 4, out = { "1 held" }, err = { full, "No space left on device" } })
end
t:expect({ "run", suite, "--impl", "far", "--report", path "full.html" }, { code = 1, err = { "No space left on device" } })
said = output("KC_CACHE=%s '%s' run %s --impl '<script>*' --format junit 2>&1 >/dev/full; echo $?", path "cache", t.kc, suite)
assert(said == "kc: cannot write the report to standard output: No space left on device\n4\n", said)
t:done "reports"
