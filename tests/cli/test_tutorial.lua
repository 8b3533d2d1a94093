-- spec/tutorial.md as a newcomer follows it, in a directory of its own: files are written, entries typed at one prompt, commands run.
local core = require "kc.core"
local json = require "kc.json"
local documents = dofile "tests/transcript.lua"
local t = dofile "tests/cli/harness.lua"()
local root = core.realpath "."

-- Blocks in order: {file=name, text=}, {shell={{command, expected}}}, {prompt={{entry, expected}}}.
local function blocks_of(path)
  local list, block, fence, name = {}, nil, false, nil
  local function close()
    if block then list[#list + 1] = block end
    block = nil
  end
  for line in io.lines(path) do
    local language = line:match("^```(%l*)")
    if language then
      if not fence then block = { language = language, file = name } end
      if fence then close() end
      fence, name = not fence, nil
    elseif fence then
      block[#block + 1] = line
    elseif line:match("^    ") then
      block = block or { language = "prompt" }
      block[#block + 1] = line:sub(5)
    elseif line ~= "" then
      close()
      name = line:match("^`([%w_./]+)`:$") or name
    end
  end
  close()
  return list
end

local function split(block, mark)
  local steps = {}
  for _, line in ipairs(block) do
    if line:sub(1, #mark) == mark then
      steps[#steps + 1] = { line:sub(#mark + 1), "" }
    else
      steps[#steps][2] = steps[#steps][2] .. line .. "\n"
    end
  end
  return steps
end

local function demand(what, got, expected)
  if not documents.matches(got, expected) then error(("%s\n--- expected\n%s--- got\n%s"):format(what, expected, got), 0) end
  t.passed = t.passed + 1
end

local function sh(command)
  local given = ("PATH='%s':$PATH CONTRACTS='%s/contracts' KC_CACHE='%s/cache' NO_COLOR=1"):format(t.kc:match("^(.*)/"), root, t.directory)
  local line = ("cd '%s' && { export %s; %s\n} 2>&1"):format(t.directory, given, command)
  local pipe = assert(io.popen(line))
  local got = pipe:read("a")
  pipe:close()
  return got
end

-- One prompt for the whole text: what a block leaves behind, the next one sees. So the entries are typed anew up to each block.
local typed = {}
local function prompt(steps)
  for _, step in ipairs(steps) do typed[#typed + 1] = step[1] end
  t:file("entries.json", json.encode(json.list(typed)))
  local said = sh(("kc '%s/tests/cli/prompt.lua' entries.json said.json"):format(root))
  assert(said == "", said)
  local file = assert(io.open(t.directory .. "/said.json"))
  local out = json.decode(file:read("a"))
  file:close()
  for i, step in ipairs(steps) do demand(step[1], out[#typed - #steps + i], step[2]) end
end

local ran = { prompt = 0, console = 0, files = 0 }
for _, block in ipairs(blocks_of "spec/tutorial.md") do
  if block.language == "console" then
    for _, step in ipairs(split(block, "$ ")) do demand(step[1], sh(step[1]), step[2]) end
    ran.console = ran.console + 1
  elseif block.language == "prompt" then
    prompt(split(block, "kc> "))
    ran.prompt = ran.prompt + 1
  else
    t:file(assert(block.file, "a block of code that is no file"), table.concat(block, "\n") .. "\n")
    ran.files = ran.files + 1
  end
end
local counts = ("%d prompts, %d consoles, %d files"):format(ran.prompt, ran.console, ran.files)
assert(counts == "4 prompts, 6 consoles, 6 files", counts)
t:done "tutorial"
