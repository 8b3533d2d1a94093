/* kc_module.c - the C module that stock Lua loads for `require "kc"`; all of it lies in libkc. */
#include "kc_embed.h"

KC_API int luaopen_kc(struct lua_State *L);

int luaopen_kc(struct lua_State *L) {
  return kc_luaopen(L);
}
