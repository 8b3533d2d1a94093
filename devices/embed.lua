-- embed.lua OUTPUT SYMBOL FILE... - bakes text files into a C table of {name, text, size}, ended by a null name.
local output, symbol = arg[1], arg[2]

local function c_bytes(text)
  local lines = {}
  for start = 1, #text, 24 do
    local row = {}
    for i = start, math.min(start + 23, #text) do row[#row + 1] = text:byte(i) end
    lines[#lines + 1] = table.concat(row, ",")
  end
  return table.concat(lines, ",\n") .. (#text > 0 and "," or "") .. "0"
end

local parts = { "#include <stddef.h>\nstruct kc_embedded { const char *name; const char *text; size_t size; };\n" }
local rows = {}
for i = 3, #arg do
  local file = assert(io.open(arg[i], "rb"))
  local text = file:read("a")
  file:close()
  parts[#parts + 1] = ("static const char text_%d[] = {\n%s};\n"):format(i, c_bytes(text))
  rows[#rows + 1] = ('  {"%s", text_%d, %d},'):format(arg[i]:match("[^/]+$"), i, #text)
end
parts[#parts + 1] = ("extern const struct kc_embedded %s[];\nconst struct kc_embedded %s[] = {\n%s\n  {NULL, NULL, 0}};\n")
  :format(symbol, symbol, table.concat(rows, "\n"))
local file = assert(io.open(output, "wb"))
file:write(table.concat(parts))
file:close()
