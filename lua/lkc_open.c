/* lkc_open.c - composition root of module kc.core, and what a state was told of its surroundings. */
#include "lkc.h"

static const char program_key = 0, guest_key = 0;

void lkc_setprogram(lua_State *L, const char *path) {
  lua_pushstring(L, path);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &program_key);
}

void lkc_pushprogram(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &program_key);
}

void lkc_setguest(lua_State *L, bool guest) {
  lua_pushboolean(L, guest);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &guest_key);
}

bool lkc_isguest(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &guest_key);
  bool guest = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return guest;
}

int luaopen_kc_core(lua_State *L) {
  static void (*const openers[])(lua_State *) = {lkc_open_format,   lkc_open_buffer, lkc_open_fill,   lkc_open_enclosure,
                                                 lkc_open_metric,   lkc_open_npy,    lkc_open_device, lkc_open_process,
                                                 lkc_open_channel,  lkc_open_crash,  lkc_open_system, lkc_open_directory,
                                                 lkc_open_extension};
  luaL_checkversion(L);
  lua_newtable(L);
  for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) openers[i](L);
  return 1;
}
