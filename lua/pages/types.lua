-- types.lua - stubs for language servers that read LuaCATS (lua-language-server): one file a module, with its types.
local core = require "kc.core"
local docs = require "kc.docs"
local manual = require "kc.manual"
local comment

local known = {} -- names of types

local function comments(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = ("---" .. (line == "" and "" or " " .. line)):gsub("%s+$", "") .. ""
  end
  return table.concat(lines, "\n")
end

local function tag(kind, name, what)
  local typed, text = comment.typed(what, known)
  return (("---@%s %s%s %s"):format(kind, name and name .. " " or "", typed, (text:gsub("%s+", " "))):gsub("%s+$", ""))
end

local function stub(owner, row)
  local parts = comment.parse(row.doc)
  local lines = { comments(parts.text) }
  if #parts.examples > 0 then lines[#lines + 1] = comments(("\n" .. comment.shown(parts)):gsub("\n(.)", "\n    %1"):sub(2, -2)) end
  for _, what in ipairs(parts.params) do
    if what.name ~= "self" then lines[#lines + 1] = tag("param", what.name, what) end
  end
  for _, what in ipairs(parts.returns) do lines[#lines + 1] = tag("return", nil, what) end
  lines[#lines + 1] = ("function %s%s%s%s end\n"):format(owner, row.class and ":" or ".", row.field, row.args)
  return table.concat(lines, "\n")
end

local function class(name, variable, fields)
  local lines = { "---@class " .. name }
  for _, field in ipairs(fields or {}) do lines[#lines + 1] = "---@field " .. field end
  lines[#lines + 1] = ("local %s = {}\n"):format(variable)
  return table.concat(lines, "\n")
end

-- What module kc has beside its documented functions: the modules that it offers, and a function for each format.
local function fields_of_kc()
  local fields, documented = {}, {}
  for _, row in ipairs(docs) do if row.page == "kc" then documented[row.field] = true end end
  local kc = require "kc"
  for _, name in ipairs(debug.getmetatable(kc).names()) do
    if core.format(name) then
      fields[#fields + 1] = ("%s fun(x: number|kc.real, options?: table): kc.number"):format(name)
    elseif not documented[name] then
      local module = type(kc[name]) == "table" and rawequal(package.loaded["kc." .. name], kc[name])
      fields[#fields + 1] = ("%s %s"):format(name, module and "module.kc." .. name or name == "reals" and "module.kc.exact" or "string")
    end
  end
  return fields
end

local function oracle_stubs()
  local lines, named = {}, {}
  for _, row in ipairs(docs) do if row.page == "kc.oracle" then named[row.field] = true end end
  for _, group in ipairs(manual.groups) do
    for _, name in ipairs(group[1] == "oracles" and group[3].names() or {}) do
      if not named[name] then
        lines[#lines + 1] = ("%s\n---@param ... any names of inputs, and a table of parameters\n---@return kc.oracle oracle\n" ..
          "function M.%s(...) end\n"):format(comments(group[3].text(name)), name)
      end
    end
  end
  return table.concat(lines, "\n")
end

local function file_of(name, doc)
  local lines = { ("---@meta %s\n"):format(name), comments(doc), class("module." .. name, "M", name == "kc" and fields_of_kc()) }
  local declared = {}
  for _, row in ipairs(docs) do
    if row.page == name and row.class and not declared[row.class] then
      lines[#lines + 1], declared[row.class] = class("kc." .. row.class, "T_" .. row.class), true
    end
    if row.page == name then lines[#lines + 1] = stub(row.class and "T_" .. row.class or "M", row) end
  end
  if name == "kc.oracle" then lines[#lines + 1] = oracle_stubs() end
  lines[#lines + 1] = "return M\n"
  return table.concat(lines, "\n")
end

return function(write, context)
  comment = context.comment
  for _, row in ipairs(docs) do if row.class then known[row.class] = true end end
  for _, entry in ipairs(docs.modules) do write(("types/%s.lua"):format(entry[1]), file_of(entry[1], entry[2])) end
end
