/* lkc_format.c - formats, codes, the random generator and the floating-point state in kc.core. */
#include <string.h>

#include "lkc.h"

static const char *const kinds[] = {[KC_FLOAT] = "float", [KC_INT] = "int", [KC_UINT] = "uint"};
static const char *const nan_rules[] = {
    [KC_NAN_NONE] = "none", [KC_NAN_IEEE] = "ieee", [KC_NAN_ALL_ONES] = "all_ones", [KC_NAN_NEG_ZERO] = "negative_zero"};
static const char *const roundings[] = {"RNE", "RZ", "RU", "RD", "RNA", "SR", NULL};

/* A code of the format; a wider one is a mistake of the caller, not something to cut off. Codes of i64, u64 and f64 use all 64
 * bits of a Lua integer. */
uint64_t lkc_checkcode(lua_State *L, int arg, const kc_format *f) {
  uint64_t code = (uint64_t)luaL_checkinteger(L, arg);
  if (f->bits < 64 && code >> f->bits)
    luaL_argerror(L, arg, lua_pushfstring(L, "expected a code of %d bits, got %I", f->bits, (lua_Integer)code));
  return code;
}

/*--- Names of all number formats.
---@return table list of strings
function core.formats() end */
static int lkc_format_names(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; kc_format_at(i); i++) {
    lua_pushstring(L, kc_format_at(i)->name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* What a format holds, in numbers. */
static void push_limits(lua_State *L, const kc_format *f) {
  lkc_setinteger(L, "max_code", (lua_Integer)f->max_code);
  lkc_setnumber(L, "max", kc_decode(f, f->max_code));
  if (f->kind != KC_FLOAT) return;
  lkc_setnumber(L, "min_normal", kc_decode(f, f->has_zero ? UINT64_C(1) << f->frac_bits : 0));
  lkc_setnumber(L, "min_subnormal", kc_decode(f, f->has_zero));
}

/*--- Facts of a format: name, kind ("float", "int", "uint"), bits, storage (bytes), shift, exp_bits, frac_bits, bias, emin, emax,
--- nan_rule ("none", "ieee", "all_ones", "negative_zero"), has_sign, has_inf, has_nan, has_signed_zero, has_zero, max_code, max
--- and for floating-point formats min_normal, min_subnormal. nil when there is no such format.
---@param name string
---@return table|nil facts
function core.format(name) end */
static int lkc_format_facts(lua_State *L) {
  const kc_format *f = kc_format_find(luaL_checkstring(L, 1));
  if (!f) return lua_pushnil(L), 1;
  lua_newtable(L);
  lkc_setstring(L, "name", f->name);
  lkc_setstring(L, "kind", kinds[f->kind]);
  lkc_setinteger(L, "bits", f->bits);
  lkc_setinteger(L, "storage", f->storage);
  lkc_setinteger(L, "shift", f->shift);
  lkc_setinteger(L, "exp_bits", f->exp_bits);
  lkc_setinteger(L, "frac_bits", f->frac_bits);
  lkc_setinteger(L, "bias", f->bias);
  lkc_setinteger(L, "emin", f->emin);
  lkc_setinteger(L, "emax", f->emax);
  lkc_setstring(L, "nan_rule", nan_rules[f->nan_rule]);
  lkc_setboolean(L, "has_sign", f->has_sign);
  lkc_setboolean(L, "has_inf", f->has_inf);
  lkc_setboolean(L, "has_nan", f->nan_rule != KC_NAN_NONE);
  lkc_setboolean(L, "has_signed_zero", f->has_signed_zero);
  lkc_setboolean(L, "has_zero", f->has_zero);
  push_limits(L, f);
  return 1;
}

static uint8_t rounding_option(lua_State *L, int arg) {
  const char *name = lkc_fieldstring(L, arg, "rounding", "RNE");
  for (int i = 0; roundings[i]; i++)
    if (strcmp(name, roundings[i]) == 0) return (uint8_t)i;
  luaL_argerror(L, arg, lua_pushfstring(L, "rounding '%s', expected one of RNE RZ RU RD RNA SR", name));
  return KC_RNE;
}

static kc_encoding encoding_options(lua_State *L, int arg) {
  kc_encoding e = {.rounding = KC_RNE};
  if (lua_isnoneornil(L, arg)) return e;
  luaL_checktype(L, arg, LUA_TTABLE);
  e.rounding = rounding_option(L, arg);
  e.saturate = lkc_fieldboolean(L, arg, "saturate", false);
  e.flush = lkc_fieldboolean(L, arg, "flush", false);
  e.random = (uint64_t)lkc_fieldinteger(L, arg, "random", 0);
  lua_Integer bits = lkc_fieldinteger(L, arg, "random_bits", e.rounding == KC_SR ? 0 : 1);
  luaL_argcheck(L, bits >= 1 && bits <= 64, arg, "SR needs random_bits in 1..64");
  e.random_bits = (uint8_t)bits;
  return e;
}

uint64_t lkc_checkelement(lua_State *L, int arg, const kc_format *f, const kc_encoding *e) {
  luaL_checktype(L, arg, LUA_TNUMBER);
  kc_parts p = lua_isinteger(L, arg) ? kc_parts_of_code(kc_format_find("i64"), (uint64_t)lua_tointeger(L, arg))
                                     : kc_parts_of_double(lua_tonumber(L, arg));
  if (p.cls == KC_NAN && f->nan_rule == KC_NAN_NONE) luaL_argerror(L, arg, lua_pushfstring(L, "format %s has no NaN", f->name));
  return kc_encode_parts(f, p, e);
}

/*--- The code of `x` in a format, rounded once. Options: rounding ("RNE" when omitted, "RZ", "RU", "RD", "RNA", "SR"), saturate,
--- flush, and for SR random (the bits as an integer) and random_bits (1..64). Raises for NaN in a format without NaN.
---@param format string
---@param x number
---@param options table|nil
---@return integer code
function core.encode(format, x, options) end */
static int lkc_format_encode(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  kc_encoding e = encoding_options(L, 3);
  lua_pushinteger(L, (lua_Integer)lkc_checkelement(L, 2, f, &e));
  return 1;
}

/*--- The value of a code: an integer for integer formats (u64 beyond 2^63 as a float), else a float.
---@param format string
---@param code integer
---@return number
function core.decode(format, code) end */
static int lkc_format_decode(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  lkc_pushelement(L, f, lkc_checkcode(L, 2, f));
  return 1;
}

void lkc_pushelement(lua_State *L, const kc_format *f, uint64_t code) {
  bool fits = f->kind == KC_INT || (f->kind == KC_UINT && code <= INT64_MAX);
  if (!fits)
    lua_pushnumber(L, kc_decode(f, code));
  else
    lua_pushinteger(L, f->kind == KC_INT ? kc_ordered(f, code) : (lua_Integer)code);
}

/*--- Class of a code: "nan" "-inf" "-finite" "-0" "+0" "+finite" "+inf".
---@param format string
---@param code integer
---@return string
function core.classify(format, code) end */
static int lkc_format_classify(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  lua_pushstring(L, kc_class_name(kc_classify(f, lkc_checkcode(L, 2, f))));
  return 1;
}

/*--- Position of a code on the line of the format's values: consecutive numbers differ by one, both zeros are at 0 (u64: at
--- -2^63). nil for NaN.
---@param format string
---@param code integer
---@return integer|nil
function core.ordered(format, code) end */
static int lkc_format_ordered(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  uint64_t code = lkc_checkcode(L, 2, f);
  if (kc_classify(f, code) == KC_NAN)
    lua_pushnil(L);
  else
    lua_pushinteger(L, kc_ordered(f, code));
  return 1;
}

/*--- Spacing of the format's numbers at |x|, never below that of its subnormals.
---@param format string
---@param x number
---@return number
function core.ulp_at(format, x) end */
static int lkc_format_ulp_at(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  lua_pushnumber(L, kc_ulp_at(f, luaL_checknumber(L, 2)));
  return 1;
}

/*--- Unit roundoff of the format under rounding to nearest.
---@param format string
---@return number
function core.roundoff(format) end */
static int lkc_format_roundoff(lua_State *L) {
  lua_pushnumber(L, kc_unit_roundoff(lkc_checkformat(L, 1)));
  return 1;
}

/*--- How many numbers of the format lie between two codes: the difference of their positions. nil when either is NaN; a float
--- where it exceeds 2^63.
---@param format string
---@param a integer code
---@param b integer code
---@return number|nil
function core.ulp_distance(format, a, b) end */
static int lkc_format_ulp_distance(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  uint64_t a = lkc_checkcode(L, 2, f), b = lkc_checkcode(L, 3, f);
  if (kc_classify(f, a) == KC_NAN || kc_classify(f, b) == KC_NAN) return lua_pushnil(L), 1;
  int64_t x = kc_ordered(f, a), y = kc_ordered(f, b);
  uint64_t distance = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
  lkc_pushelement(L, kc_format_find("u64"), distance);
  return 1;
}

/*--- The next number of the format above (direction 1) or below (-1) a code; from the smallest negative one up to +0. nil when
--- there is none, or for NaN.
---@param format string
---@param code integer
---@param direction integer 1 or -1
---@return integer|nil code
function core.next(format, code, direction) end */
static int lkc_format_next(lua_State *L) {
  const kc_format *f = lkc_checkformat(L, 1);
  uint64_t code = lkc_checkcode(L, 2, f), next;
  lua_Integer direction = luaL_checkinteger(L, 3);
  luaL_argcheck(L, direction == 1 || direction == -1, 3, "expected 1 or -1");
  int64_t position = kc_ordered(f, code);
  bool is_nan = kc_classify(f, code) == KC_NAN, ends = position == (direction > 0 ? INT64_MAX : INT64_MIN);
  if (is_nan || ends || !kc_code_at(f, position + direction, &next))
    lua_pushnil(L);
  else
    lua_pushinteger(L, (lua_Integer)next);
  return 1;
}

/* A list of n 32-bit words. */
static void check_words(lua_State *L, int arg, uint32_t *out, int n) {
  luaL_checktype(L, arg, LUA_TTABLE);
  for (int i = 0; i < n; i++) {
    int isint;
    lua_geti(L, arg, i + 1);
    lua_Integer word = lua_tointegerx(L, -1, &isint);
    if (!isint || word < 0 || word > UINT32_MAX)
      luaL_argerror(L, arg, lua_pushfstring(L, "word %d: expected an integer in 0..2^32-1", i + 1));
    out[i] = (uint32_t)word;
    lua_pop(L, 1);
  }
}

/*--- One block of Philox4x32-10: four 32-bit words from a counter of four and a key of two.
---@param counter table
---@param key table
---@return table words
function core.philox(counter, key) end */
static int lkc_format_philox(lua_State *L) {
  uint32_t counter[4], key[2], out[4];
  check_words(L, 1, counter, 4);
  check_words(L, 2, key, 2);
  kc_philox4x32(out, counter, key);
  lua_createtable(L, 4, 0);
  for (int i = 0; i < 4; i++) {
    lua_pushinteger(L, out[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/*--- The calling thread's floating-point state: mxcsr, x87 (control bits) and text, which names what differs from the state that
--- kc demands; empty when nothing does.
---@return table
function core.fpstate() end */
static int lkc_format_fpstate(lua_State *L) {
  kc_fpstate s = kc_fpstate_get();
  kc_text text;
  kc_fpstate_describe(&text, kc_fpstate_default(), s);
  lua_createtable(L, 0, 3);
  lkc_setinteger(L, "mxcsr", s.mxcsr);
  lkc_setinteger(L, "x87", s.x87);
  lkc_setstring(L, "text", text.s);
  return 1;
}

void lkc_open_format(lua_State *L) {
  static const luaL_Reg functions[] = {{"formats", lkc_format_names},
                                       {"format", lkc_format_facts},
                                       {"encode", lkc_format_encode},
                                       {"decode", lkc_format_decode},
                                       {"classify", lkc_format_classify},
                                       {"ordered", lkc_format_ordered},
                                       {"ulp_at", lkc_format_ulp_at},
                                       {"roundoff", lkc_format_roundoff},
                                       {"ulp_distance", lkc_format_ulp_distance},
                                       {"next", lkc_format_next},
                                       {"philox", lkc_format_philox},
                                       {"fpstate", lkc_format_fpstate},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
