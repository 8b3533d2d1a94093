/* operation.h - one row per elementwise function, and the bracket in which every engine answers. Internal. */
#ifndef KC_EXACT_OPERATION_H
#define KC_EXACT_OPERATION_H

#if __has_include(<flint/arb_hypgeom.h>) /* FLINT 3 holds what was Arb */
#include <flint/arb.h>
#include <flint/arb_hypgeom.h>
#else
#include <arb.h>
#include <arb_hypgeom.h>
#endif

#include "exact.h"

/* A result known without evaluation: its classes (0: must be evaluated) and, where it is finite, its value. */
typedef struct kc__known_point {
  uint8_t classes;
  double value;
} kc__known_point;

/* Inequalities that hold at every finite, non-zero, non-exceptional argument x; they sharpen bounds where the function comes so
 * close to x or to +-1 that no affordable precision tells them apart. */
enum {
  KC__WITHIN_ONE = 1, /* |f(x)| <= 1 */
  KC__WITHIN_X = 2,   /* |f(x)| <= |x| */
  KC__BELOW_X = 4,    /* f(x) <= x */
  KC__ABOVE_X = 8,    /* f(x) >= x */
  KC__ABOVE_MINUS_ONE = 16,
  KC__BELOW_TWO = 32
};

typedef void (*kc__ball1_fn)(arb_t r, const arb_t x, slong precision);
typedef void (*kc__ball2_fn)(arb_t r, const arb_t x, const arb_t y, slong precision);
typedef int (*kc__real1_fn)(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding);
typedef int (*kc__real2_fn)(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding);

struct kc_exact {
  const char *name, *doc;
  int arity;
  /* Functions of one argument: the result by class of x, in the order of kc_class's bits. */
  kc__known_point special[7];
  /* Functions of one argument with an edge: the result at x == edge and below it (NaN: no edge). `upper` likewise, above it; where
   * a row does not name it, it is 0, whose result is in `special`, and nothing is known above. */
  double edge;
  kc__known_point at_edge, below_edge;
  double upper;
  kc__known_point at_upper, above_upper;
  /* Functions of two arguments: the whole table as a function. */
  kc__known_point (*special2)(double x, double y);
  /* Arguments beyond +-limit give the doubles that +-limit gives (0: no limit). Keeps huge exponents away from the engines. */
  double limit;
  uint8_t bounds;
  bool points_only; /* ball1 takes exact arguments only, or saturates: not for expressions */
  bool algebraic;   /* results are often exact: MPFR first, whose ternary value tells */
  kc__ball1_fn ball1;
  kc__ball2_fn ball2;
  kc__real1_fn real1; /* NULL where MPFR lacks the function: Arb answers instead */
  kc__real2_fn real2;
};

/* lo <= f(x) <= hi; equal only when the value is exact. */
typedef struct kc__bracket {
  arf_t lo, hi;
} kc__bracket;

void kc__bracket_init(kc__bracket *b);
void kc__bracket_clear(kc__bracket *b);

/* The result at x when no evaluation is needed. */
kc__known_point kc__exact_special(const kc_exact *op, const double x[2]);
/* Special results of functions of two arguments. */
kc__known_point kc__special_div(double x, double y);
kc__known_point kc__special_pow(double x, double y);
kc__known_point kc__special_hypot(double x, double y);

/* Encloses the function at arguments that are not special, with balls of `precision` bits; false when the ball has fewer than
 * `accuracy` bits of relative accuracy. */
bool kc__exact_ball(kc__bracket *b, const kc_exact *op, const double x[2], slong precision, slong accuracy);
/* The same with MPFR: lo is the value rounded down to `precision` bits, hi its successor, or lo where the value is exact. */
void kc__exact_real(kc__bracket *b, const kc_exact *op, const double x[2], mpfr_prec_t precision);
bool kc__exact_has_real(const kc_exact *op);

/* Functions that Arb lacks. */
void kc__ball_exp2(arb_t r, const arb_t x, slong precision);
void kc__ball_log2(arb_t r, const arb_t x, slong precision);
void kc__ball_log10(arb_t r, const arb_t x, slong precision);
void kc__ball_sigmoid(arb_t r, const arb_t x, slong precision);
void kc__ball_silu(arb_t r, const arb_t x, slong precision);
void kc__ball_gelu(arb_t r, const arb_t x, slong precision);
void kc__ball_cbrt(arb_t r, const arb_t x, slong precision);
void kc__ball_pow(arb_t r, const arb_t x, const arb_t y, slong precision);

/* Bounds as doubles, rounded outward, and the classes that they imply for a value that is not zero. */
kc_exact_value kc__exact_doubles(const kc__bracket *b);
/* A known result in the same form. */
kc_exact_value kc__exact_known(kc__known_point p);
/* Checks number of elements, formats and shapes. */
kc_status kc__exact_check(const kc_exact *op, const kc_buffer *const *inputs, kc_text *err);

#endif
