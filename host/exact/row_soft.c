/* row_soft.c - softmax, log_softmax, logsumexp, all from t_j = e^(x_j - m) with m the largest x. The term of m itself is 1, so
 * log sum t = log1p(tail), tail the sum of the others, which keeps its relative accuracy near 0.
 *
 * By Lindemann and Weierstrass a rational result needs all finite x equal; then every term is exactly 1.
 */
#include <math.h>

#include "row.h"

/* e^-1000 < 2^-1442 lies so far below the smallest double, 2^-1074, that only 0 < t <= 2^-1442 matters. */
static const double negligible = -1000;
enum { NEGLIGIBLE_EXPONENT = -1442 };

/* Classes: NaN wins, then +inf by the operation's rule (`infinite`), then nothing but -inf by `empty`. */
static void begin(kc__prepared *s, const kc__row *r, kc__known_point infinite, kc__known_point empty) {
  kc__row_scan(s, r);
  s->most = -(double)INFINITY;
  s->most_at = 0;
  for (int64_t i = 0; i < r->n; i++) {
    if (r->x[0][i] <= s->most) continue;
    s->most = r->x[0][i];
    s->most_at = i;
  }
  s->whole = s->first[0] < r->n   ? KC__KNOWN_NAN
             : s->first[1] < r->n ? infinite
             : isinf(s->most)     ? empty
                                  : (kc__known_point){0, 0};
}

static void softmax_begin(kc__prepared *s, const kc__row *r) {
  begin(s, r, KC__KNOWN_NAN, KC__KNOWN_NAN);
}

static void logsumexp_begin(kc__prepared *s, const kc__row *r) {
  begin(s, r, (kc__known_point){KC_PINF, 0}, (kc__known_point){KC_NINF, 0});
}

/* [0, 2^NEGLIGIBLE_EXPONENT] */
static void set_negligible(arb_t t) {
  arb_one(t);
  arb_mul_2exp_si(t, t, NEGLIGIBLE_EXPONENT - 1);
  arf_get_mag(arb_radref(t), arb_midref(t));
  arf_set_mag(arb_midref(t), arb_radref(t));
}

/* x - m, exact. */
static void set_distance(arb_t t, const kc__prepared *s, double x) {
  arf_t most;
  arf_init(most);
  arf_set_d(most, s->most);
  arb_set_d(t, x);
  arb_sub_arf(t, t, most, ARF_PREC_EXACT);
  arf_clear(most);
}

static void set_term(arb_t t, const kc__prepared *s, double x) {
  if (isinf(x)) {
    arb_zero(t);
  } else if (x - s->most < negligible) {
    set_negligible(t);
  } else {
    set_distance(t, s, x);
    arb_exp(t, t, s->precision);
  }
}

static void terms(kc__prepared *s, const kc__row *r, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; i++) set_term(s->terms + i, s, r->x[0][i]);
}

/* Bits so that n roundings cost nothing. */
static void add_tail(arb_t tail, const kc__prepared *s, const kc__row *r) {
  slong precision = s->precision + (slong)FLINT_BIT_COUNT(r->n) + 2;
  arb_zero(tail);
  for (int64_t i = 0; i < r->n; i++) {
    if (i != s->most_at) arb_add(tail, tail, s->terms + i, precision);
  }
}

static void softmax_end(kc__prepared *s, const kc__row *r) {
  add_tail(s->scale, s, r);
  arb_add_ui(s->scale, s->scale, 1, s->precision + 64);
  arb_inv(s->scale, s->scale, s->precision);
}

static kc__known_point softmax_special(const kc__prepared *s, const kc__row *r, int64_t i) {
  (void)s;
  return (kc__known_point){isinf(r->x[0][i]) ? KC_PZERO : 0, 0};
}

static void softmax_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  if (!s->terms) set_term(y, s, r->x[0][i]);
  arb_mul(y, s->terms ? s->terms + i : y, s->scale, s->precision);
}

static void log_end(kc__prepared *s, const kc__row *r) {
  add_tail(s->scale, s, r);
  arb_log1p(s->scale, s->scale, s->precision);
  arb_nonnegative_part(s->scale, s->scale);
}

static kc__known_point log_softmax_special(const kc__prepared *s, const kc__row *r, int64_t i) {
  (void)s;
  return (kc__known_point){isinf(r->x[0][i]) ? KC_NINF : 0, 0};
}

/* (x - m) - log1p(tail): two terms of one sign. */
static void log_softmax_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  set_distance(y, s, r->x[0][i]);
  arb_sub(y, y, s->scale, s->precision);
}

static void logsumexp_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  (void)r;
  (void)i;
  arb_set_d(y, s->most);
  arb_add(y, y, s->scale, s->precision);
}

static const kc__row_op softmax_row = {.tensors = 1,
                                       .each = true,
                                       .lo = 0,
                                       .hi = 1,
                                       .begin = softmax_begin,
                                       .term = terms,
                                       .end = softmax_end,
                                       .special = softmax_special,
                                       .element = softmax_element};
static const kc__row_op log_softmax_row = {.tensors = 1,
                                           .each = true,
                                           .zero = KC_NZERO | KC_PZERO,
                                           .lo = -(double)INFINITY,
                                           .hi = 0,
                                           .begin = softmax_begin,
                                           .term = terms,
                                           .end = log_end,
                                           .special = log_softmax_special,
                                           .element = log_softmax_element};
static const kc__row_op logsumexp_row = {.tensors = 1,
                                         .zero = KC_NZERO | KC_PZERO,
                                         .lo = -(double)INFINITY,
                                         .hi = (double)INFINITY,
                                         .begin = logsumexp_begin,
                                         .term = terms,
                                         .end = log_end,
                                         .element = logsumexp_element};

KC__ROW_ORACLE(softmax, 1, 1, "e^x / sum e^x along the axis; NaN for a row with +inf or NaN, or nothing but -inf");
KC__ROW_ORACLE(log_softmax, 1, 1, "x - log sum e^x along the axis; NaN where softmax is");
KC__ROW_ORACLE(logsumexp, 1, 1, "log sum e^x along the axis; -inf for an empty row or nothing but -inf");
