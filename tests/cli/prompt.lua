-- Runs the entries of a JSON list, one after the other at one prompt, and writes what each printed as a JSON list: prompt.lua IN OUT.
local json = require "kc.json"
local prompt = dofile(arg[0]:match("^(.*)/cli/") .. "/transcript.lua").prompt()

local file = assert(io.open(arg[1]))
local entries = json.decode(file:read("a"))
file:close()
local out = json.list {}
for i, entry in ipairs(entries) do out[i] = prompt(entry) end
file = assert(io.open(arg[2], "w"))
file:write(json.encode(out))
file:close()
