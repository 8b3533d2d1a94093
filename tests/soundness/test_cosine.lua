-- Soundness of T-COSINE: kernels that conform to the declaration are never convicted, whatever the order of their sums and the way they
-- apply the norms, fused or not, in f32, f16 and bf16; and what must be convicted is. KC_THOROUGH=1 takes ten times as many rows.
local kc = require "kc"
local core = require "kc.core"
local oracle = require "kc.oracle"
local rows = dofile "tests/soundness/rows.lua"
local device = kc.device("cpu", { isolation = "none" })

local keeping = { f32 = "v", f16 = "kc_f16_to_f32(kc_f32_to_f16(v))", bf16 = "kc_bf16_to_f32(kc_f32_to_bf16(v))" }
local loading = { f32 = "*p", f16 = "kc_f16_to_f32(*p)", bf16 = "kc_bf16_to_f32(*p)" }
local storing = { f32 = "v", f16 = "kc_f32_to_f16(v)", bf16 = "kc_f32_to_bf16(v)" }
local types = { f32 = "kc_f32", f16 = "kc_u16", bf16 = "kc_u16" }

local sums = "SUM(kept(X(j) * Y(j))) xy = sum; SUM(kept(X(j) * X(j))) xx = sum; SUM(kept(Y(j) * Y(j))) yy = sum;"
local roots = sums .. " rx = kept(kc_sqrt(xx)); ry = kept(kc_sqrt(yy));"
local bodies = {
  quotient = roots .. " OUT(xy / kept(rx * ry));",
  quotients = roots .. " OUT(kept(xy / rx) / ry);",
  root_of_product = sums .. " OUT(xy / kept(kc_sqrt(kept(xx * yy))));",
  reciprocals = roots .. " rx = kept(1.0f / rx); ry = kept(1.0f / ry); OUT(kept(xy * rx) * ry);",
  reciprocal = roots .. " rx = kept(1.0f / kept(rx * ry)); OUT(xy * rx);",
  normalised = roots .. " SUM(kept(kept(X(j) / rx) * kept(Y(j) / ry))) OUT(sum);",
  scaled = roots .. " rx = kept(1.0f / rx); ry = kept(1.0f / ry); SUM(kept(kept(X(j) * rx) * kept(Y(j) * ry))) OUT(sum);",
}
local conforming = { "quotient", "quotients", "root_of_product", "reciprocals", "reciprocal", "normalised", "scaled" }
-- A result that is 512 u too large, and a norm that is left out.
local wrong = { sums .. " rx = kept(kc_sqrt(xx)); ry = kept(kc_sqrt(yy)); OUT(xy / (rx * ry) * (1.0f + 512.0f * UNIT));",
                sums .. " OUT(xy / kept(kc_sqrt(xx)));" }

local function kernel(name, body, order, format, fused, denormals)
  local text = body:gsub("SUM(%b())", function(term)
    return (order.text:gsub("TERM%(j%)", function() return term end))
  end)
  local source = ([[
#define UNIT @unit
KC_FN kc_f32 kept(kc_f32 v) { return @kept; }
KC_FN kc_f32 loaded(KC_GLOBAL const @type *p) { return @load; }
KC_FN @type stored(kc_f32 v) { return @store; }
#define X(j) loaded(x + row * d + (j))
#define Y(j) loaded(y + row * d + (j))
#define OUT(v) c[row] = stored(v)
KC_KERNEL void cosine(KC_GLOBAL const @type *x, KC_GLOBAL const @type *y, KC_GLOBAL @type *c, kc_i32 n, kc_i32 d) {
  kc_i32 row = kc_gid(0), j, k = 0;
  if (row < n) {
    kc_f32 sum = 0.0f, xy, xx, yy, rx = 0.0f, ry = 0.0f;
    @body
    if (rx + ry + (kc_f32)k < 0.0f) return;
  }
}
]]):gsub("@(%w+)", { kept = keeping[format], load = loading[format], store = storing[format], type = types[format], body = text,
                     unit = ("%.17gf"):format(2.0 ^ -(core.format(format).frac_bits + 1)) })
  local params = { ("x: %s[]"):format(format), ("y: %s[]"):format(format), ("c: %s[]"):format(format), "n: i32", "d: i32" }
  return { compiled = device:kernel { entry = "cosine", contraction = fused, denormals = denormals, source = source,
                                     params = params }, height = order.height,
           name = ("%s, %s%s"):format(name, order.name, fused and ", fused" or "") }
end

local cosine = kc.oracle.cosine("x", "y")

local function sample(format, x, y, denormals)
  local n, d = table.unpack(x:shape())
  local s = { x = x, y = y, n = n, d = d, format = format, reference = oracle.evaluate(cosine, { x = x, y = y }), known = {} }
  function s.options(height)
    if not s.known[height] then
      -- sqrt is correctly rounded and its reciprocal rounded again.
      s.known[height] = kc.tolerance.cosine { accumulator = format, height = height, rsqrt_error = 2, denormals = denormals }:bind {
        oracles = { c = cosine }, inputs = { x = x, y = y }, references = { c = s.reference }, shapes = { c = { n } },
        formats = { x = format, y = format }, outputs = { { name = "c", format = format } }, sizes = { n = n, d = d } }:core(s.reference)
    end
    return s.known[height]
  end
  return s
end

local function judge(k, s)
  local c = kc.buffer(s.format, { s.n })
  device:launch(k.compiled, { s.x, s.y, c, s.n, s.d }, { grid = { (s.n + 63) // 64 }, group = { 64 } })
  return core.decide(c, s.reference, s.options(k.height))
end

local function filled(format, shape, key, dist)
  local b = kc.buffer(format, shape)
  b:fill(key, dist)
  return b
end

local uniform, log_uniform = rows.uniform, rows.log_uniform
local data = {
  f32 = { rows.normal, uniform(0, 1), uniform(-1000, 1), log_uniform(-20, 20), log_uniform(-70, -55), log_uniform(-64, -58),
          log_uniform(-33, -28), log_uniform(28, 33), log_uniform(58, 63), rows.subnormal },
  f16 = { rows.normal, uniform(0, 1), log_uniform(-4, 2), log_uniform(-8, -3), log_uniform(-14, 15), log_uniform(-10, -5), rows.subnormal },
  bf16 = { rows.normal, uniform(0, 1), log_uniform(-20, 20), log_uniform(-70, -55), rows.subnormal },
}
local sizes = { f32 = { { 512, 1 }, { 512, 2 }, { 256, 5 }, { 64, 33 }, { 16, 257 }, { 2, 4096 } },
                f16 = { { 512, 1 }, { 512, 2 }, { 256, 5 }, { 64, 33 }, { 16, 100 } },
                bf16 = { { 512, 1 }, { 512, 2 }, { 256, 4 }, { 128, 9 }, { 32, 20 } } }

local function kernels(format, denormals)
  local list = {}
  for _, name in ipairs(conforming) do
    for _, order in ipairs(rows.orders) do
      for _, fused in ipairs(format == "f32" and { false, true } or { false }) do
        list[#list + 1] = kernel(name, bodies[name], order, format, fused, denormals)
      end
    end
  end
  return list
end

-- Both rows alike, parallel ones, where the errors of dot product and norms have the same sign or cancel, and one beside N(0,1): then
-- squares and products underflow while the product of the norms does not.
local function pairs_of_rows(format, size, key, dist, denormals)
  local x = filled(format, size, key, dist)
  return { sample(format, x, filled(format, size, key + 1, dist), denormals),
           sample(format, x, filled(format, size, key, dist), denormals),
           sample(format, x, filled(format, size, key + 2, rows.normal), denormals) }
end

local function run(format, denormals, least)
  local started, judged, vacuous, worst, convicted = core.clock(), 0, 0, 0.0, { 0, 0 }
  local good, bad = kernels(format, denormals), {}
  for i, body in ipairs(wrong) do bad[i] = kernel("wrong", body, rows.orders[1], format, false, denormals) end
  for i, dist in ipairs(data[format]) do
    for j, size in ipairs(sizes[format]) do
      for round = 1, os.getenv "KC_THOROUGH" == "1" and 10 or 1 do
        for _, s in ipairs(pairs_of_rows(format, size, 1000 * i + 10 * j + 100000 * round, dist, denormals)) do
          for _, k in ipairs(good) do
            local d = judge(k, s)
            judged, vacuous, worst = judged + d.count, vacuous + d.vacuous, math.max(worst, d.worst_ratio_hi)
            assert(d.class_no + d.value_no == 0, ("%s convicted in %s: %s(%g, %g), n %d, d %d: worst %.4g"):format(k.name, format,
              dist.kind, dist.a or 0, dist.b or 0, s.n, s.d, d.worst_ratio_hi))
          end
          for b, k in ipairs(bad) do
            local d = judge(k, s)
            if d.class_no + d.value_no > 0 then convicted[b] = convicted[b] + 1 end
          end
        end
      end
    end
  end
  assert(judged >= least, ("only %d elements were judged"):format(judged))
  assert(worst >= 0.2, ("kernels use only %.3f of the tolerance: it has become loose"):format(worst))
  assert(convicted[1] > 0 and convicted[2] > 0, "wrong kernels are never convicted")
  print(("cosine in %s, %s: %d passed: none convicted, %.1f %% vacuous; largest share %.3f; wrong ones convicted %d and %d times; %.1f s")
    :format(format, denormals, judged, 100 * vacuous / judged, worst, convicted[1], convicted[2], core.clock() - started))
end

run("f32", "preserve", 350000)
run("f32", "flush", 350000)
run("f16", "preserve", 200000)
run("bf16", "preserve", 200000)

-- ---- what it is not for --------------------------------------------------------------------------------------------------------------

local function refused(pattern, fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok and tostring(message):find(pattern, 1, true), tostring(message))
end

refused("expected the names of two inputs", kc.oracle.cosine, "x")
refused("expected the names of two inputs", kc.oracle.cosine, "x", "y", { axis = 0 })
refused("expected one shape", oracle.evaluate, cosine, { x = kc.buffer("f32", { 2, 3 }), y = kc.buffer("f32", { 2, 1 }) })

-- A row of zeros has no angle, and norms whose product overflows are not every kernel's: nothing is claimed.
for _, value in ipairs { 0, 0x1p40 } do
  local x = kc.buffer("f32", { 1, 4 })
  x:fillvalue(value)
  local d = judge(kernel("quotient", bodies.quotient, rows.orders[1], "f32", false, "preserve"), sample("f32", x, x, "preserve"))
  assert(d.class_no + d.value_no == 0 and (value == 0 or d.vacuous == 1), "nothing is claimed")
end
print "cosine: 5 passed: misuse, a row of zeros, norms that overflow"
