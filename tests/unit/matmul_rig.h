/* matmul_rig.h - matrix products run and compared with sums in MPFR at a precision that holds every product and sum of doubles. */
#ifndef KC_TESTS_MATMUL_RIG_H
#define KC_TESTS_MATMUL_RIG_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

enum { EXACT_BITS = 8192, SAMPLED = 48 };

static const double inf = (double)INFINITY;
static const kc_dist normal = {.kind = KC_DIST_NORMAL, .a = 0, .b = 1};

typedef struct product {
  const char *formats[3];
  int64_t m, n, k;
  double alpha, beta;
  bool transpose_a, transpose_b, magnitude;
  kc_dist dist;
  double exceptional; /* share of NaN, infinities and zeros */
  double condition;   /* > 0: rows of A and columns of B from kc_fill_dot (f64, n == 1, transpose_b) */
} product;

static inline kc_dist log_uniform(double low, double high) {
  return (kc_dist){.kind = KC_DIST_LOG_UNIFORM, .a = low, .b = high};
}

static inline kc_buffer *create(const char *format, int rank, const int64_t *shape) {
  kc_buffer *b;
  kc_text err;
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), rank, shape, 0, &err), KC_OK, "%s", err.s);
  return b;
}

static inline kc_buffer *matrix(const char *format, int64_t rows, int64_t columns) {
  return create(format, 2, (const int64_t[]){rows, columns});
}

static inline void fill(kc_buffer *b, uint64_t key, const kc_dist *d) {
  kc_text err;
  cr_assert_eq(kc_fill(kc_buffer_format(b), kc_buffer_data(b), (size_t)kc_buffer_count(b), 0, key, d, &err), KC_OK, "%s",
               err.s);
}

static inline double at(const kc_buffer *b, int64_t i) {
  const kc_format *f = kc_buffer_format(b);
  return kc_decode(f, kc_load(f, kc_buffer_cdata(b), (size_t)i));
}

/* r += x * y, exactly. */
static inline void add_product(mpfr_t r, double x, double y, bool magnitude) {
  mpfr_t p, q;
  mpfr_inits2(106, p, q, (mpfr_ptr)0);
  mpfr_set_d(p, magnitude ? fabs(x) : x, MPFR_RNDN);
  mpfr_set_d(q, magnitude ? fabs(y) : y, MPFR_RNDN);
  int inexact = mpfr_mul(p, p, q, MPFR_RNDN);
  inexact |= mpfr_add(r, r, p, MPFR_RNDN);
  cr_assert_eq(inexact, 0, "the reference is not exact");
  mpfr_clears(p, q, (mpfr_ptr)0);
}

/* alpha times the sum over k of a[first + k step] b[first + k step], plus beta c. */
static inline void reference(mpfr_t r, const product *p, const kc_buffer *const *in, const int64_t first[3],
                             const int64_t step[2]) {
  mpfr_set_prec(r, EXACT_BITS);
  mpfr_set_zero(r, 1);
  for (int64_t k = 0; k < p->k && p->alpha != 0; k++) {
    add_product(r, at(in[0], first[0] + k * step[0]), at(in[1], first[1] + k * step[1]), p->magnitude);
  }
  if (p->alpha != 0) mpfr_mul_d(r, r, p->magnitude ? fabs(p->alpha) : p->alpha, MPFR_RNDN);
  if (p->beta != 0) add_product(r, p->beta, at(in[2], first[2]), p->magnitude);
}

static inline uint8_t classes_of(mpfr_srcptr r) {
  if (mpfr_nan_p(r)) return KC_NAN;
  if (mpfr_zero_p(r)) return KC_NZERO | KC_PZERO;
  if (mpfr_inf_p(r)) return mpfr_sgn(r) < 0 ? KC_NINF : KC_PINF;
  return mpfr_sgn(r) < 0 ? KC_NFIN : KC_PFIN;
}

static inline bool same(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (a == 0 && b == 0);
}

static inline bool agrees(mpfr_srcptr r, double lo, double hi, uint8_t classes) {
  if (classes != classes_of(r)) return false;
  return mpfr_nan_p(r) ? lo == 0 && hi == 0 : same(lo, mpfr_get_d(r, MPFR_RNDD)) && same(hi, mpfr_get_d(r, MPFR_RNDU));
}

typedef struct run {
  const product *p;
  const kc_buffer *in[3];
  int n; /* inputs */
  kc_enclosure e;
  void *state;
  char label[200];
} run;

static inline const kc_tensor_oracle *oracle(void) {
  return kc_tensor_oracle_find("matmul");
}

static inline void start(run *r) {
  const product *p = r->p;
  kc_oracle_params params = {
      .a = p->alpha, .b = p->beta, .transpose_a = p->transpose_a, .transpose_b = p->transpose_b, .magnitude = p->magnitude};
  int64_t count;
  kc_text err;
  cr_assert_eq(oracle()->open(&r->state, &count, r->in, r->n, &params, &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_enclosure_create(&r->e, count), KC_OK);
  cr_assert_eq(oracle()->eval(r->state, &r->e, &err), KC_OK, "%s", err.s);
}

static inline void finish(run *r) {
  oracle()->close(r->state);
  kc_enclosure_clear(&r->e);
}

/* The refined difference from an output holds the exact one, within one rounding. */
static inline void check_refined(run *r, int64_t i, mpfr_srcptr want) {
  double lo, hi, dlo, dhi, y = r->e.lo[i] == 0 ? 1 : r->e.lo[i];
  uint8_t classes;
  if (!isfinite(y)) return;
  cr_assert_eq(oracle()->refine(r->state, i, y, 1, &lo, &hi, &dlo, &dhi, &classes), KC_OK);
  cr_expect(agrees(want, lo, hi, classes), "%s, element %lld: refined [%a, %a] classes %d", r->label, (long long)i, lo, hi,
            classes);
  cr_expect_eq(oracle()->refine(r->state, i, y, 2, &lo, &hi, &dlo, &dhi, &classes), KC_EUNSUPPORTED);
  if (!mpfr_number_p(want)) return;
  mpfr_t d;
  mpfr_init2(d, EXACT_BITS);
  mpfr_sub_d(d, want, y, MPFR_RNDN);
  cr_expect(mpfr_cmp_d(d, dlo) >= 0 && mpfr_cmp_d(d, dhi) <= 0, "%s, element %lld: difference from %a in [%a, %a]", r->label,
            (long long)i, y, dlo, dhi);
  cr_expect(dlo == dhi || nextafter(dlo, inf) == dhi || dhi - dlo <= 0x1p-50 * fabs(dlo), "%s: wide [%a, %a]", r->label, dlo,
            dhi);
  mpfr_clear(d);
}

static inline void check_element(run *r, int64_t i, const int64_t first[3], const int64_t step[2]) {
  mpfr_t want;
  mpfr_init2(want, EXACT_BITS);
  reference(want, r->p, r->in, first, step);
  cr_expect(agrees(want, r->e.lo[i], r->e.hi[i], r->e.classes[i]),
            "%s, element %lld: [%a, %a] classes %d, expected [%a, %a] classes %d", r->label, (long long)i, r->e.lo[i],
            r->e.hi[i], r->e.classes[i], mpfr_get_d(want, MPFR_RNDD), mpfr_get_d(want, MPFR_RNDU), classes_of(want));
  check_refined(r, i, want);
  mpfr_clear(want);
}

/* All elements of a small matrix, a sample of a large one. */
static inline void check_matrix(run *r) {
  const product *p = r->p;
  int64_t count = p->m * p->n, stride = count * (p->k + 8) < 400000 ? 1 : count / SAMPLED + 1;
  int64_t step[2] = {p->transpose_a ? p->m : 1, p->transpose_b ? 1 : p->n};
  cr_assert_eq(r->e.count, count);
  for (int64_t e = 0; e < count; e += stride) {
    int64_t i = e / p->n, j = e % p->n;
    int64_t first[3] = {p->transpose_a ? i : i * p->k, p->transpose_b ? j * p->k : j, e};
    check_element(r, e, first, step);
  }
}

static inline kc_buffer *operand(const product *p, int which, int64_t rows, int64_t columns, uint64_t key) {
  kc_buffer *b = matrix(p->formats[which], rows, columns);
  fill(b, key * 3 + (uint64_t)which, &p->dist);
  kc_dist exceptional = {.kind = KC_DIST_EXCEPTIONAL, .a = p->exceptional};
  if (p->exceptional > 0) fill(b, key * 3 + (uint64_t)which + 1000, &exceptional);
  return b;
}

/* Makes the operands and a line that reproduces them. */
static inline void prepare(run *r, const product *p, uint64_t key) {
  *r = (run){.p = p, .n = p->formats[2] ? 3 : 2};
  snprintf(r->label, sizeof r->label, "key %llu: %s x %s, %lldx%lldx%lld, alpha %g, beta %g%s%s%s", (unsigned long long)key,
           p->formats[0], p->formats[1], (long long)p->m, (long long)p->n, (long long)p->k, p->alpha, p->beta,
           p->transpose_a ? ", A'" : "", p->transpose_b ? ", B'" : "", p->magnitude ? ", magnitude" : "");
  kc_buffer *a = operand(p, 0, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, key);
  kc_buffer *b = operand(p, 1, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, key);
  r->in[0] = a;
  r->in[1] = b;
  r->in[2] = p->formats[2] ? operand(p, 2, p->m, p->n, key) : NULL;
  if (p->condition <= 0) return;
  kc_text err;
  cr_assert_eq(kc_fill_dot(kc_buffer_format(a), kc_buffer_data(a), kc_buffer_data(b), (size_t)p->k, key, p->condition, &err),
               KC_OK, "%s", err.s);
}

static inline void release(run *r) {
  for (int a = 0; a < r->n; a++) kc_buffer_release((kc_buffer *)(uintptr_t)r->in[a]);
}

static inline void check_product(const product *p, uint64_t key) {
  run r;
  prepare(&r, p, key);
  start(&r);
  check_matrix(&r);
  finish(&r);
  release(&r);
}

#endif
