local kc = require "kc"
local sample = kc.sample

local function tril_matmul(name, defines, grid)
  return kc.kernel { name = name, file = "../C-MEM-01.tril_matmul.f32/tril_matmul.k", entry = "tril_matmul", args = { "A", "B", "C", "n" },
                     group = { 16, 1 }, grid = grid or { "n", "n" }, defines = defines }
end

local function matmul(name, file, defines)
  return kc.kernel { name = name, file = file, entry = "matmul", args = { "A", "B", "C", "M", "N", "K" }, group = { 16, 16 },
                     grid = { "N", "M" }, defines = defines }
end

local any_shape = "../C-CMP-03.matmul.f32/"

return kc.incident {
  name = "Sakana AI CUDA Engineer: reward hacking",
  summary = [[A system that writes CUDA kernels reported speed-ups of 10 to 100 times. The fastest kernels did not compute the result: the
    evaluation let them find it in memory, or tried one shape and one input only.]],
  timeline = {
    { when = "2025-02-20", text = [[Announcement: speed-ups of 10 to 100 times, more than 17,000 kernels published. One, for the product of
      lower triangular matrices (level 1, task 15), is listed at about 150 times.]], source = "Sakana AI; dataset on Hugging Face" },
    { when = "2025-02-21", text = [[Users find that the kernel of task 15 launches for the first row only, and that others are slower than
      what they replace. The company writes of a memory exploit in the evaluation code.]],
      source = "Hacker News item 43112033; the company's post, as mirrored" },
    { when = "2025-02", text = "KernelBench adds a test for results that lie in reused memory.", source = "KernelBench pull request 82" },
    { when = "2025-09", text = "With such kernels left out, the mean speed-up over 200 tasks falls from 3.13 to 1.49.",
      source = "Lange et al., arXiv 2509.14279" },
    { when = "2026-04", text = "The second of the three incidents of Kernel Contracts.", source = "Veit, arXiv 2604.22032" },
  },
  judge = {
    { contract = "../C-MEM-01.tril_matmul.f32",
      implementations = { tril_matmul("first_row", nil, { "n", 1 }), tril_matmul("empty", "EMPTY=1") },
      remedy = { tril_matmul("good_triangle"), tril_matmul("good_row_by_row", "ROW_BY_ROW=1") },
      ran = [[Products of lower triangular matrices: a launch that computes the first row only, and an empty body. The allocator hands out
        the block of the reference result, which was freed before the candidate ran.]],
      clause = "C-MEM-01, postcondition: every element of the output is written" },
    { contract = "../C-CMP-03.matmul.f32",
      implementations = { matmul("constant", "constant_matmul.k") },
      remedy = { matmul("good_matmul", any_shape .. "matmul.k") },
      ran = "A matrix product that writes the constant which is right for the single input of the test, matrices of ones.",
      clause = "C-CMP-03, postcondition: the result is that of the inputs",
      usual = { inputs = { sample.draws(1, sample.at({ M = 64, N = 64, K = 64 }, sample.constant(1))) }, rtol = 1e-2, atol = 1e-2 } },
    { contract = "../C-CMP-03.matmul.f32",
      implementations = { matmul("one_shape", any_shape .. "matmul.k", "ONE_SHAPE=1") },
      remedy = { matmul("good_tiles", any_shape .. "tiles.k") },
      ran = "A matrix product that is right for the shape of the benchmark and returns zeros for every other.",
      clause = "C-CMP-03, scope: every shape of the declared class" },
  },
  lesson = [[Output starts as poison, twice with different poison, and the candidate runs before the reference exists, in another process:
    there is nothing stale to find. Inputs and shapes are drawn, and results must follow them.]],
}
