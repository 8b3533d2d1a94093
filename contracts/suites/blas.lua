-- sgemm, sgemv and sdot of the BLAS libraries that Debian ships, each by its full path, side by side. See README.md beside this file.
local kc = require "kc"

-- ---- the libraries ------------------------------------------------------------------------------------------------------------

local function installed(path)
  local list = {}
  for i, machine in ipairs { "x86_64", "aarch64", "riscv64", "powerpc64le", "s390x" } do
    list[i] = ("/usr/lib/%s-linux-gnu/%s"):format(machine, path)
  end
  return list
end

-- `threads` sets their number; `says` are the functions that tell version and chosen kernels.
local libraries = {
  { name = "OpenBLAS", file = installed "openblas-pthread/libopenblas.so.0", threads = "openblas_set_num_threads",
    says = { "openblas_get_config", "openblas_get_corename" } },
  { name = "BLIS", file = installed "blis-pthread/libblis.so.4", threads = "bli_thread_set_num_threads", wide = true,
    says = { "bli_info_get_version_str", { "bli_arch_string", "bli_arch_query_id" } } },
  { name = "ATLAS", file = installed "atlas/libblas.so.3" },
  { name = "reference", file = installed "blas/libblas.so.3" },
}

-- ---- calling them -------------------------------------------------------------------------------------------------------------

-- One library in one runner: functions are looked up once.
local Library = {}
Library.__index = Library

function Library:call(entry, params, args, result)
  local kernel = self.kernels[entry]
  if not kernel then
    kernel = self.device:kernel { file = self.file, entry = entry, params = params, result = result }
    self.kernels[entry] = kernel
  end
  return self.device:launch(kernel, args).result
end

-- The text that a char * points to, copied out by the C library's own strncpy.
function Library:text(pointer)
  local copy = kc.buffer("u8", 256)
  local strncpy = self.device:kernel { file = installed "libc.so.6", entry = "strncpy",
                                       params = { "to: u8[]", "from: u64", "size: u64" } }
  self.device:launch(strncpy, { copy, pointer, 255 })
  return copy:raw():match("^[^%z]*")
end

-- A function's text; a pair is a function of another one's number.
function Library:word(entry)
  if type(entry) == "string" then return self:text(self:call(entry, {}, {}, "u64")) end
  return self:text(self:call(entry[1], { "id: i32" }, { self:call(entry[2], {}, {}, "i32") }, "u64"))
end

function Library:describe(threads)
  local parts = {}
  for i, entry in ipairs(self.says or {}) do parts[i] = self:word(entry):gsub("%s+$", "") end
  if threads then parts[#parts + 1] = ("%d thread%s"):format(threads, threads == 1 and "" or "s") end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function open(library, device, threads)
  local self = setmetatable({ device = device, kernels = {} }, Library)
  for key, value in pairs(library) do self[key] = value end
  if threads then self:call(library.threads, { library.wide and "n: i64" or "n: i32" }, { threads }) end
  return self
end

-- ---- operands as a BLAS wants them --------------------------------------------------------------------------------------------

local SIZE = 4
local NAN, CANARY = string.pack("<I4", 0x7fc00001), string.pack("<I4", 0x7fc0c0de)

-- Rows of a matrix as bytes, or its columns when `transposed`, with `extra` elements of `pad` after each.
local function spread(raw, rows, columns, transposed, extra, pad)
  local out, gap = {}, pad:rep(extra)
  for i = 0, (transposed and columns or rows) - 1 do
    if transposed then
      for j = 0, rows - 1 do out[#out + 1] = raw:sub((j * columns + i) * SIZE + 1, (j * columns + i + 1) * SIZE) end
    else
      out[#out + 1] = raw:sub(i * columns * SIZE + 1, (i + 1) * columns * SIZE)
    end
    out[#out + 1] = gap
  end
  return table.concat(out)
end

local function scratch(bytes)
  local buffer = kc.buffer("f32", math.max(1, #bytes // SIZE))
  if #bytes > 0 then buffer:setraw(bytes) end
  return buffer
end

-- An operand and its leading dimension. Stored as the contract has it, it is the judge's own memory; else a copy with NaN between
-- the rows, which a library that reads there lets through.
local function operand(buffer, rows, columns, transposed, extra)
  local width = transposed and rows or columns
  if not transposed and extra == 0 and #buffer > 0 then return buffer, width end
  return scratch(spread(buffer:raw(), rows, columns, transposed, extra, NAN)), math.max(1, width + extra)
end

-- Calls `compute(buffer, leading dimension)` on the result in place, with a copy of `initial` in it, and looks after the padding.
local function in_place(output, initial, rows, columns, extra, compute)
  if extra == 0 then
    output:setraw(initial:raw())
    return compute(output, columns)
  end
  local buffer = scratch(spread(initial:raw(), rows, columns, false, extra, CANARY))
  compute(buffer, columns + extra)
  local raw, row, kept = buffer:raw(), (columns + extra) * SIZE, {}
  for i = 0, rows - 1 do
    kept[i + 1] = raw:sub(i * row + 1, i * row + columns * SIZE)
    if raw:sub(i * row + columns * SIZE + 1, (i + 1) * row) ~= CANARY:rep(extra) then
      error(("wrote between the rows of the result, after row %d"):format(i + 1), 0)
    end
  end
  local damage = buffer:guards()
  if damage then error("wrote outside the result: " .. damage.text, 0) end
  output:setraw(table.concat(kept))
end

-- ---- the three functions ------------------------------------------------------------------------------------------------------

local SGEMM = { "order: i32", "ta: i32", "tb: i32", "m: i32", "n: i32", "k: i32", "alpha: f32", "a: f32[]", "lda: i32", "b: f32[]",
                "ldb: i32", "beta: f32", "c: f32[]", "ldc: i32" }
local SGEMV = { "order: i32", "ta: i32", "m: i32", "n: i32", "alpha: f32", "a: f32[]", "lda: i32", "x: f32[]", "incx: i32",
                "beta: f32", "y: f32[]", "incy: i32" }
local SDOT = { "n: i32", "x: f32[]", "incx: i32", "y: f32[]", "incy: i32" }

local ROW_MAJOR, AS_IS, TRANSPOSED = 101, 111, 112
local function odd(x) return x % 2 == 1 end
local function order(transposed) return transposed and TRANSPOSED or AS_IS end

-- A contract whose inputs have no `layout` is judged on operands as they lie.
local plain = { 0, 0, 0 }

local function sgemm(library, x, y, n)
  local layout = x.layout or plain
  local ta, tb, extra = odd(layout[1]), odd(layout[2]), layout[3]
  local a, lda = operand(x.A, n.M, n.K, ta, extra)
  local b, ldb = operand(x.B, n.K, n.N, tb, extra)
  in_place(y.C, x.C0, n.M, n.N, extra, function(c, ldc)
    library:call("cblas_sgemm", SGEMM,
      { ROW_MAJOR, order(ta), order(tb), n.M, n.N, n.K, x.alpha[1], a, lda, b, ldb, x.beta[1], c, ldc })
  end)
end

-- A vector with a stride is a matrix of one column with a leading dimension.
local function sgemv(library, x, y, n)
  local ta, extra, gap = odd(x.layout[1]), x.layout[2], x.layout[3]
  local a, lda = operand(x.A, n.M, n.K, ta, extra)
  local v, incx = operand(x.x, n.K, 1, false, gap)
  in_place(y.y, x.y0, n.M, 1, gap, function(result, incy)
    library:call("cblas_sgemv", SGEMV,
      { ROW_MAJOR, order(ta), ta and n.K or n.M, ta and n.M or n.K, x.alpha[1], a, lda, v, incx, x.beta[1], result, incy })
  end)
end

local function sdot(library, x, y, n)
  local v, incx = operand(x.x, n.K, 1, false, x.layout[1])
  local w, incy = operand(x.y, n.K, 1, false, x.layout[2])
  y.r[1] = library:call("cblas_sdot", SDOT, { n.K, v, incx, w, incy }, "f32")
end

-- The contracts of precision hold many products: each column of C is one sgemv, each pair of rows one sdot.
local function columns_by_sgemv(library, x, y, n)
  local columns, old, results = spread(x.B:raw(), n.K, n.N, true, 0, ""), spread(x.C0:raw(), n.M, n.N, true, 0, ""), {}
  local vector, result = kc.buffer("f32", n.K), kc.buffer("f32", n.M)
  for j = 0, n.N - 1 do
    vector:setraw(columns:sub(j * n.K * SIZE + 1, (j + 1) * n.K * SIZE))
    result:setraw(old:sub(j * n.M * SIZE + 1, (j + 1) * n.M * SIZE))
    library:call("cblas_sgemv", SGEMV, { ROW_MAJOR, AS_IS, n.M, n.K, x.alpha[1], x.A, n.K, vector, 1, x.beta[1], result, 1 })
    results[j + 1] = result:raw()
  end
  y.C:setraw(spread(table.concat(results), n.N, n.M, true, 0, ""))
end

local function rows_by_sdot(library, x, y, n)
  local v, w, row = kc.buffer("f32", n.k), kc.buffer("f32", n.k), n.k * SIZE
  local xs, ys = x.x:raw(), x.y:raw()
  for i = 0, n.n - 1 do
    v:setraw(xs:sub(i * row + 1, (i + 1) * row))
    w:setraw(ys:sub(i * row + 1, (i + 1) * row))
    y.d[i + 1] = library:call("cblas_sdot", SDOT, { n.k, v, 1, w, 1 }, "f32")
  end
end

-- ---- who is judged ------------------------------------------------------------------------------------------------------------

-- A library that has threads is judged with one and with four.
local function candidates(prefix, run)
  local list = {}
  for _, library in ipairs(libraries) do
    for _, threads in ipairs(library.threads and { 1, 4 } or { false }) do
      local opened, said
      list[#list + 1] = kc.implementation {
        name = ("%s/%s%s"):format(prefix, library.name, threads == 4 and "-4" or ""), file = library.file, optional = true,
        run = function(device, inputs, outputs, sizes)
          opened = opened or open(library, device, threads)
          opened.device = device
          said = said or opened:describe(threads)
          run(opened, inputs, outputs, sizes)
          return said
        end }
    end
  end
  return list
end

-- ---- what is known of the findings ----------------------------------------------------------------------------------------------

local function known(case, implementation, text) return { case = case, implementation = implementation, text = text } end

local blis_axpy = "BLIS (0.9.0) hands what its blocked kernels leave over to a scaled vector addition (axpyv): in sgemv the columns "
  .. "beyond a multiple of 8, in sgemm single rows or columns and thin products, which go to gemv. That kernel returns at once when its "
  .. "scalar is 0 (kernels/zen/1/bli_axpyv_zen_int10.c: 'if alpha is zero, return early'), so a 0 in one operand hides a NaN or an "
  .. "infinity in the other. Whether it does depends on shape and storage alone: the same numbers give NaN in the next column."
local blis_beta = "BLIS's assembly kernels for Haswell and Zen compare beta with 0 by vucomiss and jump on ZF alone "
  .. "(bli_gemmsup_rv_haswell_asm_*: 'set ZF if beta == 0'); an unordered comparison sets ZF too, so a NaN beta takes the branch of "
  .. "beta = 0 and C is overwritten by alpha A B. Where the product is so small that gemv computes it, NaN comes out."
local atlas_axpy = "ATLAS (3.10.3) computes the columns that its sgemv kernel leaves over, matrices of fewer than four columns, and thin "
  .. "sgemm products by axpy (ATL_mvnk_smallN: 'do cleanup with axpy'), and ATL_saxpy returns at once when its scalar is 0. So a 0 "
  .. "in one operand hides a NaN or an infinity in the other, in these columns only."
local openblas_beta = "OpenBLAS (0.3.21) scales y by beta with sscal first, whose SSE kernel (scal_sse.S; sscal_k_ZEN on a Zen) compares "
  .. "beta with 0 by comiss and jumps on ZF alone; an unordered comparison sets ZF too, so a NaN beta clears y as beta = 0 does."
local quick_return = "All four libraries follow the reference BLAS: sgemv.f returns before anything else when M or N is 0, so y is not "
  .. "multiplied by beta when the inner dimension is 0, and a NaN in y stays even with beta = 0. sgemm.f tests its K differently and does "
  .. "scale C. The contract states the formula; whoever relies on it must treat the empty product himself."

local gemm_known = { known("beta = NaN", "*/BLIS*", blis_beta), known("*0 in *", "*/BLIS*", blis_axpy),
                     known("*0 in *", "*/ATLAS", atlas_axpy) }
local gemv_known = { known("beta = NaN", "*/OpenBLAS*", openblas_beta), known("*0 in *", "*/BLIS*", blis_axpy),
                     known("*0 in *", "*/ATLAS", atlas_axpy), known("K = 0*", "*", quick_return) }

return kc.suite {
  name = "BLAS",
  judge = {
    { contract = "C-EXC-01/gemm.f32", matrix = "sgemm", implementations = candidates("sgemm", sgemm), explain = gemm_known },
    { contract = "C-PRC-01/gemm.f32", matrix = "sgemm", implementations = candidates("precision/sgemm", sgemm) },
    { contract = "C-EXC-01/gemv.f32", matrix = "sgemv", implementations = candidates("sgemv", sgemv), explain = gemv_known },
    { contract = "C-PRC-01/gemm.f32", matrix = "sgemv", implementations = candidates("precision/sgemv", columns_by_sgemv) },
    { contract = "C-EXC-01/dot.f32", matrix = "sdot", implementations = candidates("sdot", sdot) },
    { contract = "C-PRC-01/dot.f32", matrix = "sdot", implementations = candidates("precision/sdot", rows_by_sdot) },
  },
}
