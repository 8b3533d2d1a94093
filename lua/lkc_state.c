/* lkc_state.c - makes a Lua state that knows kc: standard libraries, kc.core, the embedded stdlib, and where kc.exact lies. */
#include <string.h>
#include <unistd.h>

#include "lkc.h"
#include "lkc_embed.h"
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

/* kc.exact is lib/kc/exact.so beside the program (build tree) or in ../lib/kc (installed). */
static void add_exact_path(lua_State *L) {
  char exe[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (n <= 0) return;
  exe[n] = 0;
  if (strpbrk(exe, "?;")) return; /* a path that Lua's templates cannot express */
  *strrchr(exe, '/') = 0;
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "cpath");
  lua_pushfstring(L, "%s/lib/?.so;%s/../lib/?.so;%s", exe, exe, lua_tostring(L, -1));
  lua_setfield(L, -3, "cpath");
  lua_pop(L, 2);
}

static int open_all(lua_State *L) {
  luaL_openlibs(L);
  lkc_setdrivers(L, (const kc_driver *const *)lua_touserdata(L, 1));
  luaL_requiref(L, "kc.core", luaopen_kc_core, 0);
  lkc_setstring(L, "version", KC_VERSION);
  lkc_setstring(L, "role", (const char *)lua_touserdata(L, 2));
  lua_pop(L, 1);
  add_searcher(L);
  add_exact_path(L);
  return 0;
}

lua_State *lkc_newstate(const kc_driver *const *drivers, const char *role, const char **error) {
  lua_State *L = luaL_newstate();
  if (!L) {
    *error = "not enough memory for a Lua state";
    return NULL;
  }
  lua_pushcfunction(L, open_all);
  lua_pushlightuserdata(L, (void *)(uintptr_t)drivers);
  lua_pushlightuserdata(L, (void *)(uintptr_t)role);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) *error = lua_tostring(L, -1);
  return L;
}

static int traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (!message) return 1; /* error objects carry their own text */
  luaL_traceback(L, L, message, 1);
  return 1;
}

int lkc_runmain(lua_State *L, const char *module, int argc, char **argv) {
  lua_pushcfunction(L, traceback);
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
