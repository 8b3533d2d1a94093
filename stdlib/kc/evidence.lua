---@module kc.evidence
-- Static evidence: what the instructions of compiled code say about its arithmetic. It stands beside a verdict and is never one: a
-- fused multiply-add may be the author's, a library function's or a division's.
local M = {}

-- What is counted, in the order in which it is shown, by the names of instructions in each language. An instruction may count more
-- than once (fma.rn.ftz.f32 fuses and flushes). `except`: names that look alike and are something else.
local rows = {
  { name = "fused", text = "fused multiply-adds",
    ptx = { "^fma%.", "^mad%..*%.b?f%d" },
    amdgcn = { "^v_fma_", "^v_fmac_", "^v_fmaak_", "^v_fmamk_", "^v_pk_fma", "^v_dual_fma" } }, -- v_mad_f32 and v_mac_f32 round twice
  { name = "approximate", text = "approximations",
    ptx = { "%.approx", "^div%.full" },
    amdgcn = { "^v_rcp_", "^v_rsq_", "^v_sqrt_", "^v_exp_", "^v_log_", "^v_sin_", "^v_cos_" } },
  { name = "flushing", text = "that flush denormals",
    ptx = { "%.ftz" },
    amdgcn = { "^v_mad_f32", "^v_mac_f32", "^v_madak_f32", "^v_madmk_f32", "^v_mad_legacy", "^v_mac_legacy" } },
  { name = "rounded", text = "correctly rounded divisions or roots",
    ptx = { "^div%.r[nzmp]", "^sqrt%.r[nzmp]", "^rcp%.r[nzmp]" },
    amdgcn = { "^v_div_fixup" } },
  { name = "float_atomics", text = "atomics on floats, in no order",
    ptx = { "^atom%..*%.b?f%d", "^red%..*%.b?f%d" },
    amdgcn = { "_atomic_.*f%d", "_atomic_f", "^ds_.*_f%d" } },
  { name = "integer_atomics", text = "atomics on integers",
    ptx = { "^atom%..*%.[sub]%d", "^red%..*%.[sub]%d" },
    amdgcn = { "_atomic_", "^ds_%a+_[ui]%d", "^ds_%a+_rtn_[uib]%d", "^ds_cmpst", "^ds_wrxchg", "^ds_and_b", "^ds_x?or_b" },
    except = { "_atomic_.*f%d", "_atomic_f" } },
  { name = "matrix", text = "operations of matrix units",
    ptx = { "^w?mma%.", "^wgmma%.mma", "^tcgen05%.mma" },
    amdgcn = { "^v_mfma", "^v_smfmac", "^v_s?wmma" } },
  { name = "calls", text = "calls of functions that are not counted here",
    ptx = { "^call" }, amdgcn = { "^s_swappc" } },
}

local function matches(list, name)
  for _, pattern in ipairs(list or {}) do if name:find(pattern) then return true end end
  return false
end

-- ---- instructions of one kernel: its part of the text, one name after another ---------------------------------------------------

local readers = {}

-- Statements end in ; and may take several lines, a predicate may stand before them; directives, labels and comments are none. Braces
-- make a block where a statement could begin, else they hold operands.
function readers.ptx(text, entry, visit)
  local inside, deep, fresh, operands = false, 0, true, false
  for line in text:gmatch("[^\n]+") do
    line = line:gsub("//.*", "")
    local name = line:match("%.entry%s+([%w_$]+)") or line:match("%.func%s.-([%w_$]+)%s*%(")
    if name and deep == 0 then inside = name == entry end
    for statement, stop in (line .. "\n"):gmatch("([^;{}\n]*)([;{}\n])") do
      local word = statement:gsub("^%s*@!?%%%w+", ""):match("^%s*(%a[%w_.:]*)")
      if fresh and deep > 0 and word and not word:find(":$") then
        if inside then visit(word) end
        fresh = false
      end
      if stop == ";" then
        fresh = true
      elseif stop ~= "\n" and (operands or not fresh) then
        operands = stop == "{"
      elseif stop ~= "\n" then
        deep = deep + (stop == "{" and 1 or -1)
      end
    end
  end
end

-- A label stands at the beginning of a line, instructions behind white space; some only fill the space up to the next kernel.
function readers.amdgcn(text, entry, visit)
  local inside = false
  for line in text:gmatch("[^\n]+") do
    local label = line:match("^([%w_$.]+):")
    if label then inside = label == entry end
    local name = line:match("^%s+(%a[%w_]+)")
    if inside and name and name ~= "s_nop" and name ~= "s_code_end" then visit(name) end
  end
end

-- ---- the counts -------------------------------------------------------------------------------------------------------------------

--- Counts the instructions of a kernel's code that matter to its numbers.
---@param code table {language="ptx"|"amdgcn", arch=, entry=, text=}, what core.compile and kernel:code() give
---@return table|nil evidence {language=, arch=, instructions=integer, counts={{name=, count=}, ...} of those found}
function M.of(code)
  local read = readers[code.language]
  if not read then return nil end
  local counts, total = {}, 0
  read(code.text, code.entry, function(name)
    total = total + 1
    for i, row in ipairs(rows) do
      if matches(row[code.language], name) and not matches(row.except, name) then counts[i] = (counts[i] or 0) + 1 end
    end
  end)
  local list = {}
  for i, row in ipairs(rows) do
    if counts[i] then list[#list + 1] = { name = row.name, count = counts[i] } end
  end
  return { language = code.language, arch = code.arch, instructions = total, counts = list }
end

--- One line of it.
---@param evidence table
---@return string
function M.text(evidence)
  local parts = {}
  for _, item in ipairs(evidence.counts) do
    for _, row in ipairs(rows) do
      if row.name == item.name then parts[#parts + 1] = ("%d %s"):format(item.count, row.text) end
    end
  end
  local found = #parts > 0 and table.concat(parts, ", ") or "nothing that bears on rounding or order"
  return ("of %d instructions in the %s for %s: %s"):format(evidence.instructions, evidence.language, evidence.arch, found)
end

return M
