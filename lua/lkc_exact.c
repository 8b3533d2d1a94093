/* lkc_exact.c - module kc.exact: certified oracles. Loaded on first use, and by judges only. */
#include <string.h>

#include "exact.h"
#include "lkc.h"
#include "lkc_real.h"

#define MAX_INPUTS 8

/* One more row of exact.oracles(). */
static void add_row(lua_State *L, const char *name, const char *doc, int least, int most, bool elementwise) {
  lua_newtable(L);
  lkc_setboolean(L, "elementwise", elementwise);
  lkc_setstring(L, "name", name);
  lkc_setstring(L, "doc", doc);
  lkc_setinteger(L, "least", least);
  lkc_setinteger(L, "most", most);
  lua_seti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/*--- The certified oracles, elementwise functions first, with one line on each: {name, doc, least, most (number of inputs), elementwise}.
--- @return table rows
function exact.oracles() end */
static int exact_oracles(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; kc_exact_at(i); i++) {
    const kc_exact *op = kc_exact_at(i);
    add_row(L, kc_exact_name(op), kc_exact_doc(op), kc_exact_arity(op), kc_exact_arity(op), true);
  }
  for (size_t i = 0; kc_tensor_oracle_at(i); i++) {
    const kc_tensor_oracle *o = kc_tensor_oracle_at(i);
    add_row(L, o->name, o->doc, o->least, o->most, false);
  }
  return 1;
}

static const char *oracle_name(lua_State *L, size_t i) {
  (void)L;
  const kc_exact *op = kc_exact_at(i);
  if (op) return kc_exact_name(op);
  size_t elementwise = 0;
  while (kc_exact_at(elementwise)) elementwise++;
  const kc_tensor_oracle *o = kc_tensor_oracle_at(i - elementwise);
  return o ? o->name : NULL;
}

/* The buffer type is registered by kc.core in the same state. */
static const kc_buffer *check_input(lua_State *L, int list, int i) {
  lua_geti(L, list, i);
  lkc_buffer *b = luaL_testudata(L, -1, LKC_BUFFER);
  if (!b || !b->b) luaL_error(L, "input %d: expected an open buffer, got %s", i, luaL_typename(L, -1));
  lua_pop(L, 1); /* the list still holds it */
  return b->b;
}

static int check_inputs(lua_State *L, int list, const char *name, int least, int most, const kc_buffer **inputs) {
  luaL_checktype(L, list, LUA_TTABLE);
  lua_Integer n = luaL_len(L, list);
  if (n < least || n > most) {
    lua_pushfstring(L, least == most ? "%d" : "%d to %d", least, most);
    return luaL_error(L, "oracle %s: expected %s inputs, got %d", name, lua_tostring(L, -1), (int)n);
  }
  for (int i = 0; i < n; i++) inputs[i] = check_input(L, list, i + 1);
  return (int)n;
}

static void free_refiner(void *user) {
  kc_exact_refiner_free(user);
}

static lkc_enclosure *new_enclosure(lua_State *L) {
  lkc_enclosure *e = lua_newuserdatauv(L, sizeof *e, 1);
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, LKC_ENCLOSURE);
  return e;
}

/* From here on closing the enclosure frees everything. */
static kc_status adopt(lkc_enclosure *e, kc_refine_fn refine, void *state, void (*drop)(void *), int64_t count, kc_text *err) {
  e->refine = refine;
  e->user = state;
  e->drop = drop;
  e->open = true;
  kc_status status = kc_enclosure_create(&e->e, count);
  return status == KC_OK ? KC_OK : kc_fail(err, status, "no memory for an enclosure of %lld elements", (long long)count);
}

static kc_status fill_elementwise(lkc_enclosure *e, const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  kc_exact_refiner *refiner;
  kc_status status = kc_exact_refiner_create(&refiner, op, inputs, err);
  if (status != KC_OK) return status;
  status = adopt(e, kc_exact_refine, refiner, free_refiner, kc_buffer_count(inputs[0]), err);
  return status == KC_OK ? kc_exact_eval(&e->e, op, inputs, err) : status;
}

static kc_status fill_tensor(lkc_enclosure *e, const kc_tensor_oracle *o, const kc_buffer *const *inputs, int n,
                             const kc_oracle_params *p, kc_text *err) {
  void *state;
  int64_t count;
  kc_text why;
  kc_status status = o->open(&state, &count, inputs, n, p, &why);
  if (status != KC_OK) return kc_fail(err, status, "oracle %s: %.400s", o->name, why.s);
  status = adopt(e, o->refine, state, o->close, count, err);
  return status == KC_OK ? o->eval(state, &e->e, err) : status;
}

/*--- Encloses an oracle over whole tensors; undecided elements are refined by Arb and MPFR when core.decide asks.
--- @param name string a name of exact.oracles()
--- @param inputs table buffers of floating-point formats
--- @param params table|nil {axis= (from 0, negative from the end; the last when absent), alpha=, beta=, epsilon=, ddof=, transpose_a=,
---   transpose_b=, magnitude= (sums and products of absolute values)}
--- @return userdata|nil enclosure
--- @return string|nil message
--- @return string|nil code
function exact.oracle(name, inputs, params) end */
static int exact_oracle(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const kc_exact *op = kc_exact_find(name);
  const kc_tensor_oracle *o = op ? NULL : kc_tensor_oracle_find(name);
  if (!op && !o) return lkc_unknown(L, 1, "oracle", oracle_name);
  lua_settop(L, 3);
  if (lua_isnil(L, 3)) {
    lua_newtable(L);
    lua_replace(L, 3);
  }
  const kc_buffer *inputs[MAX_INPUTS] = {NULL};
  int n = check_inputs(L, 2, name, op ? kc_exact_arity(op) : o->least, op ? kc_exact_arity(op) : o->most, inputs);
  kc_oracle_params params = lkc_oracleparams(L, 3);
  lkc_enclosure *e = new_enclosure(L);
  kc_text err;
  kc_status status = op ? fill_elementwise(e, op, inputs, &err) : fill_tensor(e, o, inputs, n, &params, &err);
  return status == KC_OK ? 1 : lkc_result(L, status, &err);
}

static const luaL_Reg functions[] = {{"oracles", exact_oracles}, {"oracle", exact_oracle}, {NULL, NULL}};

__attribute__((visibility("default"))) int luaopen_kc_exact(lua_State *L) {
  luaL_checkversion(L);
  luaL_newlib(L, functions);
  lkc_open_real(L);
  lkc_open_expression(L);
  return 1;
}
