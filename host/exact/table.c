/* table.c - the functions, one row each, with what they give at exceptional arguments.
 *
 * Sources of the special results: C11 Annex F.10 for exp exp2 log log2 log10 log1p expm1 tanh erf erfc sqrt sin cos tan asin
 * acos atan sinh cosh asinh acosh atanh cbrt pow hypot; IEEE 754-2019
 * section 9.2.1 for rSqrt, sections 6 and 7.3 for division; limits for sigmoid, gelu and silu, which no standard defines. Where a
 * limit is zero approached from below through products (gelu and silu at -inf) both zeros are admitted.
 *
 * Completeness of exact results: by Lindemann and Weierstrass exp, expm1, sin, cos, tan, sinh, cosh, tanh, their inverses,
 * log, log1p, sigmoid and silu of a non-zero (log, acosh, acos: not 1) rational are transcendental, so they have no exact results beside
 * those listed; exp2, log2 and log10 are exact only at integers and powers of their base (Gelfond and Schneider), which their
 * engines see; the rest is algebraic and goes to MPFR.
 */
#include <string.h>

#include "operation.h"

/* clang-format off: rows are read as rows */
/* Known results, as short as the rows need them. */
#define EVALUATE                                                                                                               \
  { 0, 0 }
#define NOT_A_NUMBER                                                                                                           \
  { KC_NAN, 0 }
#define PLUS_INF                                                                                                               \
  { KC_PINF, 0 }
#define MINUS_INF                                                                                                              \
  { KC_NINF, 0 }
#define PLUS_ZERO                                                                                                              \
  { KC_PZERO, 0 }
#define MINUS_ZERO                                                                                                             \
  { KC_NZERO, 0 }
#define EITHER_ZERO                                                                                                            \
  { KC_NZERO | KC_PZERO, 0 }
#define EXACTLY(x)                                                                                                             \
  { (x) < 0 ? KC_NFIN : KC_PFIN, (x) }

#define NO_EDGE .edge = (double)NAN

/* NaN, -inf, negative, -0, +0, positive, +inf */
#define ODD_UNBOUNDED                                                                                                          \
  { NOT_A_NUMBER, MINUS_INF, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, PLUS_INF }
#define ODD_TO_ONE                                                                                                             \
  { NOT_A_NUMBER, EXACTLY(-1), EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, EXACTLY(1) }
#define EXPONENTIAL                                                                                                            \
  { NOT_A_NUMBER, PLUS_ZERO, EVALUATE, EXACTLY(1), EXACTLY(1), EVALUATE, PLUS_INF }
#define LOGARITHM                                                                                                              \
  { NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, MINUS_INF, MINUS_INF, EVALUATE, PLUS_INF }
#define GATED                                                                                                                  \
  { NOT_A_NUMBER, EITHER_ZERO, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, PLUS_INF }

/* e^2000 > 2^2885 and 2^-2885 lie so far outside the doubles that nothing beyond them can round to other bounds, also after
 * multiplication by any double; 1 - e^-2000 is nearer to 1 than any double. exp2 likewise. erf and the erfc of gelu:
 * erfc(60) < e^-3600. At infinity atan is pi / 2, which 2^-1000 does not move to another double. */
enum { EXP_LIMIT = 2000, EXP2_LIMIT = 3000, ERF_LIMIT = 60 };
#define ATAN_LIMIT 0x1p1000

static const kc_exact operations[] = {
    {.name = "exp",
     .doc = "e^x",
     .arity = 1,
     .special = EXPONENTIAL,
     NO_EDGE,
     .limit = EXP_LIMIT,
     .ball1 = arb_exp,
     .real1 = mpfr_exp},
    {.name = "exp2",
     .doc = "2^x",
     .arity = 1,
     .special = EXPONENTIAL,
     NO_EDGE,
     .limit = EXP2_LIMIT,
     .ball1 = kc__ball_exp2,
     .real1 = mpfr_exp2},
    {.name = "log",
     .doc = "natural logarithm; -inf at both zeros, NaN below",
     .arity = 1,
     .special = LOGARITHM,
     .edge = 1,
     .at_edge = PLUS_ZERO,
     .ball1 = arb_log,
     .real1 = mpfr_log},
    {.name = "log2",
     .doc = "logarithm to base 2; -inf at both zeros, NaN below",
     .arity = 1,
     .special = LOGARITHM,
     .edge = 1,
     .at_edge = PLUS_ZERO,
     .ball1 = kc__ball_log2,
     .real1 = mpfr_log2},
    {.name = "log1p",
     .doc = "log(1 + x); -inf at -1, NaN below",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, PLUS_INF},
     .edge = -1,
     .at_edge = MINUS_INF,
     .below_edge = NOT_A_NUMBER,
     .bounds = KC__BELOW_X,
     .ball1 = arb_log1p,
     .real1 = mpfr_log1p},
    {.name = "expm1",
     .doc = "e^x - 1",
     .arity = 1,
     .special = {NOT_A_NUMBER, EXACTLY(-1), EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, PLUS_INF},
     NO_EDGE,
     .limit = EXP_LIMIT,
     .bounds = KC__ABOVE_X | KC__ABOVE_MINUS_ONE,
     .ball1 = arb_expm1,
     .real1 = mpfr_expm1},
    {.name = "tanh",
     .doc = "hyperbolic tangent",
     .arity = 1,
     .special = ODD_TO_ONE,
     NO_EDGE,
     .limit = EXP_LIMIT,
     .bounds = KC__WITHIN_ONE | KC__WITHIN_X,
     .ball1 = arb_tanh,
     .real1 = mpfr_tanh},
    {.name = "erf",
     .doc = "error function",
     .arity = 1,
     .special = ODD_TO_ONE,
     NO_EDGE,
     .limit = ERF_LIMIT,
     .bounds = KC__WITHIN_ONE,
     .ball1 = arb_hypgeom_erf,
     .real1 = mpfr_erf},
    {.name = "sigmoid",
     .doc = "1 / (1 + e^-x)",
     .arity = 1,
     .special = {NOT_A_NUMBER, PLUS_ZERO, EVALUATE, EXACTLY(0.5), EXACTLY(0.5), EVALUATE, EXACTLY(1)},
     NO_EDGE,
     .limit = EXP_LIMIT,
     .bounds = KC__WITHIN_ONE,
     .points_only = true,
     .ball1 = kc__ball_sigmoid},
    {.name = "gelu",
     .doc = "x Phi(x) = x erfc(-x / sqrt 2) / 2, not the tanh form; at -inf a zero of either sign",
     .arity = 1,
     .special = GATED,
     NO_EDGE,
     .bounds = KC__WITHIN_X,
     .points_only = true,
     .ball1 = kc__ball_gelu},
    {.name = "silu",
     .doc = "x sigmoid(x); at -inf a zero of either sign",
     .arity = 1,
     .special = GATED,
     NO_EDGE,
     .bounds = KC__WITHIN_X,
     .points_only = true,
     .ball1 = kc__ball_silu},
    {.name = "rsqrt",
     .doc = "1 / sqrt(x); rsqrt(-0) = -inf, NaN below",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, MINUS_INF, PLUS_INF, EVALUATE, PLUS_ZERO},
     NO_EDGE,
     .algebraic = true,
     .ball1 = arb_rsqrt,
     .real1 = mpfr_rec_sqrt},
    {.name = "sqrt",
     .doc = "square root; sqrt(-0) = -0, NaN below",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, MINUS_ZERO, PLUS_ZERO, EVALUATE, PLUS_INF},
     NO_EDGE,
     .algebraic = true,
     .ball1 = arb_sqrt,
     .real1 = mpfr_sqrt},
    {.name = "sin",
     .doc = "sine of x radians, reduced exactly; NaN at infinities",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, NOT_A_NUMBER},
     NO_EDGE,
     .bounds = KC__WITHIN_ONE | KC__WITHIN_X,
     .ball1 = arb_sin,
     .real1 = mpfr_sin},
    {.name = "cos",
     .doc = "cosine of x radians, reduced exactly; NaN at infinities",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, EXACTLY(1), EXACTLY(1), EVALUATE, NOT_A_NUMBER},
     NO_EDGE,
     .bounds = KC__WITHIN_ONE,
     .ball1 = arb_cos,
     .real1 = mpfr_cos},
    {.name = "cbrt",
     .doc = "cube root, also of negative numbers",
     .arity = 1,
     .special = ODD_UNBOUNDED,
     NO_EDGE,
     .algebraic = true,
     .ball1 = kc__ball_cbrt,
     .real1 = mpfr_cbrt},
    {.name = "log10",
     .doc = "logarithm to base 10; -inf at both zeros, NaN below",
     .arity = 1,
     .special = LOGARITHM,
     .edge = 1,
     .at_edge = PLUS_ZERO,
     .points_only = true,
     .ball1 = kc__ball_log10,
     .real1 = mpfr_log10},
    {.name = "tan",
     .doc = "tangent of x radians, reduced exactly; NaN at infinities",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, NOT_A_NUMBER},
     NO_EDGE,
     .points_only = true,
     .ball1 = arb_tan,
     .real1 = mpfr_tan},
    {.name = "sinh",
     .doc = "hyperbolic sine",
     .arity = 1,
     .special = ODD_UNBOUNDED,
     NO_EDGE,
     .limit = EXP_LIMIT,
     .points_only = true,
     .ball1 = arb_sinh,
     .real1 = mpfr_sinh},
    {.name = "cosh",
     .doc = "hyperbolic cosine",
     .arity = 1,
     .special = {NOT_A_NUMBER, PLUS_INF, EVALUATE, EXACTLY(1), EXACTLY(1), EVALUATE, PLUS_INF},
     NO_EDGE,
     .limit = EXP_LIMIT,
     .points_only = true,
     .ball1 = arb_cosh,
     .real1 = mpfr_cosh},
    {.name = "asin",
     .doc = "arc sine, from -pi / 2 to pi / 2; NaN beyond -1 and 1",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, NOT_A_NUMBER},
     .edge = -1,
     .below_edge = NOT_A_NUMBER,
     .upper = 1,
     .above_upper = NOT_A_NUMBER,
     .points_only = true,
     .ball1 = arb_asin,
     .real1 = mpfr_asin},
    {.name = "acos",
     .doc = "arc cosine, from 0 to pi; NaN beyond -1 and 1",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, EVALUATE, EVALUATE, EVALUATE, NOT_A_NUMBER},
     .edge = -1,
     .below_edge = NOT_A_NUMBER,
     .upper = 1,
     .at_upper = PLUS_ZERO,
     .above_upper = NOT_A_NUMBER,
     .points_only = true,
     .ball1 = arb_acos,
     .real1 = mpfr_acos},
    {.name = "atan",
     .doc = "arc tangent, from -pi / 2 to pi / 2",
     .arity = 1,
     .special = {NOT_A_NUMBER, EVALUATE, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, EVALUATE},
     NO_EDGE,
     .limit = ATAN_LIMIT,
     .bounds = KC__WITHIN_X,
     .points_only = true,
     .ball1 = arb_atan,
     .real1 = mpfr_atan},
    {.name = "asinh",
     .doc = "inverse hyperbolic sine",
     .arity = 1,
     .special = ODD_UNBOUNDED,
     NO_EDGE,
     .bounds = KC__WITHIN_X,
     .points_only = true,
     .ball1 = arb_asinh,
     .real1 = mpfr_asinh},
    {.name = "acosh",
     .doc = "inverse hyperbolic cosine; NaN below 1",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, PLUS_INF},
     .edge = 1,
     .at_edge = PLUS_ZERO,
     .below_edge = NOT_A_NUMBER,
     .points_only = true,
     .ball1 = arb_acosh,
     .real1 = mpfr_acosh},
    {.name = "atanh",
     .doc = "inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond",
     .arity = 1,
     .special = {NOT_A_NUMBER, NOT_A_NUMBER, EVALUATE, MINUS_ZERO, PLUS_ZERO, EVALUATE, NOT_A_NUMBER},
     .edge = -1,
     .at_edge = MINUS_INF,
     .below_edge = NOT_A_NUMBER,
     .upper = 1,
     .at_upper = PLUS_INF,
     .above_upper = NOT_A_NUMBER,
     .points_only = true,
     .ball1 = arb_atanh,
     .real1 = mpfr_atanh},
    {.name = "erfc",
     .doc = "1 - erf(x)",
     .arity = 1,
     .special = {NOT_A_NUMBER, EXACTLY(2), EVALUATE, EXACTLY(1), EXACTLY(1), EVALUATE, PLUS_ZERO},
     NO_EDGE,
     .limit = ERF_LIMIT,
     .bounds = KC__BELOW_TWO,
     .points_only = true,
     .ball1 = arb_hypgeom_erfc,
     .real1 = mpfr_erfc},
    {.name = "div",
     .doc = "x / y",
     .arity = 2,
     .special2 = kc__special_div,
     .algebraic = true,
     .ball2 = arb_div,
     .real2 = mpfr_div},
    {.name = "pow",
     .doc = "x^y as C's pow: pow(1, y) = pow(x, 0) = 1 even for NaN",
     .arity = 2,
     .special2 = kc__special_pow,
     .ball2 = kc__ball_pow,
     .real2 = mpfr_pow},
    {.name = "hypot",
     .doc = "sqrt(x^2 + y^2); infinite where one of them is, even if the other is NaN",
     .arity = 2,
     .special2 = kc__special_hypot,
     .algebraic = true,
     .ball2 = arb_hypot,
     .real2 = mpfr_hypot},
};
/* clang-format on */

const kc_exact *kc_exact_at(size_t i) {
  return i < sizeof operations / sizeof *operations ? &operations[i] : NULL;
}

const kc_exact *kc_exact_find(const char *name) {
  for (size_t i = 0; kc_exact_at(i); i++) {
    if (strcmp(operations[i].name, name) == 0) return &operations[i];
  }
  return NULL;
}

const char *kc_exact_name(const kc_exact *op) {
  return op->name;
}

const char *kc_exact_doc(const kc_exact *op) {
  return op->doc;
}

int kc_exact_arity(const kc_exact *op) {
  return op->arity;
}
