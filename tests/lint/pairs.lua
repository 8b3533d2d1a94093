-- stdlib may not call pairs or next where the order could reach a digest, a trace or a launch: it uses kc.words.keys. A line that is
-- exempt says why in a comment on the same line.
local failures = 0
local pipe = assert(io.popen("git ls-files -co --exclude-standard -- 'stdlib/*.lua'"))
for path in pipe:lines() do
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    local loops = line:match("in%s+pairs%s*%(") or line:match("in%s+next%s*,")
    if loops and not line:match("%-%- %w+") then
      failures = failures + 1
      print(("%s:%d: iterates a table in undefined order; use words.keys, or say why the order does not matter"):format(path, number))
    end
  end
end
pipe:close()
print(failures == 0 and "ordered tables: no undefined order" or failures .. " iterations in undefined order")
os.exit(failures == 0 and 0 or 1)
