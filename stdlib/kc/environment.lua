---@module kc.environment
-- What a run stands on: the first line of its trace, and what reports say of it.
local core = require "kc.core"
local json = require "kc.json"
local trace = require "kc.trace"
local M = {}

-- What was judged with more than kc's own: files by their digests; of an embedding program's own there is no file.
local function extensions()
  local list = {}
  for i, x in ipairs(core.extensions()) do
    list[i] = { path = x.path, sha256 = x.path and require("kc.loader").file_digest(x.path),
                drivers = json.list(x.drivers), oracles = json.list(x.oracles), metrics = json.list(x.metrics) }
  end
  return #list > 0 and list or nil
end

--- Describes it.
---@param options table of the run
---@param fingerprints table of options.devices
---@return table environment
function M.describe(options, fingerprints)
  local system, devices = core.uname(), {}
  for i, f in ipairs(fingerprints) do
    devices[i] = ("%s: %s, %s, %s"):format(options.devices[i], f.name, f.driver, f.compiler ~= "" and f.compiler or "no compiler")
  end
  return { type = "environment", schema = trace.SCHEMA, kc = core.version, isolation = options.listener and options.listener.isolation,
           extensions = extensions(), seed = options.seed, devices = devices, fingerprints = fingerprints, timeout = options.timeout,
           system = ("%s %s %s"):format(system.sysname, system.release, system.machine), time = ("%.0f"):format(core.realtime()),
           targets = options.targets }
end

return M
