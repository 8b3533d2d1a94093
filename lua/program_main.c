/* program_main.c - what the programs kc and kc-runner do alike: backends, state, the Lua function that is the program. */
#include <stdio.h>
#include <stdlib.h>

#include "drivers.h"
#include "lkc_program.h"
#include "lkc_state.h"

static int run(lua_State *L, const char *module, int argc, char **argv) {
  lua_pushcfunction(L, lkc_traceback);
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  int status = lua_pcall(L, 1, 1, 1);
  if (status == LUA_OK) {
    lua_getfield(L, -1, "main");
    lua_createtable(L, argc, 1);
    for (int i = 0; i < argc; i++) {
      lua_pushstring(L, argv[i]);
      lua_seti(L, -2, i);
    }
    status = lua_pcall(L, 1, 1, 1);
  }
  if (status != LUA_OK) {
    lua_writestringerror("kc: %s\n", luaL_tolstring(L, -1, NULL));
    return 4;
  }
  return (int)luaL_optinteger(L, -1, 0);
}

int lkc_program(const char *name, const char *role, const char *module, int argc, char **argv) {
  const char *error = NULL;
  kc_fpstate_set(kc_fpstate_default());
  lua_State *L = lkc_newstate(&(lkc_setup){.drivers = kc_drivers, .role = role, .extensions = getenv("KC_EXTENSIONS")}, &error);
  if (error) {
    fprintf(stderr, "%s: %s\n", name, error);
    return 4;
  }
  int code = run(L, module, argc, argv);
  lua_close(L);
  return code;
}
