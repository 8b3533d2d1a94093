-- Shell completion: the generated files, loaded by the shells themselves and asked as Tab asks.
local cli = require "kc.cli"
local json = require "kc.json"
local t = dofile "tests/cli/harness.lua"()
local bin = t.kc:match("^(.*)/")
local files = bin .. "/doc/completion/"

local skipped = {}

local function output_of(command)
  local pipe = assert(io.popen(("PATH='%s':$PATH KC_CACHE='%s/cache'; export PATH KC_CACHE; %s"):format(bin, t.directory, command)))
  local text = pipe:read("a")
  pipe:close()
  return text
end

local function has(shell) return output_of("command -v " .. shell) ~= "" end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Lines that a shell offers; `want` must be among them, `no` must not.
local function offers(offered, what, want, no)
  local seen = {}
  for line in offered:gmatch("[^\n]+") do seen[line:match("^[^\t]*")] = true end
  for _, word in ipairs(want) do if not seen[word] then error(("%s: '%s' is not offered, but\n%s"):format(what, word, offered), 3) end end
  for _, word in ipairs(no or {}) do if seen[word] then error(("%s: '%s' is offered"):format(what, word), 3) end end
  t.passed = t.passed + 1
end

-- ---- bash: words before the cursor as COMP_WORDS, which splits at "=" ---------------------------------------------------------

local function bash(line, want, no)
  local words = {}
  for word in line:gsub("=", " = "):gmatch("%S+") do words[#words + 1] = quoted(word) end
  if line:match("%s$") then words[#words + 1] = "''" end
  local code = ("source '%sbash/kc'; COMP_WORDS=(%s); COMP_CWORD=%d; _kc; printf '%%s\\n' \"${COMPREPLY[@]}\""):format(files,
    table.concat(words, " "), #words - 1)
  offers(output_of("bash -c " .. quoted(code)), "bash: " .. line, want, no)
end

bash("kc ru", { "run" }, { "replay" })
bash("kc ", { "run", "calibrate", "help", "README.md" })
bash("kc --no", { "--no-rc" })
bash("kc run --tr", { "--trace" }, { "--thorough" })
bash("kc diff --", { "--ulp", "--as" }, { "--candidate" })
bash("kc run --color ", { "auto", "always", "never" })
bash("kc run --color=al", { "always" }, { "auto" })
bash("kc run --format ", { "text", "json" }, { "f16" })
bash("kc diff --format b", { "bf16" })
bash("kc diff --as e", { "e4m3fn", "e5m2" }, { "f16", "i8" })
bash("kc run --device ", { "cpu", "opencl", "cuda", "hip" })
bash("kc explain --clause to", { "tolerance" })
bash("kc run C-EXC-01/r", { "C-EXC-01/relu.f32" })
bash("kc explain contracts/C-PRC-02.tanh.f3", { "contracts/C-PRC-02.tanh.f32" })
bash("kc help T-D", { "T-DOT", "T-DOT-EXPECTED" })
bash("kc help kc.sample.nor", { "kc.sample.normal" })
bash("kc cache c", { "clear" })
bash("kc run --trace READ", { "README.md" })

-- ---- fish and zsh, where they are ---------------------------------------------------------------------------------------------

local function fish(line, want, no)
  local code = ("source '%sfish/kc.fish'; complete -C %s"):format(files, quoted(line))
  offers(output_of("HOME='" .. t.directory .. "' fish --no-config -c " .. quoted(code)), "fish: " .. line, want, no)
end

if has "fish" then
  fish("kc ru", { "run" })
  fish("kc run --tr", { "--trace" })
  fish("kc diff --", { "--ulp" }, { "--candidate" })
  fish("kc run --color ", { "auto", "always", "never" })
  fish("kc run C-EXC-01/r", { "C-EXC-01/relu.f32" })
  fish("kc run --filter C-EXC-01/r", { "C-EXC-01/relu.f32" })
  fish("kc help T-DOT-", { "T-DOT-EXPECTED" })
  fish("kc cache ", { "clear" }, { "README.md" })
else
  skipped[#skipped + 1] = "fish is not installed"
end

-- zsh completes on a terminal only.
local function zsh(steps)
  local path = t:file("steps.json", json.encode(steps))
  local said = output_of(("HOME='%s' TERM=xterm /usr/bin/python3 tests/cli/terminal.py \"$(command -v zsh)\" -f -i <'%s' 2>&1; echo =$?")
    :format(t.directory, path))
  assert(said:match("=0%s*$"), said)
  t.passed = t.passed + 1
end

-- Ctrl-X prints the line as completion left it and empties it.
local prepare = [[PS1='rea''dy> '; fpath=('%szsh' $fpath); autoload -Uz compinit; compinit -u -D; ]] ..
  [[shown() { zle -I; print -r -- "<$BUFFER>"; BUFFER= }; zle -N shown; bindkey '^X' shown]]

if has "zsh" then
  local steps = { { "send", prepare:format(files) .. "\r" }, { "expect", "ready> " } }
  for _, row in ipairs { { "kc ru\t", "<kc run >" }, { "kc run --tra\t", "<kc run --trace=>" },
                         { "kc run --color=al\t", "<kc run --color=always >" },
                         { "kc explain C-EXC-01/rel\t", "<kc explain C-EXC-01/relu.f32 >" }, { "kc cache c\t", "<kc cache clear >" } } do
    steps[#steps + 1] = { "send", row[1] .. "\24" }
    steps[#steps + 1] = { "expect", row[2] }
  end
  steps[#steps + 1] = { "send", "exit\r" }
  steps[#steps + 1] = { "exit", 0 }
  zsh(steps)
else
  skipped[#skipped + 1] = "zsh is not installed"
end

-- Every command says which options it takes, each of which exists.
local known = {}
for _, row in ipairs(cli.options) do known[row[1]] = true end
for _, row in ipairs(cli.commands) do
  assert(row.takes, row[1] .. " does not say which options it takes")
  for option in row.takes:gmatch("%S+") do assert(known[option], row[1] .. " takes an unknown option: " .. option) end
end

t:done "completion"
for _, why in ipairs(skipped) do print("skipped: " .. why) end
