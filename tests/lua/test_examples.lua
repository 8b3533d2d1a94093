-- Every example of the documentation is run as at the prompt, and must print what stands below it: those of the comments, and
-- in README.md and spec/*.md every transcript of the prompt ("kc> ") and the transcripts of a shell that "<!-- run -->" marks.
local comment = dofile "lua/comment.lua"
local core = require "kc.core"
local documents = dofile "tests/transcript.lua"

local failures, ran = 0, 0

local function compare(where, code, got, expected)
  ran = ran + 1
  if documents.matches(got, expected) then return end
  failures = failures + 1
  print(("%s: > %s\n--- expected\n%s--- got\n%s"):format(where, code, expected, got))
end

local function run_prompt(where, examples)
  local enter = documents.prompt()
  for _, example in ipairs(examples) do
    compare(where, example.code, (enter(example.code):gsub("\n+$", "\n")), example.output) -- after ?topic a line stays empty
  end
end

-- ---- comments ---------------------------------------------------------------------------------------------------------------

local documented = 0
for _, row in ipairs(require "kc.docs") do
  local examples = comment.parse(row.doc).examples
  if #examples > 0 then documented = documented + 1 end
  run_prompt(row.name, examples)
end

-- ---- Markdown ---------------------------------------------------------------------------------------------------------------

-- Blocks of code, indented or fenced: {language, lines, marked, line}.
local function blocks(path)
  local list, block, fence, marked, number = {}, nil, false, false, 0
  for line in io.lines(path) do
    number = number + 1
    local language = line:match("^```(%w*)")
    if language then
      fence = not fence
      if fence then block = { language = language, marked = marked, line = number } else list[#list + 1], block = block, nil end
    elseif fence or line:match("^    %S") or block and line:match("^    ") then
      block = block or { language = "", marked = marked, line = number }
      block[#block + 1] = fence and line or line:sub(5)
    elseif not (block and line == "") then
      if block then list[#list + 1], block = block, nil end
      marked = line:match("^<!%-%- run %-%->$") ~= nil or marked and line == ""
    elseif block then
      block[#block + 1] = ""
    end
  end
  if block then list[#list + 1] = block end
  return list
end

-- Splits a transcript at its prompts: {code, output}.
local function transcript(block, first, more)
  local examples = {}
  for _, line in ipairs(block) do
    local last = examples[#examples]
    if line:sub(1, #first) == first then
      examples[#examples + 1] = { code = line:sub(#first + 1), output = "" }
    elseif more and last and last.output == "" and line:sub(1, #more) == more then
      last.code = last.code .. "\n" .. line:sub(#more + 1)
    elseif last then
      last.output = last.output .. line .. "\n"
    end
  end
  for _, example in ipairs(examples) do example.output = example.output:gsub("\n+$", "\n") end
  return examples
end

local bin = core.exe():match("^(.*)/")

local function run_shell(where, examples)
  for _, example in ipairs(examples) do
    local pipe = assert(io.popen(("PATH='%s':$PATH NO_COLOR=1; export PATH NO_COLOR; { %s\n} 2>&1"):format(bin, example.code)))
    local got = pipe:read("a")
    pipe:close()
    compare(where, example.code, got, example.output)
  end
end

local function run_lua(where, block)
  local text = table.concat(block, "\n")
  local chunk, message = load("return " .. text, "=" .. where)
  if not chunk then chunk, message = load(text, "=" .. where) end
  ran = ran + 1
  local ok, result = chunk ~= nil, message
  if ok and block.marked then ok, result = pcall(chunk) end
  if ok then return end
  failures = failures + 1
  print(("%s: %s"):format(where, result))
end

local pipe = assert(io.popen("ls README.md spec/*.md | grep -v tutorial.md")) -- that has a test of its own
for path in pipe:lines() do
  for _, block in ipairs(blocks(path)) do
    local where = ("%s:%d"):format(path, block.line)
    if block.language == "lua" then run_lua(where, block) end
    if (block[1] or ""):match("^kc> ") then run_prompt(where, transcript(block, "kc> ", "... ")) end
    if block.marked and (block[1] or ""):match("^%$ ") then run_shell(where, transcript(block, "$ ")) end
  end
end
pipe:close()

assert(documented >= 40, ("only %d documented functions have an example"):format(documented))
assert(failures == 0, ("%d of %d examples print something else"):format(failures, ran))
print(("examples: %d passed, of %d functions"):format(ran, documented))
