/* test_diff.c - comparison of two files against one rational computation per element, done by GMP and rounded up by MPFR. */
#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff.h"

static const double inf = (double)INFINITY;
static char directory[64], path[2][96];

static void setup(void) {
  strcpy(directory, "/tmp/kc_diff_XXXXXX");
  cr_assert(mkdtemp(directory));
  for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/%d.npy", directory, i);
}

static void teardown(void) {
  unlink(path[0]);
  unlink(path[1]);
  rmdir(directory);
}

TestSuite(diff, .init = setup, .fini = teardown);

/* ---- the expected figures ------------------------------------------------------------------------------------------------ */

/* The smallest double >= q. */
static double round_up(const mpq_t q) {
  mpfr_t x;
  mpfr_set_emin(-1073);
  mpfr_set_emax(1024);
  mpfr_init2(x, 53);
  mpfr_subnormalize(x, mpfr_set_q(x, q, MPFR_RNDU), MPFR_RNDU);
  double d = mpfr_get_d(x, MPFR_RNDU);
  mpfr_clear(x);
  return d;
}

/* The exact value of a finite code; kc_decode's own tests are in test_encode.c. */
static void value_of(mpq_t q, const kc_format *f, uint64_t code) {
  if (f->kind == KC_FLOAT) {
    mpq_set_d(q, kc_decode(f, code));
    return;
  }
  int64_t n = f->kind == KC_INT ? (int64_t)(code << (64 - f->bits)) >> (64 - f->bits) : (int64_t)code;
  if (f->kind == KC_UINT)
    mpz_set_ui(mpq_numref(q), code);
  else
    mpz_set_si(mpq_numref(q), n);
  mpz_set_ui(mpq_denref(q), 1);
}

/* Place of a code on the line of the format's numbers, as a big integer. */
static void place_of(mpz_t z, const kc_format *f, uint64_t code) {
  if (f->kind != KC_FLOAT) {
    mpq_t q;
    mpq_init(q);
    value_of(q, f, code);
    mpz_set(z, mpq_numref(q));
    mpq_clear(q);
    return;
  }
  uint64_t sign = f->has_sign ? UINT64_C(1) << (f->bits - 1) : 0;
  mpz_set_ui(z, code & ~sign);
  if (code & sign) mpz_neg(z, z);
}

static double expected_error(const kc_format *f, const kc_format *ulps, int kind, uint64_t got, uint64_t ref) {
  mpq_t a, b, unit;
  mpq_inits(a, b, unit, NULL);
  value_of(a, f, got);
  value_of(b, f, ref);
  mpq_sub(a, a, b);
  mpq_abs(a, a);
  mpq_abs(b, b);
  double error = 0;
  if (kind == KC_DIFF_ULP && !ulps) {
    mpz_t x, y;
    mpz_inits(x, y, NULL);
    place_of(x, f, got);
    place_of(y, f, ref);
    mpz_sub(mpq_numref(a), x, y);
    mpz_set_ui(mpq_denref(a), 1);
    mpq_abs(a, a);
    mpz_clears(x, y, NULL);
  } else if (kind == KC_DIFF_ULP) {
    mpq_set_d(unit, kc_ulp_at(ulps, kc_decode(f, ref)));
    mpq_div(a, a, unit);
  } else if (kind == KC_DIFF_REL && mpq_sgn(a) != 0) {
    if (mpq_sgn(b) == 0)
      error = inf;
    else
      mpq_div(a, a, b);
  }
  if (error == 0) error = round_up(a);
  mpq_clears(a, b, unit, NULL);
  return error;
}

static bool is_finite(kc_class c) {
  return !(c & (KC_NAN | KC_NINF | KC_PINF));
}

static int64_t expected_bin(double x) {
  int k = 0;
  if (x == 0) return 0;
  for (k = 1; k < 65 && ldexp(1, k - 33) < x; k++) {
  }
  return k;
}

/* Everything again, element by element. Codes are those of format f. */
static void expect_summary(const kc_diff_summary *s, const kc_format *f, const uint64_t *got, const uint64_t *ref, int64_t n,
                           const kc_diff_options *o, const char *what) {
  int64_t different = 0, payloads = 0, classes = 0, beyond = 0, finite = 0, histogram[66] = {0}, first = -1, first_class = -1;
  double worst[3] = {0};
  int64_t at[3] = {-1, -1, -1};
  for (int64_t i = 0; i < n; i++) {
    kc_class a = kc_classify(f, got[i]), b = kc_classify(f, ref[i]);
    bool nans = a == KC_NAN && b == KC_NAN, differs = got[i] != ref[i] && (o->bits || !nans);
    payloads += nans && got[i] != ref[i];
    different += differs;
    if (differs && first < 0) first = i;
    bool other = a != b && (!is_finite(a) || !is_finite(b) || (a | b) == (KC_PZERO | KC_NZERO));
    classes += other;
    if (other && first_class < 0) first_class = i;
    bool over = other;
    if (is_finite(a) && is_finite(b)) {
      finite++;
      for (int k = 0; k < 3; k++) {
        double e = expected_error(f, s->ulps_of, k, got[i], ref[i]);
        if (e > worst[k]) worst[k] = e, at[k] = i;
        over = over || e > o->limit[k];
        if (k == KC_DIFF_ULP) histogram[expected_bin(e)]++;
      }
    }
    beyond += over;
  }
  cr_assert(s->count == n && s->different == different && s->equal == n - different, "%s: %lld different, expected %lld", what,
            (long long)s->different, (long long)different);
  cr_assert(s->nan_payloads == payloads && s->finite == finite && s->class_differences == classes, "%s: classes", what);
  cr_assert_eq(s->beyond, beyond, "%s: %lld beyond, expected %lld", what, (long long)s->beyond, (long long)beyond);
  cr_assert(s->first.at == first && s->first_class.at == first_class, "%s: first at %lld, expected %lld", what,
            (long long)s->first.at, (long long)first);
  for (int k = 0; k < 3; k++) {
    cr_assert_eq(s->worst[k].error, worst[k], "%s: kind %d is %a, expected %a", what, k, s->worst[k].error, worst[k]);
    cr_assert_eq(s->worst[k].at, at[k], "%s: kind %d at %lld, expected %lld", what, k, (long long)s->worst[k].at,
                 (long long)at[k]);
    if (at[k] < 0) continue;
    cr_assert(s->worst[k].got == got[at[k]] && s->worst[k].ref == ref[at[k]], "%s: kind %d: codes", what, k);
  }
  /* With `as`, values that lie on the edge of a bin may round into it. */
  for (int k = 0; k < 66 && !s->ulps_of; k++) cr_assert_eq(s->histogram[k], histogram[k], "%s: bin %d", what, k);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static const kc_diff_options plain = {.limit = {(double)INFINITY, (double)INFINITY, (double)INFINITY}};

/* `f`: of the elements, or NULL: as the files say. */
static kc_diff_summary compare_as(const kc_format *f, const kc_diff_options *o) {
  kc_npy *files[2];
  kc_diff_summary s;
  kc_text err = {""};
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(kc_npy_open(&files[i], path[i], &err), KC_OK, "%s", err.s);
    if (f && kc_npy_describe(files[i])->format != f) cr_assert_eq(kc_npy_reinterpret(files[i], f, &err), KC_OK, "%s", err.s);
  }
  cr_assert_eq(kc_diff_run(&s, files[0], files[1], o, &err), KC_OK, "%s", err.s);
  for (int i = 0; i < 2; i++) kc_npy_close(files[i]);
  return s;
}

static kc_diff_summary compare(const kc_diff_options *o) {
  return compare_as(NULL, o);
}

/* Formats that NumPy lacks are stored as unsigned integers. */
static const char *letters(const kc_format *f) {
  bool known = f->kind != KC_FLOAT || !strcmp(f->name, "f16") || !strcmp(f->name, "f32") || !strcmp(f->name, "f64");
  return !known ? "u" : f->kind == KC_FLOAT ? "f" : f->kind == KC_INT ? "i" : "u";
}

/* Writes elements in row-major order into a file of any layout. */
static void save(int which, const kc_format *f, int rank, const int64_t *shape, const uint64_t *codes, bool fortran, bool big) {
  char dictionary[256], dims[128] = "";
  int64_t n = 1, stride[KC_MAX_RANK + 1];
  for (int d = 0; d < rank; d++) sprintf(dims + strlen(dims), "%lld,", (long long)shape[d]), n *= shape[d];
  snprintf(dictionary, sizeof dictionary, "{'descr': '%c%s%d', 'fortran_order': %s, 'shape': (%s), }", big ? '>' : '<',
           letters(f), f->storage, fortran ? "True" : "False", dims);
  FILE *file = fopen(path[which], "wb");
  cr_assert(file);
  fprintf(file, "\x93NUMPY%c%c%c%c%s", 1, 0, (int)strlen(dictionary), 0, dictionary);
  stride[rank] = 1;
  for (int d = rank - 1; d >= 0; d--) stride[d] = stride[d + 1] * shape[d];
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i, place = 0;
    for (int d = 0; d < rank && fortran; d++) {
      place += rest % shape[d] * stride[d + 1];
      rest /= shape[d];
    }
    uint64_t code = codes[fortran ? place : i] << f->shift;
    for (int k = 0; k < f->storage; k++) fputc((int)(code >> 8 * (big ? f->storage - 1 - k : k) & 0xff), file);
  }
  cr_assert_eq(fclose(file), 0);
}

static uint64_t next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = *state ^ *state >> 33;
  return x * UINT64_C(0xff51afd7ed558ccd) ^ x >> 29;
}

/* A pair of codes: any, near each other, or from a few values where ties and edges abound. */
static void draw(const kc_format *f, int mode, uint64_t *state, uint64_t *got, uint64_t *ref) {
  uint64_t mask = f->bits < 64 ? (UINT64_C(1) << f->bits) - 1 : ~UINT64_C(0), sign = f->has_sign ? (mask >> 1) + 1 : 0;
  uint64_t one = f->kind == KC_FLOAT ? (uint64_t)f->bias << f->frac_bits : 1;
  const uint64_t pool[] = {0,
                           sign,
                           one,
                           one | sign,
                           one + 1,
                           one - 1,
                           f->max_code,
                           f->max_code | sign,
                           f->max_code + 1,
                           f->max_code + 2,
                           1,
                           1 | sign,
                           2,
                           one << 1,
                           f->max_code - 1,
                           sign - 1,
                           mask,
                           one / 2};
  *ref = next(state) & mask;
  *got = next(state) & mask;
  if (mode == 1) *got = (*ref + next(state) % 5 - 2) & mask;
  if (mode == 2) {
    *ref = pool[next(state) % (sizeof pool / sizeof *pool)] & mask;
    *got = pool[next(state) % (sizeof pool / sizeof *pool)] & mask;
  }
  if (mode == 3) *ref = one + (next(state) & 3), *got = *ref + (next(state) & 1);          /* small ties */
  if (mode == 4) *got = *ref = one + (next(state) & (mask >> 4)), *got += next(state) & 7; /* finite */
}

static void trial(const kc_format *f, int64_t n, int mode, uint64_t seed, const kc_diff_options *o, const char *what) {
  uint64_t *got = malloc((size_t)(n + 1) * sizeof *got), *ref = malloc((size_t)(n + 1) * sizeof *ref), state = seed;
  for (int64_t i = 0; i < n; i++) draw(f, mode, &state, &got[i], &ref[i]);
  save(0, f, 1, &n, got, false, false);
  save(1, f, 1, &n, ref, false, seed & 1);
  kc_diff_summary s = compare_as(f, o);
  expect_summary(&s, f, got, ref, n, o, what);
  free(got);
  free(ref);
}

Test(diff, every_figure_is_the_exact_one, .timeout = 200) {
  static const char *const names[] = {"f32",  "f64", "f16", "bf16", "tf32", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e2m1",
                                      "e8m0", "i8",  "i16", "i32",  "i64",  "u8",     "u16",      "u32",  "u64"};
  static const int64_t sizes[] = {0, 1, 7, 1023, 1024, 1025, 2500};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int mode = 0; mode < 5; mode++)
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        char what[96];
        snprintf(what, sizeof what, "%s mode %d n %lld", names[i], mode, (long long)sizes[k]);
        trial(kc_format_find(names[i]), sizes[k], mode, 100 * i + 10 * (uint64_t)mode + k, &plain, what);
      }
}

/* The largest error itself accepts everything of its kind, the double below it does not; so for the error of any element. */
Test(diff, tolerances_are_exact, .timeout = 200) {
  static const char *const names[] = {"f32", "f64", "f16", "i32", "i64", "u64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int mode = 0; mode < 5; mode++) {
      const kc_format *f = kc_format_find(names[i]);
      uint64_t state = 7, seed = 40 + i, got = 0, ref = 0;
      for (int k = 0; k < 12; k++) draw(f, mode, &state, &got, &ref);
      for (int kind = 0; kind < 3; kind++)
        for (int below = 0; below < 2; below++) {
          if (!is_finite(kc_classify(f, got)) || !is_finite(kc_classify(f, ref))) continue;
          double limit = expected_error(f, NULL, kind, got, ref);
          if (limit == inf) continue;
          kc_diff_options o = plain;
          o.limit[kind] = below && limit > 0 ? nextafter(limit, 0) : limit;
          char what[96];
          snprintf(what, sizeof what, "%s mode %d limit %d %a", names[i], mode, kind, o.limit[kind]);
          trial(f, 1500, mode, seed, &o, what);
        }
    }
}

Test(diff, ulps_of_another_format, .timeout = 100) {
  static const char *const pairs[][2] = {{"f32", "bf16"}, {"f32", "f32"}, {"f64", "f32"}, {"f16", "e4m3fn"}, {"i32", "f16"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (int mode = 0; mode < 5; mode++) {
      kc_diff_options o = plain;
      o.as = kc_format_find(pairs[i][1]);
      o.limit[KC_DIFF_ULP] = 0.5;
      char what[96];
      snprintf(what, sizeof what, "%s as %s mode %d", pairs[i][0], pairs[i][1], mode);
      trial(kc_format_find(pairs[i][0]), 1500, mode, 60 + i, &o, what);
    }
}

Test(diff, bits) {
  kc_diff_options o = plain;
  o.bits = true;
  for (int mode = 0; mode < 3; mode++) trial(kc_format_find("f16"), 3000, mode, 5, &o, "f16 bits");
  for (int mode = 0; mode < 3; mode++) trial(kc_format_find("f32"), 3000, mode, 5, &o, "f32 bits");
}

/* Values of both files are compared in a format that holds both; ulps are those of the coarser one. */
Test(diff, formats_may_differ, .timeout = 100) {
  static const struct {
    const char *got, *ref, *common, *ulps;
  } rows[] = {{"f16", "f32", "f32", "f16"}, {"f32", "f16", "f32", "f16"}, {"f64", "f32", "f64", "f32"},
              {"i8", "i32", "i32", NULL},   {"u8", "i8", "i16", NULL},    {"u8", "f16", "f16", "f16"},
              {"f32", "i32", "f64", "f32"}, {"u32", "i32", "i64", NULL},  {"u16", "i64", "i64", NULL}};
  static const kc_encoding nearest = {.rounding = KC_RNE};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    enum { N = 3000 };
    const kc_format *a = kc_format_find(rows[r].got), *b = kc_format_find(rows[r].ref), *c = kc_format_find(rows[r].common);
    static uint64_t got[N], ref[N], x[N], y[N];
    const int64_t n = N;
    uint64_t state = r + 1, unused;
    for (int i = 0; i < N; i++) {
      draw(a, i % 3 ? 4 : 0, &state, &got[i], &unused);
      draw(b, i % 3 ? 4 : 0, &state, &ref[i], &unused);
      if (i % 5 == 0) ref[i] = kc_encode(b, kc_decode(a, got[i]), &nearest);
      x[i] = a == c ? got[i] : kc_encode(c, kc_decode(a, got[i]), &nearest);
      y[i] = b == c ? ref[i] : kc_encode(c, kc_decode(b, ref[i]), &nearest);
    }
    save(0, a, 1, &n, got, false, false);
    save(1, b, 1, &n, ref, false, true);
    kc_diff_summary s = compare(&plain);
    cr_assert_str_eq(s.format->name, rows[r].common, "%s and %s", rows[r].got, rows[r].ref);
    cr_assert(rows[r].ulps ? s.ulps_of && !strcmp(s.ulps_of->name, rows[r].ulps) : !s.ulps_of, "%s %s", rows[r].got,
              rows[r].ref);
    expect_summary(&s, c, x, y, N, &plain, rows[r].got);
  }
}

/* Indices and order: the same tensors in all four layouts, shapes from flat to deep. */
Test(diff, layouts, .timeout = 200) {
  static const struct {
    int rank;
    int64_t shape[KC_MAX_RANK];
  } rows[] = {{0, {0}},
              {1, {1000}},
              {2, {1, 1000}},
              {2, {1000, 1}},
              {2, {3, 5}},
              {2, {700, 300}},
              {3, {3, 900, 2}},
              {3, {2, 3, 700}},
              {3, {300, 1, 300}},
              {3, {600, 2, 3}},
              {4, {20, 3, 1, 600}},
              {5, {4, 0, 3, 2, 1}},
              {8, {2, 3, 2, 1, 3, 2, 2, 3}}};
  const kc_format *f = kc_format_find("i32");
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    int64_t n = 1;
    for (int d = 0; d < rows[r].rank; d++) n *= rows[r].shape[d];
    uint64_t *got = calloc((size_t)n + 1, sizeof *got), *ref = calloc((size_t)n + 1, sizeof *ref), state = r;
    for (int64_t i = 0; i < n; i++) got[i] = ref[i] = 1000 + (uint64_t)i;
    int64_t odd = n ? (int64_t)(next(&state) % (uint64_t)n) : -1;
    if (n) got[odd] += 7;
    for (int layout = 0; layout < 16; layout++) {
      save(0, f, rows[r].rank, rows[r].shape, got, layout & 1, layout & 4);
      save(1, f, rows[r].rank, rows[r].shape, ref, layout & 2, layout & 8);
      kc_diff_summary s = compare(&plain);
      cr_assert(s.count == n && s.different == (n > 0), "shape %zu layout %d: %lld different", r, layout,
                (long long)s.different);
      if (!n) continue;
      cr_assert_eq(s.worst[KC_DIFF_ABS].at, odd, "shape %zu layout %d: at %lld, expected %lld", r, layout,
                   (long long)s.worst[KC_DIFF_ABS].at, (long long)odd);
      cr_assert(s.first.at == odd && s.first.got == got[odd] && s.first.ref == ref[odd] && s.worst[KC_DIFF_ABS].error == 7);
      int64_t place = 0;
      for (int d = 0; d < rows[r].rank; d++) place = place * rows[r].shape[d] + s.first.index[d];
      cr_assert_eq(place, odd);
    }
    free(got);
    free(ref);
  }
}

/* Of equal errors the first counts, whichever thread meets it. */
Test(diff, ties_go_to_the_first, .timeout = 100) {
  enum { N = 500000 };
  static uint64_t got[N], ref[N];
  const kc_format *f = kc_format_find("f32");
  const int64_t n = N;
  for (int i = 0; i < N; i++) ref[i] = 0x3f800000, got[i] = ref[i] + (i >= 70001);
  save(0, f, 1, &n, got, false, false);
  save(1, f, 1, &n, ref, false, false);
  for (int round = 0; round < 20; round++) {
    kc_diff_summary s = compare(&plain);
    for (int k = 0; k < 3; k++)
      cr_assert_eq(s.worst[k].at, 70001, "round %d kind %d: %lld", round, k, (long long)s.worst[k].at);
    cr_assert(s.first.at == 70001 && s.different == N - 70001 && s.histogram[33] == N - 70001);
  }
}

static void refused(const char *a, int64_t rows_a, const char *b, int64_t rows_b, const kc_diff_options *o, kc_status status,
                    const char *text) {
  kc_npy *files[2] = {NULL, NULL};
  kc_diff_summary s;
  kc_text err = {""};
  uint64_t zeros[8] = {0};
  save(0, kc_format_find(a), 1, &rows_a, zeros, false, false);
  save(1, kc_format_find(b), 1, &rows_b, zeros, false, false);
  for (int i = 0; i < 2; i++) cr_assert_eq(kc_npy_open(&files[i], path[i], &err), KC_OK, "%s", err.s);
  cr_expect_eq(kc_diff_run(&s, files[0], files[1], o, &err), status, "%s %s", a, b);
  cr_expect(strstr(err.s, text), "expected '%s' in: %s", text, err.s);
  for (int i = 0; i < 2; i++) kc_npy_close(files[i]);
}

Test(diff, what_cannot_be_compared) {
  kc_diff_options bits = plain, as = plain, limit = plain;
  bits.bits = true;
  as.as = kc_format_find("f16");
  limit.limit[1] = -1;
  refused("f32", 4, "f32", 5, &plain, KC_EUNSUPPORTED, "shapes differ: [4]");
  refused("f32", 4, "i64", 4, &plain, KC_EUNSUPPORTED, "f32 and i64: no format");
  refused("u64", 4, "i64", 4, &plain, KC_EUNSUPPORTED, "u64 and i64: no format");
  refused("f16", 4, "f32", 4, &bits, KC_EUNSUPPORTED, "no bits in common");
  refused("i64", 4, "i64", 4, &as, KC_EUNSUPPORTED, "no meaning for i64");
  as.as = kc_format_find("i8");
  refused("f32", 4, "f32", 4, &as, KC_EUNSUPPORTED, "a format of floats");
  refused("f32", 4, "f32", 4, &limit, KC_EINVAL, ">= 0");
  limit.limit[1] = (double)NAN;
  refused("f32", 4, "f32", 4, &limit, KC_EINVAL, ">= 0");
}

Test(diff, a_file_that_shrinks_is_an_error) {
  const int64_t n = 300000;
  uint64_t *zeros = calloc((size_t)n, sizeof *zeros);
  kc_npy *files[2];
  kc_diff_summary s;
  kc_text err = {""};
  for (int i = 0; i < 2; i++) {
    save(i, kc_format_find("f32"), 1, &n, zeros, false, false);
    cr_assert_eq(kc_npy_open(&files[i], path[i], &err), KC_OK, "%s", err.s);
  }
  cr_assert_eq(truncate(path[1], 600000), 0);
  cr_expect_eq(kc_diff_run(&s, files[0], files[1], &plain, &err), KC_EIO);
  cr_expect(strstr(err.s, path[1]) && strstr(err.s, "ends at byte"), "%s", err.s);
  for (int i = 0; i < 2; i++) kc_npy_close(files[i]);
  free(zeros);
}
