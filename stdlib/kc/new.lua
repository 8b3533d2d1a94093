---@module kc.new
-- `kc new`: a contract that calibrates at once, with what is to be changed said in it, or a kernel in the portable dialect.
local core = require "kc.core"
local verdict = require "kc.verdict"
local words = require "kc.words"
local M = {}

-- Class -> the module that writes its contracts; what each makes is data: {files(o) -> list of {name, text}, operations, formats}.
local families = { ["C-PRC-02"] = "elementwise", ["C-PRC-01"] = "sums", ["C-EXC-01"] = "exceptional" }

local function family(class) return require("kc.new." .. families[class]) end

local function refuse(text, ...) error({ code = "usage", message = text:format(...) }, 0) end

--- Fills a template: each $NAME$ is replaced by its value; an unknown one is an error.
---@param template string
---@param values table
---@return string text
function M.fill(template, values)
  return (template:gsub("%$([%u_]+)%$", function(name)
    return values[name:lower()] or error("the template has no value for " .. name, 0)
  end))
end

-- ---- names -----------------------------------------------------------------------------------------------------------------------

-- What lies before the last slash, and what the thing itself is called.
local function split(path)
  local directory, name = path:gsub("(.)/+$", "%1"):match("^(.*/)([^/]*)$")
  return directory or "", name or path:gsub("(.)/+$", "%1")
end

local function check_name(name)
  if not name:match("^[%a_][%w_.%-]*$") then
    refuse("'%s' is no name: expected letters, digits and . _ -, a letter first, such as C-PRC-02.gelu.f32 or gelu", name)
  end
end

-- Classes that have a scaffold, with what each is for.
local function scaffolds()
  local list = {}
  for _, class in ipairs(words.keys(families)) do list[#list + 1] = ("%s (%s)"):format(class, family(class).about) end
  return table.concat(list, ", ")
end

local function check_class(class)
  if families[class] then return end
  local known = words.keys(require "kc.classes")
  if not words.holds(known, class) then refuse("no class '%s'; %s", class, words.hint(class, known)) end
  refuse("no scaffold for %s; there are %s: begin with the nearest and change the class", class, scaffolds())
end

--- What names may be, and what each scaffold makes: the body of `kc help command new`.
---@return string text
function M.about()
  local lines = { "A contract's NAME is CLASS.OPERATION.FORMAT, such as C-PRC-02.gelu.f32, or OPERATION[.FORMAT], for which the class is",
                  "chosen; a path before it says where. An operation that is not listed gets a stand-in, to be replaced.", "" }
  for _, class in ipairs(words.keys(families)) do
    local made = family(class)
    lines[#lines + 1] = ("  %s  %s"):format(class, made.about)
    local names = table.concat(words.keys(made.operations), " ")
    lines[#lines + 1] = words.wrapped("operations " .. names, (" "):rep(12), 100)
    lines[#lines + 1] = "            formats " .. table.concat(made.formats, " ")
  end
  return table.concat(lines, "\n")
end

-- The class whose scaffold knows an operation.
local function class_of(operation)
  for _, class in ipairs(words.keys(families)) do
    if family(class).operations[operation] then return class end
  end
  return "C-PRC-02"
end

-- "gelu.f32" or "gelu": an operation, and a format.
local function operation_and_format(rest)
  local operation, format = rest:match("^(.*)%.([^.]*)$")
  if not operation then return rest, "f32" end
  if not core.format(format) then
    refuse("no format '%s' in '%s'; %s", format, rest, words.hint(format, core.formats()))
  end
  return operation, format
end

-- CLASS.OPERATION.FORMAT, or a plain name, for which class and format are chosen.
local function parse(name)
  check_name(name)
  local class, rest = name:match("^(%u%-[^.]*)%.(.+)$")
  if not class and name:match("^%u%-") then refuse("'%s': expected CLASS.OPERATION.FORMAT, such as C-PRC-02.gelu.f32", name) end
  local operation, format = operation_and_format(rest or name)
  if class then check_class(class) end
  return { class = class or class_of(operation), operation = operation, format = format, chosen = not class }
end

local function check_format(o, made)
  if words.holds(made.formats, o.format) then return end
  refuse("no scaffold of %s for the format %s; there are %s", o.class, o.format, table.concat(made.formats, ", "))
end

-- ---- writing ---------------------------------------------------------------------------------------------------------------------

local function write(path, text)
  local file, message = io.open(path, "wb")
  local ok = file and file:write(text)
  if not (file and file:close() and ok) then error(("cannot write '%s': %s"):format(path, message or "no room?"), 0) end
end

local function check_free(path, directory)
  if core.stat(path) then refuse("'%s' exists; name what does not", path) end
  local stat = core.stat(directory == "" and "." or directory)
  if not stat or stat.type ~= "directory" then refuse("'%s' is no directory", directory) end
end

-- All files or none: they are written beside, then take their name.
local function write_directory(path, directory, files)
  local temporary, message = core.tempdir(directory .. ".kc.new.")
  if not temporary then error(message, 0) end
  local ok, why = pcall(function()
    for _, file in ipairs(files) do write(temporary .. "/" .. file[1], file[2]) end
    local renamed, reason = os.rename(temporary, path)
    if not renamed then error(("cannot create '%s': %s"):format(path, reason), 0) end
  end)
  if not ok then
    core.removetree(temporary)
    error(why, 0)
  end
end

-- A name that a C function may have.
local function identifier(text)
  local name = text:lower():gsub("[^%w_]", "_")
  return name:match("^%d") and "_" .. name or name
end

--- Makes a directory with a contract, its kernels and a README.
---@param target string path whose last part is CLASS.OPERATION.FORMAT or a plain name
---@return string said what was made and how to go on
function M.contract(target)
  local directory, name = split(target)
  local o = parse(name)
  local made = family(o.class)
  check_format(o, made)
  local path = directory .. name
  check_free(path, directory)
  o.entry, o.known = identifier(o.operation .. "_" .. o.format), made.operations[o.operation] ~= nil
  local files = made.files(o)
  write_directory(path, directory, files)
  local lines = { ("%s: contract %s/%s.%s, %d kernels"):format(path, o.class, o.operation, o.format, #files - 2) }
  if o.chosen then lines[#lines + 1] = ("  class %s (%s) and format %s were chosen"):format(o.class, made.about, o.format) end
  if not o.known then
    lines[#lines + 1] = ("  nothing here is called '%s': it computes %s until you change what is marked CHANGE"):format(o.operation,
      made.stand_in)
  end
  lines[#lines + 1] = ("  kc calibrate %s"):format(path)
  return table.concat(lines, "\n") .. "\n"
end

local kernel_text = [[
/* $NAME$: y[i] = x[i] + x[i]. CHANGE the line that computes; spec/dialect.md lists what the dialect has.
   Run it from kc's prompt:
     d = kc.device "cpu"    (or "opencl", "cuda", "hip": the same text)
     k = d:kernel { file = "$FILE$", entry = "$NAME$", params = { "x: f32[]", "y: f32[]", "n: i32" } }
     x, y = kc.buffer("f32", 4, { 1, 2, 3, 4 }), kc.buffer("f32", 4)
     d:launch(k, { x, y, 4 }, { grid = { 1 }, group = { 64 } })
     y
   Its code for a device that is not here: kc compile $FILE$ --arch sm_90 */
KC_KERNEL void $NAME$(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_i32 n) {
  kc_i32 i = kc_gid(0);
  if (i < n) y[i] = x[i] + x[i];
}
]]

-- A name may be a word of one of the languages that a kernel is compiled as.
local function check_kernel(text, path, name)
  local found = require("kc.lint.dialect").findings(text, path)[1]
  if found then refuse("a kernel cannot be called '%s': %s", name, found.message) end
end

--- Writes a kernel in the portable dialect.
---@param target string path, with or without .k
---@return string said what was made and how to go on
function M.kernel(target)
  local directory, name = split((target:gsub("%.k$", "")))
  check_name(name)
  local entry, path = identifier(name), directory .. name .. ".k"
  check_free(path, directory)
  local text = M.fill(kernel_text, { name = entry, file = path })
  check_kernel(text, path, entry)
  local ok, why = pcall(write, path, text)
  if not ok then
    core.remove(path)
    error(why, 0)
  end
  return ("%s: kernel %s; its comment says how to run it\n"):format(path, entry)
end

local kinds = { contract = M.contract, kernel = M.kernel }

local function make(targets)
  local kind = kinds[targets[1] or ""]
  if not kind then
    refuse("new: expected 'contract NAME' or 'kernel NAME', got '%s'%s", table.concat(targets, " "),
      targets[1] and "; " .. words.hint(targets[1], words.keys(kinds)) or "")
  end
  if #targets ~= 2 then refuse("new %s: expected one name, got %d", targets[1], #targets - 1) end
  return kind(targets[2])
end

--- Runs `kc new KIND NAME`.
---@param targets table
---@param out function
---@return integer exit code
function M.run(targets, out)
  local ok, said = pcall(make, targets)
  if ok then
    out(said)
    return 0
  end
  local known = type(said) == "table" and said.code
  return verdict.refused { error = known and said.message or tostring(said), code = known or "host" }
end

return M
