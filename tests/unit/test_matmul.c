/* test_matmul.c - certified matrix products against sums in MPFR at a precision that holds every product and sum of doubles. There
 * bounds must be the exact value rounded down and up, bit for bit; MPFR's own rules give NaN and infinities.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

enum { EXACT_BITS = 8192, SAMPLED = 48 };

static const double inf = (double)INFINITY;

typedef struct product {
  const char *formats[3];
  int64_t m, n, k;
  double alpha, beta;
  bool transpose_a, transpose_b, magnitude;
  kc_dist dist;
  double exceptional; /* share of NaN, infinities and zeros */
  double condition;   /* > 0: rows of A and columns of B from kc_fill_dot (f64, n == 1, transpose_b) */
} product;

static kc_dist log_uniform(double low, double high) {
  return (kc_dist){.kind = KC_DIST_LOG_UNIFORM, .a = low, .b = high};
}

static kc_buffer *create(const char *format, int rank, const int64_t *shape) {
  kc_buffer *b;
  kc_text err;
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), rank, shape, 0, &err), KC_OK, "%s", err.s);
  return b;
}

static kc_buffer *matrix(const char *format, int64_t rows, int64_t columns) {
  return create(format, 2, (const int64_t[]){rows, columns});
}

static void fill(kc_buffer *b, uint64_t key, const kc_dist *d) {
  kc_text err;
  cr_assert_eq(kc_fill(kc_buffer_format(b), kc_buffer_data(b), (size_t)kc_buffer_count(b), 0, key, d, &err), KC_OK, "%s",
               err.s);
}

static double at(const kc_buffer *b, int64_t i) {
  const kc_format *f = kc_buffer_format(b);
  return kc_decode(f, kc_load(f, kc_buffer_cdata(b), (size_t)i));
}

/* r += x * y, exactly. */
static void add_product(mpfr_t r, double x, double y, bool magnitude) {
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
static void reference(mpfr_t r, const product *p, const kc_buffer *const *in, const int64_t first[3], const int64_t step[2]) {
  mpfr_set_prec(r, EXACT_BITS);
  mpfr_set_zero(r, 1);
  for (int64_t k = 0; k < p->k && p->alpha != 0; k++) {
    add_product(r, at(in[0], first[0] + k * step[0]), at(in[1], first[1] + k * step[1]), p->magnitude);
  }
  if (p->alpha != 0) mpfr_mul_d(r, r, p->magnitude ? fabs(p->alpha) : p->alpha, MPFR_RNDN);
  if (p->beta != 0) add_product(r, p->beta, at(in[2], first[2]), p->magnitude);
}

static uint8_t classes_of(mpfr_srcptr r) {
  if (mpfr_nan_p(r)) return KC_NAN;
  if (mpfr_zero_p(r)) return KC_NZERO | KC_PZERO;
  if (mpfr_inf_p(r)) return mpfr_sgn(r) < 0 ? KC_NINF : KC_PINF;
  return mpfr_sgn(r) < 0 ? KC_NFIN : KC_PFIN;
}

static bool same(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (a == 0 && b == 0);
}

static bool agrees(mpfr_srcptr r, double lo, double hi, uint8_t classes) {
  if (classes != classes_of(r)) return false;
  return mpfr_nan_p(r) ? lo == 0 && hi == 0 : same(lo, mpfr_get_d(r, MPFR_RNDD)) && same(hi, mpfr_get_d(r, MPFR_RNDU));
}

typedef struct run {
  const product *p;
  const kc_buffer *in[3];
  int n; /* inputs */
  kc_enclosure e;
  void *state;
} run;

static const kc_tensor_oracle *oracle(void) {
  return kc_tensor_oracle_find("matmul");
}

static void start(run *r) {
  const product *p = r->p;
  kc_oracle_params params = {
      .a = p->alpha, .b = p->beta, .transpose_a = p->transpose_a, .transpose_b = p->transpose_b, .magnitude = p->magnitude};
  int64_t count;
  kc_text err;
  cr_assert_eq(oracle()->open(&r->state, &count, r->in, r->n, &params, &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_enclosure_create(&r->e, count), KC_OK);
  cr_assert_eq(oracle()->eval(r->state, &r->e, &err), KC_OK, "%s", err.s);
}

static void finish(run *r) {
  oracle()->close(r->state);
  kc_enclosure_clear(&r->e);
}

/* The refined difference from an output holds the exact one, within one rounding. */
static void check_refined(run *r, int64_t i, mpfr_srcptr want, const char *label) {
  double lo, hi, dlo, dhi, y = r->e.lo[i] == 0 ? 1 : r->e.lo[i];
  uint8_t classes;
  if (!isfinite(y)) return;
  cr_assert_eq(oracle()->refine(r->state, i, y, 1, &lo, &hi, &dlo, &dhi, &classes), KC_OK);
  cr_expect(agrees(want, lo, hi, classes), "%s, element %lld: refined [%a, %a] classes %d", label, (long long)i, lo, hi,
            classes);
  cr_expect_eq(oracle()->refine(r->state, i, y, 2, &lo, &hi, &dlo, &dhi, &classes), KC_EUNSUPPORTED);
  if (!mpfr_number_p(want)) return;
  mpfr_t d;
  mpfr_init2(d, EXACT_BITS);
  mpfr_sub_d(d, want, y, MPFR_RNDN);
  cr_expect(mpfr_cmp_d(d, dlo) >= 0 && mpfr_cmp_d(d, dhi) <= 0, "%s, element %lld: difference from %a in [%a, %a]", label,
            (long long)i, y, dlo, dhi);
  cr_expect(dlo == dhi || nextafter(dlo, inf) == dhi || dhi - dlo <= 0x1p-50 * fabs(dlo), "%s: wide [%a, %a]", label, dlo, dhi);
  mpfr_clear(d);
}

static void check_element(run *r, int64_t i, const int64_t first[3], const int64_t step[2], const char *label) {
  mpfr_t want;
  mpfr_init2(want, EXACT_BITS);
  reference(want, r->p, r->in, first, step);
  cr_expect(agrees(want, r->e.lo[i], r->e.hi[i], r->e.classes[i]),
            "%s, element %lld: [%a, %a] classes %d, expected [%a, %a] classes %d", label, (long long)i, r->e.lo[i], r->e.hi[i],
            r->e.classes[i], mpfr_get_d(want, MPFR_RNDD), mpfr_get_d(want, MPFR_RNDU), classes_of(want));
  check_refined(r, i, want, label);
  mpfr_clear(want);
}

/* All elements of a small matrix, a sample of a large one. */
static void check_matrix(run *r, const char *label) {
  const product *p = r->p;
  int64_t count = p->m * p->n, stride = count * (p->k + 8) < 400000 ? 1 : count / SAMPLED + 1;
  int64_t step[2] = {p->transpose_a ? p->m : 1, p->transpose_b ? 1 : p->n};
  cr_assert_eq(r->e.count, count);
  for (int64_t e = 0; e < count; e += stride) {
    int64_t i = e / p->n, j = e % p->n;
    int64_t first[3] = {p->transpose_a ? i : i * p->k, p->transpose_b ? j * p->k : j, e};
    check_element(r, e, first, step, label);
  }
}

static kc_buffer *operand(const product *p, int which, int64_t rows, int64_t columns, uint64_t key) {
  kc_buffer *b = matrix(p->formats[which], rows, columns);
  fill(b, key * 3 + (uint64_t)which, &p->dist);
  kc_dist exceptional = {.kind = KC_DIST_EXCEPTIONAL, .a = p->exceptional};
  if (p->exceptional > 0) fill(b, key * 3 + (uint64_t)which + 1000, &exceptional);
  return b;
}

static void check_product(const product *p, uint64_t key) {
  char label[200];
  snprintf(label, sizeof label, "key %llu: %s x %s, %lldx%lldx%lld, alpha %g, beta %g%s%s%s", (unsigned long long)key,
           p->formats[0], p->formats[1], (long long)p->m, (long long)p->n, (long long)p->k, p->alpha, p->beta,
           p->transpose_a ? ", A'" : "", p->transpose_b ? ", B'" : "", p->magnitude ? ", magnitude" : "");
  run r = {.p = p, .n = p->formats[2] ? 3 : 2};
  kc_buffer *a = operand(p, 0, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, key);
  kc_buffer *b = operand(p, 1, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, key);
  kc_buffer *c = p->formats[2] ? operand(p, 2, p->m, p->n, key) : NULL;
  if (p->condition > 0) {
    kc_text err;
    cr_assert_eq(kc_fill_dot(kc_buffer_format(a), kc_buffer_data(a), kc_buffer_data(b), (size_t)p->k, key, p->condition, &err),
                 KC_OK, "%s", err.s);
  }
  r.in[0] = a;
  r.in[1] = b;
  r.in[2] = c;
  start(&r);
  check_matrix(&r, label);
  finish(&r);
  kc_buffer_release(a);
  kc_buffer_release(b);
  kc_buffer_release(c);
}

static const kc_dist normal = {.kind = KC_DIST_NORMAL, .a = 0, .b = 1};

Test(matmul, lengths) {
  static const int64_t lengths[] = {0, 1, 2, 3, 17, 64, 1000, 8192, 70000};
  static const char *const formats[] = {"f64", "f32", "f16", "bf16", "e4m3fn", "e5m2", "tf32"};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
      int64_t side = lengths[i] < 100 ? 5 : lengths[i] < 5000 ? 3 : 2;
      product p = {.formats = {formats[f], formats[f]}, .m = side, .n = side + 1, .k = lengths[i], .alpha = 1, .dist = normal};
      check_product(&p, i * 10 + f);
    }
  }
}

Test(matmul, transpositions_factors_and_magnitudes) {
  static const double alphas[] = {1, -1, 0.1, 0, -0x1p-300, 0x1p900}, betas[] = {0, 1, -3.7, 0x1p-1074};
  uint64_t key = 100;
  for (int t = 0; t < 8; t++) {
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
      for (size_t j = 0; j < sizeof betas / sizeof *betas; j++) {
        product p = {.formats = {"f32", "f64", "f16"},
                     .m = 3,
                     .n = 4,
                     .k = 7,
                     .alpha = alphas[i],
                     .beta = betas[j],
                     .transpose_a = t & 1,
                     .transpose_b = t & 2,
                     .magnitude = t & 4,
                     .dist = normal};
        check_product(&p, key++);
      }
    }
  }
}

Test(matmul, extremes) {
  const product rows[] = {
      {.formats = {"f64", "f64", "f64"}, .m = 4, .n = 4, .k = 30, .alpha = 1, .beta = 1, .dist = log_uniform(-1022, 1023)},
      {.formats = {"f64", "f64", "f64"},
       .m = 4,
       .n = 4,
       .k = 30,
       .alpha = -3,
       .beta = 0x1p1000,
       .dist = log_uniform(1000, 1023)},
      {.formats = {"f64", "f64", "f64"}, .m = 4, .n = 4, .k = 30, .alpha = 1, .beta = 1, .dist = log_uniform(-1022, -1000)},
      {.formats = {"f64", "f64"}, .m = 4, .n = 4, .k = 30, .alpha = 1, .dist = log_uniform(500, 513)},   /* near overflow */
      {.formats = {"f64", "f64"}, .m = 4, .n = 4, .k = 30, .alpha = 1, .dist = log_uniform(-540, -530)}, /* near underflow */
      {.formats = {"f64", "f64"}, .m = 4, .n = 4, .k = 30, .alpha = 0x1p1000, .dist = {.kind = KC_DIST_SUBNORMAL}},
      {.formats = {"f32", "f32"}, .m = 4, .n = 4, .k = 30, .alpha = 1, .dist = {.kind = KC_DIST_SUBNORMAL}},
      {.formats = {"f32", "f32"}, .m = 9, .n = 9, .k = 99, .alpha = 1, .dist = {.kind = KC_DIST_FINITE_BITS}},
      {.formats = {"bf16", "f16", "f64"},
       .m = 9,
       .n = 9,
       .k = 99,
       .alpha = 1,
       .beta = -2,
       .dist = {.kind = KC_DIST_FINITE_BITS}},
      {.formats = {"e8m0", "e4m3fnuz"}, .m = 9, .n = 9, .k = 99, .alpha = 1, .dist = {.kind = KC_DIST_FINITE_BITS}},
      {.formats = {"e2m1", "e3m2"}, .m = 9, .n = 9, .k = 99, .alpha = 1, .dist = {.kind = KC_DIST_BITS}},
      {.formats = {"f32", "f32"}, .m = 5, .n = 5, .k = 9, .alpha = 1, .dist = {.kind = KC_DIST_INTEGERS, .a = -1, .b = 1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_product(&rows[i], 500 + i);
}

Test(matmul, ill_conditioned) {
  static const double conditions[] = {1e3, 1e16, 1e40, 1e100, 1e250};
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
    product p = {.formats = {"f64", "f64"},
                 .m = 1,
                 .n = 1,
                 .k = 301,
                 .alpha = 1,
                 .transpose_b = true,
                 .condition = conditions[i],
                 .dist = normal};
    check_product(&p, 600 + i);
  }
}

Test(matmul, exceptional_operands) {
  for (uint64_t key = 700; key < 760; key++) {
    product p = {.formats = {key % 2 ? "f32" : "f64", "f16", "f32"},
                 .m = 6,
                 .n = 6,
                 .k = 5,
                 .alpha = key % 3 ? 1 : -0.5,
                 .beta = key % 5 < 2 ? 0 : -1,
                 .magnitude = key % 7 == 0,
                 .exceptional = 0.12,
                 .dist = normal};
    check_product(&p, key);
  }
}

/* ---- Single elements as IEEE 754-2019 sections 6.1, 6.2 and 7.2 have them. ---- */

static kc_buffer *row_of(const double *x, int64_t n, bool column) {
  kc_buffer *b = matrix("f64", column ? n : 1, column ? 1 : n);
  memcpy(kc_buffer_data(b), x, sizeof *x * (size_t)n);
  return b;
}

Test(matmul, specials) {
  const double nan_ = (double)NAN, big = DBL_MAX;
  const struct {
    double x[2], y[2], c, alpha, beta;
    uint8_t classes;
    bool magnitude;
  } rows[] = {
      {{nan_, 1}, {1, 1}, 0, 1, 0, KC_NAN, false},
      {{inf, 1}, {0, 1}, 0, 1, 0, KC_NAN, false},
      {{inf, 1}, {2, inf}, 0, 1, 0, KC_PINF, false},
      {{inf, 1}, {2, inf}, 0, -1, 0, KC_NINF, false},
      {{inf, -1}, {2, inf}, 0, 1, 0, KC_NAN, false},
      {{inf, -1}, {2, inf}, 0, 1, 0, KC_PINF, true},
      {{inf, 1}, {-2, 1}, 0, 1, 0, KC_NINF, false},
      {{1, 1}, {1, 1}, inf, 1, -1, KC_NINF, false},
      {{inf, 1}, {1, 1}, inf, 1, -1, KC_NAN, false},
      {{inf, 1}, {1, 1}, inf, 1, -1, KC_PINF, true},
      {{1, 1}, {1, 1}, nan_, 1, 1, KC_NAN, false},
      {{1, 1}, {1, 1}, 1, nan_, 1, KC_NAN, false},
      {{1, 1}, {1, 1}, 1, 1, nan_, KC_NAN, false},
      {{1, 1}, {1, 1}, nan_, 1, 0, KC_PFIN, false},   /* beta 0: C is not read */
      {{nan_, inf}, {0, 1}, 3, 0, 1, KC_PFIN, false}, /* alpha 0: A and B are not read */
      {{nan_, inf}, {0, 1}, 3, 0, 0, KC_PZERO | KC_NZERO, false},
      {{1, -1}, {1, 1}, 0, 1, 0, KC_PZERO | KC_NZERO, false}, /* cancels */
      {{-0.0, 0}, {1, -1}, 0, 1, 0, KC_PZERO | KC_NZERO, false},
      {{big, 1}, {big, 1}, 0, 1, 0, KC_PFIN, false}, /* finite, beyond the doubles */
      {{-big, 1}, {big, 1}, 0, 1, 0, KC_NFIN, false},
      {{big, -big}, {big, big}, 1, 1, 1, KC_PFIN, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    product p = {.m = 1, .n = 1, .k = 2, .alpha = rows[i].alpha, .beta = rows[i].beta, .magnitude = rows[i].magnitude};
    run r = {.p = &p, .n = 3};
    r.in[0] = row_of(rows[i].x, 2, false);
    r.in[1] = row_of(rows[i].y, 2, true);
    r.in[2] = row_of(&rows[i].c, 1, false);
    start(&r);
    cr_expect_eq(r.e.classes[0], rows[i].classes, "row %zu: classes %d, expected %d", i, r.e.classes[0], rows[i].classes);
    check_element(&r, 0, (const int64_t[]){0, 0, 0}, (const int64_t[]){1, 1}, "specials");
    finish(&r);
    for (int a = 0; a < 3; a++) kc_buffer_release((kc_buffer *)(uintptr_t)r.in[a]);
  }
}

/* ---- Leading dimensions ---- */

Test(matmul, leading_dimensions_are_repeated) {
  const struct {
    int rank;
    int64_t a[5], b[5], c[5], leading[3];
  } rows[] = {
      {3, {2, 2, 3}, {2, 3, 4}, {2, 2, 4}, {2, 1, 1}},
      {3, {1, 2, 3}, {3, 3, 4}, {1, 2, 4}, {3, 1, 1}},
      {4, {2, 1, 2, 3}, {1, 3, 3, 4}, {2, 3, 2, 4}, {2, 3, 1}},
      {5, {2, 3, 1, 2, 3}, {1, 3, 2, 3, 4}, {2, 1, 1, 2, 4}, {2, 3, 2}},
  };
  product p = {.m = 2, .n = 4, .k = 3, .alpha = 1, .beta = 2};
  for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
    int rank = rows[t].rank;
    const int64_t *shapes[3] = {rows[t].a, rows[t].b, rows[t].c}, sizes[3] = {6, 12, 8};
    run r = {.p = &p, .n = 3};
    for (int a = 0; a < 3; a++) {
      kc_buffer *b = create("f32", rank, shapes[a]);
      fill(b, 800 + t * 3 + (uint64_t)a, &normal);
      r.in[a] = b;
    }
    start(&r);
    const int64_t *l = rows[t].leading;
    cr_assert_eq(r.e.count, l[0] * l[1] * l[2] * 8);
    for (int64_t e = 0; e < r.e.count; e++) {
      int64_t at_[3] = {e / 8 / l[2] / l[1], e / 8 / l[2] % l[1], e / 8 % l[2]}, first[3] = {0, 0, 0};
      for (int a = 0; a < 3; a++) {
        for (int d = 0; d < rank - 2; d++) first[a] = first[a] * shapes[a][d] + (shapes[a][d] == 1 ? 0 : at_[d]);
        first[a] *= sizes[a];
      }
      int64_t i = e / 4 % 2, j = e % 4;
      first[0] += i * 3;
      first[1] += j;
      first[2] += i * 4 + j;
      check_element(&r, e, first, (const int64_t[]){1, 4}, "batch");
    }
    finish(&r);
    for (int a = 0; a < 3; a++) kc_buffer_release((kc_buffer *)(uintptr_t)r.in[a]);
  }
}

/* ---- What is refused, and what is empty ---- */

Test(matmul, refuses_what_does_not_fit) {
  const struct {
    const char *formats[3];
    int rank;
    int64_t a[3], b[3], c[3];
    double alpha, beta;
    int n;
    const char *text;
  } rows[] = {
      {{"f32", "i32"}, 2, {2, 3}, {3, 4}, {0}, 1, 0, 2, "input 2: expected a float format, got i32"},
      {{"f32", "f32"}, 1, {2}, {2}, {0}, 1, 0, 2, "input 1: expected at least 2 dimensions, got 1"},
      {{"f32", "f32"}, 2, {2, 3}, {4, 3}, {0}, 1, 0, 2, "input 2: expected 3 rows, got 4"},
      {{"f32", "f32", "f32"}, 2, {2, 3}, {3, 4}, {2, 3}, 1, 1, 3, "input 3: expected 4 columns, got 3"},
      {{"f32", "f32", "f32"}, 2, {2, 3}, {3, 4}, {3, 4}, 1, 0, 3, "input 3: expected 2 rows, got 3"},
      {{"f32", "f32"}, 3, {2, 2, 3}, {3, 3, 4}, {0}, 1, 0, 2, "input 2, dimension 1: expected 2 or 1, got 3"},
      {{"f32", "f32"}, 2, {2, 3}, {3, 4}, {0}, 1, 1, 2, "beta is 1: expected a third input, got 2 inputs"},
      {{"f32", "f32"}, 2, {2, 3}, {3, 4}, {0}, -(double)INFINITY, 0, 2, "alpha: expected a finite number or NaN, got -inf"},
      {{"f32", "f32"}, 2, {2, 3}, {3, 4}, {0}, 1, (double)INFINITY, 2, "beta: expected a finite number or NaN, got inf"},
      {{"f32", "f32"}, 2, {INT64_C(1) << 40, 0}, {0, INT64_C(1) << 40}, {0}, 1, 0, 2, "more than 2^63 elements"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const int64_t *shapes[3] = {rows[i].a, rows[i].b, rows[i].c};
    kc_buffer *in[3] = {NULL, NULL, NULL};
    for (int a = 0; a < rows[i].n; a++) in[a] = create(rows[i].formats[a], rows[i].rank, shapes[a]);
    kc_oracle_params params = {.a = rows[i].alpha, .b = rows[i].beta};
    void *state;
    int64_t count;
    kc_text err;
    kc_status status = oracle()->open(&state, &count, (const kc_buffer *const *)in, rows[i].n, &params, &err);
    cr_expect_eq(status, KC_EINVAL);
    cr_expect(strstr(err.s, rows[i].text), "row %zu: %s", i, err.s);
    for (int a = 0; a < rows[i].n; a++) kc_buffer_release(in[a]);
  }
}

Test(matmul, empty_results) {
  static const int64_t sides[][2] = {{0, 3}, {3, 0}, {0, 0}};
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
    product p = {
        .formats = {"f32", "f32", "f32"}, .m = sides[i][0], .n = sides[i][1], .k = 5, .alpha = 1, .beta = 1, .dist = normal};
    check_product(&p, 900 + i);
  }
}
