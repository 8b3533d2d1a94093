/* lkc_state.c - makes a Lua state that knows kc: standard libraries, kc.core, the embedded stdlib, and where kc.exact lies. */
#include <string.h>

#include "lkc.h"
#include "lkc_embed.h"
#include "lkc_extension.h"
#include "lkc_place.h"
#include "lkc_state.h"

static int load_embedded(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  for (const lkc_embedded *m = lkc_stdlib; m->name; m++) {
    if (strcmp(m->name, name) != 0) continue;
    const char *chunk = lua_pushfstring(L, "@%s", m->path);
    if (luaL_loadbufferx(L, m->text, m->size, chunk, "t") != LUA_OK) return lua_error(L);
    lua_pushstring(L, m->path);
    return 2;
  }
  lua_pushfstring(L, "no embedded module '%s'", name);
  return 1;
}

/* Our searcher goes first: a file called kc.lua in the working directory must not replace the judge. KC_STDLIB=DIR, for
 * development, puts files before it. */
static void add_searcher(lua_State *L) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  for (lua_Integer i = luaL_len(L, -1); i >= 2; i--) {
    lua_geti(L, -1, i);
    lua_seti(L, -2, i + 1);
  }
  lua_pushcfunction(L, load_embedded);
  lua_seti(L, -2, 2);
  lua_pop(L, 2);
}

/* kc.exact is lib/kc/exact.so beside the program (build tree), in the lib folder of an installation, or beside kc-runner there. */
static void add_exact_path(lua_State *L, const char *program) {
  const char *slash = strrchr(program, '/');
  if (!slash || strpbrk(program, "?;")) return; /* a path that Lua's templates cannot express */
  const char *here = lua_pushlstring(L, program, (size_t)(slash - program));
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "cpath");
  lua_pushfstring(L, "%s/lib/?.so;%s/" KC_LIB_FROM_BIN "/?.so;%s/../?.so;%s", here, here, here, lua_tostring(L, -1));
  lua_setfield(L, -3, "cpath");
  lua_pop(L, 3);
}

static void remember_program(lua_State *L, const char *path) {
  char running[PATH_MAX];
  if (!path && !lkc_running_program(running)) luaL_error(L, "cannot read /proc/self/exe");
  lkc_setprogram(L, path ? path : running);
  add_exact_path(L, path ? path : running);
}

void lkc_prepare(lua_State *L, const lkc_setup *setup) {
  lkc_open_extensions(L, setup->drivers);
  lkc_setguest(L, strcmp(setup->role, "guest") == 0);
  luaL_requiref(L, "kc.core", luaopen_kc_core, 0);
  lkc_setstring(L, "version", KC_VERSION);
  lkc_setstring(L, "role", setup->role);
  lkc_setstring(L, "share", KC_SHARE_FROM_BIN);
  lkc_setstring(L, "lib", KC_LIB_FROM_BIN);
  lua_pop(L, 1);
  add_searcher(L);
  remember_program(L, setup->program);
  lkc_load_extensions(L, setup->extensions);
}

static int open_all(lua_State *L) {
  luaL_openlibs(L);
  lkc_prepare(L, (const lkc_setup *)lua_touserdata(L, 1));
  return 0;
}

lua_State *lkc_newstate(const lkc_setup *setup, const char **error) {
  lua_State *L = luaL_newstate();
  if (!L) {
    *error = "not enough memory for a Lua state";
    return NULL;
  }
  lua_pushcfunction(L, open_all);
  lua_pushlightuserdata(L, (void *)(uintptr_t)setup);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) *error = lua_tostring(L, -1);
  return L;
}

int lkc_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (!message) return 1; /* error objects carry their own text */
  luaL_traceback(L, L, message, 1);
  return 1;
}
