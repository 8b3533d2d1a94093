local kc = require "kc"
local tol, sample = kc.tolerance, kc.sample

local function tril_matmul(name, defines, grid)
  return kc.kernel { name = name, file = "tril_matmul.k", entry = "tril_matmul", args = { "A", "B", "C", "n" }, group = { 16, 1 },
                     grid = grid or { "n", "n" }, defines = defines }
end

local triangular = sample.tril(sample.uniform(1, 2))
local large = sample.named("triangles", sample.draws(3, sample.at({ n = 64 }, triangular)))

return kc.contract {
  identifier    = { class = "C-MEM-01", name = "tril_matmul.f32", version = "1.0" },
  scope         = { operation = "product of lower triangular matrices, every element written", inputs = { "A: f32[n,n]", "B: f32[n,n]" },
                    outputs = { "C: f32[n,n]" }, shapes = { n = kc.range(1, 128) } },
  precondition  = function(x) return { kc.finite(x.A), kc.finite(x.B) } end,
  postcondition = function(_, y, ref, t) return { kc.same_class(y.C, ref.C, t), kc.within(y.C, ref.C, t) } end,
  tolerance     = tol.dot { kind = "proved", terms = "n", height = "n - 1", accumulator = "f32", denormals = "preserve" },
  oracle        = kc.oracle.matmul("A", "B"),
  protocol      = { inputs = { large, sample.draws(8, sample.named("triangles of any size", triangular)) },
                    judged = "tensor", samples = 8, budget = 4e6, vacuous = 0.0,
                    statistic = "max", pass = "every element written, error / tolerance <= 1", repeats = 1 },
  signature     = { pattern = "part of the output is whatever was there before",
                    test = function(m)
                      if not m:saw("unwritten", "triangles") then return kc.no "every element is written" end
                      return kc.yes(("%.4g %% of the elements keep one poison and the other"):format(100 * m:unwritten(large.label)))
                    end },
  calibration   = { baseline = tril_matmul("zeros", "ZEROS=1"),
                    bad = { tril_matmul("first_row", nil, { "n", 1 }), tril_matmul("empty", "EMPTY=1"),
                            tril_matmul("lower_part", "LOWER_PART=1") },
                    good = { tril_matmul "triangle", tril_matmul("row_by_row", "ROW_BY_ROW=1") },
                    probes = { sample.at({ n = 16 }, triangular) },
                    -- The usual test computes the reference first and frees it; the allocator hands the block out again.
                    functional = { inputs = { sample.draws(2, sample.at({ n = 64 }, triangular)) }, rtol = 1e-2, atol = 1e-2,
                                   reuse = true } },
}
