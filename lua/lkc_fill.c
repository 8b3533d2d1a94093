/* lkc_fill.c - methods of buffers that write whole tensors. */
#include <string.h>

#include "lkc.h"

static const kc_encoding nearest = {.rounding = KC_RNE};

static const char *const distributions[] = {
    [KC_DIST_CONSTANT] = "constant",       [KC_DIST_UNIFORM] = "uniform",       [KC_DIST_NORMAL] = "normal",
    [KC_DIST_LOG_UNIFORM] = "log_uniform", [KC_DIST_INTEGERS] = "integers",     [KC_DIST_BITS] = "bits",
    [KC_DIST_FINITE_BITS] = "finite_bits", [KC_DIST_SUBNORMAL] = "subnormal",   [KC_DIST_EXHAUSTIVE] = "exhaustive",
    [KC_DIST_EXCEPTIONAL] = "exceptional", [KC_DIST_STRATIFIED] = "stratified", [KC_DIST_STRATIFIED + 1] = NULL};

static kc_dist check_distribution(lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TTABLE);
  const char *kind = lkc_fieldstring(L, arg, "kind", "");
  kc_dist d = {
      .a = lkc_fieldnumber(L, arg, "a", 0.0), .b = lkc_fieldnumber(L, arg, "b", 0.0), .c = lkc_fieldnumber(L, arg, "c", 0.0)};
  while (distributions[d.kind] && strcmp(distributions[d.kind], kind) != 0) d.kind++;
  if (!distributions[d.kind]) {
    const char *near = lkc_nearest(kind, distributions);
    luaL_argerror(L, arg,
                  lua_pushfstring(L, "unknown distribution '%s'%s%s", kind, near ? "; nearest: " : "", near ? near : ""));
  }
  return d;
}

/*--- Fills the buffer: element i is a function of (key, first + i - 1, distribution, format) alone. Distribution: {kind=, a=, b=, c=}
--- with kind constant (a), uniform (a <= x < b), normal (a = 0, standard deviation b, a power of two), log_uniform (2^a <= |x| < 2^b,
--- c = 1: positive), integers (a, a + c ... up to b; c 0 counts as 1), bits, finite_bits, subnormal, exhaustive (codes from a on), exceptional (probability a),
--- stratified (exponents a..b in turn).
---@param self userdata
---@param key integer
---@param distribution table
---@param first integer|nil 0 when omitted
function buffer.fill(self, key, distribution, first) end */
static int lkc_buffer_fill(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  uint64_t key = (uint64_t)luaL_checkinteger(L, 2), first = (uint64_t)luaL_optinteger(L, 4, 0);
  kc_dist d = check_distribution(L, 3);
  kc_text err = {""};
  kc_status status = kc_fill(kc_buffer_format(b), kc_buffer_data(b), (size_t)kc_buffer_count(b), first, key, &d, &err);
  return status == KC_OK ? 0 : lkc_result(L, status, &err);
}

/*--- Fills this buffer and `other`, of the same format and shape, so that the dot product of each pair of rows (along the last axis) has a
--- condition number near `condition`.
---@param self userdata
---@param other userdata
---@param key integer
---@param condition number
function buffer.filldot(self, other, key, condition) end */
static int lkc_buffer_filldot(lua_State *L) {
  kc_buffer *x = lkc_checkwritable(L, 1), *y = lkc_checkwritable(L, 2);
  kc_text err = {""};
  luaL_argcheck(L, x != y, 2, "expected another buffer");
  luaL_argcheck(L, kc_buffer_format(x) == kc_buffer_format(y), 2, "expected a buffer of the same format");
  luaL_argcheck(L, kc_buffer_count(x) == kc_buffer_count(y), 2, "expected a buffer of the same size");
  uint64_t key = (uint64_t)luaL_checkinteger(L, 3);
  double condition = luaL_checknumber(L, 4);
  int rank = kc_buffer_rank(x);
  size_t count = (size_t)kc_buffer_count(x), length = rank > 0 ? (size_t)kc_buffer_shape(x)[rank - 1] : 1;
  size_t bytes = length * kc_buffer_format(x)->storage;
  kc_status status = KC_OK;
  for (size_t row = 0; count > 0 && row < count / length && status == KC_OK; row++)
    status = kc_fill_dot(kc_buffer_format(x), (char *)kc_buffer_data(x) + row * bytes, (char *)kc_buffer_data(y) + row * bytes,
                         length, key + row, condition, &err);
  return status == KC_OK ? 0 : lkc_result(L, status, &err);
}

/*--- Stores one number, rounded to nearest, in every element.
--- > b = kc.buffer("bf16", 3)
--- > b:fillvalue(1)
--- > b
--- bf16[3]: 3 elements, from 1.0 to 1.0
---   1.0 1.0 1.0
---@param self userdata
---@param x number
function buffer.fillvalue(self, x) end */
static int lkc_buffer_fillvalue(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  const kc_format *f = kc_buffer_format(b);
  uint64_t code = lkc_checkelement(L, 2, f, &nearest);
  for (int64_t i = 0; i < kc_buffer_count(b); i++) kc_store(f, kc_buffer_data(b), (size_t)i, code);
  return 0;
}

/*--- Repeats the first n elements over the whole buffer.
--- > b = kc.buffer("i32", 5, { 1, 2, 0, 0, 0 })
--- > b:tile(2)
--- > b[3], b[5]
--- 1
--- 1
---@param self userdata
---@param n integer 1 to the number of elements
function buffer.tile(self, n) end */
static int lkc_buffer_tile(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  lua_Integer n = luaL_checkinteger(L, 2);
  luaL_argcheck(L, n >= 1 && n <= kc_buffer_count(b), 2, "expected 1 to the number of elements");
  size_t all = kc_buffer_bytes(b), bytes = (size_t)n * kc_buffer_format(b)->storage;
  char *data = kc_buffer_data(b);
  for (size_t at = bytes; at < all; at += bytes) memcpy(data + at, data, all - at < bytes ? all - at : bytes);
  return 0;
}

/*--- Replaces finite elements below the code `lo` by it, and above `hi` by that; infinities and NaN stay.
---@param self userdata
---@param lo integer code
---@param hi integer code
function buffer.clamp(self, lo, hi) end */
static int lkc_buffer_clamp(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  const kc_format *f = kc_buffer_format(b);
  uint64_t lo = lkc_checkcode(L, 2, f), hi = lkc_checkcode(L, 3, f);
  luaL_argcheck(L, kc_ordered(f, lo) <= kc_ordered(f, hi), 3, "expected a code not below the other");
  kc_clamp_array(f, kc_buffer_data(b), (size_t)kc_buffer_count(b), lo, hi);
  return 0;
}

void lkc_open_fill(lua_State *L) {
  static const luaL_Reg methods[] = {{"fill", lkc_buffer_fill},           {"filldot", lkc_buffer_filldot},
                                     {"fillvalue", lkc_buffer_fillvalue}, {"tile", lkc_buffer_tile},
                                     {"clamp", lkc_buffer_clamp},         {NULL, NULL}};
  luaL_getmetatable(L, LKC_BUFFER);
  lua_getfield(L, -1, "methods");
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 2);
}
