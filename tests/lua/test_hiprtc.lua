-- Every portable kernel compiles for AMD's architectures, without a GPU. Those that this hipRTC does not know are named.
local rig = dofile((arg[0]:match("^(.*)/[^/]*$") or ".") .. "/compile_all.lua")

local known, archs = {}, {}
for _, arch in ipairs(rig.archs "hip") do known[arch] = true end
assert(known.gfx906 and known.gfx90a, "this hipRTC knows neither gfx906 nor gfx90a")
for _, arch in ipairs { "gfx906", "gfx90a", "gfx942" } do
  if known[arch] then archs[#archs + 1] = arch else print("skipped: this hipRTC does not know " .. arch) end
end
rig.run("hip", archs)
