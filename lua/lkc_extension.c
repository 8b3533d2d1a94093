/* lkc_extension.c - backends, oracles and metrics that a state has beside kc's own: each is checked before it is known. */
#include "lkc_extension.h"

#include <dlfcn.h>
#include <string.h>

#include "lkc.h"

enum { LIMIT = 32 }; /* of each kind */

/* One per state, in its registry; lists are NULL-terminated. */
typedef struct registry {
  const kc_driver *drivers[LIMIT + 1];
  const kc_oracle *oracles[LIMIT + 1];
  const kc_metric *metrics[LIMIT + 1];
} registry;

static const char registry_key = 0, origins_key = 0;

static registry *registry_of(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &registry_key);
  registry *r = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return r;
}

#define LENGTH(list) length((const void *const *)(const void *)(list))

static int length(const void *const *list) {
  int n = 0;
  while (list && list[n]) n++;
  return n;
}

void lkc_open_extensions(lua_State *L, const kc_driver *const *built_in) {
  registry *r = lua_newuserdatauv(L, sizeof *r, 0);
  *r = (registry){.drivers = {NULL}};
  for (int i = 0; built_in[i]; i++) r->drivers[i] = built_in[i];
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &origins_key);
}

/* ---- looking things up ------------------------------------------------------------------------------------------------------ */

const kc_driver *const *lkc_drivers(lua_State *L) {
  return registry_of(L)->drivers;
}

const kc_oracle *lkc_oracle_at(lua_State *L, size_t i) {
  size_t own = 0;
  while (kc_oracle_at(own)) own++;
  return i < own ? kc_oracle_at(i) : registry_of(L)->oracles[i - own];
}

const kc_metric *lkc_metric_at(lua_State *L, size_t i) {
  size_t own = 0;
  while (kc_metric_at(own)) own++;
  return i < own ? kc_metric_at(i) : registry_of(L)->metrics[i - own];
}

const kc_oracle *lkc_oracle_find(lua_State *L, const char *name) {
  size_t i = 0;
  while (lkc_oracle_at(L, i) && strcmp(lkc_oracle_at(L, i)->name, name) != 0) i++;
  return lkc_oracle_at(L, i);
}

const kc_metric *lkc_metric_find(lua_State *L, const char *name) {
  size_t i = 0;
  while (lkc_metric_at(L, i) && strcmp(lkc_metric_at(L, i)->name, name) != 0) i++;
  return lkc_metric_at(L, i);
}

/* ---- checks: each raises ----------------------------------------------------------------------------------------------------- */

/* A name that Lua can write behind a dot, as all of kc's. */
static void check_name(lua_State *L, const char *kind, const char *name) {
  if (!name || !name[0] || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name) ||
      strchr("0123456789", name[0]))
    luaL_error(L, "%s '%s': expected a name of lower-case letters, digits and _", kind, name ? name : "(none)");
}

static void check_new(lua_State *L, const char *kind, const char *name, bool known) {
  if (known) luaL_error(L, "%s '%s': another of this name is known", kind, name);
}

static void check_given(lua_State *L, const char *kind, const char *name, const char *field, bool given) {
  if (!given) luaL_error(L, "%s '%s': %s is missing", kind, name, field);
}

static void check_driver(lua_State *L, const kc_driver *d) {
  kc_text err;
  if (kc_driver_check(d, &err) != KC_OK) luaL_error(L, "%s", err.s);
  check_name(L, "driver", d->name);
  for (const kc_driver *const *known = lkc_drivers(L); *known; known++)
    check_new(L, "driver", d->name, strcmp(d->name, (*known)->name) == 0);
}

static void check_parameters(lua_State *L, const kc_oracle *o) {
  static const char known[] = " a b axis epsilon ddof tie nan outside fill alpha beta transpose_a transpose_b ";
  char word[32] = " ";
  for (const char *at = o->parameters ? o->parameters : ""; *(at += strspn(at, " "));) {
    size_t n = strcspn(at, " ");
    if (n < sizeof word - 2) {
      memcpy(word + 1, at, n);
      strcpy(word + 1 + n, " ");
    }
    if (n >= sizeof word - 2 || !strstr(known, word)) {
      const char *text = lua_pushlstring(L, at, n);
      luaL_error(L, "oracle '%s': unknown parameter '%s'; known are%s", o->name, text, known);
    }
    at += n;
  }
}

/* kc.oracle also has those of kc.exact. */
static bool is_known_oracle(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "kc.oracle");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "inputs");
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  bool known = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return known;
}

static void check_oracle(lua_State *L, const kc_oracle *o) {
  check_name(L, "oracle", o->name);
  check_new(L, "oracle", o->name, is_known_oracle(L, o->name));
  check_given(L, "oracle", o->name, "doc", o->doc != NULL);
  check_given(L, "oracle", o->name, "count", o->count != NULL);
  check_given(L, "oracle", o->name, "eval", o->eval != NULL);
  if (o->arity < 1 || o->arity > KC_MAX_ORACLE_INPUTS)
    luaL_error(L, "oracle '%s': arity is %d, expected 1 to %d", o->name, o->arity, KC_MAX_ORACLE_INPUTS);
  check_parameters(L, o);
}

static void check_metric(lua_State *L, const kc_metric *m) {
  check_name(L, "metric", m->name);
  check_new(L, "metric", m->name, lkc_metric_find(L, m->name) != NULL);
  check_given(L, "metric", m->name, "unit", m->unit != NULL);
  check_given(L, "metric", m->name, "doc", m->doc != NULL);
  check_given(L, "metric", m->name, "value", m->value != NULL);
}

static void check_room(lua_State *L, const char *kind, int there, int more) {
  if (there + more > LIMIT) luaL_error(L, "%d %ss: %d are the most", there + more, kind, LIMIT);
}

/* Within one list names must differ too. */
#define CHECK_LIST(L, kind, list, there, check)                                                                                \
  do {                                                                                                                         \
    int n = LENGTH(list);                                                                                                      \
    check_room(L, kind, LENGTH(there), n);                                                                                     \
    for (int i = 0; i < n; i++) {                                                                                              \
      check(L, (list)[i]);                                                                                                     \
      for (int j = 0; j < i; j++) check_new(L, kind, (list)[i]->name, strcmp((list)[i]->name, (list)[j]->name) == 0);          \
    }                                                                                                                          \
  } while (0)

/* ---- adding ------------------------------------------------------------------------------------------------------------------ */

/* Names of the kind, in a field of the table on top. */
#define SET_NAMES(L, field, list)                                                                                              \
  do {                                                                                                                         \
    lua_newtable(L);                                                                                                           \
    for (int i = 0; (list) && (list)[i]; i++) {                                                                                \
      lua_pushstring(L, (list)[i]->name);                                                                                      \
      lua_seti(L, -2, i + 1);                                                                                                  \
    }                                                                                                                          \
    lua_setfield(L, -2, field);                                                                                                \
  } while (0)

static void remember_origin(lua_State *L, const kc_extension *x, const char *origin) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &origins_key);
  lua_newtable(L);
  if (origin) lkc_setstring(L, "path", origin);
  SET_NAMES(L, "drivers", x->drivers);
  SET_NAMES(L, "oracles", x->oracles);
  SET_NAMES(L, "metrics", x->metrics);
  lua_seti(L, -2, luaL_len(L, -2) + 1);
  lua_pop(L, 1);
}

void lkc_extend(lua_State *L, const kc_extension *x, const char *origin) {
  if (!x) luaL_error(L, "expected an extension, got NULL");
  if (x->abi != KC_EXTENSION_ABI) luaL_error(L, "the extension was compiled against another kc_extension.h");
  registry *r = registry_of(L);
  CHECK_LIST(L, "driver", x->drivers, r->drivers, check_driver);
  CHECK_LIST(L, "oracle", x->oracles, r->oracles, check_oracle);
  CHECK_LIST(L, "metric", x->metrics, r->metrics, check_metric);
  remember_origin(L, x, origin);
  for (int i = 0, n = LENGTH(r->drivers); x->drivers && x->drivers[i]; i++) r->drivers[n + i] = x->drivers[i];
  for (int i = 0, n = LENGTH(r->oracles); x->oracles && x->oracles[i]; i++) r->oracles[n + i] = x->oracles[i];
  for (int i = 0, n = LENGTH(r->metrics); x->metrics && x->metrics[i]; i++) r->metrics[n + i] = x->metrics[i];
}

static const kc_extension *entry_of(lua_State *L, const char *path) {
  if (!strchr(path, '/')) luaL_error(L, "extension '%s': expected a full path", path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) luaL_error(L, "extension %s", dlerror());
  const kc_extension *(*entry)(void);
  *(void **)&entry = dlsym(library, "kc_extension_entry");
  if (!entry) luaL_error(L, "extension '%s': it exports no function kc_extension_entry", path);
  return entry();
}

static int load_one(lua_State *L) {
  const char *path = lua_tostring(L, 1);
  lkc_extend(L, entry_of(L, path), path);
  return 0;
}

void lkc_load_extensions(lua_State *L, const char *paths) {
  for (const char *at = paths ? paths : ""; *at; at += *at == ':') {
    size_t n = strcspn(at, ":");
    if (n > 0) {
      lua_pushcfunction(L, load_one);
      const char *path = lua_pushlstring(L, at, n);
      if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        bool named = strstr(lua_tostring(L, -1), path) != NULL;
        luaL_error(L, "%s%s%s", named ? "" : path, named ? "" : ": ", lua_tostring(L, -1));
      }
    }
    at += n;
  }
}

/*--- What extensions gave this state: KC_EXTENSIONS names them, or kc_embed_add has added them.
--- @return table rows {path = absent for the program's own, drivers =, oracles =, metrics = lists of names}
function core.extensions() end */
static int list_extensions(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &origins_key);
  return 1;
}

static const luaL_Reg functions[] = {{"extensions", list_extensions}, {NULL, NULL}};

void lkc_open_extension(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
