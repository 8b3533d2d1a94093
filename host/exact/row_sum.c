/* row_sum.c - sum, mean, dot, cumsum, variance. Sums are exact, however far their exponents spread (doubles: 2100 bits, products
 * 4200), so a result that is a dyadic number is known exactly and a tie is seen as one.
 */
#include <math.h>

#include "row.h"

static double x_at(const kc__row *r, int input, int64_t i) {
  return r->p->magnitude ? fabs(r->x[input][i]) : r->x[input][i];
}

/* IEEE 754 multiplication says which non-finite term there is; a finite product that overflows is none. */
static double non_finite(const kc__row *r, int64_t i) {
  double x = x_at(r, 0, i), y = r->x[1] ? x_at(r, 1, i) : 1;
  return isfinite(x) && isfinite(y) ? 0 : x * y;
}

void kc__row_scan(kc__prepared *s, const kc__row *r) {
  for (int k = 0; k < 3; k++) s->first[k] = INT64_MAX;
  for (int64_t i = 0; i < r->n; i++) {
    double x = non_finite(r, i);
    if (x == 0) continue;
    int kind = isnan(x) ? 0 : x > 0 ? 1 : 2;
    if (s->first[kind] > i) s->first[kind] = i;
  }
}

kc__known_point kc__row_exceptional(const kc__prepared *s, int64_t i) {
  bool positive = s->first[1] <= i, negative = s->first[2] <= i;
  if (s->first[0] <= i || (positive && negative)) return KC__KNOWN_NAN;
  return (kc__known_point){positive ? KC_PINF : negative ? KC_NINF : 0, 0};
}

static void add_term(arf_t sum, const kc__row *r, int64_t i) {
  arf_t x, y;
  arf_init(x);
  arf_init(y);
  arf_set_d(x, x_at(r, 0, i));
  if (r->x[1]) {
    arf_set_d(y, x_at(r, 1, i));
    arf_addmul(sum, x, y, ARF_PREC_EXACT, ARF_RND_DOWN);
  } else {
    arf_add(sum, sum, x, ARF_PREC_EXACT, ARF_RND_DOWN);
  }
  arf_clear(y);
  arf_clear(x);
}

void kc__row_moments(kc__prepared *s, const kc__row *r, bool sum) {
  arf_t x;
  arf_init(x);
  arf_zero(s->sum);
  arf_zero(s->squares);
  for (int64_t i = 0; i < r->n; i++) {
    arf_set_d(x, r->x[0][i]);
    if (sum) arf_add(s->sum, s->sum, x, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_addmul(s->squares, x, x, ARF_PREC_EXACT, ARF_RND_DOWN);
  }
  arf_clear(x);
}

/* ---- sum, mean, dot ----------------------------------------------------------------------------------------------------- */

static void sum_begin(kc__prepared *s, const kc__row *r) {
  kc__row_scan(s, r);
  s->whole = r->n == 0 ? (kc__known_point){KC_PZERO, 0} : kc__row_exceptional(s, r->n - 1);
}

static void sum_end(kc__prepared *s, const kc__row *r) {
  arf_zero(s->sum);
  for (int64_t i = 0; i < r->n; i++) add_term(s->sum, r, i);
}

static void sum_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  (void)r;
  (void)i;
  arb_set_arf(y, s->sum);
}

static void mean_begin(kc__prepared *s, const kc__row *r) {
  sum_begin(s, r);
  if (r->n == 0) s->whole = KC__KNOWN_NAN;
}

static void mean_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  (void)i;
  arb_set_arf(y, s->sum);
  arb_div_si(y, y, r->n, s->precision);
}

/* ---- cumsum ------------------------------------------------------------------------------------------------------------- */

static void cumsum_begin(kc__prepared *s, const kc__row *r) {
  kc__row_scan(s, r);
  arf_zero(s->sum);
  s->position = 0;
}

static kc__known_point cumsum_special(const kc__prepared *s, const kc__row *r, int64_t i) {
  (void)r;
  return kc__row_exceptional(s, i);
}

static void cumsum_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  if (s->position > i + 1) cumsum_begin(s, r);
  for (; s->position <= i; s->position++) add_term(s->sum, r, s->position);
  arb_set_arf(y, s->sum);
}

/* ---- variance ----------------------------------------------------------------------------------------------------------- */

static kc_status variance_check(const kc_oracle_params *p, int64_t n, kc_text *err) {
  if (p->ddof >= 0 && (p->ddof < n || n == 0)) return KC_OK;
  return kc_fail(err, KC_EINVAL, "ddof %d: expected 0..%lld for rows of %lld elements", p->ddof, (long long)n - 1,
                 (long long)n);
}

static void variance_begin(kc__prepared *s, const kc__row *r) {
  kc__row_scan(s, r);
  s->whole = r->n == 0 || kc__row_exceptional(s, r->n - 1).classes ? KC__KNOWN_NAN : (kc__known_point){0, 0};
}

static void variance_end(kc__prepared *s, const kc__row *r) {
  kc__row_moments(s, r, true);
}

/* (n sum x^2 - (sum x)^2) / (n (n - ddof)): only the division rounds. */
static void variance_element(arb_t y, kc__prepared *s, const kc__row *r, int64_t i) {
  (void)i;
  arf_t square;
  arb_t divisor;
  arf_init(square);
  arb_init(divisor);
  arf_mul(square, s->sum, s->sum, ARF_PREC_EXACT, ARF_RND_DOWN);
  arb_set_arf(y, s->squares);
  arb_mul_si(y, y, r->n, ARF_PREC_EXACT);
  arb_sub_arf(y, y, square, ARF_PREC_EXACT);
  arb_set_si(divisor, r->n);
  arb_mul_si(divisor, divisor, r->n - r->p->ddof, ARF_PREC_EXACT);
  arb_div(y, y, divisor, s->precision);
  arb_clear(divisor);
  arf_clear(square);
}

/* ---- rows of the table -------------------------------------------------------------------------------------------------- */

#define ANY .lo = -(double)INFINITY, .hi = (double)INFINITY
#define NON_NEGATIVE .lo = 0, .hi = (double)INFINITY
#define EITHER_ZERO .zero = KC_NZERO | KC_PZERO

static const kc__row_op sum_row = {.tensors = 1, ANY, EITHER_ZERO, .begin = sum_begin, .end = sum_end, .element = sum_element};
static const kc__row_op mean_row = {
    .tensors = 1, ANY, EITHER_ZERO, .begin = mean_begin, .end = sum_end, .element = mean_element};
static const kc__row_op dot_row = {.tensors = 2, ANY, EITHER_ZERO, .begin = sum_begin, .end = sum_end, .element = sum_element};
static const kc__row_op cumsum_row = {.tensors = 1,
                                      .each = true,
                                      .ordered = true,
                                      ANY,
                                      EITHER_ZERO,
                                      .begin = cumsum_begin,
                                      .special = cumsum_special,
                                      .element = cumsum_element};
static const kc__row_op variance_row = {.tensors = 1,
                                        NON_NEGATIVE,
                                        .zero = KC_PZERO,
                                        .check = variance_check,
                                        .begin = variance_begin,
                                        .end = variance_end,
                                        .element = variance_element};

KC__ROW_ORACLE(sum, 1, 1, "sum along the axis; exact");
KC__ROW_ORACLE(mean, 1, 1, "sum / n along the axis; NaN for n = 0");
KC__ROW_ORACLE(dot, 2, 2, "sum of x y along the axis; exact");
KC__ROW_ORACLE(cumsum, 1, 1, "sums of the first 1, 2, ... elements along the axis; exact");
KC__ROW_ORACLE(variance, 1, 1, "sum (x - mean)^2 / (n - ddof) along the axis");
