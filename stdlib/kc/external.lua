---@module kc.external
-- The judge's side of implementations that are no kernel of kc's: a command, and outputs that were dumped elsewhere. What of a contract
-- they cannot show is said here, in one place. See spec/external.md.
local core = require "kc.core"
local json = require "kc.json"
local loader = require "kc.loader"
local manifest = require "kc.manifest"
local paths = require "kc.paths"
local M = {}

--- The device that results name: none of kc's.
M.DEVICE = "external"

local kinds = { command = "a command", dumped = "a dump" }

--- True for an implementation that runs outside of kc.
---@param implementation table
---@return boolean
function M.is(implementation) return kinds[implementation.kind] ~= nil end

-- ---- what they cannot show -------------------------------------------------------------------------------------------------------

local function repeated(contract)
  local p = contract.protocol
  return (p.determinism or p.repeats > 1) and ("the protocol asks for %d runs of each tensor, and %%s is one"):format(p.repeats)
end

-- Each gives a text when the contract asks for what such an implementation does not show. `only`: of that kind; `all`: then nothing can
-- be judged.
local blind = {
  { only = "dumped", all = true, asks = function(c)
      return c.tolerance.policy == "RAISE" and "the policy RAISE asks whether a candidate raises, which %s does not say"
    end },
  { asks = function(c)
      return c.identifier.class == "C-MEM-01" and
        "C-MEM-01 asks whether every element was written, and the memory of %s is not kc's to poison"
    end },
  { asks = function(c)
      return c.protocol.interleavings and "the protocol asks for other interleavings of the operations, which %s does not show"
    end },
  { asks = function(c)
      return c.protocol.limit and "the protocol limits the time of a launch, and that of %s is another"
    end },
  { only = "dumped", asks = repeated },
}

--- Why an implementation cannot hold a contract whatever it computes; nil where it can.
---@param contract table
---@param implementation table
---@return string|nil reason
---@return boolean|nil all nothing of the contract can be judged
function M.unseen(contract, implementation)
  for _, rule in ipairs(M.is(implementation) and blind or {}) do
    local text = (not rule.only or rule.only == implementation.kind) and rule.asks(contract)
    if text then return text:format(kinds[implementation.kind]), rule.all end
  end
end

--- Why a sample is not answered by an implementation, or nil.
---@param implementation table
---@param spec table from protocol
---@return string|nil reason
function M.unanswered(implementation, spec)
  return implementation.kind == "dumped" and manifest.unanswered(spec) or nil
end

-- ---- identity --------------------------------------------------------------------------------------------------------------------

-- Digest of a file in a directory, where neither is a link; "-" without one.
local function inside(directory, name)
  local fd = core.openinside(directory, name)
  if not fd then return "-" end
  local digest = core.sha256file("/proc/self/fd/" .. fd)
  core.closefd(fd)
  return digest or "-"
end

local identify = {}

-- The words of a command that are files are part of it.
function identify.command(implementation, directory)
  return { implementation.run, implementation.exchange, loader.digest("", { { implementation = implementation } }, directory) }
end

function identify.dumped(implementation)
  local m, digest = manifest.read(implementation.inputs)
  local parts, seen = { digest }, {}
  for _, sample in ipairs(m.samples) do
    for _, output in ipairs(sample.outputs or {}) do
      local directory, name = output.file:match("^(.*)/([^/]*)$")
      if not seen[output.file] then parts[#parts + 1] = inside(("%s/%s"):format(implementation.outputs, directory), name) end
      seen[output.file] = true
    end
  end
  return parts
end

--- Identity of an implementation that no file holds, under a contract.
---@param loaded table the contract
---@param implementation table
---@param directory string where a command runs
---@return string digest
function M.digest(loaded, implementation, directory)
  local kind = implementation.kind
  return core.sha256(json.encode { loaded.digest, kind, identify[kind](implementation, directory) })
end

--- What a trace records of an external implementation; nil of another.
---@param implementation table
---@return table|nil record
function M.record(implementation)
  if not M.is(implementation) then return nil end
  return { kind = implementation.kind, run = implementation.run, exchange = implementation.exchange, inputs = implementation.inputs,
           outputs = implementation.outputs }
end

-- ---- running -----------------------------------------------------------------------------------------------------------------------

-- A directory that is removed with all that a command left in it, also when something raises.
local Scratch = { __close = function(scratch) core.removetree(scratch.path) end }

local function scratch()
  local path, message = core.tempdir(paths.scratch(core.pid()))
  if not path then error(message, 0) end
  return setmetatable({ path = path }, Scratch)
end

local launchers = {}

function launchers.command(candidate, request, options)
  local place <close> = scratch()
  request.run, request.exchange = candidate.implementation.run, candidate.implementation.exchange
  request.directory, request.place, request.verbose = place.path, candidate.directory, (candidate.runner or {}).verbose
  return candidate.client:call(request, options.timeout)
end

function launchers.dumped(candidate, request, options, inputs)
  local implementation = candidate.implementation
  candidate.manifest = candidate.manifest or manifest.read(implementation.inputs)
  local sample = manifest.sample(candidate.manifest, options.index, inputs)
  request.exchange, request.directory = candidate.manifest.exchange, ("%s/%s"):format(implementation.outputs, sample.directory)
  return candidate.client:call(request, options.timeout)
end

--- Runs an external implementation once.
---@param candidate table
---@param request table {inputs=, outputs=, sizes=}: names and ids of buffers that the runner maps
---@param options table {timeout=, index=of the sample}
---@param inputs table list of {name=, buffer=}
---@return table|nil record, table|nil failure
function M.launch(candidate, request, options, inputs)
  request.op = "external"
  local record, failure = launchers[candidate.implementation.kind](candidate, request, options, inputs)
  if failure and failure.kind == "host" then error(failure.text, 0) end -- kc's own, so it says nothing about the candidate
  return record, failure
end

return M
