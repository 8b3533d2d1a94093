---@module kc.manifest
-- A contract's inputs written for another machine, with a manifest that binds outputs to them, and the same read again. See
-- spec/external.md.
local core = require "kc.core"
local exchange = require "kc.exchange"
local json = require "kc.json"
local loader = require "kc.loader"
local measure = require "kc.measure"
local protocol = require "kc.protocol"
local scope = require "kc.scope"
local M = {}

M.VERSION = 1
M.FILE = "manifest.json"

local function refuse(text, ...) error({ code = "usage", message = text:format(...) }, 0) end

--- Why a sample is not exported, or nil: one run cannot answer it.
---@param spec table from protocol
---@return string|nil reason
function M.unanswered(spec)
  if not (spec.relation and spec.relation.change) then return nil end
  return ("the relation '%s' asks for a second run on other inputs, and a dump is one"):format(spec.relation.name)
end

-- ---- writing -----------------------------------------------------------------------------------------------------------------------

local function described(tensor, shape, file)
  return { name = tensor.name, format = tensor.format, shape = json.list(shape), file = file }
end

-- One sample: its inputs in a directory of their own, and its entry of the manifest.
local function export_sample(contract, spec, options)
  local entry = { index = spec.index, label = spec.label, sizes = spec.sizes }
  entry.unanswered = M.unanswered(spec)
  if entry.unanswered then return entry end
  local inputs, why = measure.draw(contract, spec, options)
  if not inputs then
    entry.unanswered = why
    return entry
  end
  entry.directory, entry.inputs, entry.outputs = ("%04d"):format(spec.index), json.list {}, json.list {}
  local directory = ("%s/%s"):format(options.out, entry.directory)
  local ok, message = core.mkdirs(directory)
  if ok then ok, message = exchange.write(directory, options.exchange, inputs, spec.sizes) end
  if not ok then error(message, 0) end
  for i, tensor in ipairs(contract.scope.inputs) do
    local file = ("%s/%s"):format(entry.directory, exchange.file(options.exchange, tensor.name, "inputs"))
    entry.inputs[i] = described(tensor, inputs[i].shape, file)
    entry.inputs[i].sha256 = inputs[i].buffer:digest()
    options.bytes = options.bytes + inputs[i].buffer:bytes()
    inputs[i].buffer:close()
  end
  for i, tensor in ipairs(contract.scope.outputs) do
    local file = ("%s/%s"):format(entry.directory, exchange.file(options.exchange, tensor.name, "outputs"))
    entry.outputs[i] = described(tensor, scope.shape(tensor, spec.sizes), file)
  end
  return entry
end

local function write(path, text)
  local file, message = io.open(path, "wb")
  local ok = file and file:write(text)
  if not (file and file:close() and ok) then error(("cannot write '%s': %s"):format(path, message or "no room?"), 0) end
end

--- Writes the inputs of every sample of a contract's protocol, and the manifest, into a new or empty directory.
---@param loaded table the contract
---@param options table {out=, exchange=, seed=, thorough=, limit=, progress=function|nil}
---@return table summary {samples=, unanswered=, bytes=, first=an output's file}
function M.export(loaded, options)
  local contract = loaded.contract
  local ok, message = core.mkdirs(options.out)
  if not ok then refuse("%s", message) end
  if #(core.listdir(options.out) or {}) > 0 then refuse("'%s' is not empty; name a new directory", options.out) end
  options.bytes = 0
  local summary, list = { samples = 0, unanswered = 0 }, json.list {}
  local samples = protocol.samples(contract, options.seed, options.thorough)
  for i, spec in ipairs(samples) do
    local entry = export_sample(contract, spec, options)
    local counted = entry.unanswered and "unanswered" or "samples"
    summary[counted] = summary[counted] + 1
    summary.first = summary.first or entry.outputs and entry.outputs[1].file
    list[i] = entry
    if options.progress then options.progress(i, #samples) end
  end
  summary.bytes = options.bytes
  write(("%s/%s"):format(options.out, M.FILE), json.encode { manifest = M.VERSION, kc = core.version, contract = contract.id,
    version = contract.identifier.version, digest = loaded.digest, seed = options.seed, thorough = options.thorough or false,
    exchange = options.exchange, samples = list } .. "\n")
  return summary
end

--- What was exported and how to go on, in words.
---@param summary table of M.export, with contract= and unseen=
---@param o table {out=, seed=, thorough=}
---@return string text
function M.summary(summary, o)
  local lines = { ("%s, seed %d: inputs of %d samples, %.1f MiB, in %s"):format(summary.contract, o.seed, summary.samples,
    summary.bytes / 2^20, o.out) }
  if summary.unanswered > 0 then lines[2] = "left out, as one run cannot answer them: " .. summary.unanswered end
  if summary.unseen then lines[#lines + 1] = "note: outputs of it cannot be held: " .. summary.unseen end
  lines[#lines + 1] = ("outputs go to OUTDIR/%s and so on (%s/%s lists them), with a copy of that manifest as OUTDIR/%s; then"):format(
    summary.first or "", o.out, M.FILE, M.FILE)
  lines[#lines + 1] = ("  kc run %s --inputs %s --outputs OUTDIR%s%s"):format(o.targets[1], o.out,
    o.seed ~= 0 and " --seed " .. o.seed or "", o.thorough and " --thorough" or "")
  return table.concat(lines, "\n") .. "\n"
end

-- ---- reading -----------------------------------------------------------------------------------------------------------------------

-- A manifest may have come from another machine: it is looked at before its file names are used.
local function sound(m)
  if type(m) ~= "table" or m.manifest ~= M.VERSION or type(m.samples) ~= "table" then return false end
  local known = false
  for _, format in ipairs(exchange.formats) do known = known or format == m.exchange end
  for i, sample in ipairs(m.samples) do
    local named = type(sample) == "table" and (sample.unanswered or sample.directory == ("%04d"):format(i))
    if not named or type(sample.sizes) ~= "table" then return false end
    for _, tensor in ipairs(type(sample.outputs) == "table" and sample.outputs or {}) do
      local file = type(tensor) == "table" and tensor.file
      if type(file) ~= "string" or not file:match("^%d+/[%w_]+%.%l+$") then return false end
    end
  end
  return known
end

--- Reads the manifest of exported inputs; raises what a user should be told.
---@param directory string
---@return table manifest
---@return string sha256 of its file
function M.read(directory)
  local path = ("%s/%s"):format(directory, M.FILE)
  local text, message = loader.read(path)
  if not text then refuse("no inputs: %s; 'kc export-inputs' writes them", message) end
  local m, why = json.decode(text)
  if not sound(m) then refuse("%s: not a manifest of kc export-inputs: %s", path, why or "fields are missing or malformed") end
  return m, core.sha256(text)
end

-- The manifest beside the outputs says which inputs they are of: a copy of theirs, or its digest in a field `inputs`.
local function check_bound(outputs, digest)
  local path = ("%s/%s"):format(outputs, M.FILE)
  local text, message = loader.read(path)
  if not text then
    refuse("outputs that do not say which inputs they are of: %s; copy the manifest of the inputs there", message)
  end
  if core.sha256(text) == digest then return end
  local m = json.decode(text)
  if type(m) == "table" and m.inputs == digest then return end
  refuse("%s: the outputs are of other inputs: expected a copy of the inputs' manifest, or a field 'inputs' with its SHA-256 %s", path,
    digest)
end

--- Refuses outputs of another contract, seed or inputs: raises what a user should be told.
---@param implementation table a dump
---@param loaded table the contract
---@param request table {seed=, thorough=}
function M.check(implementation, loaded, request)
  local m, digest = M.read(implementation.inputs)
  if m.contract ~= loaded.contract.id then
    refuse("'%s' holds inputs of %s, not of %s", implementation.inputs, tostring(m.contract), loaded.contract.id)
  end
  if m.digest ~= loaded.digest then
    refuse("'%s' holds inputs of another text of %s (or another kc): its digest is %.12s, now %.12s; export them again",
      implementation.inputs, m.contract, tostring(m.digest), loaded.digest)
  end
  if m.seed ~= request.seed then
    refuse("'%s' holds inputs of seed %s, not %d; say --seed %s", implementation.inputs, tostring(m.seed), request.seed, tostring(m.seed))
  end
  if request.thorough and not m.thorough then
    refuse("'%s' holds no inputs of a thorough run; export them with --thorough", implementation.inputs)
  end
  check_bound(implementation.outputs, digest)
end

--- The manifest's entry of a sample; raises where the inputs drawn now are not those that were exported.
---@param m table manifest
---@param index integer
---@param inputs table list of {name=, buffer=}
---@return table entry
function M.sample(m, index, inputs)
  local entry = m.samples[index]
  if not (entry and entry.directory and type(entry.inputs) == "table") then refuse("the manifest has no inputs of sample %d", index) end
  for i, input in ipairs(inputs) do
    local said = entry.inputs[i] or {}
    if said.name ~= input.name or said.sha256 ~= input.buffer:digest() then
      refuse("sample %d: input '%s' of the manifest is not what the protocol draws: its SHA-256 is %.12s, now %.12s", index, input.name,
        tostring(said.sha256), input.buffer:digest())
    end
  end
  return entry
end

return M
