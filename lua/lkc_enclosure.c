/* lkc_enclosure.c - enclosures, tier-1 oracles and decisions as Lua sees them. */
#include <string.h>

#include "lkc.h"

lkc_enclosure *lkc_checkenclosure(lua_State *L, int arg) {
  lkc_enclosure *e = luaL_checkudata(L, arg, LKC_ENCLOSURE);
  if (!e->open) luaL_error(L, "attempt to use a closed enclosure");
  return e;
}

lkc_enclosure *lkc_newenclosure(lua_State *L) {
  lkc_enclosure *e = lua_newuserdatauv(L, sizeof *e, 1);
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, LKC_ENCLOSURE);
  return e;
}

static int enclosure_close(lua_State *L) {
  lkc_enclosure *e = luaL_checkudata(L, 1, LKC_ENCLOSURE);
  if (!e->open) return 0;
  e->open = false;
  if (e->drop) e->drop(e->user);
  kc_enclosure_clear(&e->e);
  return 0;
}

static const char *class_names[] = {"nan", "-inf", "-finite", "-0", "+0", "+finite", "+inf"};

static int enclosure_at(lua_State *L) {
  lkc_enclosure *e = lkc_checkenclosure(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i >= 1 && i <= e->e.count, 2, "element out of range");
  lua_pushnumber(L, e->e.lo[i - 1]);
  lua_pushnumber(L, e->e.hi[i - 1]);
  lua_newtable(L);
  for (int b = 0, n = 0; b < 7; b++)
    if (e->e.classes[i - 1] >> b & 1) {
      lua_pushstring(L, class_names[b]);
      lua_seti(L, -2, ++n);
    }
  return 3;
}

static int enclosure_len(lua_State *L) {
  lua_pushinteger(L, lkc_checkenclosure(L, 1)->e.count);
  return 1;
}

static int list_oracles(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; kc_oracle_at(i); i++) {
    const kc_oracle *o = kc_oracle_at(i);
    lua_newtable(L);
    lkc_setstring(L, "name", o->name);
    lkc_setstring(L, "doc", o->doc);
    lkc_setinteger(L, "arity", o->arity);
    lkc_setboolean(L, "index", o->index);
    lua_seti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int choice(lua_State *L, const char *field, const char *const *names) {
  const char *s = lkc_fieldstring(L, 3, field, names[0]);
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], s) == 0) return i;
  return luaL_error(L, "field '%s': unknown word '%s'", field, s);
}

static int run_oracle(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const kc_oracle *o = kc_oracle_find(name);
  if (!o) return luaL_error(L, "unknown oracle '%s'", name);
  luaL_checktype(L, 2, LUA_TTABLE);
  if (lua_isnoneornil(L, 3)) {
    lua_settop(L, 2);
    lua_newtable(L);
  }
  const kc_buffer *inputs[8];
  int n = (int)luaL_len(L, 2);
  if (n != o->arity) return luaL_error(L, "oracle %s: expected %d inputs, got %d", name, o->arity, n);
  for (int i = 0; i < n; i++) {
    lua_geti(L, 2, i + 1);
    inputs[i] = lkc_checkbuffer(L, -1);
    lua_pop(L, 1);
  }
  static const char *const ties[] = {"first", "last", "any", NULL}, *const nans[] = {"propagate", "ignore", NULL};
  kc_oracle_params p = {lkc_fieldnumber(L, 3, "a", 0), lkc_fieldnumber(L, 3, "b", 0), (int)lkc_fieldinteger(L, 3, "axis", 0),
                        (uint8_t)choice(L, "tie", ties), (uint8_t)choice(L, "nan", nans)};
  lkc_enclosure *e = lkc_newenclosure(L);
  kc_text err;
  kc_status status = kc_oracle_run(&e->e, o, inputs, &p, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  e->open = true;
  return 1;
}

static int decide(lua_State *L) {
  const kc_buffer *y = lkc_checkbuffer(L, 1);
  lkc_enclosure *e = lkc_checkenclosure(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  static const char *const kinds[] = {"exact", "ulp", "abs", "rel", NULL}, *const denormals[] = {"preserve", "flush", NULL};
  kc_tolerance t = {(uint8_t)choice(L, "kind", kinds), (uint8_t)choice(L, "denormals", denormals),
                    lkc_fieldnumber(L, 3, "value", 0), NULL};
  kc_decision d;
  kc_text err;
  kc_status status = kc_decide(&d, y, &e->e, &t, e->refine, e->user, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_newtable(L);
#define F(name) lkc_setinteger(L, #name, d.name)
  F(count), F(class_yes), F(class_no), F(class_unknown), F(value_yes), F(value_no), F(value_unknown), F(vacuous), F(zeros), F(refined);
  if (d.first_class_no >= 0) lkc_setinteger(L, "first_class_no", d.first_class_no + 1);
  if (d.first_value_no >= 0) lkc_setinteger(L, "first_value_no", d.first_value_no + 1);
  if (d.worst >= 0) lkc_setinteger(L, "worst", d.worst + 1);
  lkc_setnumber(L, "worst_ratio_lo", d.worst_ratio_lo);
  lkc_setnumber(L, "worst_ratio_hi", d.worst_ratio_hi);
  lkc_setnumber(L, "worst_lo", d.worst_lo);
  lkc_setnumber(L, "worst_hi", d.worst_hi);
  lua_newtable(L);
  for (int i = 0; i < 7; i++) {
    lua_newtable(L);
    for (int j = 0; j < 7; j++)
      if (d.confusion[i][j]) lkc_setinteger(L, class_names[j], d.confusion[i][j]);
    lua_setfield(L, -2, class_names[i]);
  }
  lua_setfield(L, -2, "confusion");
  return 1;
}

static const luaL_Reg methods[] = {{"at", enclosure_at}, {"close", enclosure_close}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__len", enclosure_len}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"oracles", list_oracles}, {"oracle", run_oracle}, {"decide", decide}, {NULL, NULL}};
void lkc_open_enclosure(lua_State *L) {
  lkc_newtype(L, LKC_ENCLOSURE, methods, metamethods, enclosure_close);
  luaL_setfuncs(L, functions, 0);
}
