---@module kc.compile
-- `kc compile`: a portable kernel's code for named architectures, and what it says; no device is needed.
local core = require "kc.core"
local evidence = require "kc.evidence"
local paths = require "kc.paths"
local source = require "kc.source"
local M = {}

local USAGE, ABSENT, UNBUILT = 64, 4, 3 -- exit codes as of spec/verdicts.md

-- Whose an architecture is, by its name.
local families = { { "^sm_", "cuda" }, { "^gfx", "hip" } }

local function backend(arch)
  for _, family in ipairs(families) do if arch:match(family[1]) then return family[2] end end
end

-- What --arch may name here.
local function known()
  local parts = {}
  for _, family in ipairs(families) do
    local names, why = core.archs(family[2])
    parts[#parts + 1] = ("%s: %s"):format(family[2], names and table.concat(names, " ") or why)
  end
  return table.concat(parts, "\n    ")
end

local function show(o, write, path, entry, code)
  if o.code then return write(code.text) end
  write(("%s: %s: %s\n"):format(path, entry, evidence.text(evidence.of(code))))
end

local function compile(o, write, path, text)
  local kernels = source.kernels(text)
  if #kernels == 0 then return nil, path .. ": no kernel: expected KC_KERNEL void NAME(...)", USAGE end
  for _, arch in ipairs(o.archs) do
    local name = backend(arch)
    if not name then return nil, ("option '--arch': '%s' is no architecture known here; there are\n    %s"):format(arch, known()), USAGE end
    for _, kernel in ipairs(kernels) do
      local code, message, why, log = core.compile(name, arch, { source = text, file = path, entry = kernel.entry,
        params = kernel.params, cache = paths.cache_dir("kernels") })
      if not code and why == "build" then return nil, log or message, UNBUILT end
      if not code then return nil, message, why == "unsupported" and USAGE or ABSENT end
      show(o, write, path, kernel.entry, code)
    end
  end
  return true
end

--- Compiles every kernel of a file for every architecture and writes a line on each, or (--code) the code.
---@param o table {targets={path}, archs=list of names|nil, code=boolean}
---@param write function
---@return boolean|nil ok, string|nil message, integer|nil exit code
function M.run(o, write)
  local path = o.targets[1]
  if source.dialect(path) ~= "kc" then return nil, path .. ": expected a file called .k", USAGE end
  if not o.archs then return nil, "compile: name an architecture with --arch; there are\n    " .. known(), USAGE end
  local text, message = source.read(path)
  if not text then return nil, message, USAGE end
  return compile(o, write, path, text)
end

return M
