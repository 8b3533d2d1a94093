/* ball.c - the engine on Arb, and the functions that Arb lacks. Arguments are exact points. */
#include <math.h>

#include "operation.h"

/* Replaces a ball that lies beyond +-limit as a whole by +-limit: see the limits in table.c. */
static void saturate(arb_t x, slong limit) {
  arf_t nearest, bound;
  arf_init(nearest);
  arf_init(bound);
  arb_get_abs_lbound_arf(nearest, x, 64);
  arf_set_si(bound, limit);
  if (arf_cmp(nearest, bound) > 0) {
    if (arf_sgn(arb_midref(x)) < 0) arf_neg(bound, bound);
    arb_set_arf(x, bound);
  }
  arf_clear(bound);
  arf_clear(nearest);
}

/* 2^x = e^(x log 2): the exponent's bits are lost to the fraction. */
static void exp2_of_ball(arb_t r, const arb_t x, slong precision) {
  arb_t log2;
  arb_init(log2);
  slong more = arf_abs_bound_lt_2exp_si(arb_midref(x));
  more = precision + 8 + (more > 0 ? more : 0);
  arb_const_log2(log2, more);
  arb_mul(r, x, log2, more);
  arb_exp(r, r, precision);
  arb_clear(log2);
}

/* At a point 2^x = 2^n e^(f log 2) with n = floor(x): an integer x gives an exact result. */
void kc__ball_exp2(arb_t r, const arb_t x, slong precision) {
  if (!arb_is_exact(x)) {
    exp2_of_ball(r, x, precision);
    return;
  }
  arf_t n;
  fmpz_t e;
  arf_init(n);
  fmpz_init(e);
  arf_floor(n, arb_midref(x));
  arf_get_fmpz(e, n, ARF_RND_DOWN);
  arb_sub_arf(r, x, n, ARF_PREC_EXACT);
  if (arb_is_zero(r)) {
    arb_one(r);
  } else {
    arb_t log2;
    arb_init(log2);
    arb_const_log2(log2, precision + 8);
    arb_mul(r, r, log2, precision + 8);
    arb_exp(r, r, precision);
    arb_clear(log2);
  }
  arb_mul_2exp_fmpz(r, r, e);
  arf_clear(n);
  fmpz_clear(e);
}

void kc__ball_log2(arb_t r, const arb_t x, slong precision) {
  arb_log_base_ui(r, x, 2, precision);
}

void kc__ball_log10(arb_t r, const arb_t x, slong precision) {
  arb_log_base_ui(r, x, 10, precision);
}

void kc__ball_sigmoid(arb_t r, const arb_t x, slong precision) {
  arb_neg(r, x);
  saturate(r, 2000);
  arb_exp(r, r, precision);
  arb_add_ui(r, r, 1, precision);
  arb_inv(r, r, precision);
}

void kc__ball_silu(arb_t r, const arb_t x, slong precision) {
  kc__ball_sigmoid(r, x, precision);
  arb_mul(r, r, x, precision);
}

/* erfc magnifies relative errors of t by 2 t^2 at most; where the product does not underflow t^2 < 760, so 12 bits suffice. */
void kc__ball_gelu(arb_t r, const arb_t x, slong precision) {
  arb_t t;
  arb_init(t);
  arb_neg(t, x);
  saturate(t, 80);
  arb_set_ui(r, 2);
  arb_rsqrt(r, r, precision + 12);
  arb_mul(t, t, r, precision + 12);
  arb_hypgeom_erfc(r, t, precision);
  arb_mul(r, r, x, precision);
  arb_mul_2exp_si(r, r, -1);
  arb_clear(t);
}

/* A ball about zero: the largest magnitude on both sides. */
static void cbrt_about_zero(arb_t r, const arb_t x, slong precision) {
  arf_t most;
  arf_init(most);
  arb_get_abs_ubound_arf(most, x, precision);
  arb_set_arf(r, most);
  arb_root_ui(r, r, 3, precision);
  arb_get_abs_ubound_arf(most, r, precision);
  arb_zero(r);
  arb_add_error_arf(r, most);
  arf_clear(most);
}

void kc__ball_cbrt(arb_t r, const arb_t x, slong precision) {
  if (arb_contains_zero(x) && !arb_is_zero(x)) {
    cbrt_about_zero(r, x, precision);
    return;
  }
  bool negative = arf_sgn(arb_midref(x)) < 0;
  arb_abs(r, x);
  arb_root_ui(r, r, 3, precision);
  if (negative) arb_neg(r, r);
}

/* Integers and halves up to 1100, where also powers of 2 leave the doubles, go to repeated squaring, which keeps exact results exact
 * (halves: arb_pow takes a root). Beyond, |x|^y = e^(y log |x|), whose exponent is saturated where it leaves the doubles far
 * behind; below that, y log |x| < 2000 costs 11 bits. */
void kc__ball_pow(arb_t r, const arb_t x, const arb_t y, slong precision) {
  bool negative = arf_sgn(arb_midref(x)) < 0 && !arf_is_int_2exp_si(arb_midref(y), 1);
  arb_t t;
  arb_init(t);
  arb_abs(t, x);
  if (arf_is_int_2exp_si(arb_midref(y), -1) && arf_cmpabs_ui(arb_midref(y), 1100) <= 0) {
    arb_pow(r, t, y, precision);
  } else {
    arb_log(t, t, precision + 12);
    arb_mul(t, t, y, precision + 12);
    saturate(t, 2000);
    arb_exp(r, t, precision);
  }
  if (negative) arb_neg(r, r);
  arb_clear(t);
}

void kc__bracket_init(kc__bracket *b) {
  arf_init(b->lo);
  arf_init(b->hi);
}

void kc__bracket_clear(kc__bracket *b) {
  arf_clear(b->lo);
  arf_clear(b->hi);
}

static void raise_to(arf_t a, const arf_t b) {
  if (arf_cmp(a, b) < 0) arf_set(a, b);
}

static void lower_to(arf_t a, const arf_t b) {
  if (arf_cmp(a, b) > 0) arf_set(a, b);
}

/* -bound <= y* <= bound */
static void keep_within(kc__bracket *b, arf_t bound) {
  arf_abs(bound, bound);
  lower_to(b->hi, bound);
  arf_neg(bound, bound);
  raise_to(b->lo, bound);
}

/* Intersects with the inequalities that the function satisfies. */
static void sharpen(kc__bracket *b, const kc_exact *op, double x) {
  arf_t bound;
  arf_init(bound);
  arf_set_d(bound, x);
  if (op->bounds & KC__BELOW_X) lower_to(b->hi, bound);
  if (op->bounds & KC__ABOVE_X) raise_to(b->lo, bound);
  if (op->bounds & KC__WITHIN_X) keep_within(b, bound);
  arf_set_si(bound, -1);
  if (op->bounds & KC__ABOVE_MINUS_ONE) raise_to(b->lo, bound);
  if (op->bounds & KC__WITHIN_ONE) keep_within(b, bound);
  arf_set_si(bound, 2);
  if (op->bounds & KC__BELOW_TWO) lower_to(b->hi, bound);
  arf_clear(bound);
}

static double limited(const kc_exact *op, double x) {
  return op->limit > 0 && fabs(x) > op->limit ? copysign(op->limit, x) : x;
}

bool kc__exact_ball(kc__bracket *b, const kc_exact *op, const double x[2], slong precision, slong accuracy) {
  arb_t r, u, v;
  arb_init(r);
  arb_init(u);
  arb_init(v);
  arb_set_d(u, limited(op, x[0]));
  if (op->arity == 2) {
    arb_set_d(v, x[1]);
    op->ball2(r, u, v, precision);
  } else {
    op->ball1(r, u, precision);
  }
  arb_get_lbound_arf(b->lo, r, precision);
  arb_get_ubound_arf(b->hi, r, precision);
  if (op->bounds) sharpen(b, op, x[0]);
  bool accurate = arb_rel_accuracy_bits(r) >= accuracy;
  arb_clear(v);
  arb_clear(u);
  arb_clear(r);
  return accurate;
}

bool kc__exact_has_real(const kc_exact *op) {
  return op->real1 || op->real2;
}

/* MPFR's exponent range is left at its default, +-2^30, which holds every result at arguments that are limited or algebraic; pow at
 * huge arguments leaves it and then gives the largest or smallest MPFR number, which still brackets the value. */
void kc__exact_real(kc__bracket *b, const kc_exact *op, const double x[2], mpfr_prec_t precision) {
  mpfr_t r, u, v;
  mpfr_init2(r, precision);
  mpfr_init2(u, 53);
  mpfr_init2(v, 53);
  mpfr_set_d(u, limited(op, x[0]), MPFR_RNDN);
  int ternary;
  if (op->arity == 2) {
    mpfr_set_d(v, x[1], MPFR_RNDN);
    ternary = op->real2(r, u, v, MPFR_RNDD);
  } else {
    ternary = op->real1(r, u, MPFR_RNDD);
  }
  arf_set_mpfr(b->lo, r);
  if (ternary != 0) mpfr_nextabove(r);
  arf_set_mpfr(b->hi, r);
  if (op->bounds) sharpen(b, op, x[0]);
  mpfr_clear(v);
  mpfr_clear(u);
  mpfr_clear(r);
}
