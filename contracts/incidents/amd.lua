local kc = require "kc"
local sample = kc.sample

local raise, clamp = "../C-EXC-02.gather.raise.f32/check.k", "../C-EXC-02.gather.clamp.f32/"

-- A gather that launches without a check, or with one on the device whose status the host turns into an error.
local function gather(name, file, checked)
  return kc.implementation { name = name, kernels = { raise, clamp .. file }, run = function(device, x, y, sizes)
    local grid, status = { (sizes.m + 63) // 64 }, kc.buffer("i32", 1)
    if checked then
      local check = device:kernel { file = raise, entry = "check", params = { "index: i32[]", "status: i32[]", "n: i32", "m: i32" },
                                    defines = "LIMIT=0" }
      device:launch(check, { x.index, status, sizes.n, sizes.m }, { grid = grid, group = { 64 } })
      if status[1] ~= 0 then error "index out of range" end
    end
    local kernel = device:kernel { file = clamp .. file, entry = "gather",
                                   params = { "data: f32[]", "index: i32[]", "y: f32[]", "n: i32", "m: i32" } }
    device:launch(kernel, { x.data, x.index, y.y, sizes.n, sizes.m }, { grid = grid, group = { 64 } })
  end }
end

local function scatter(name, file, defines)
  return kc.kernel { name = name, file = "../C-EXC-02.scatter.drop.f32/" .. file, entry = "scatter",
                     args = { "base", "index", "v", "y", "n", "m" }, group = { 64 }, grid = { "n" }, defines = defines }
end

local inside = sample.draws(2, sample.inputs { data = sample.log_uniform(0, 8), index = sample.integers(0, 999) })

return kc.incident {
  name = "AMD: out-of-bounds indices accepted silently",
  summary = [[Indices outside of a tensor raise an error on two vendors' devices and return a value on a third: a neighbour's memory, zero,
    or the nearest element. Writes land in a neighbouring tensor. It depends on how the libraries were built; nothing declares it.]],
  timeline = {
    { when = "2017", text = "NVIDIA's builds had the same defect: an index beyond the table is read without an error.",
      source = "pytorch issues 571 and 1368" },
    { when = "2025-05", text = [[Index 4 of a tensor of 4 elements is read on ROCm 6.2 and 6.3, and a write there changes a neighbour;
      NVIDIA's build raises.]],
      source = "pytorch issue 155045" },
    { when = "2025-11", text = [[About 1,700 generated inputs raise on an H200 and on a MAX 1100 and return a value on an MI300X; which one
      is not documented.]], source = "Wen et al., arXiv 2511.11601" },
    { when = "2026-04", text = "The third of the three incidents of Kernel Contracts: violates C-EXC-02.",
      source = "Veit, arXiv 2604.22032" },
    { when = "2026", text = "Hangs and faults on other chips: device asserts are compiled out unless a build flag asks for them.",
      source = "pytorch issue 196377 and pull request 196422" },
  },
  judge = {
    { contract = "../C-EXC-02.gather.raise.f32",
      implementations = { gather("unchecked", "unchecked.k"), gather("returns_zero", "zeroes.k"), gather("clamps", "clamps.k"),
                          gather("wraps", "wraps.k") },
      remedy = { gather("good_checks", "unchecked.k", true) },
      ran = [[Gathers that never check: what lies beside the tensor is read, or the index is answered by zero, the nearest or a wrapped
        element.]],
      clause = "C-EXC-02, postcondition: an index outside raises (policy RAISE)",
      usual = { inputs = { inside }, rtol = 1e-5, atol = 1e-8 } },
    { contract = "../C-EXC-02.scatter.drop.f32",
      implementations = { scatter("unchecked_write", "scatter.k", "UNCHECKED=1") },
      remedy = { scatter("good_write", "by_element.k") },
      ran = "A scatter that writes wherever the index says.",
      clause = "C-EXC-02, postcondition: a write outside is dropped, nothing outside of the output changes" },
  },
  lesson = [[A test with indices inside says nothing: all of these kernels pass it without an error. The policy for the others belongs into
    the contract; a control run shows that a kernel that raises does not raise always; guards show whose memory was read or written.]],
}
