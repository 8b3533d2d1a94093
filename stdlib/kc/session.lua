---@module kc
-- A judge for scripts and the prompt: the verdicts that `kc run` gives, as Lua tables.
local words = require "kc.words"
local M = {}

--- Judges implementations of a contract, after calibration; candidates run in a runner of their own. isolation = "none" runs them in this
--- process, with its extensions: a crash or a hang is its own, and results say so.
---@param target string contract file, or a contract's id, class or name
---@param options table|nil {impl=glob (default: the good ones), device="cpu", seed=0, timeout=60, progress=function, isolation="none",
---  extensions=list of shared objects, where kc is a library}
---@return table results list of {contract=, implementation=, verdict={name=, reason=}, worst=, replay=, ...}
function M.judge(target, options)
  local wrong = words.unfit(options or {}, { "impl", "device", "seed", "timeout", "progress", "extensions", "isolation" })
  if wrong then error("kc.judge: argument 2: " .. wrong, 2) end
  local isolation = options and options.isolation
  if isolation ~= nil and isolation ~= "none" then
    error("kc.judge: field 'isolation': expected \"none\" or nothing, got " .. words.show(isolation), 2)
  end
  if require("kc.core").role == "guest" then return require("kc.embed").judge(target, options) end
  options = options or {}
  local seconds, device, seed = options.timeout or 60, options.device or "cpu", options.seed or 0
  require("kc.core").subreaper()
  local judge = require("kc.judge").new { limit = seconds, progress = options.progress,
                                        runner = { inside = isolation == "none" } }
  local function ask(request)
    request.seed, request.timeout = seed, seconds
    local reply = judge:answer(request)
    if reply.error then error(reply.error, 3) end
    return reply
  end
  local results = {}
  for _, path in ipairs(ask({ cmd = "files", targets = { target }, roots = require("kc.paths").contract_roots() }).files) do
    local roots = require("kc.paths").contract_roots()
    for _, plan in ipairs(ask({ cmd = "plan", path = path, devices = { device }, impl = options.impl, roots = roots }).plans) do
      local record = ask({ cmd = "calibrate", path = plan.contract.path, devices = { device }, cached = true }).record
      for _, cell in ipairs(plan.cells) do
        local result = ask({ cmd = "cell", path = path, device = cell.on, implementation = cell.implementation }).result
        if not record.ok then result.verdict = require("kc.verdict").new("mistrusted", record.reasons[1]) end
        results[#results + 1] = result
      end
    end
  end
  return results
end

return M
