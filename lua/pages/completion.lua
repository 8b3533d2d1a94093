-- completion.lua - completion for bash, zsh and fish from the command line's tables. What changes from place to place (contracts,
-- topics of help) is asked of kc when Tab is pressed.
local cli = require "kc.cli"
local manual = require "kc.manual"

local ask = {
  contracts = [[kc -e 'print(table.concat(require("kc.complete").candidates("\"C-", {}), "\n"))' 2>/dev/null]],
  topics = [[kc -e 'for _, s in ipairs(require("kc.help").names()) do if not s:find("[^%w_.:-]") then print(s) end end' 2>/dev/null]],
}

-- What an argument can be, told from how the tables spell it: words that are listed, "contracts", "topics", "files" or nothing.
local function kind_of(spelled)
  if spelled:find("CONTRACT", 1, true) then return "contracts" end
  if spelled:find("TOPIC", 1, true) then return "topics" end
  if spelled:find("FILE", 1, true) or spelled:find("DIR", 1, true) or spelled:find(".npy", 1, true) then return "files" end
  return spelled:match("^%[(%l+)%]$") or ""
end

local function value_of(option, command)
  local values = cli.values(option, command)
  if values then return table.concat(values, " ") end
  if option[1] == "filter" then return "contracts" end
  if option[1] == "clause" then return table.concat(require("kc.contract").clauses, " ") end
  return kind_of(option[3])
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function command_names()
  local names = {}
  for i, row in ipairs(cli.commands) do names[i] = row[1] end
  return table.concat(names, " ")
end

-- ---- bash -------------------------------------------------------------------------------------------------------------------

local bash = [[
# bash completion for kc
_kc_words() {
  case $1 in
    contracts) COMPREPLY=($(compgen -W "$(@CONTRACTS@)" -- "$2")) ; _kc_files "$2" ;;
    topics) COMPREPLY=($(compgen -W "$(@TOPICS@)" -- "$2")) ;;
    files) _kc_files "$2" ;;
    *) COMPREPLY=($(compgen -W "$1" -- "$2")) ;;
  esac
}

_kc_files() {
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen -f -- "$1"))
}

_kc() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options
  COMPREPLY=()
  if [ "$cur" = = ]; then cur=
  elif [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" = 1 ]; then
    case $cur in
      -*) _kc_words "--help --version --no-rc -e" "$cur" ;;
      *) _kc_words "@COMMANDS@" "$cur"; _kc_files "$cur" ;;
    esac
    return
  fi
  case "$command $prev" in
@VALUES@
  esac
  case $command in
@ARGUMENTS@
  esac
}
complete -F _kc kc
]]

-- Lines of "case", those that do the same joined.
local function cases(rows)
  local order, patterns = {}, {}
  for _, row in ipairs(rows) do
    local pattern, action = row[1], row[2]
    if not patterns[action] then order[#order + 1], patterns[action] = action, {} end
    table.insert(patterns[action], pattern)
  end
  local lines = {}
  for _, action in ipairs(order) do lines[#lines + 1] = ("    %s) %s ;;"):format(table.concat(patterns[action], "|"), action) end
  return table.concat(lines, "\n")
end

local function bash_text()
  local values, arguments = {}, {}
  for _, row in ipairs(cli.commands) do
    local names = {}
    for _, option in ipairs(manual.options_of(row)) do
      names[#names + 1] = "--" .. option[1]
      if option[2] then
        local action = ('_kc_words "%s" "$cur"; return'):format(value_of(option, row[1]))
        values[#values + 1] = { ('"%s --%s"'):format(row[1], option[1]), action }
      end
    end
    arguments[#arguments + 1] = { row[1], ('case $cur in -*) _kc_words "%s" "$cur" ;; *) _kc_words "%s" "$cur" ;; esac'):format(
      table.concat(names, " "), kind_of(row[2])) }
  end
  local fill = { CONTRACTS = ask.contracts, TOPICS = ask.topics, COMMANDS = command_names(), VALUES = cases(values),
                 ARGUMENTS = cases(arguments) }
  return (bash:gsub("@(%u+)@", fill))
end

-- ---- zsh --------------------------------------------------------------------------------------------------------------------

local zsh = [[
#compdef kc
# zsh completion for kc
_kc_contracts() {
  local -a ids
  ids=(${(f)"$(@CONTRACTS@)"})
  compadd -a ids
  _files
}

_kc_topics() {
  local -a topics
  topics=(${(f)"$(@TOPICS@)"})
  compadd -a topics
}

_kc() {
  local -a commands
  commands=(
@COMMANDS@
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    _files
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
@ARGUMENTS@
  esac
}

_kc "$@"
]]

local function zsh_plain(text) return (text:gsub("[%[%]:]", "\\%0")) end

local zsh_actions = { contracts = "_kc_contracts", topics = "_kc_topics", files = "_files", [""] = " " }

local function zsh_action(kind) return zsh_actions[kind] or ("(%s)"):format(kind) end

local function zsh_text()
  local names, arguments = {}, {}
  for i, row in ipairs(cli.commands) do
    names[i] = "    " .. quoted(row[1] .. ":" .. zsh_plain(row[3]))
    local words = {}
    for _, option in ipairs(manual.options_of(row)) do
      local repeated = option.list and "*" or ""
      local value = option[2] and (":%s:%s"):format(option[3], zsh_action(value_of(option, row[1]))) or ""
      words[#words + 1] = quoted(("%s--%s%s[%s]%s"):format(repeated, option[1], option[2] and "=" or "", zsh_plain(option[4]), value))
    end
    words[#words + 1] = quoted(("*:argument:%s"):format(zsh_action(kind_of(row[2]))))
    arguments[i] = ("    %s) _arguments %s ;;"):format(row[1], table.concat(words, " \\\n      "))
  end
  local fill = { CONTRACTS = ask.contracts, TOPICS = ask.topics, COMMANDS = table.concat(names, "\n"),
                 ARGUMENTS = table.concat(arguments, "\n") }
  return (zsh:gsub("@(%u+)@", fill))
end

-- ---- fish -------------------------------------------------------------------------------------------------------------------

local function fish_values(kind)
  if ask[kind] then return "-xa " .. quoted("(" .. ask[kind] .. ")") end
  if kind == "files" then return "-rF" end
  return "-x" .. (kind ~= "" and "a " .. quoted(kind) or "")
end

local function fish_text()
  local lines = { "# fish completion for kc", "complete -c kc -e" }
  local function add(condition, more) lines[#lines + 1] = ("complete -c kc -n %s %s"):format(quoted(condition), more) end
  local first = "test (count (commandline -opc)) -eq 1"
  for _, row in ipairs(cli.commands) do
    local chosen = "contains -- " .. row[1] .. " (commandline -opc)[2]"
    add(first, ("-a %s -d %s"):format(row[1], quoted(row[3])))
    for _, option in ipairs(manual.options_of(row)) do
      local value = option[2] and " " .. fish_values(value_of(option, row[1])) or ""
      add(chosen, ("-l %s%s -d %s"):format(option[1], value, quoted(option[4])))
    end
    local kind = kind_of(row[2])
    if ask[kind] then add(chosen, "-a " .. quoted("(" .. ask[kind] .. ")"))
    elseif kind ~= "files" then add(chosen, "-f" .. (kind ~= "" and " -a " .. quoted(kind) or "")) end
  end
  return table.concat(lines, "\n") .. "\n"
end

return function(write)
  write("doc/completion/bash/kc", bash_text())
  write("doc/completion/zsh/_kc", zsh_text())
  write("doc/completion/fish/kc.fish", fish_text())
end
