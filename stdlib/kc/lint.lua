---@module kc.lint
-- `kc lint`: what is wrong with a contract as far as it shows without running an implementation. The rules (kc.lint.*) run in a judge,
-- like everything that calls contract code.
local paths = require "kc.paths"
local protocol = require "kc.protocol"
local verdict = require "kc.verdict"
local M = {}

local FOUND = 1 -- exit code where a contract has findings
local groups = { "clauses", "tolerance", "protocol", "kernels" }

-- The samples that a contract plans; none, and the reason, where its own functions fail.
local function planned(contract)
  local ok, samples, complete = pcall(protocol.samples, contract, 0)
  if ok then return samples, complete end
  return {}, true, tostring(samples)
end

local function sorted(list)
  for i, item in ipairs(list) do item.order = i end
  table.sort(list, function(a, b) return a.line < b.line or a.line == b.line and a.order < b.order end)
  return list
end

--- Findings in a contract, by line.
---@param loaded table what kc.loader returned
---@param seconds number limit for the contract's own functions
---@return table findings list of {line=, clause=, message=}
function M.findings(loaded, seconds)
  local contracts, contract, list = require "kc.contract", loaded.contract, {}
  local c = { contract = contract, directory = loaded.directory, limit = seconds, found = {} }
  local function report(clause, message, at)
    local line = math.type(at) == "integer" and at or contracts.line_of({ path = loaded.path, line = 1 }, clause, at)
    list[#list + 1], c.found[clause] = { line = line, clause = clause, message = message }, true
  end
  local failure
  c.samples, c.complete, failure = planned(contract)
  if failure then report("protocol", failure) end
  for _, group in ipairs(groups) do
    for _, rule in ipairs(require("kc.lint." .. group).rules) do rule(c, report) end
  end
  return sorted(list)
end

--- Findings in a file: a contract's, or those of the contracts that a suite holds itself.
---@param file table what kc.loader.file returned
---@param seconds number
---@return table findings
function M.file(file, seconds)
  if file.contract then return M.findings(file, seconds) end
  local list, seen = {}, {}
  for _, item in ipairs(file.suite.judge) do
    local own = type(item.contract) == "table" and item.contract
    for _, f in ipairs(own and M.findings({ contract = own, path = file.path, directory = file.directory }, seconds) or {}) do
      local key = ("%d %s"):format(f.line, f.message)
      if not seen[key] then list[#list + 1] = f end
      seen[key] = true
    end
  end
  return sorted(list)
end

--- Findings in a kernel of the portable dialect; nil for a file that is none.
---@param path string
---@return table|nil findings
function M.kernel(path)
  local source = require "kc.source"
  if source.dialect(path) ~= "kc" then return nil end
  local text, message = source.read(path)
  if not text then error({ code = "usage", message = message }, 0) end
  return require("kc.lint.dialect").findings(text, path)
end

-- ---- the command -----------------------------------------------------------------------------------------------------------------

-- One line on each finding; of a file that does not load its error, which names the line itself.
local function show(write, path, reply)
  if reply.error then return write(reply.error .. "\n") end
  for _, f in ipairs(reply.findings) do write(("%s:%d: %s: %s\n"):format(path, f.line, f.clause, f.message)) end
end

local function ask_all(supervisor, files)
  local replies, queue = {}, {}
  for i, path in ipairs(files) do
    queue[i] = { request = { cmd = "lint", path = path, roots = paths.contract_roots() }, done = function(reply) replies[i] = reply end }
  end
  return supervisor:work(queue) and replies
end

-- The worst of what the replies say: a file that is no contract, a host error, findings.
local function code_of(replies)
  local code = 0
  for _, reply in ipairs(replies) do
    local wrong = reply.error and ((reply.code == "contract" or reply.code == "usage") and verdict.exit.usage or 4)
    code = math.max(code, wrong or #reply.findings > 0 and FOUND or 0)
  end
  return code
end

--- Checks the contracts that the command line names.
---@param o table {targets=, jobs=, timeout=, verbose=}
---@param write function
---@return integer exit code 0 clean, 1 findings, 64 a file that is no valid contract
function M.run(o, write)
  local supervisor = require("kc.supervisor").new { jobs = o.jobs, timeout = o.timeout, verbose = o.verbose }
  local reply = supervisor:ask { cmd = "files", targets = o.targets, roots = paths.contract_roots() }
  local replies = not reply.error and ask_all(supervisor, reply.files)
  supervisor:close()
  if reply.error then return verdict.refused(reply) end
  if not replies then return verdict.exit.interrupted end
  for i, path in ipairs(reply.files) do show(write, path, replies[i]) end
  return code_of(replies)
end

return M
