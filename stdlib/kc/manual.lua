---@module kc.manual
-- What help() and the rendered pages say of everything that is no function: commands, options, clauses, formats, ... One group
-- each: its names, a line and a text on a name. The texts come from the tables that the program itself uses and from spec/.
local core = require "kc.core"
local words = require "kc.words"
local M = {}

local function cli() return require "kc.cli" end
local function first_line(text) return (text:match("^[^\n]*")) end

-- ---- the specification: sections and tables of Markdown -----------------------------------------------------------------------

local parsed = {} -- text -> its sections: the specification does not change

--- The sections of a text in Markdown, in order: {title, body}; what stands before the first heading has the title "".
---@param text string
---@return table sections
function M.sections(text)
  if parsed[text] then return parsed[text] end
  local list, fenced = { { title = "", body = {} } }, false
  for line in (text .. "\n"):gmatch("(.-)\n") do
    if line:match("^```") then fenced = not fenced end
    local title = not fenced and line:match("^#+%s+(.*)$")
    if title then list[#list + 1] = { title = title, body = {} } else table.insert(list[#list].body, line) end
  end
  for _, section in ipairs(list) do section.body = table.concat(section.body, "\n"):gsub("^%s*\n", ""):gsub("%s+$", "") end
  parsed[text] = list
  return list
end

--- The cells of a line of a table in Markdown; nil for another line.
---@param line string
---@return table|nil cells
function M.cells(line)
  local inner = line:gsub("\\|", "\0"):match("^|(.*)|%s*$")
  if not inner then return nil end
  local cells = {}
  for cell in (inner .. "|"):gmatch("(.-)|") do cells[#cells + 1] = cell:gsub("%z", "|"):match("^%s*(.-)%s*$") end
  return cells
end

--- The first table of a text: a list of rows, each a list of cells; the first row is the heading.
---@param text string
---@return table rows
function M.table(text)
  local rows = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local cells = M.cells(line)
    if not cells and #rows > 0 then break end
    if cells and not line:match("^|[%s:|-]+$") then rows[#rows + 1] = cells end
  end
  return rows
end

--- The section of a text that is called so (letters' case aside); nil when there is none.
---@param text string
---@param title string
---@return string|nil body
function M.section(text, title)
  for _, section in ipairs(M.sections(text)) do
    if section.title:lower() == title:lower() then return section.body end
  end
end

--- The text of spec/NAME.md.
---@param name string
---@return string text
function M.spec(name) return require("kc.spec")[name] end

-- Names in the first column of a text's first table.
local function row_names(text, pattern)
  local names = {}
  for i, row in ipairs(M.table(text)) do
    for name in (i > 1 and row[1] or ""):gmatch(pattern) do names[#names + 1] = name end
  end
  return names
end

-- The row of a name: "what it is: ...", one line for each column but the first.
local function row_text(text, pattern, name)
  local rows, lines = M.table(text), {}
  for i = 2, #rows do
    for found in rows[i][1]:gmatch(pattern) do
      if found == name then
        for j = 2, #rows[i] do lines[#lines + 1] = ("%s: %s"):format(rows[1][j], rows[i][j]) end
      end
    end
  end
  return table.concat(lines, "\n")
end

local function row_line(text, pattern, name) return (first_line(row_text(text, pattern, name)):gsub("^[^:]*: ", "")) end

-- Sections whose title names it: "T-SOFTMAX, T-LOG-SOFTMAX, T-LOGSUMEXP" is of all three.
local function sections_of(text, name)
  local found = {}
  for _, section in ipairs(M.sections(text)) do
    for title in section.title:lower():gmatch("[%w-]+") do
      if title == name:lower() then found[#found + 1] = section.body end
    end
  end
  return found
end

local function of_table(file, pattern)
  return {
    names = function() return row_names(M.spec(file), pattern) end,
    line = function(name) return row_line(M.spec(file), pattern, name) end,
    text = function(name)
      local parts = { row_text(M.spec(file), pattern, name) }
      for _, body in ipairs(sections_of(M.spec(file), name)) do parts[#parts + 1] = body end
      return table.concat(parts, "\n\n")
    end,
  }
end

-- ---- commands and options ---------------------------------------------------------------------------------------------------

local function row_of(rows, name)
  for _, row in ipairs(rows) do if row[1] == name then return row end end
end

local function option_line(row) return ("  --%-18s %s"):format(row[1] .. (row[3] and " " .. row[3] or ""), row[4]) end

--- The options that a command takes, as rows of the table of options.
---@param command table row of the table of commands
---@return table rows
function M.options_of(command)
  local rows = {}
  for _, row in ipairs(cli().options) do if cli().takes(command, row[1]) then rows[#rows + 1] = row end end
  return rows
end

--- The line that says how a command is called.
---@param command table row of the table of commands
---@return string text
function M.synopsis(command) return ("kc %s [OPTIONS] %s"):format(command[1], command[2]):gsub("%s+$", "") .. "" end

local commands = {}

function commands.names()
  local names = {}
  for i, row in ipairs(cli().commands) do names[i] = row[1] end
  return names
end

function commands.line(name) return row_of(cli().commands, name)[3] end

function commands.text(name)
  local command = row_of(cli().commands, name)
  local lines = { "usage: " .. M.synopsis(command), "", command[3] }
  if command.about then lines[#lines + 1] = "\n" .. command.about() end
  lines[#lines + 1] = "\noptions"
  for _, row in ipairs(M.options_of(command)) do lines[#lines + 1] = option_line(row) end
  return table.concat(lines, "\n")
end

local options = {}

function options.names()
  local names = {}
  for i, row in ipairs(cli().options) do names[i] = row[1] end
  return names
end

function options.line(name) return row_of(cli().options, name)[4] end

function options.text(name)
  local row, takers = row_of(cli().options, name), {}
  for _, command in ipairs(cli().commands) do if cli().takes(command, name) then takers[#takers + 1] = command[1] end end
  return ("%s\n\ntaken by %s"):format(option_line(row):match("^%s*(.*)$"), table.concat(takers, ", "))
end

--- What `kc --help` prints.
---@return string text
function M.usage()
  local lines = { "kc judges kernels against contracts.", "", "usage: kc COMMAND [OPTIONS] [ARGUMENTS]",
                  "       kc FILE.lua [ARGUMENTS] | kc -e CODE | kc -",
                  "       kc [--no-rc]   a prompt on this terminal; --no-rc: without the user's rc.lua", "" }
  for _, row in ipairs(cli().commands) do lines[#lines + 1] = ("  %-13s %-26s %s"):format(row[1], row[2], row[3]) end
  lines[#lines + 1] = ""
  for _, row in ipairs(cli().options) do lines[#lines + 1] = option_line(row) end
  lines[#lines + 1] = "\nexit codes: 0 held, 1 violated, 3 undecided, 4 host error, 5 nothing judged, 64 usage, 130 interrupted"
  lines[#lines + 1] = "kc help COMMAND: its options; kc help TOPIC: a function, a clause, a format, ...; kc help: what topics there are"
  return table.concat(lines, "\n") .. "\n"
end

-- ---- formats, oracles, metrics ------------------------------------------------------------------------------------------------

local formats = { names = core.formats }

local function format_class(f)
  if f.kind ~= "float" then return f.kind == "int" and "signed integer" or "unsigned integer" end
  return ("floating point, %d bit%s of exponent, %d of fraction"):format(f.exp_bits, f.exp_bits == 1 and "" or "s", f.frac_bits)
end

function formats.line(name)
  local f = core.format(name)
  return ("%d bits, %s"):format(f.bits, format_class(f))
end

function formats.text(name)
  local f = core.format(name)
  local decimal = require("kc.show").decimal
  local lines = { formats.line(name), "", ("bytes in memory  %d"):format(f.storage) }
  local function add(what, value) lines[#lines + 1] = ("%-16s %s"):format(what, value) end
  if f.kind ~= "float" then
    add("largest", ("2^%d - 1"):format(f.kind == "int" and f.bits - 1 or f.bits))
  else
    add("exponents", ("%d to %d, bias %d"):format(f.emin, f.emax, f.bias))
    add("largest", ("%s (%a)"):format(decimal(f.max), f.max))
    add("least normal", ("%s (%a)"):format(decimal(f.min_normal), f.min_normal))
    add("least subnormal", ("%s (%a)"):format(decimal(f.min_subnormal), f.min_subnormal))
    add("infinities", f.has_inf and "yes" or "no")
    add("NaN", f.has_nan and f.nan_rule:gsub("_", " ") or "no")
    add("-0", f.has_signed_zero and "yes" or "no")
  end
  lines[#lines + 1] = ("\nkc.%s(x) is x rounded once into it: kc.number."):format(name)
  return table.concat(lines, "\n")
end

local oracles = {}

function oracles.names() return require("kc.oracle").names() end

local function oracle_row(name)
  for _, list in ipairs { core.oracles(), require("kc.exact").oracles() } do
    for _, row in ipairs(list) do if row.name == name then return row end end
  end
end

function oracles.line(name)
  local row = oracle_row(name)
  return row and row.doc or "see spec/oracles.md"
end

-- kc.oracle.layernorm(INPUT[, INPUT[, INPUT]], { axis =, epsilon = })
local function oracle_call(name, parameters)
  local least, most = require("kc.oracle").inputs(name)
  local call = "kc.oracle." .. name .. "(INPUT" .. (", INPUT"):rep(least - 1) .. ("[, INPUT"):rep(most - least) .. ("]"):rep(most - least)
  local fields = {}
  for i, text in ipairs(parameters) do fields[i] = text:match "^[%w_]+" .. " =" end
  return call .. (#fields > 0 and (", { %s }"):format(table.concat(fields, ", ")) or "") .. ")"
end

function oracles.text(name)
  local parameters = require("kc.oracle").parameters(name)
  local lines = { oracle_call(name, parameters), "", oracles.line(name), "", "INPUT is the name of a tensor, a text such as \"x\"." }
  if #parameters > 0 then lines[#lines + 1] = "parameters: " .. table.concat(parameters, "; ") end
  return table.concat(lines, "\n")
end

local metrics = {}

function metrics.names()
  local names = {}
  for i, row in ipairs(core.metrics()) do names[i] = row.name end
  return names
end

function metrics.line(name)
  for _, row in ipairs(core.metrics()) do if row.name == name then return row.doc end end
end

function metrics.text(name) return ("kc.metric(%q, got, reference): %s"):format(name, metrics.line(name)) end

-- ---- classes of contracts, modules, types, chapters ---------------------------------------------------------------------------

local classes = {}

function classes.names() return words.keys(require "kc.classes") end
function classes.line(name) return require("kc.classes")[name]:match("^#%s+%S+%s+([^\n]*)") end
function classes.text(name) return (require("kc.classes")[name]:gsub("^#%s+", ""):gsub("%s+$", "")) end

local modules = {}

function modules.names()
  local names = {}
  for i, row in ipairs(require("kc.docs").modules) do names[i] = row[1] end
  return names
end

function modules.line(name) return first_line(row_of(require("kc.docs").modules, name)[2]) end

--- A documented function and the first line on it, for lists.
---@param row table of kc.docs
---@return string text
function M.listed(row) return ("  %-42s %s"):format(row.name .. row.args, first_line(row.doc)) end

local function listed_where(field, value)
  local lines = {}
  for _, row in ipairs(require "kc.docs") do if row[field] == value then lines[#lines + 1] = M.listed(row) end end
  return table.concat(lines, "\n")
end

function modules.text(name)
  return ("%s\n\n%s"):format(row_of(require("kc.docs").modules, name)[2], listed_where("page", name)):gsub("%s+$", "") .. ""
end

local types = {}

function types.names()
  local names, seen = {}, {}
  for _, row in ipairs(require "kc.docs") do
    if row.class and not seen[row.class] then names[#names + 1], seen[row.class] = row.class, true end
  end
  table.sort(names)
  return names
end

function types.line(name)
  local count = 0
  for _, row in ipairs(require "kc.docs") do if row.class == name then count = count + 1 end end
  return ("%d method%s"):format(count, count == 1 and "" or "s")
end

function types.text(name) return listed_where("class", name) end

-- Every heading of spec/ that is no tolerance, and the files by their names.
local chapters = {}

local function each_chapter(visit)
  for _, file in ipairs(words.keys(require "kc.spec")) do
    for i, section in ipairs(M.sections(M.spec(file))) do
      if section.body ~= "" and not section.title:match("^T%-") then visit(i <= 2 and file or section.title:lower(), section, file) end
    end
  end
end

function chapters.names()
  local names, seen = {}, {}
  each_chapter(function(name)
    if not seen[name] then names[#names + 1], seen[name] = name, true end
  end)
  return names
end

function chapters.line(name)
  local line
  each_chapter(function(found, section, file)
    if found == name and not line then line = ("spec/%s.md: %s"):format(file, section.title) end
  end)
  return line
end

-- A file's beginning, with what else is in it; or what stands below a heading.
function chapters.text(name)
  local parts, inside = {}, {}
  each_chapter(function(found, section, file)
    if found == name then parts[#parts + 1] = section.body end
    if file == name and found ~= name then inside[#inside + 1] = found end
  end)
  if #inside > 0 then parts[#parts + 1] = "chapters in it: " .. table.concat(inside, ", ") end
  return table.concat(parts, "\n\n")
end

-- In the order in which a word is looked up.
M.groups = {
  { "commands", "command", commands }, { "clauses", "clause", of_table("clauses", "`([%w_]+)`") },
  { "classes", "class", classes }, { "formats", "format", formats }, { "oracles", "oracle", oracles },
  { "tolerances", "tolerance", of_table("tolerances", "T%-[%u-]+") }, { "metrics", "metric", metrics },
  { "chapters", "chapter", chapters }, { "modules", "module", modules }, { "types", "type", types }, { "options", "option", options },
}

return M
