---@module kc.lint.dialect
-- Findings in a kernel of the portable dialect: what the cpu device's reader and compiler say of it. Nothing is run.
local core = require "kc.core"
local source = require "kc.source"
local M = {}

-- "FILE:LINE: what is wrong": a compiler's log may say more; the first line that names a place counts.
local function placed(log, path)
  for line in (log .. "\n"):gmatch("(.-)\n") do
    if line:sub(1, #path + 1) == path .. ":" then
      local number, text = line:sub(#path + 2):match("^(%d+):%s*[%d:]*%s*(.*)$")
      if number then return tonumber(number), text end
    end
  end
  return 1, (log:gsub("\n.*", ""))
end

local function build(device, kernel, text, path)
  local built, message, code, log = device:kernel { dialect = "kc", source = text, file = path, entry = kernel.entry,
                                                    params = kernel.params }
  if built then
    built:close()
  elseif code == "build" then
    local line, what = placed(log or message, path)
    return { line = line, clause = "kernel " .. kernel.entry, message = what }
  end
end

--- Findings in a text; none where no compiler can say.
---@param text string
---@param path string
---@return table findings list of {line=, clause=, message=}
function M.findings(text, path)
  local kernels, list = source.kernels(text), {}
  if #kernels == 0 then return { { line = 1, clause = "kernel", message = "expected KC_KERNEL void NAME(...)" } } end
  local device = core.device "cpu"
  for _, kernel in ipairs(device and kernels or {}) do list[#list + 1] = build(device, kernel, text, path) end
  if device then device:close() end
  return list
end

return M
