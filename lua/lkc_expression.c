/* lkc_expression.c - expressions over tensors as Lua userdata of module kc.exact. */
#include <string.h>

#include "expression.h"
#include "lkc.h"
#include "lkc_real.h"

#define LKC_EXPRESSION "kc.graph"
#define MAX_OPERANDS 64

typedef struct lkc_expression {
  kc_expression *e; /* NULL: closed */
} lkc_expression;

static kc_expression *check_expression(lua_State *L, int arg) {
  lkc_expression *x = luaL_checkudata(L, arg, LKC_EXPRESSION);
  if (!x->e) luaL_argerror(L, arg, "attempt to use a closed expression");
  return x->e;
}

static int read_args(lua_State *L, int node, int *args) {
  if (lua_getfield(L, node, "args") == LUA_TNIL) {
    lua_pop(L, 1);
    return 0;
  }
  luaL_checktype(L, -1, LUA_TTABLE);
  int n = (int)luaL_len(L, -1);
  if (n > KC_MAX_ARGUMENTS) luaL_error(L, "expected at most %d arguments, got %d", KC_MAX_ARGUMENTS, n);
  for (int i = 0; i < n; i++) {
    lua_geti(L, -1, i + 1);
    args[i] = (int)luaL_checkinteger(L, -1) - 1;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return n;
}

static void add_node(lua_State *L, kc_expression *e, int table, lua_Integer i) {
  lua_geti(L, table, i);
  luaL_checktype(L, -1, LUA_TTABLE);
  int at = lua_gettop(L), id;
  kc_node node = {.op = lkc_fieldstring(L, at, "op", ""),
                  .number = lkc_fieldinteger(L, at, "number", 0),
                  .text = lkc_fieldstring(L, at, "text", NULL)};
  node.arg_count = read_args(L, at, node.args);
  kc_text err;
  if (kc_expression_add(e, &id, &node, &err) != KC_OK) luaL_error(L, "node %d: %s", (int)i, err.s);
  lua_pop(L, 1);
}

/*--- An expression over tensors: a list of nodes {op=, args={earlier nodes, from 1}, number=, text=}; the last is the result.
--- Operations: input (number: operand, from 0), constant (text: decimal, hexadecimal float, p/q, pi, e, inf, -inf,
--- nan), neg abs floor, isclass (number: OR of class bits), certified functions of one argument, power (number: exponent), rounded (text: format;
--- number: 0 RNE, 1 RZ, 2 RU, 3 RD, 4 RNA), add sub mul div max min, lt le gt ge eq ne, where, sum
--- reduce_max reduce_min cumsum size (number: axis), matmul, transpose.
--- @param nodes table
--- @return userdata graph
function exact.graph(nodes) end */
static int new_expression(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lkc_expression *x = lua_newuserdatauv(L, sizeof *x, 0);
  x->e = NULL;
  luaL_setmetatable(L, LKC_EXPRESSION);
  kc_text err;
  kc_status status = kc_expression_create(&x->e, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_Integer n = luaL_len(L, 1);
  for (lua_Integer i = 1; i <= n; i++) add_node(L, x->e, 1, i);
  return 1;
}

/*--- Frees the expression; again is harmless. Enclosures made from it keep it alive.
function graph.close(self) end */
static int expression_close(lua_State *L) {
  lkc_expression *x = luaL_checkudata(L, 1, LKC_EXPRESSION);
  kc_expression_free(x->e);
  x->e = NULL;
  return 0;
}

static kc_operand buffer_operand(const kc_buffer *b) {
  kc_operand o = {.buffer = b, .rank = kc_buffer_rank(b)};
  memcpy(o.shape, kc_buffer_shape(b), (size_t)o.rank * sizeof *o.shape);
  return o;
}

/* A buffer, or {enclosure, shape}. */
static kc_operand read_operand(lua_State *L, int list, int i) {
  lua_geti(L, list, i);
  int at = lua_gettop(L);
  lkc_buffer *b = luaL_testudata(L, at, LKC_BUFFER);
  kc_operand o = {0};
  if (b) {
    if (!b->b) luaL_error(L, "operand %d: attempt to use a closed buffer", i);
    o = buffer_operand(b->b);
  } else {
    luaL_checktype(L, at, LUA_TTABLE);
    lua_geti(L, at, 1);
    lkc_enclosure *e = luaL_testudata(L, -1, LKC_ENCLOSURE);
    if (!e || !e->open) luaL_error(L, "operand %d: expected a buffer, or an open enclosure with its shape", i);
    lua_geti(L, at, 2);
    o.enclosure = &e->e;
    o.rank = lkc_checkshape(L, lua_gettop(L), o.shape);
  }
  lua_settop(L, at - 1); /* the list still holds it */
  return o;
}

static void push_shape(lua_State *L, int rank, const int64_t *shape) {
  lua_createtable(L, rank, 0);
  for (int d = 0; d < rank; d++) {
    lua_pushinteger(L, shape[d]);
    lua_seti(L, -2, d + 1);
  }
}

/* What the state refers to must live as long as the enclosure: expression and operands in its user value. */
static lkc_enclosure *new_enclosure(lua_State *L) {
  lkc_enclosure *e = lua_newuserdatauv(L, sizeof *e, 1);
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, LKC_ENCLOSURE);
  lua_createtable(L, 2, 0);
  for (int i = 1; i <= 2; i++) {
    lua_pushvalue(L, i);
    lua_seti(L, -2, i);
  }
  lua_setiuservalue(L, -2, 1);
  return e;
}

/*--- Evaluates an expression over operands.
--- @param operands table list of buffers, or of {enclosure, shape}
--- @param options table|nil {precision = bits (default: enough for bounds that are mostly neighbouring doubles), rising = false to stop
---   at this precision}
--- @return userdata|nil enclosure of the result; refined by core.decide where needed
--- @return table|string shape, or the message
--- @return string|nil code
function graph.evaluate(self, operands, options) end */
static int expression_evaluate(lua_State *L) {
  const kc_expression *x = check_expression(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  int precision = 0;
  bool rising = true;
  if (!lua_isnil(L, 3)) {
    precision = (int)lkc_fieldinteger(L, 3, "precision", 0);
    rising = lkc_fieldboolean(L, 3, "rising", true);
  }
  int n = (int)luaL_len(L, 2), rank;
  kc_operand operands[MAX_OPERANDS];
  if (n > MAX_OPERANDS) return luaL_error(L, "expected at most %d operands, got %d", MAX_OPERANDS, n);
  for (int i = 0; i < n; i++) operands[i] = read_operand(L, 2, i + 1);
  lkc_enclosure *e = new_enclosure(L);
  int64_t count, shape[KC_MAX_RANK];
  kc_text err;
  kc_status status = kc_expression_open(&e->user, &count, &rank, shape, x, operands, n, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  e->refine = kc_expression_refine;
  e->drop = kc_expression_close;
  e->open = true;
  status = kc_enclosure_create(&e->e, count);
  if (status != KC_OK) return lkc_fail(L, kc_fail(&err, status, "no memory for %lld elements", (long long)count), &err);
  status = kc_expression_eval(e->user, &e->e, precision, rising, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  push_shape(L, rank, shape);
  return 2;
}

static const luaL_Reg methods[] = {{"evaluate", expression_evaluate}, {"close", expression_close}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{NULL, NULL}};
static const luaL_Reg functions[] = {{"graph", new_expression}, {NULL, NULL}};

void lkc_open_expression(lua_State *L) {
  lkc_newtype(L, LKC_EXPRESSION, methods, metamethods, expression_close);
  luaL_setfuncs(L, functions, 0);
}
