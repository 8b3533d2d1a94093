/* lkc_exact.c - module kc.exact: certified elementwise oracles. Loaded on first use, and by judges only. */
#include <string.h>

#include "exact.h"
#include "lkc.h"
#include "lkc_real.h"

/*--- Names of the certified elementwise functions, with one line on each: {name, doc, arity}.
--- @return table rows
function exact.oracles() end */
static int exact_oracles(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; kc_exact_at(i); i++) {
    const kc_exact *op = kc_exact_at(i);
    lua_newtable(L);
    lkc_setstring(L, "name", kc_exact_name(op));
    lkc_setstring(L, "doc", kc_exact_doc(op));
    lkc_setinteger(L, "arity", kc_exact_arity(op));
    lua_seti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static const char *operation_name(size_t i) {
  const kc_exact *op = kc_exact_at(i);
  return op ? kc_exact_name(op) : NULL;
}

static const kc_exact *check_operation(lua_State *L, int arg) {
  const kc_exact *op = kc_exact_find(luaL_checkstring(L, arg));
  if (!op) lkc_unknown(L, arg, "oracle", operation_name);
  return op;
}

/* The buffer type is registered by kc.core in the same state. */
static const kc_buffer *check_input(lua_State *L, int list, int i) {
  lua_geti(L, list, i);
  lkc_buffer *b = luaL_testudata(L, -1, LKC_BUFFER);
  if (!b || !b->b) luaL_error(L, "input %d: expected an open buffer, got %s", i, luaL_typename(L, -1));
  lua_pop(L, 1); /* the list still holds it */
  return b->b;
}

static void free_refiner(void *user) {
  kc_exact_refiner_free(user);
}

static kc_status fill(lkc_enclosure *e, const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  kc_exact_refiner *refiner;
  kc_status status = kc_exact_refiner_create(&refiner, op, inputs, err);
  if (status != KC_OK) return status;
  e->refine = kc_exact_refine;
  e->user = refiner;
  e->drop = free_refiner;
  e->open = true; /* from here on closing frees everything */
  status = kc_enclosure_create(&e->e, kc_buffer_count(inputs[0]));
  if (status != KC_OK) return kc_fail(err, status, "%s: out of memory", kc_exact_name(op));
  return kc_exact_eval(&e->e, op, inputs, err);
}

/*--- Encloses an elementwise function of whole tensors; undecided elements are refined by Arb and MPFR when core.decide asks.
--- @param name string a name of exact.oracles()
--- @param inputs table one buffer for each argument, of floating-point formats and one shape
--- @param params table|nil none are read
--- @return userdata|nil enclosure
--- @return string|nil message
--- @return string|nil code
function exact.oracle(name, inputs, params) end */
static int exact_oracle(lua_State *L) {
  const kc_exact *op = check_operation(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  int arity = kc_exact_arity(op);
  if (luaL_len(L, 2) != arity)
    return luaL_error(L, "oracle %s: expected %d inputs, got %d", kc_exact_name(op), arity, (int)luaL_len(L, 2));
  const kc_buffer *inputs[2] = {NULL, NULL};
  for (int i = 0; i < arity; i++) inputs[i] = check_input(L, 2, i + 1);
  lkc_enclosure *e = lua_newuserdatauv(L, sizeof *e, 1);
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, LKC_ENCLOSURE);
  kc_text err;
  kc_status status = fill(e, op, inputs, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  return 1;
}

static const luaL_Reg functions[] = {{"oracles", exact_oracles}, {"oracle", exact_oracle}, {NULL, NULL}};

__attribute__((visibility("default"))) int luaopen_kc_exact(lua_State *L) {
  luaL_checkversion(L);
  luaL_newlib(L, functions);
  lkc_open_real(L);
  return 1;
}
