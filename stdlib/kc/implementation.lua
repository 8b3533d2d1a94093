---@module kc
-- Implementations: what is judged. Descriptions only; files are relative to the contract that names them.
local core = require "kc.core"
local words = require "kc.words"
local M = {}

local Implementation = {}
Implementation.__index = Implementation
Implementation.__name = "kc.implementation"
Implementation.__metatable = false

local function is_integer_list(value)
  if type(value) ~= "table" or #value == 0 or #value > 3 then return false end
  for _, n in ipairs(value) do if math.type(n) ~= "integer" or n < 1 then return false end end
  return true
end

local function is_string_list(value)
  if type(value) ~= "table" then return false end
  for _, s in ipairs(value) do if type(s) ~= "string" then return false end end
  return true
end

local function is_grid(value)
  if type(value) ~= "table" or #value == 0 or #value > 3 then return false end
  for _, n in ipairs(value) do if type(n) ~= "string" and math.type(n) ~= "integer" then return false end end
  return true
end

local types = {
  string = { "a string", function(v) return type(v) == "string" end },
  boolean = { "a boolean", function(v) return type(v) == "boolean" end },
  ["function"] = { "a function", function(v) return type(v) == "function" end },
  names = { "a list of names", is_string_list },
  files = { "a path or a list of paths", function(v) return type(v) == "string" or is_string_list(v) and #v > 0 end },
  group = { "one to three integers >= 1", is_integer_list },
  grid = { "one to three dimension names or integers", is_grid },
  exchange = { "\"npy\", \"npz\" or \"safetensors\"", function(v) return v == "npy" or v == "npz" or v == "safetensors" end },
  denormals = { "\"preserve\" or \"flush\"", function(v) return v == "preserve" or v == "flush" end },
}

-- kind -> field -> {type, required}
local schema = {
  kernel = { name = { "string" }, file = { "string", true }, entry = { "string", true }, args = { "names", true },
             group = { "group", true }, grid = { "grid", true }, contraction = { "boolean" }, denormals = { "denormals" },
             fast_math = { "boolean" }, defines = { "string" }, needs = { "string" } },
  library = { name = { "string" }, file = { "files", true }, entry = { "string", true }, args = { "names", true },
              result = { "string" }, map = { "boolean" }, optional = { "boolean" } },
  lua = { name = { "string", true }, run = { "function", true }, kernels = { "names" }, file = { "files" }, optional = { "boolean" } },
  command = { name = { "string" }, run = { "string", true }, exchange = { "exchange" } },
  dumped = { name = { "string" }, inputs = { "string", true }, outputs = { "string", true } },
}

local function build(kind, spelled, options)
  if type(options) ~= "table" then error(("%s: expected a table of fields"):format(spelled), 3) end
  local fields = schema[kind]
  for _, key in ipairs(words.keys(options)) do
    local field = fields[key]
    if not field then
      error(("%s: unknown field '%s'; %s"):format(spelled, tostring(key), words.hint(tostring(key), words.keys(fields))), 3)
    end
    local expected = types[field[1]]
    if not expected[2](options[key]) then
      error(("%s: field '%s': expected %s, got %s"):format(spelled, key, expected[1], words.show(options[key])), 3)
    end
  end
  for _, key in ipairs(words.keys(fields)) do
    if fields[key][2] and options[key] == nil then error(("%s: field '%s' is missing"):format(spelled, key), 3) end
  end
  local copy = { kind = kind }
  for _, key in ipairs(words.keys(options)) do copy[key] = options[key] end
  return setmetatable(copy, Implementation)
end

--- A kernel in a file beside the contract.
--- > kc.kernel { file = "relu.k", entry = "relu", args = { "x", "y", "n" }, group = { 64 }, grid = { "n" } }
--- relu (kernel)
---@param options table {file=, entry=, args={tensor and dimension names}, group={}, grid={dimension names or counts}, name=,
---  contraction=false, denormals="preserve", fast_math=false, defines="", needs=features that the device must have (its fingerprint
---  lists them), separated by spaces: where one is missing the kernel is skipped}
---@return table implementation
function M.kernel(options)
  local out = build("kernel", "kc.kernel", options)
  out.name = out.name or out.file:match("([^/]+)%.[^.]*$") or out.file
  return out
end

--- A function in a shared library, called once: arguments are tensors (pointers) and dimensions (32-bit integers). With `map` it is a
--- function of numbers, called for each element: the last name of `args` is the output that takes the results. Of several files
--- the first that exists is meant; without any, an `optional` library is skipped.
---@param options table {file=path or list of paths, entry=symbol, args={names}, result=format|nil, map=false, optional=false, name=}
---@return table implementation
function M.library(options)
  local out = build("library", "kc.library", options)
  local file = type(out.file) == "table" and out.file[1] or out.file
  out.name = out.name or ("%s:%s"):format(file:match("[^/]+$"), out.entry)
  return out
end

-- Which devices run what is not portable.
local homes = { c = { "a host function in C", "cpu" }, library = { "a library of the host", "cpu" }, cuda = { "CUDA C++", "cuda", "hip" },
                opencl = { "OpenCL C", "opencl" } }

--- Why a device does not run an implementation, or nil where it does.
---@param implementation table
---@param device string
---@return string|nil reason
function M.elsewhere(implementation, device)
  local kind = implementation.kind
  local dialect = kind == "kernel" and require("kc.source").dialect(implementation.file) or kind == "library" and kind
  if kind == "lua" and implementation.file then dialect = "library" end
  local home = homes[dialect]
  if not home then return nil end
  for i = 2, #home do
    if device:match "^%w+" == home[i] then return nil end
  end
  return ("%s runs on the device %s only"):format(home[1], table.concat(home, " or ", 2))
end

--- Why an implementation cannot be here at all, or nil: not made for this device, or an optional library that is not installed.
---@param implementation table
---@param directory string
---@param device string
---@return string|nil reason
function M.absent(implementation, directory, device)
  local elsewhere = M.elsewhere(implementation, device)
  if elsewhere or not implementation.optional then return elsewhere end
  local path = require("kc.loader").resolve(directory, implementation.file)
  if core.stat(path) then return nil end
  return ("library '%s' is not installed"):format(path:match("[^/]+$"))
end

--- A Lua function over kernels or library calls; it runs in the runner: run(device, inputs, outputs, sizes). Where `file` names the
--- library that it calls, what `run` returns is what that library says of itself.
---@param options table {name=, run=function, kernels={files it builds}, file=path or list of paths of a library, optional=false}
---@return table implementation
function M.implementation(options) return build("lua", "kc.implementation", options) end

--- A command of the shell that reads inputs and writes outputs as files, in any language: `{in}` and `{out}` stand for the directories,
--- which KC_IN and KC_OUT name too. It runs in the directory of the suite that names it.
---@param options table {run=command, exchange="npy"|"npz"|"safetensors" (default npy), name=}
---@return table implementation
function M.command(options)
  local out = build("command", "kc.command", options)
  out.exchange, out.name = out.exchange or "npy", out.name or out.run
  return out
end

-- Outputs that were dumped elsewhere, for inputs that kc exported.
local function dumped(options)
  local out = build("dumped", "dumped", options)
  out.name = out.outputs
  return out
end

--- An implementation that no file holds: the command line names it, and a replay token.
---@param name string the command, or the directory of the outputs
---@param given table {kind="command", with=exchange format} or {kind="dumped", with=directory of the inputs}
---@return table implementation
function M.given(name, given)
  if given.kind == "command" then return M.command { run = name, exchange = given.with } end
  return dumped { outputs = name, inputs = given.with }
end

--- True for a value made by this module.
function M.is(value) return type(value) == "table" and schema[rawget(value, "kind") or ""] ~= nil end

-- Implementations that must be rejected by every contract: they show that it is not vacuous. The judge makes their outputs
-- itself.
M.vacuous = { "zeros", "nan", "constant", "copy", "unwritten" }

--- The five vacuous implementations.
---@return table list
function M.vacuous_list()
  local list = {}
  for i, name in ipairs(M.vacuous) do list[i] = setmetatable({ kind = "vacuous", name = name }, Implementation) end
  return list
end

--- Files that it is made of: kernel or library (a path or a list of candidates), the kernels that a Lua function builds, and what may be
--- files of the words of a command.
---@return table files
function Implementation:files()
  local list = { self.file }
  for word in (self.kind == "command" and self.run or ""):gmatch("[^%s'\";|&<>(){}$`]+") do list[#list + 1] = word end
  for _, kernel in ipairs(self.kernels or {}) do list[#list + 1] = kernel end
  return list
end

function Implementation:__tostring() return ("%s (%s)"):format(self.name, self.kind) end

return M
