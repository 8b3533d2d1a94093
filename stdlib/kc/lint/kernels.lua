---@module kc.lint.kernels
-- Findings in implementations: files, entries, arguments and geometry that do not fit the kernel's text or the scope.
local loader = require "kc.loader"
local scope = require "kc.scope"
local source = require "kc.source"
local words = require "kc.words"
local M = {}

-- Names of the scope: tensors by name, and all names that an argument may have.
local function names_of(contract)
  local tensors, known = {}, {}
  for _, list in ipairs { contract.scope.inputs, contract.scope.outputs } do
    for _, tensor in ipairs(list) do
      tensors[tensor.name] = tensor
      known[#known + 1] = tensor.name
    end
  end
  return tensors, table.move(words.keys(contract.scope.shapes), 1, #words.keys(contract.scope.shapes), #known + 1, known)
end

local INT32_MAX = 0x7fffffff -- dimensions are passed as i32

local function check_size(domain, name, complain)
  local _, most = scope.bounds(domain)
  if most > INT32_MAX then complain(("dimension '%s' reaches %d, more than the i32 that is passed holds"):format(name, most)) end
end

local function check_args(c, item, complain)
  local _, known = names_of(c.contract)
  for _, name in ipairs(item.args) do
    local domain = c.contract.scope.shapes[name]
    if domain then check_size(domain, name, complain) end
    if not words.holds(known, name) then
      complain(("argument '%s' is neither a tensor nor a dimension; %s"):format(name, words.hint(name, known)))
    end
  end
  for _, output in ipairs(c.contract.scope.outputs) do
    if not words.holds(item.args, output.name) then complain(("output '%s' is no argument"):format(output.name)) end
  end
end

local function check_grid(c, item, complain)
  local dims = c.contract.scope.dims
  for _, extent in ipairs(item.grid or {}) do
    if type(extent) == "string" and not words.holds(dims, extent) then
      complain(("the grid names dimension '%s'; %s"):format(extent, words.hint(extent, dims)))
    end
  end
  if item.grid and #item.grid ~= #item.group then
    complain(("the grid has %d dimensions, the group %d"):format(#item.grid, #item.group))
  end
end

-- What the dialect calls the type of a tensor's elements (spec/dialect.md, section 1).
local carried = { tf32 = "f32", hf32 = "f32", f16 = "u16", bf16 = "u16" }

local function element(format)
  if carried[format] then return carried[format] end
  return require("kc.core").format(format).kind == "float" and not format:match("^f%d") and "u8" or format
end

local function check_param(param, name, tensor, complain)
  local expected = tensor and element(tensor.format) or "i32"
  if (tensor ~= nil) ~= param.buffer then
    complain(("parameter '%s' is %s, argument '%s' is %s"):format(param.name, param.buffer and "a buffer" or "a scalar", name,
      tensor and "a tensor" or "a dimension"))
  elseif param.format ~= expected then
    complain(("parameter '%s' is kc_%s, argument '%s' needs kc_%s"):format(param.name, param.format, name, expected))
  end
end

local function find_entry(kernels, entry)
  local known = {}
  for i, kernel in ipairs(kernels) do
    if kernel.entry == entry then return kernel end
    known[i] = kernel.entry
  end
  return nil, #known > 0 and words.hint(entry, known) or "it has none"
end

-- Parameters and types that the text's own macros make are not known.
local function check_text(c, item, text, complain)
  local kernel, hint = find_entry(source.kernels(text), item.entry)
  if not kernel then
    if not text:find(item.entry, 1, true) then complain(("%s has no kernel '%s'; %s"):format(item.file, item.entry, hint)) end
    return
  end
  local tensors = names_of(c.contract)
  if #kernel.params ~= #item.args then
    complain(("%s: '%s' takes %d parameters, 'args' names %d"):format(item.file, item.entry, #kernel.params, #item.args))
    return
  end
  for i, param in ipairs(item.defines and {} or kernel.params) do check_param(param, item.args[i], tensors[item.args[i]], complain) end
end

local function check_file(c, item, complain)
  local path = loader.resolve(c.directory, item.file)
  local dialect = source.dialect(path)
  if not dialect or dialect == "library" then return complain(("%s: expected a file called .k, .c, .cu or .cl"):format(item.file)) end
  local text, message = source.read(path)
  if not text then return complain(message) end
  if dialect == "kc" then check_text(c, item, text, complain) end
end

--- Files, entries, arguments and grids of every kernel.
function M.kernels(c, report)
  for _, entry in ipairs(c.contract:implementations()) do
    local item = entry.implementation
    local function complain(text) report("calibration", ("%s '%s': %s"):format(entry.role, item.name, text), entry.role) end
    if item.args then check_args(c, item, complain) end
    if item.kind == "kernel" then
      check_grid(c, item, complain)
      check_file(c, item, complain)
    end
  end
end

-- What makes two kernels the same: everything but the name.
local function identity(c, item)
  local parts = { loader.file_digest(loader.resolve(c.directory, item.file)) or item.file }
  for _, field in ipairs { "entry", "contraction", "denormals", "fast_math", "defines" } do
    parts[#parts + 1] = tostring(item[field] or "")
  end
  for _, field in ipairs { "args", "group", "grid" } do parts[#parts + 1] = table.concat(item[field], ",") end
  return table.concat(parts, "\n")
end

--- Kernels that stand in two roles, or twice in one.
function M.twice(c, report)
  local seen = {}
  for _, entry in ipairs(c.contract:implementations()) do
    local item = entry.implementation
    local key = item.kind == "kernel" and identity(c, item)
    local other = key and seen[key]
    if other then
      report("calibration", ("%s '%s' is the same kernel as %s '%s'"):format(entry.role, item.name, other.role,
        other.implementation.name), entry.role)
    end
    if key then seen[key] = entry end
  end
end

local BUILD = 60 -- seconds for one kernel

--- Kernels of the portable dialect that the cpu device's compiler refuses; looked for where nothing else is wrong with implementations.
--- They are built in a runner, and nothing of them is launched.
function M.builds(c, report)
  if c.found.calibration then return end
  local client = require("kc.client").new { device = "cpu" }
  for _, entry in ipairs(c.contract:implementations()) do
    local item = entry.implementation
    if item.kind == "kernel" and source.dialect(loader.resolve(c.directory, item.file)) == "kc" then
      local build, why = require("kc.candidate").build_of(c.contract, item, c.directory)
      local built, failure = client:kernel(build or error(why, 0), BUILD)
      if not built then report("calibration", ("%s '%s': %s"):format(entry.role, item.name, failure.text), entry.role) end
      if not built and failure.kind ~= "build" then break end -- no compiler, which says the same of every kernel
    end
  end
  client:close()
end

M.rules = { M.kernels, M.twice, M.builds }

return M
