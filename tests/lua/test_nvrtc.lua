-- Every portable kernel compiles for NVIDIA's architectures, without a GPU.
local rig = dofile((arg[0]:match("^(.*)/[^/]*$") or ".") .. "/compile_rig.lua")
local archs = rig.archs "cuda"

local wanted, seen, passed = { archs[1], "sm_80", "sm_90", archs[#archs] }, {}, 0
for _, arch in ipairs(wanted) do
  if not seen[arch] then passed = passed + rig.all("cuda", arch) end
  seen[arch] = true
end
print(passed .. " passed")
