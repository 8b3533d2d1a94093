/* lkc_aux.c - argument checks, failure mapping and type registration shared by all bindings. */
#include <string.h>

#include "lkc.h"

int lkc_fail(lua_State *L, kc_status status, const kc_text *err) {
  lua_pushnil(L);
  lua_pushstring(L, err && err->s[0] ? err->s : kc_status_name(status));
  lua_pushstring(L, kc_status_name(status));
  return 3;
}

int lkc_result(lua_State *L, kc_status status, const kc_text *err) {
  if (status == KC_EINVAL || status == KC_EINTERNAL) return luaL_error(L, "%s", err->s);
  return lkc_fail(L, status, err);
}

void lkc_newtype(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *metamethods, lua_CFunction close) {
  luaL_newmetatable(L, name);
  if (metamethods) luaL_setfuncs(L, metamethods, 0);
  if (close) {
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__close");
  }
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  /* A type with its own __index (buffers index elements) finds its methods in the metatable's "methods". */
  lua_newtable(L);
  if (methods) luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  if (lua_getfield(L, -2, "__index") == LUA_TNIL) {
    lua_pop(L, 1);
    lua_setfield(L, -2, "__index");
  } else {
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

/* Levenshtein distance of words up to 63 characters; longer ones count as far apart. */
static int edit_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > 63 || m > 63) return 64;
  int row[64];
  for (size_t j = 0; j <= m; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int substitute = diagonal + (a[i - 1] != b[j - 1]);
      int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = substitute < shorter ? substitute : shorter;
    }
  }
  return row[m];
}

const char *lkc_nearest(const char *word, const char *const *names) {
  const char *best = NULL;
  int limit = (int)strlen(word) / 2 + 1;
  for (; *names; names++) {
    int d = edit_distance(word, *names);
    if (d < limit || (d == limit && !best)) {
      best = *names;
      limit = d;
    }
  }
  return best;
}

#define MAX_NAMES 64

int lkc_unknown(lua_State *L, int arg, const char *what, const char *(*name_at)(lua_State *L, size_t i)) {
  const char *name = lua_tostring(L, arg), *names[MAX_NAMES + 1];
  size_t n = 0;
  while (n < MAX_NAMES && (names[n] = name_at(L, n))) n++;
  names[n] = NULL;
  const char *near = lkc_nearest(name, names);
  return luaL_argerror(L, arg,
                       near ? lua_pushfstring(L, "no %s called '%s'; did you mean '%s'?", what, name, near)
                            : lua_pushfstring(L, "no %s called '%s'", what, name));
}

static const char *format_name(lua_State *L, size_t i) {
  (void)L;
  const kc_format *f = kc_format_at(i);
  return f ? f->name : NULL;
}

const kc_format *lkc_checkformat(lua_State *L, int arg) {
  const kc_format *f = kc_format_find(luaL_checkstring(L, arg));
  if (!f) lkc_unknown(L, arg, "format", format_name);
  return f;
}

size_t lkc_checksize(lua_State *L, int arg) {
  lua_Integer n = luaL_checkinteger(L, arg);
  luaL_argcheck(L, n >= 0, arg, "a size must not be negative");
  return (size_t)n;
}

int lkc_checkshape(lua_State *L, int arg, int64_t shape[KC_MAX_RANK]) {
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_Integer rank = luaL_len(L, arg);
  luaL_argcheck(L, rank <= KC_MAX_RANK, arg, "a shape has at most 8 dimensions");
  for (int i = 0; i < (int)rank; i++) {
    lua_geti(L, arg, i + 1);
    int isint;
    lua_Integer n = lua_tointegerx(L, -1, &isint);
    if (!isint || n < 0) {
      luaL_argerror(L, arg,
                    lua_pushfstring(L, "dimension %d: expected an integer >= 0, got %s", i + 1, luaL_tolstring(L, -1, NULL)));
    }
    shape[i] = n;
    lua_pop(L, 1);
  }
  return (int)rank;
}

/* Pushes the field; false (and nothing pushed) when it is nil. */
static bool get_field(lua_State *L, int index, const char *field) {
  if (lua_getfield(L, index, field) != LUA_TNIL) return true;
  lua_pop(L, 1);
  return false;
}

static int field_error(lua_State *L, const char *field, const char *expected) {
  return luaL_error(L, "field '%s': expected %s, got %s", field, expected, luaL_typename(L, -1));
}

const char *lkc_fieldstring(lua_State *L, int index, const char *field, const char *fallback) {
  if (!get_field(L, index, field)) return fallback;
  if (lua_type(L, -1) != LUA_TSTRING) field_error(L, field, "a string");
  const char *s = lua_tostring(L, -1);
  lua_pop(L, 1); /* the table still holds the string */
  return s;
}

lua_Integer lkc_fieldinteger(lua_State *L, int index, const char *field, lua_Integer fallback) {
  if (!get_field(L, index, field)) return fallback;
  int isint;
  lua_Integer n = lua_tointegerx(L, -1, &isint);
  if (!isint) field_error(L, field, "an integer");
  lua_pop(L, 1);
  return n;
}

lua_Number lkc_fieldnumber(lua_State *L, int index, const char *field, lua_Number fallback) {
  if (!get_field(L, index, field)) return fallback;
  if (lua_type(L, -1) != LUA_TNUMBER) field_error(L, field, "a number");
  lua_Number n = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}

bool lkc_fieldboolean(lua_State *L, int index, const char *field, bool fallback) {
  if (!get_field(L, index, field)) return fallback;
  if (lua_type(L, -1) != LUA_TBOOLEAN) field_error(L, field, "a boolean");
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

void lkc_setinteger(lua_State *L, const char *field, lua_Integer value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, field);
}

void lkc_setnumber(lua_State *L, const char *field, lua_Number value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, field);
}

void lkc_setstring(lua_State *L, const char *field, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, field);
}

void lkc_setboolean(lua_State *L, const char *field, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, field);
}

uint8_t lkc_fieldword(lua_State *L, int table, const char *field, const char *const *words) {
  const char *given = lkc_fieldstring(L, table, field, words[0]);
  for (uint8_t i = 0; words[i]; i++)
    if (strcmp(words[i], given) == 0) return i;
  const char *near = lkc_nearest(given, words);
  return (uint8_t)luaL_error(L, "field '%s': unknown word '%s'; did you mean '%s'?", field, given, near ? near : words[0]);
}

kc_oracle_params lkc_oracleparams(lua_State *L, int table) {
  static const char *const ties[] = {"first", "last", "any", "undeclared", NULL}, *const nans[] = {"propagate", "ignore",
                                                                                                   "undeclared", NULL};
  static const char *const outsides[] = {"undeclared", "clamp", "zero", "wrap", "fill", "anything", "drop", NULL};
  return (kc_oracle_params){.a = lkc_fieldnumber(L, table, "a", lkc_fieldnumber(L, table, "alpha", 1)),
                            .b = lkc_fieldnumber(L, table, "b", lkc_fieldnumber(L, table, "beta", 0)),
                            .epsilon = lkc_fieldnumber(L, table, "epsilon", 0),
                            .axis = (int)lkc_fieldinteger(L, table, "axis", -1),
                            .ddof = (int)lkc_fieldinteger(L, table, "ddof", 0),
                            .tie = lkc_fieldword(L, table, "tie", ties),
                            .nan = lkc_fieldword(L, table, "nan", nans),
                            .outside = lkc_fieldword(L, table, "outside", outsides),
                            .transpose_a = lkc_fieldboolean(L, table, "transpose_a", false),
                            .transpose_b = lkc_fieldboolean(L, table, "transpose_b", false),
                            .magnitude = lkc_fieldboolean(L, table, "magnitude", false)};
}
