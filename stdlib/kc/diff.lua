---@module kc.diff
-- `kc diff GOT REFERENCE`: compares two dumped tensors and says where, how much, and what tolerance would accept.
local core = require "kc.core"
local histograms = require "kc.histogram"
local json = require "kc.json"
local show = require "kc.show"
local M = {}

local KINDS = { "ulp", "abs", "rel" }

-- ---- numbers as text --------------------------------------------------------------------------------------------------------

-- A number of a file: in decimal, as hex float and as code.
local function describe(number, format)
  local facts = core.format(format)
  local code = ("0x%%0%dx"):format((facts.bits + 3) // 4):format(number.code)
  if facts.kind ~= "float" then
    local whole = math.tointeger(number.value)
    return whole and ("%d"):format(whole) or ("%.0f"):format(number.value), nil, code
  end
  local text = show.shortest(number.value, function(y) return core.encode(format, y + 0.0) == number.code end)
  return text, json.float(number.value), code
end

local function number_text(number, format)
  local text, hex, code = describe(number, format)
  return hex and ("%s (%s, code %s)"):format(text, hex, code) or ("%s (code %s)"):format(text, code)
end

local function index_text(index) return "[" .. table.concat(index, ", ") .. "]" end

-- Paths come from outside: no line break or escape sequence reaches the terminal.
local function clean(text) return (text:gsub("%c", function(c) return ("\\x%02x"):format(c:byte()) end)) end

-- ---- the report people read ---------------------------------------------------------------------------------------------------

local function file_text(path, info)
  return ("%s: %s[%s]%s%s"):format(clean(path), info.format or info.itemsize .. " raw bytes", table.concat(info.shape, ","),
    info.fortran and ", Fortran order" or "", info.bigendian and ", big-endian" or "")
end

local function share(n, of) return ("%d (%.3g %%)"):format(n, of > 0 and 100 * n / of or 0) end

local function element_text(s, e)
  return ("%s  got %s, reference %s"):format(index_text(e.index), number_text(e.got, s.got.format),
    number_text(e.reference, s.reference.format))
end

local function classes(s, line)
  if s.class_differences == 0 then return end
  line("classes", ("%s elements are of another class, which no tolerance accepts"):format(share(s.class_differences, s.count)))
  for _, row in ipairs(s.classes) do line("", ("%-8s for %-8s %12d"):format(row.got, row.reference, row.count)) end
  line("", "first at " .. element_text(s, s.first_class))
end

local function worst(s, line)
  local unit = { ulp = s.ulps_of and (" of %s"):format(s.ulps_of) or "", abs = "", rel = "" }
  for _, kind in ipairs(KINDS) do
    local e = s.worst[kind]
    if e then line("worst " .. kind, ("%s%s at %s"):format(show.shortest(e.error), unit[kind], element_text(s, e))) end
  end
end

local function histogram(s, line)
  if not s.worst.ulp then return end
  line("ulps", ("median <= %s, 90 %% <= %s, 99 %% <= %s, 99.9 %% <= %s"):format(show.shortest(s.median), show.shortest(s.p90),
    show.shortest(s.p99), show.shortest(s.p999)))
  for i, n in ipairs(s.histogram) do
    if n > 0 then line("", ("%-24s %s"):format(histograms.label(i - 1, not s.ulps_of), share(n, s.finite))) end
  end
end

-- What would have been accepted, ready to be given.
local function tolerances(s, line)
  if s.different == 0 or s.finite == 0 then return end
  local allclose = { ulp = "", abs = "; allclose with atol, rtol=0", rel = "; allclose with rtol, atol=0" }
  local title = s.class_differences > 0 and "others need" or "accepted by"
  for _, kind in ipairs(KINDS) do
    local e = s.worst[kind]
    local error = e and e.error or 0.0
    if error == math.huge then
      line(title, ("no --%s%s"):format(kind, kind == "rel" and ": a reference is 0" or ""))
    else
      line(title, ("--%s %s  (%s%s)"):format(kind, show.shortest(error), json.float(error), allclose[kind]))
    end
    title = ""
  end
end

local function limits(o)
  local list = {}
  for _, kind in ipairs(KINDS) do if o[kind] then list[#list + 1] = ("--%s %s"):format(kind, show.shortest(o[kind])) end end
  return table.concat(list, " and ")
end

local function conclusion(s, o)
  if s.different == 0 then
    local payloads = s.nan_payloads > 0 and (", but for the bits of %d NaNs"):format(s.nan_payloads) or ""
    return ("equal: all %d elements%s"):format(s.count, payloads)
  end
  if limits(o) == "" then return ("different: %s of %d elements"):format(share(s.different, s.count), s.count) end
  if s.beyond == 0 then return ("accepted: %d different elements, all within %s"):format(s.different, limits(o)) end
  return ("refused: %s of %d elements are not within %s"):format(share(s.beyond, s.count), s.count, limits(o))
end

local function text(s, o)
  local lines = {}
  local function line(title, what) lines[#lines + 1] = ("%-12s%s"):format(title, what) end
  line("got", file_text(o.got, s.got))
  line("reference", file_text(o.reference, s.reference))
  if s.different > 0 then
    line("elements", ("%d: %s equal, %s different"):format(s.count, share(s.equal, s.count), share(s.different, s.count)))
    line("", "first difference at " .. element_text(s, s.first))
    classes(s, line)
    worst(s, line)
    histogram(s, line)
    tolerances(s, line)
  end
  lines[#lines + 1] = conclusion(s, o)
  return table.concat(lines, "\n") .. "\n"
end

-- ---- the report programs read -------------------------------------------------------------------------------------------------

local function number_data(number, format)
  local value, hex, code = describe(number, format)
  return { decimal = value, hex = hex, code = code, class = number.class }
end

local function error_data(x) return { decimal = show.shortest(x), hex = json.float(x) } end

local function element_data(s, e)
  return e and { index = json.list(e.index), error = error_data(e.error), got = number_data(e.got, s.got.format),
                 reference = number_data(e.reference, s.reference.format) }
end

local function file_data(path, info)
  return { path = path, format = info.format, shape = json.list(info.shape), fortran = info.fortran, bigendian = info.bigendian }
end

local function document(s, o, accepted)
  local d = { kc = core.version, accepted = accepted, got = file_data(o.got, s.got), reference = file_data(o.reference, s.reference),
              elements = s.count, equal = s.equal, different = s.different, finite = s.finite, nan_payloads = s.nan_payloads,
              class_differences = s.class_differences, classes = json.list(s.classes), beyond = s.beyond, ulps_of = s.ulps_of or s.format,
              ulps = s.ulps_of and "spacing at the reference" or "distance of codes", first = element_data(s, s.first),
              first_class = element_data(s, s.first_class), worst = {}, limits = {}, quantiles = {}, histogram = json.list {} }
  for _, kind in ipairs(KINDS) do
    d.worst[kind] = element_data(s, s.worst[kind])
    d.limits[kind] = o[kind] and error_data(o[kind])
  end
  for _, name in ipairs { "median", "p90", "p99", "p999" } do d.quantiles[name] = error_data(s[name]) end
  for i, n in ipairs(s.histogram) do
    if n > 0 then d.histogram[#d.histogram + 1] = { ulps = histograms.label(i - 1, not s.ulps_of), elements = n } end
  end
  return d
end

local function json_text(s, o, accepted) return json.encode(document(s, o, accepted)) .. "\n" end

-- ---- the command ----------------------------------------------------------------------------------------------------------------

local writers = { text = text, json = json_text }

-- What two headers alone decide: nil when the files can be compared, else a message and an exit code.
local function refuse(got, reference, o)
  local fits = not o.number
  for _, side in ipairs { { o.got, got }, { o.reference, reference } } do
    local path, info = side[1], side[2]
    local format = info.format and core.format(info.format)
    local bare = not format or format.kind ~= "float"
    if o.number and bare and info.itemsize == core.format(o.number).storage then
      fits, info.format = true, o.number
    elseif not format then
      return ("'%s' holds raw elements of %d bytes; name their format: --format bf16, e4m3fn, ..."):format(path, info.itemsize), 64
    end
  end
  if not fits then return ("option '--format': neither file holds integers or raw bytes of the size of %s"):format(o.number), 64 end
  local a, b = table.concat(got.shape, ","), table.concat(reference.shape, ",")
  if a ~= b then return ("shapes differ: [%s] in '%s', [%s] in '%s'"):format(a, o.got, b, o.reference), 1 end
  if o.bits and got.format ~= reference.format then
    return ("formats differ: %s in '%s', %s in '%s'; --bits compares codes of one format"):format(got.format, o.got, reference.format,
      o.reference), 1
  end
end

local function compare(o)
  local got, message = core.npyinfo(o.got)
  local reference
  if got then reference, message = core.npyinfo(o.reference) end
  if not reference then return nil, message, 4 end
  local why, exit = refuse(got, reference, o)
  if why then return nil, why, exit end
  local summary, failure, code = core.npydiff(o.got, o.reference, { format = o.number, as = o.as, bits = o.bits, ulp = o.ulp,
                                                                    abs = o.abs, rel = o.rel })
  return summary, failure, code == "unsupported" and 1 or 4
end

--- Compares two files and writes reports.
---@param o table {got=, reference= paths, number= format of raw files, as=, bits=, ulp=, abs=, rel=, quiet=}
---@param outputs table list of {format = "text"|"json", write = function}
---@return integer exit code, string|nil message
function M.run(o, outputs)
  local summary, message, exit = compare(o)
  if not summary then return exit, clean(message) end
  local accepted = summary.different == 0 or limits(o) ~= "" and summary.beyond == 0
  for _, output in ipairs(outputs) do
    if not (output.quiet and accepted) then output.write(writers[output.format](summary, o, accepted)) end
  end
  return accepted and 0 or 1
end

return M
