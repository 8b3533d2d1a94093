-- What tests of documentation share: a prompt without an editor, and how printed text is compared with what a document says.
local M = {}

--- A prompt: a function of an entry that gives what it printed, errors included.
function M.prompt()
  local printed
  local function write(text) printed[#printed + 1] = text end
  local env = setmetatable({ kc = require "kc" }, { __index = _G })
  function env.print(...)
    local parts = table.pack(...)
    for i = 1, parts.n do parts[i] = tostring(parts[i]) end
    write(table.concat(parts, "\t") .. "\n")
  end
  local prompt = require("kc.repl").new { env = env, write = write, complain = function(text) write(text .. "\n") end }
  return function(entry)
    printed = {}
    prompt:enter(entry)
    return table.concat(printed)
  end
end

--- Is `got` what a document expects? A line "..." stands for any lines, at the end of a line it stands for its rest.
function M.matches(got, expected)
  local pattern = ("\n" .. expected):gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0")
  pattern = pattern:gsub("\n *%%%.%%%.%%%.%f[\n]", "\0"):gsub("%%%.%%%.%%%.\n", "[^\n]*\n"):gsub("%z", ".*")
  return ("\n" .. got):match("^" .. pattern .. "$") ~= nil
end

return M
