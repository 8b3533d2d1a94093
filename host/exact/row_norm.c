/* row_norm.c - layernorm and rmsnorm. With S = sum x (rmsnorm: 0) and D = sqrt(n sum x^2 - S^2 + n^2 epsilon) both are
 * (n x - S) / D * weight + bias; everything under the root is exact, so results that are dyadic come out exactly.
 */
#include <math.h>

#include "row.h"

static kc_status check_epsilon(const kc_oracle_params *p, int64_t n, kc_text *err) {
  (void)n;
  if (p->epsilon >= 0 && isfinite(p->epsilon)) return KC_OK;
  return kc_fail(err, KC_EINVAL, "epsilon: expected a finite number >= 0, got %g", p->epsilon);
}

/* n sum x^2 - S^2 + n^2 epsilon, exact. */
static void under_root(arf_t a, const kc__prepared *s, const kc__row *r) {
  arf_t t;
  arf_init(t);
  arf_set_d(t, r->p->epsilon);
  arf_mul_si(t, t, r->n, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_add(t, t, s->squares, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_mul_si(a, t, r->n, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_submul(a, s->sum, s->sum, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_clear(t);
}

/* 0 / 0 where the root is 0. */
static void set_scale(kc__prepared *s, const kc__row *r) {
  arf_t a;
  arf_init(a);
  under_root(a, s, r);
  if (arf_is_zero(a)) s->whole = KC__KNOWN_NAN;
  arb_sqrt_arf(s->scale, a, s->precision);
  arf_clear(a);
}

/* The vectors that follow the tensor are no factors of its terms. */
static void scan(kc__prepared *s, const kc__row *r) {
  kc__row x = {r->p, r->n, {r->x[0], NULL, NULL}};
  kc__row_scan(s, &x);
}

static void layernorm_begin(kc__prepared *s, const kc__row *r) {
  scan(s, r);
  s->whole = (kc__known_point){kc__row_exceptional(s, r->n - 1).classes ? KC_NAN : 0, 0};
  if (s->whole.classes) return;
  kc__row_moments(s, r, true);
  set_scale(s, r);
}

static bool has_infinity(const kc__prepared *s, const kc__row *r) {
  return s->first[1] < r->n || s->first[2] < r->n;
}

static void rmsnorm_begin(kc__prepared *s, const kc__row *r) {
  scan(s, r);
  s->whole = (kc__known_point){s->first[0] < r->n ? KC_NAN : 0, 0};
  if (s->whole.classes || has_infinity(s, r)) return;
  kc__row_moments(s, r, false);
  set_scale(s, r);
}

/* n x - S, exact. */
static void numerator(arf_t t, const kc__prepared *s, const kc__row *r, int64_t i) {
  arf_set_d(t, r->x[0][i]);
  arf_mul_si(t, t, r->n, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_sub(t, t, s->sum, ARF_PREC_EXACT, ARF_RND_DOWN);
}

static void norm_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  arf_t t, v;
  arf_init(t);
  arf_init(v);
  numerator(t, s, r, i);
  if (r->x[1]) {
    arf_set_d(v, r->x[1][i]);
    arf_mul(t, t, v, ARF_PREC_EXACT, ARF_RND_DOWN);
  }
  arb_set_arf(y, t);
  arb_div(y, y, s->scale, s->precision);
  if (r->x[2]) {
    arf_set_d(v, r->x[2][i]);
    arb_add_arf(y, y, v, s->precision);
  }
  arf_clear(v);
  arf_clear(t);
}

/* A double of the sign of the normalized element, or 0. */
static double sign_of(const kc__prepared *s, const kc__row *r, int64_t i) {
  arf_t t;
  arf_init(t);
  numerator(t, s, r, i);
  double sign = arf_sgn(t);
  arf_clear(t);
  return sign;
}

static kc__known_point known(double x) {
  return (kc__known_point){(uint8_t)kc_classify_double(x), 0};
}

/* IEEE 754 arithmetic on numbers of the right sign gives NaN and infinities as it does on the exact ones. */
static kc__known_point layernorm_special(const kc__prepared *s, const kc__row *r, int64_t i) {
  double weight = r->x[1] ? r->x[1][i] : 1, bias = r->x[2] ? r->x[2][i] : 0;
  if (isfinite(weight) && isfinite(bias)) return (kc__known_point){0, 0};
  return known(isfinite(weight) ? weight + bias : sign_of(s, r, i) * weight + bias);
}

/* Zeros have the sign of x weight. In a row with an infinity its root is infinite. */
static kc__known_point rmsnorm_special(const kc__prepared *s, const kc__row *r, int64_t i) {
  double x = r->x[0][i], weight = r->x[1] ? r->x[1][i] : 1;
  if (has_infinity(s, r)) return known(isinf(x) ? (double)NAN : copysign(0, x) * weight);
  if (x != 0 && weight != 0 && isfinite(weight)) return (kc__known_point){0, 0};
  return known(x == 0 ? x * weight : copysign(1, x) * weight);
}

static const kc__row_op layernorm_row = {.tensors = 1,
                                         .each = true,
                                         .zero = KC_NZERO | KC_PZERO,
                                         .lo = -(double)INFINITY,
                                         .hi = (double)INFINITY,
                                         .check = check_epsilon,
                                         .begin = layernorm_begin,
                                         .special = layernorm_special,
                                         .element = norm_element};
static const kc__row_op rmsnorm_row = {.tensors = 1,
                                       .each = true,
                                       .lo = -(double)INFINITY,
                                       .hi = (double)INFINITY,
                                       .check = check_epsilon,
                                       .begin = rmsnorm_begin,
                                       .special = rmsnorm_special,
                                       .element = norm_element};

KC__ROW_ORACLE(layernorm, 1, 3, "(x - mean) / sqrt(variance + epsilon) * weight + bias along the axis");
KC__ROW_ORACLE(rmsnorm, 1, 2, "x / sqrt(mean x^2 + epsilon) * weight along the axis");
