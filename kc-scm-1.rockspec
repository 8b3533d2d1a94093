rockspec_format = "3.0"
package = "kc"
version = "scm-1"
source = {
  url = "file://.", -- `luarocks make` in a checkout; a release names its archive here
}
description = {
  summary = "Kernel contracts as Lua tables, judged by a C host",
  detailed = [[
kc judges numerical kernels against contracts: enclosures of the exact result decide every element. The rock brings the module
(`require "kc"`: numbers of any format, buffers, metrics, contracts), and in its own folder the programs, libkc.so and the contracts.]],
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.5", "lua-cjson >= 2.1" }
build = {
  type = "cmake",
  -- What LuaRocks moves is the module alone; the rest stays together in the rock's folder, where the module finds it.
  variables = {
    CMAKE_BUILD_TYPE = "RelWithDebInfo",
    CMAKE_INSTALL_PREFIX = "$(PREFIX)/kc",
    CMAKE_INSTALL_LIBDIR = "lib",
    KC_INSTALL_LUADIR = "$(LIBDIR)",
    KC_MODULE_RPATH = "$(PREFIX)/kc/lib",
    KC_TESTS = "OFF",
  },
}
