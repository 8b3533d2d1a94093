local kc = require "kc"
local sample = kc.sample

local function dot(name)
  return kc.kernel { file = ("../C-PRC-01.dot.f32/%s.k"):format(name), entry = "dot", args = { "x", "y", "d", "n", "k" }, group = { 32 },
                     grid = { "n" } }
end

return kc.incident {
  name = "Huawei Ascend: silent precision coercion",
  summary = [[Networks that declare f32 were computed with narrower operands: matrix and convolution units round f32 to HF32 (f32's range,
    12 significand bits) or f16 unless told otherwise. Nothing reports it, and tests with the usual tolerances pass.]],
  timeline = {
    { when = "CANN", text = [[HF32 replaces f32 inside convolutions by default, inside matrix products on request; the graph compiler's
      precision mode defaults to f16 even for nodes that say f32.]],
      source = "hiascend documentation: ATC --allow_hf32, precision_mode; torch_npu: conv.allow_hf32 is True by default" },
    { when = "issue #125", text = "A converted recommendation model: the hit rate of the first ten falls from 100 % to 5 to 8 %.",
      source = "github.com/Ascend/pytorch issue 125" },
    { when = "PR #18025", text = "An f32 matrix product has 12.7 effective bits where 23.9 are due; the fix asks the unit for f32.",
      source = "github.com/Jittor/jittor pull request 18025" },
    { when = "2025-11", text = "Model outputs agree with those of an H200 in 94.9 % of cases (99.8 % for an MI300X).",
      source = "Wen et al., arXiv 2511.11601" },
    { when = "2026-04", text = "The first of the three incidents of Kernel Contracts: violates C-PRC-01.",
      source = "Veit, arXiv 2604.22032, section 6.1" },
  },
  judge = {
    { contract = "../C-PRC-01.dot.f32",
      implementations = { dot "operands_hf32", dot "operands_tf32", dot "acc_f16" },
      remedy = { dot "sequential", dot "lanes" },
      ran = [[Dot products of declared f32: operands rounded to HF32 (the documented mode); to 11 bits, as f16 and TF32 have them (the graph
        compiler's default); sums kept in f16.]],
      clause = "C-PRC-01, postcondition: as if every partial sum were kept in the declared accumulator, f32",
      usual = { inputs = { sample.at({ n = 64, k = 64 }, sample.normal()) }, rtol = 1e-2, atol = 1e-1 } },
  },
  lesson = [[1 * v must return v bit for bit; this needs no reference and names the format that was substituted. The usual tolerance cannot
    see the coercion: it lies below it. What a device substitutes is a declaration that the contract asks for, not a matter of taste.]],
}
