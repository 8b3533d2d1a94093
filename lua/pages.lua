-- pages.lua OUTPUT - run by kc when it is built: writes man pages, HTML, stubs for language servers and shell completion from what
-- kc's help knows (kc.docs, kc.manual) and from the tables of its command line. See spec/documentation.md.
local core = require "kc.core"
local output, here = arg[1], arg[0]:match("^(.*)%.lua$")

local function write(path, text)
  path = output .. "/" .. path
  assert(core.mkdirs(path:match("^(.*)/")))
  local file = assert(io.open(path, "wb"))
  file:write(text)
  assert(file:close())
end

local function part(name) return dofile(here .. "/" .. name .. ".lua") end

local context = { comment = dofile(here:match("^(.*)/") .. "/comment.lua"), markdown = part "markdown" }
for _, name in ipairs { "man", "html", "types", "completion" } do part(name)(write, context) end
