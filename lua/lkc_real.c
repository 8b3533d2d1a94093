/* lkc_real.c - MPFR numbers as Lua userdata. An operation's precision is the largest of its operands'; Lua numbers enter
 * exactly (53 bits for floats, 64 for integers) and do not raise it. */
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "lkc_real.h"

#define LKC_REAL "kc.real"
#define DEFAULT_BITS 128
#define MAX_BITS 1000000

typedef struct lkc_real {
  mpfr_t x;
  bool open;
} lkc_real;

static lkc_real *new_real(lua_State *L, mpfr_prec_t bits) {
  lkc_real *r = lua_newuserdatauv(L, sizeof *r, 0);
  r->open = false;
  luaL_setmetatable(L, LKC_REAL);
  mpfr_init2(r->x, bits);
  r->open = true;
  return r;
}

static mpfr_ptr check_real(lua_State *L, int arg) {
  lkc_real *r = luaL_checkudata(L, arg, LKC_REAL);
  if (!r->open) luaL_argerror(L, arg, "attempt to use a closed real");
  return r->x;
}

static mpfr_prec_t opt_bits(lua_State *L, int arg) {
  lua_Integer bits = luaL_optinteger(L, arg, DEFAULT_BITS);
  luaL_argcheck(L, bits >= 2 && bits <= MAX_BITS, arg, "expected a precision from 2 to 1000000 bits");
  return (mpfr_prec_t)bits;
}

/* The operand at `arg` as a real: itself, or a Lua number converted exactly in place (the stack slot is replaced). */
static mpfr_ptr operand(lua_State *L, int arg) {
  if (luaL_testudata(L, arg, LKC_REAL)) return check_real(L, arg);
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "real or number");
  lkc_real *r;
  if (lua_isinteger(L, arg)) {
    r = new_real(L, 64);
    mpfr_set_si(r->x, (long)lua_tointeger(L, arg), MPFR_RNDN);
  } else {
    r = new_real(L, 53);
    mpfr_set_d(r->x, lua_tonumber(L, arg), MPFR_RNDN);
  }
  lua_replace(L, arg);
  return r->x;
}

static mpfr_prec_t bits_of(lua_State *L, int arg, bool was_real) {
  mpfr_prec_t bits = mpfr_get_prec(check_real(L, arg));
  return was_real || bits > DEFAULT_BITS ? bits : 2;
}

/*--- An MPFR number. Lua numbers are taken exactly and text is rounded once to nearest: decimal ("0.1", "1e-400") or hexadecimal
--- ("0x1.8p-3"), "inf", "nan".
--- @param x number|string|userdata
--- @param precision integer|nil bits, 2 to 1000000; 128 when omitted, at least what a Lua number needs
--- @return userdata real
function exact.real(x, precision) end */
static int real_new(lua_State *L) {
  mpfr_prec_t bits = opt_bits(L, 2);
  if (lua_type(L, 1) == LUA_TSTRING) {
    size_t length;
    const char *text = lua_tolstring(L, 1, &length);
    lkc_real *r = new_real(L, bits);
    char *end;
    mpfr_strtofr(r->x, text, &end, 0, MPFR_RNDN);
    if (length == 0 || end != text + length)
      return luaL_argerror(L, 1, lua_pushfstring(L, "expected a number as text, got '%s'", text));
    return 1;
  }
  mpfr_ptr from = operand(L, 1);
  lkc_real *r = new_real(L, bits);
  mpfr_set(r->x, from, MPFR_RNDN);
  return 1;
}

/* ---- functions: one row each --------------------------------------------------------------------------------------------- */

typedef int (*unary_fn)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int (*binary_fn)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static int apply_unary(lua_State *L, unary_fn f) {
  bool real = luaL_testudata(L, 1, LKC_REAL) != NULL;
  mpfr_ptr x = operand(L, 1);
  /* Reducing an angle of 2^e takes e bits of pi: hours in MPFR, which no Lua code could interrupt. */
  if ((f == mpfr_sin || f == mpfr_cos || f == mpfr_tan) && mpfr_regular_p(x) && mpfr_get_exp(x) > 1 << 20)
    luaL_argerror(L, 1, "expected an angle below 2^1048576");
  lkc_real *r = new_real(L, real ? mpfr_get_prec(x) : DEFAULT_BITS);
  f(r->x, x, MPFR_RNDN);
  return 1;
}

/* real OP value: a value that has the operation itself (a traced one) takes it. */
static bool delegate(lua_State *L, const char *event) {
  if (!lua_istable(L, 2) || luaL_getmetafield(L, 2, event) == LUA_TNIL) return false;
  lua_insert(L, 1);
  lua_settop(L, 3);
  lua_call(L, 2, 1);
  return true;
}

static int apply_binary(lua_State *L, binary_fn f) {
  bool real1 = luaL_testudata(L, 1, LKC_REAL) != NULL, real2 = luaL_testudata(L, 2, LKC_REAL) != NULL;
  mpfr_ptr x = operand(L, 1), y = operand(L, 2);
  mpfr_prec_t a = bits_of(L, 1, real1), b = bits_of(L, 2, real2), bits = a > b ? a : b;
  lkc_real *r = new_real(L, real1 || real2 ? bits : DEFAULT_BITS);
  f(r->x, x, y, MPFR_RNDN);
  return 1;
}

/*--- e^x, rounded to nearest.
--- > kc.reals.exp(0):tonumber()
--- 1.0
--- @param x userdata|number
--- @return userdata real
function exact.exp(x) end
--- 2^x, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.exp2(x) end
--- e^x - 1, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.expm1(x) end
--- Natural logarithm, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.log(x) end
--- Logarithm to base 2, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.log2(x) end
--- Logarithm to base 10, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.log10(x) end
--- log(1 + x), rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.log1p(x) end
--- Sine of x radians, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.sin(x) end
--- Cosine of x radians, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.cos(x) end
--- Tangent of x radians, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.tan(x) end
--- Arc sine, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.asin(x) end
--- Arc cosine, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.acos(x) end
--- Arc tangent, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.atan(x) end
--- Hyperbolic sine, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.sinh(x) end
--- Hyperbolic cosine, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.cosh(x) end
--- Hyperbolic tangent, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.tanh(x) end
--- Error function, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.erf(x) end
--- Complementary error function, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.erfc(x) end
--- Gamma function, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.gamma(x) end
--- Square root, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.sqrt(x) end
--- Cube root, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.cbrt(x) end
--- Magnitude, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.abs(x) end
--- Smallest integer not below x, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.ceil(x) end
--- Largest integer not above x, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.floor(x) end
--- Integer part, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.trunc(x) end
--- Nearest integer, ties to even, rounded to nearest.
--- @param x userdata|number
--- @return userdata real
function exact.round(x) end
--- x^y, rounded to nearest.
--- @param x userdata|number
--- @param y userdata|number
--- @return userdata real
function exact.pow(x, y) end
--- The smaller of the two, rounded to nearest.
--- @param x userdata|number
--- @param y userdata|number
--- @return userdata real
function exact.min(x, y) end
--- The larger of the two, rounded to nearest.
--- @param x userdata|number
--- @param y userdata|number
--- @return userdata real
function exact.max(x, y) end
--- Remainder of x / y truncated, rounded to nearest.
--- @param x userdata|number
--- @param y userdata|number
--- @return userdata real
function exact.fmod(x, y) end
--- sqrt(x^2 + y^2), rounded to nearest.
--- @param x userdata|number
--- @param y userdata|number
--- @return userdata real
function exact.hypot(x, y) end */
/* Name and MPFR function. */
/* clang-format off */
#define UNARY_ROWS(X)                                                                                                          \
  X(exp, mpfr_exp) X(exp2, mpfr_exp2) X(expm1, mpfr_expm1) X(log, mpfr_log) X(log2, mpfr_log2) X(log10, mpfr_log10)           \
  X(log1p, mpfr_log1p) X(sin, mpfr_sin) X(cos, mpfr_cos) X(tan, mpfr_tan) X(asin, mpfr_asin) X(acos, mpfr_acos)               \
  X(atan, mpfr_atan) X(sinh, mpfr_sinh) X(cosh, mpfr_cosh) X(tanh, mpfr_tanh) X(erf, mpfr_erf) X(erfc, mpfr_erfc)             \
  X(gamma, mpfr_gamma) X(sqrt, mpfr_sqrt) X(cbrt, mpfr_cbrt) X(abs, mpfr_abs) X(ceil, mpfr_rint_ceil) X(floor, mpfr_rint_floor)       \
  X(trunc, mpfr_rint_trunc) X(round, mpfr_rint_roundeven)
#define BINARY_ROWS(X) X(pow, mpfr_pow) X(min, mpfr_min) X(max, mpfr_max) X(fmod, mpfr_fmod) X(hypot, mpfr_hypot)
/* clang-format on */
#define DEFINE_UNARY(name, f)                                                                                                  \
  static int real_##name(lua_State *L) {                                                                                       \
    return apply_unary(L, f);                                                                                                  \
  }
#define DEFINE_BINARY(name, f)                                                                                                 \
  static int real_##name(lua_State *L) {                                                                                       \
    return apply_binary(L, f);                                                                                                 \
  }
UNARY_ROWS(DEFINE_UNARY)
BINARY_ROWS(DEFINE_BINARY)

/*--- x y + z, rounded once.
--- > kc.reals.fma(2, 3, 5):tonumber()
--- 11.0
--- @param x userdata|number
--- @param y userdata|number
--- @param z userdata|number
--- @return userdata real
function exact.fma(x, y, z) end */
static int real_fma(lua_State *L) {
  mpfr_prec_t bits = 2;
  bool any = false;
  for (int i = 1; i <= 3; i++) {
    bool real = luaL_testudata(L, i, LKC_REAL) != NULL;
    operand(L, i);
    mpfr_prec_t b = bits_of(L, i, real);
    bits = b > bits ? b : bits;
    any = any || real;
  }
  lkc_real *r = new_real(L, any ? bits : DEFAULT_BITS);
  mpfr_fma(r->x, check_real(L, 1), check_real(L, 2), check_real(L, 3), MPFR_RNDN);
  return 1;
}

/*--- p / q for integers, rounded once to nearest.
--- > kc.reals.ratio(1, 4):tonumber()
--- 0.25
--- @param p integer
--- @param q integer
--- @param precision integer|nil bits
--- @return userdata real
function exact.ratio(p, q, precision) end */
static int real_ratio(lua_State *L) {
  luaL_checkinteger(L, 1);
  luaL_checkinteger(L, 2);
  mpfr_prec_t bits = opt_bits(L, 3);
  mpfr_ptr p = operand(L, 1), q = operand(L, 2);
  lkc_real *r = new_real(L, bits);
  mpfr_div(r->x, p, q, MPFR_RNDN);
  return 1;
}

static int const_e(mpfr_ptr r, mpfr_rnd_t m) {
  mpfr_set_ui(r, 1, m);
  return mpfr_exp(r, r, m);
}

/*--- A constant.
--- @param name string "pi" | "e" | "log2" | "euler" | "catalan"
--- @param precision integer|nil bits
--- @return userdata real
function exact.const(name, precision) end */
static int real_const(lua_State *L) {
  static const char *const names[] = {"pi", "e", "log2", "euler", "catalan", NULL};
  static int (*const functions[])(mpfr_ptr, mpfr_rnd_t) = {mpfr_const_pi, const_e, mpfr_const_log2, mpfr_const_euler,
                                                           mpfr_const_catalan};
  int i = luaL_checkoption(L, 1, NULL, names);
  lkc_real *r = new_real(L, opt_bits(L, 2));
  functions[i](r->x, MPFR_RNDN);
  return 1;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

static int meta_add(lua_State *L) {
  if (delegate(L, "__add")) return 1;
  return apply_binary(L, mpfr_add);
}
static int meta_sub(lua_State *L) {
  if (delegate(L, "__sub")) return 1;
  return apply_binary(L, mpfr_sub);
}
static int meta_mul(lua_State *L) {
  if (delegate(L, "__mul")) return 1;
  return apply_binary(L, mpfr_mul);
}
static int meta_div(lua_State *L) {
  if (delegate(L, "__div")) return 1;
  return apply_binary(L, mpfr_div);
}
static int meta_pow(lua_State *L) {
  return apply_binary(L, mpfr_pow);
}

static int meta_unm(lua_State *L) {
  lua_settop(L, 1); /* Lua passes the operand twice */
  return apply_unary(L, mpfr_neg);
}

static int meta_eq(lua_State *L) {
  lua_pushboolean(L, mpfr_equal_p(operand(L, 1), operand(L, 2)) != 0);
  return 1;
}

static int meta_lt(lua_State *L) {
  lua_pushboolean(L, mpfr_less_p(operand(L, 1), operand(L, 2)) != 0);
  return 1;
}

static int meta_le(lua_State *L) {
  lua_pushboolean(L, mpfr_lessequal_p(operand(L, 1), operand(L, 2)) != 0);
  return 1;
}

/* ---- text ------------------------------------------------------------------------------------------------------------------ */

static void push_formatted(lua_State *L, const char *format, int digits, mpfr_srcptr x) {
  char *text = NULL;
  if (mpfr_asprintf(&text, format, digits, x) < 0) luaL_error(L, "out of memory");
  lua_pushstring(L, text);
  mpfr_free_str(text);
}

/*--- Decimal text with `digits` significant digits; without, as many as identify the number at its precision.
--- @param digits integer|nil
--- @return string text
function real.decimal(self, digits) end */
static int real_decimal(lua_State *L) {
  mpfr_ptr x = check_real(L, 1);
  lua_Integer digits = luaL_optinteger(L, 2, (lua_Integer)mpfr_get_str_ndigits(10, mpfr_get_prec(x)));
  luaL_argcheck(L, digits >= 1 && digits <= MAX_BITS, 2, "expected 1 to 1000000 digits");
  push_formatted(L, "%.*Rg", (int)digits, x);
  return 1;
}

/*--- Hexadecimal text, exact; the leading digit is 1, as C's %a has it.
--- @return string text
function real.hex(self) end */
static int real_hex(lua_State *L) {
  mpfr_ptr x = check_real(L, 1);
  if (!mpfr_regular_p(x)) {
    push_formatted(L, "%.*Rg", 1, x);
    return 1;
  }
  /* MPFR chooses the leading digit so that its exponent is a multiple of 4: print the significand in [1, 2) by itself. */
  lkc_real *significand = new_real(L, mpfr_get_prec(x));
  mpfr_set(significand->x, x, MPFR_RNDN);
  mpfr_set_exp(significand->x, 1);
  char *text = NULL;
  if (mpfr_asprintf(&text, "%Ra", significand->x) < 0) return luaL_error(L, "out of memory");
  lua_pushlstring(L, text, (size_t)(strchr(text, 'p') - text));
  mpfr_free_str(text);
  lua_Integer exponent = (lua_Integer)mpfr_get_exp(x) - 1;
  lua_pushfstring(L, exponent < 0 ? "%sp%I" : "%sp+%I", lua_tostring(L, -1), (LUAI_UACINT)exponent);
  return 1;
}

static int meta_tostring(lua_State *L) {
  lkc_real *r = luaL_checkudata(L, 1, LKC_REAL);
  if (!r->open) {
    lua_pushliteral(L, "real (closed)");
    return 1;
  }
  lua_settop(L, 1);
  return real_decimal(L);
}

/* ---- the rest --------------------------------------------------------------------------------------------------------------- */

/*--- Precision in bits.
--- > kc.real(1):prec()
--- 128
--- @return integer bits
function real.prec(self) end */
static int real_prec(lua_State *L) {
  lua_pushinteger(L, mpfr_get_prec(check_real(L, 1)));
  return 1;
}

/*--- The nearest double.
--- @return number x
function real.tonumber(self) end */
static int real_tonumber(lua_State *L) {
  lua_pushnumber(L, mpfr_get_d(check_real(L, 1), MPFR_RNDN));
  return 1;
}

/*--- Code of the number in a format, rounded once.
--- @param format string
--- @param rounding string|nil "RNE" (default) "RZ" "RU" "RD" "RNA"
--- @return integer code
function real.round(self, format, rounding) end */
static int real_to_format(lua_State *L) {
  static const char *const names[] = {"RNE", "RZ", "RU", "RD", "RNA", NULL};
  mpfr_ptr x = check_real(L, 1);
  const kc_format *f = lkc_checkformat(L, 2);
  kc_encoding e = {.rounding = (uint8_t)luaL_checkoption(L, 3, "RNE", names)};
  lua_pushinteger(L, (lua_Integer)kc_encode_parts(f, kc_exact_parts(x), &e));
  return 1;
}

/*--- Class: "nan" "-inf" "-finite" "-0" "+0" "+finite" "+inf".
--- > kc.real("-inf"):class()
--- "-inf"
--- @return string class
function real.class(self) end */
static int real_class(lua_State *L) {
  lua_pushstring(L, kc_class_name(kc_exact_parts(check_real(L, 1)).cls));
  return 1;
}

/*--- Frees the number's memory; again is harmless.
function real.close(self) end */
static int real_close(lua_State *L) {
  lkc_real *r = luaL_checkudata(L, 1, LKC_REAL);
  if (r->open) mpfr_clear(r->x);
  r->open = false;
  return 0;
}

static const luaL_Reg methods[] = {
    {"decimal", real_decimal}, {"hex", real_hex},     {"prec", real_prec},   {"tonumber", real_tonumber},
    {"round", real_to_format}, {"class", real_class}, {"close", real_close}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {
    {"__add", meta_add}, {"__sub", meta_sub},           {"__mul", meta_mul}, {"__div", meta_div},
    {"__pow", meta_pow}, {"__unm", meta_unm},           {"__eq", meta_eq},   {"__lt", meta_lt},
    {"__le", meta_le},   {"__tostring", meta_tostring}, {NULL, NULL}};
#define FUNCTION_ROW(name, f) {#name, real_##name},
static const luaL_Reg functions[] = {UNARY_ROWS(FUNCTION_ROW) BINARY_ROWS(FUNCTION_ROW){"fma", real_fma},
                                     {"ratio", real_ratio},
                                     {"const", real_const},
                                     {"real", real_new},
                                     {NULL, NULL}};

void lkc_open_real(lua_State *L) {
  lkc_newtype(L, LKC_REAL, methods, metamethods, real_close);
  luaL_setfuncs(L, functions, 0);
}
