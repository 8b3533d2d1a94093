---@module kc
-- kc.sweep: a function or kernel over a whole format, or over a slice of one, against certified exact values.
local core = require "kc.core"
local histogram = require "kc.histogram"
local numbers = require "kc.numbers"
local show = require "kc.show"
local words = require "kc.words"
local M = {}

local MOST = 1 << 20    -- more numbers than this are thinned out
local THINNED = 1 << 16 -- to so many
local COLUMNS = 160     -- pieces that are judged one by one: the points of a plot

-- ---- the numbers --------------------------------------------------------------------------------------------------------------

-- A position on the line of a format's values (core.ordered), as a code.
local function code_at(facts, position)
  return position >= 0 and position or (1 << (facts.bits - 1)) | -position
end

-- The positions of what lies at or within a bound; an infinity that the format lacks is its largest number.
local function position_of(format, key, x, rounding)
  if type(x) ~= "number" or x ~= x then error(("kc.sweep: field '%s': expected a number, got %s"):format(key, words.show(x)), 4) end
  local infinite = math.abs(x) == math.huge
  return core.ordered(format, core.encode(format, x, { rounding = rounding, saturate = infinite and not core.format(format).has_inf }))
end

-- Positions of the least and largest number asked for; of all when nothing was.
local function ends(format, options)
  local first = position_of(format, "from", options.from or -1 / 0, "RU")
  local last = position_of(format, "to", options.to or 1 / 0, "RD")
  if not first or not last or first > last then
    error(("kc.sweep: no number of %s lies from %s to %s"):format(format, tostring(options.from), tostring(options.to)), 4)
  end
  return first, last
end

-- The codes in the order of their values: -0 before +0, NaNs behind all when the whole format is asked for.
local function codes_of(format, options)
  local facts = core.format(format)
  local first, last = ends(format, options)
  local total = last - first + 1
  if total <= 0 or total > 1 << 40 then -- positions and their products must stay within 64 bits
    error(("kc.sweep: more than 2^40 numbers of %s lie there; narrow it with the fields 'from' and 'to'"):format(format), 3)
  end
  local count = math.min(total, options.count or (total > MOST and THINNED or total))
  local list, minus_zero = {}, 1 << (facts.bits - 1)
  for i = 0, count - 1 do
    local position = count == total and first + i or first + math.floor(i * (total - 1) / math.max(count - 1, 1) + 0.5)
    if position == 0 and core.classify(format, minus_zero) == "-0" then list[#list + 1] = minus_zero end
    list[#list + 1] = code_at(facts, position)
  end
  if not options.from and not options.to and facts.bits <= 16 then
    for code = 0, (1 << facts.bits) - 1 do
      if core.classify(format, code) == "nan" then list[#list + 1] = code end
    end
  end
  return list, count == total
end

-- ---- what is judged -------------------------------------------------------------------------------------------------------------

local function of_function(f, format)
  return function(x)
    local y = numbers.buffer(format, #x)
    for i = 1, #x do
      local ok, value = pcall(f, x[i])
      if not ok then error(("kc.sweep: at x = %s: %s"):format(show.decimal(x[i]), tostring(value)), 0) end
      local number = type(value) == "table" and rawget(value, "value") or value
      if type(number) ~= "number" and type(number) ~= "userdata" then
        error(("kc.sweep: at x = %s the function gave %s; expected a number"):format(show.decimal(x[i]), words.show(value)), 0)
      end
      y:setcode(i, numbers.encode(format, number))
    end
    return y
  end
end

-- A kernel reads its first buffer, writes its second, and its whole numbers are the count of elements.
local function of_kernel(kernel, format)
  local group = 64
  return function(x)
    local y, args, buffers = numbers.buffer(format, #x), {}, 0
    for i, parameter in ipairs(kernel.build.params) do
      buffers = buffers + (parameter.buffer and 1 or 0)
      args[i] = not parameter.buffer and #x or buffers == 1 and x or y
    end
    if buffers ~= 2 then
      error(("kc.sweep: the kernel has %d buffers; expected two, what it reads and what it writes"):format(buffers), 0)
    end
    local record = kernel.device:launch(kernel, args, { grid = { (#x + group - 1) // group }, group = { group } })
    if record.evidence then error("kc.sweep: the kernel: " .. record.evidence, 0) end
    return y
  end
end

local function runner_of(f, format)
  if type(f) == "function" then return of_function(f, format) end
  if type(f) == "table" and rawget(f, "build") and rawget(f, "device") then return of_kernel(f, format) end
  error("kc.sweep: argument 1: expected a function of a number or a kernel of a device, got " .. words.show(f), 3)
end

local function oracle_of(exact)
  local oracle = require "kc.oracle"
  if oracle.is(exact) then return exact end
  if type(exact) ~= "function" then
    error("kc.sweep: argument 2: expected the exact function, e.g. kc.exp or kc.oracle.sinh \"x\", got " .. words.show(exact), 3)
  end
  return oracle.of_one(exact)
end

-- ---- judging --------------------------------------------------------------------------------------------------------------------

local Sweep = { __name = "kc.sweep", __metatable = false }
Sweep.__index = Sweep

local function element(x, y, exact, i)
  local lo, hi = exact:at(i)
  return { x = x[i], got = y[i], code = y:code(i), lo = lo, hi = hi }
end

local function tally(sweep, d, x, y, exact)
  sweep.classes, sweep.undecided = sweep.classes + d.class_no, sweep.undecided + d.class_unknown
  if d.first_class_no and not sweep.class_at then sweep.class_at = element(x, y, exact, d.first_class_no) end
  histogram.add(sweep.histogram, d.histogram)
  if not d.worst or d.class_unknown > 0 then return end
  if x[d.worst] == x[d.worst] then sweep.x[#sweep.x + 1], sweep.y[#sweep.y + 1] = x[d.worst], d.worst_ratio_hi end
  if not sweep.worst_at or d.worst_ratio_hi > sweep.worst then
    sweep.worst, sweep.worst_at = d.worst_ratio_hi, element(x, y, exact, d.worst)
  end
end

-- One piece of consecutive numbers, decided in C against a tolerance of one ulp, so that ratios are ulps. Where a class cannot be decided
-- (whether a format without infinities overflows to NaN or to its largest number is nowhere declared) the error is infinite: halves
-- keep the rest of the piece from hiding behind it.
local function judge_piece(sweep, codes, first, last, run, oracle)
  local x = numbers.buffer(sweep.format, last - first + 1)
  for i = 1, #x do x:setcode(i, codes[first + i - 1]) end
  local y, exact = run(x), require("kc.oracle").evaluate(oracle, { x = x })
  local d = assert(core.decide(y, exact, { kind = "ulp", value = 1.0, denormals = "preserve" }))
  if d.class_unknown == 0 or first == last then
    tally(sweep, d, x, y, exact)
  else
    local middle = (first + last) // 2
    judge_piece(sweep, codes, first, middle, run, oracle)
    judge_piece(sweep, codes, middle + 1, last, run, oracle)
  end
end

local function judge(sweep, codes, run, oracle)
  local size = math.max(1, (#codes + COLUMNS - 1) // COLUMNS)
  for first = 1, #codes, size do judge_piece(sweep, codes, first, math.min(first + size - 1, #codes), run, oracle) end
end

local function check(format, options)
  local facts = type(format) == "string" and core.format(format)
  if not facts then
    error("kc.sweep: argument 3: " .. words.unknown("format", format, core.formats()), 3)
  end
  if facts.kind ~= "float" or not facts.has_sign then error("kc.sweep: expected a format of signed floats, got " .. format, 3) end
  local wrong = words.unfit(options, { "from", "to", "count" })
  if wrong then error("kc.sweep: argument 4: " .. wrong, 3) end
  local count = options.count
  if count ~= nil and (math.type(count) ~= "integer" or count < 1) then
    error("kc.sweep: field 'count': expected an integer above 0, got " .. words.show(count), 3)
  end
end

--- Runs a function or kernel on the numbers of a format and compares each result with the exact value: all numbers of a format of up
--- to 20 bits, a slice (`from`, `to`), or evenly many of the slice where it holds more than 2^20. A result has worst (ulps, an upper
--- bound), worst_at {x, got, code, lo, hi}, classes (results of an inadmissible class) with class_at, undecided, histogram (as of
--- kc.metric), and x, y: the worst error of each of up to 160 pieces; it prints as a summary, and kc.plot draws it.
---@param f function|table a function of a number, whose result is rounded to the format, or a kernel (x, y, n)
---@param exact function|table the exact function, e.g. kc.exp, or an oracle of the input "x", e.g. kc.oracle.sinh "x"
---@param format string a format of signed floats
---@param options table|nil {from=, to=, count=}
---@return table sweep
function M.sweep(f, exact, format, options)
  options = options or {}
  check(format, options)
  local run, oracle = runner_of(f, format), oracle_of(exact)
  local codes, every = codes_of(format, options)
  local sweep = setmetatable({ format = format, count = #codes, every = every, from = options.from, to = options.to, worst = 0.0,
                               classes = 0, undecided = 0, histogram = {}, x = {}, y = {} }, Sweep)
  judge(sweep, codes, run, oracle)
  return sweep
end

-- ---- text -----------------------------------------------------------------------------------------------------------------------

local function place(sweep, e)
  local digits = (core.format(sweep.format).bits + 3) // 4
  local exact = e.lo == e.hi and show.decimal(e.lo) or ("[%a, %a]"):format(e.lo, e.hi)
  return ("at x = %s (%a): got %s (0x%0" .. digits .. "x), exact %s"):format(show.decimal(e.x), e.x, show.decimal(e.got), e.code, exact)
end

local function title(sweep)
  local text = ("%s, %s%d numbers"):format(sweep.format, sweep.every and "all " or "", sweep.count)
  if not (sweep.from or sweep.to) then return text end
  return ("%s from %s to %s"):format(text, show.decimal((sweep.from or -1 / 0) + 0.0), show.decimal((sweep.to or 1 / 0) + 0.0))
end

function Sweep:__tostring()
  local lines = { title(self) }
  if self.class_at then
    local at = place(self, self.class_at)
    lines[#lines + 1] = ("  %d of another class (NaN, infinity, zero or number), the first %s"):format(self.classes, at)
  end
  if self.undecided > 0 then
    lines[#lines + 1] = ("  %d beyond the format's largest number, where overflow is not declared"):format(self.undecided)
  end
  if self.worst == 0 then
    lines[#lines + 1] = "  no error in the others"
    if self.classes + self.undecided == 0 then lines[#lines] = "  every result is exact" end
  elseif self.worst_at then
    lines[#lines + 1] = ("  worst error %.4g ulp %s"):format(self.worst, place(self, self.worst_at))
  end
  for _, row in ipairs(histogram.bins(self.histogram)) do
    lines[#lines + 1] = ("  %-9s ulp %10d  %.3g %%"):format(row.label, row.count, 100 * row.count / self.count)
  end
  return table.concat(lines, "\n")
end

return M
