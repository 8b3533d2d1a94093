-- embed.lua OUTPUT ROOT FILE... - bakes stdlib modules, the documentation index made from all sources and the texts
-- of the specification, into one C table.
local output, root = arg[1], arg[2]
local docs = dofile(root .. "/lua/docs.lua")

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local modules = {}
for i = 3, #arg do modules[#modules + 1] = { name = docs.module_of(arg[i]), path = arg[i], text = read(arg[i]) } end
modules[#modules + 1] = { name = "kc.docs", path = "generated/docs.lua", text = docs.index(root) }
modules[#modules + 1] = { name = "kc.classes", path = "generated/classes.lua", text = docs.classes(root) }
modules[#modules + 1] = { name = "kc.spec", path = "generated/spec.lua", text = docs.spec(root) }

local function c_bytes(text)
  local lines = {}
  for start = 1, #text, 24 do
    lines[#lines + 1] = table.concat({ text:byte(start, math.min(start + 23, #text)) }, ",")
  end
  return table.concat(lines, ",\n") .. (#text > 0 and "," or "") .. "0"
end

local out = assert(io.open(output, "wb"))
out:write("#include \"lkc_embed.h\"\n")
for i, m in ipairs(modules) do
  out:write(("static const unsigned char text_%d[] = {\n%s};\n"):format(i, c_bytes(m.text)))
end
out:write("const lkc_embedded lkc_stdlib[] = {\n")
for i, m in ipairs(modules) do
  out:write(('  {"%s", "%s", (const char *)text_%d, %d},\n'):format(m.name, m.path:match("[^/]*/?[^/]*/[^/]+$"), i, #m.text))
end
out:write("  {0, 0, 0, 0}};\n")
out:close()
