-- Runs the entries of a JSON list, one after the other at one prompt, and writes what each printed as a JSON list: prompt.lua IN OUT.
local json = require "kc.json"
local repl = require "kc.repl"

local printed
local function write(text) printed[#printed + 1] = text end
local env = setmetatable({ kc = require "kc" }, { __index = _G })
function env.print(...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  write(table.concat(parts, "\t") .. "\n")
end
local prompt = repl.new { env = env, write = write, complain = function(text) write(text .. "\n") end }

local file = assert(io.open(arg[1]))
local entries = json.decode(file:read("a"))
file:close()
local out = json.list {}
for i, entry in ipairs(entries) do
  printed = {}
  prompt:enter(entry)
  out[i] = table.concat(printed)
end
file = assert(io.open(arg[2], "w"))
file:write(json.encode(out))
file:close()
