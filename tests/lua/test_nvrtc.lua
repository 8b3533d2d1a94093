-- Every portable kernel compiles for NVIDIA's architectures, without a GPU: the lowest, the highest, and two that many have.
local rig = dofile((arg[0]:match("^(.*)/[^/]*$") or ".") .. "/compile_all.lua")
local known = rig.archs "cuda"

local archs, seen = {}, {}
for _, arch in ipairs { known[1], "sm_80", "sm_90", known[#known] } do
  if not seen[arch] then archs[#archs + 1] = arch end
  seen[arch] = true
end
rig.run("cuda", archs)
