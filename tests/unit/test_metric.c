/* test_metric.c - metrics beyond the f32 path (tests/lua/test_metric.lua): other formats, statistics, determinism. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#include "kc.h"

static const double inf = (double)INFINITY;

static kc_buffer *vector(const char *format, int64_t n, const double *values) {
  kc_buffer *b;
  kc_text err;
  kc_encoding nearest = {.rounding = KC_RNE};
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), 1, &n, 4096, &err), KC_OK, "%s", err.s);
  if (values) kc_encode_array(kc_buffer_format(b), kc_buffer_data(b), values, (size_t)n, &nearest);
  return b;
}

static kc_summary run(const char *metric, const kc_buffer *got, const kc_buffer *ref, const char *as,
                      const double *denominator) {
  kc_summary s;
  kc_text err = {""};
  cr_assert_eq(kc_metric_run(&s, kc_metric_find(metric), got, ref, as ? kc_format_find(as) : NULL, denominator, &err), KC_OK,
               "%s: %s", metric, err.s);
  return s;
}

/* One pair; the summary of a metric over it. */
static kc_summary pair(const char *metric, const char *format, double got, double ref) {
  kc_buffer *a = vector(format, 1, &got), *b = vector(format, 1, &ref);
  kc_summary s = run(metric, a, b, NULL, NULL);
  kc_buffer_release(a);
  kc_buffer_release(b);
  return s;
}

Test(metric, ulp_distances_worked_by_hand) {
  const struct {
    const char *format;
    double got, ref, distance;
  } rows[] = {
      {"f64", 1, 1 + 0x1p-52, 1},
      {"f64", -0x1p-1074, 0x1p-1074, 2},      /* across zero */
      {"f64", -DBL_MAX, DBL_MAX, 0x1.ffcp63}, /* 2 * 0x7fefffffffffffff, rounded */
      {"f32", 1, 2, 0x1p23},
      {"f32", -0.0, 0x1p-149, 1},
      {"f16", 65504, 65472, 1},
      {"bf16", 1, 1.0078125, 1},
      {"tf32", 1, 1 + 0x1p-10, 1},
      {"tf32", -1, 1 + 0x1p-9, 2 * 127 * 1024 + 2},
      {"hf32", 1, 1 + 0x1p-11, 1},
      {"e4m3fn", 448, 416, 1},
      {"e5m2fnuz", 0x1p-17, -0x1p-17, 2},
      {"e2m1", 6, -6, 14},
      {"i32", -5, 7, 12},
      {"u8", 255, 0, 255},
      {"e8m0", 4, 1, 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_summary s = pair("ulp", rows[i].format, rows[i].got, rows[i].ref);
    cr_expect_eq(s.max, rows[i].distance, "%s: %a against %a: %.17g, expected %.17g", rows[i].format, rows[i].got, rows[i].ref,
                 s.max, rows[i].distance);
    cr_expect_eq(pair("ulp", rows[i].format, rows[i].ref, rows[i].got).max, rows[i].distance, "%s is symmetric",
                 rows[i].format);
  }
}

/* NaN for NaN matches, whatever its bits; the others are mismatches and have no value. */
Test(metric, exceptional_pairs_in_every_width) {
  const double n = nan("");
  const double got[] = {n, inf, -inf, inf, n, 1, 1, -0.0}, ref[] = {n, inf, -inf, -inf, 1, n, 1, 0};
  const char *formats[] = {"f64", "f32", "f16", "bf16", "tf32", "e5m2"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    kc_buffer *a = vector(formats[i], 8, got), *b = vector(formats[i], 8, ref);
    const char *metrics[] = {"ulp", "abs", "rel"};
    for (int k = 0; k < 3; k++) {
      kc_summary s = run(metrics[k], a, b, NULL, NULL);
      cr_expect(s.count == 8 && s.finite == 2 && s.class_mismatches == 4 && s.first_mismatch == 3,
                "%s of %s: finite %ld, %ld, %ld", metrics[k], formats[i], (long)s.finite, (long)s.class_mismatches,
                (long)s.first_mismatch);
      cr_expect(s.max == 0 && s.worst == 6 && s.histogram[0] == 2 && s.bit_differences == 4, "%s of %s", metrics[k],
                formats[i]);
    }
    kc_buffer_release(a);
    kc_buffer_release(b);
  }
}

Test(metric, division_by_zero_is_seen) {
  cr_expect_eq(pair("rel", "f32", 1, 0).max, inf);
  cr_expect_eq(pair("rel", "f32", 0, 0).max, 0);
  cr_expect_eq(pair("rel", "f32", 0, 2).max, 1);
  const double got[] = {1, 2, 3}, ref[] = {1, 1, 1}, denominator[] = {0, 4, nan("")};
  kc_buffer *a = vector("f32", 3, got), *b = vector("f32", 3, ref);
  kc_summary s = run("denom", a, b, NULL, denominator);
  cr_expect(s.max == inf && s.worst == 2, "a NaN denominator is not passed over");
  kc_buffer_release(a);
  kc_buffer_release(b);
}

/* HF32 against f32: 2^-12 of rounding error is 12 effective bits. */
Test(metric, effective_bits) {
  cr_expect_eq(pair("bits", "f32", 1 + 0x1p-12, 1).max, 12);
  cr_expect_eq(pair("bits", "f32", 1, 1).max, 24, "no error: the precision");
  cr_expect_eq(pair("bits", "f32", 5, 1).max, 0, "never below zero");
  const double got[] = {1 + 0x1p-12, 1, 1, 1}, ref[] = {1, 1, 1, 1};
  kc_buffer *a = vector("f32", 4, got), *b = vector("f32", 4, ref);
  kc_summary s = run("bits", a, b, NULL, NULL);
  cr_expect(s.max == 12 && s.worst == 0 && s.mean == 14 && s.quantile[0] == 24, "max is the fewest bits");
  kc_buffer_release(a);
  kc_buffer_release(b);
}

Test(metric, ulps_of_another_format) {
  const double got = 1 + 0x1p-10, ref = 1;
  kc_buffer *a = vector("f32", 1, &got), *b = vector("f32", 1, &ref);
  cr_expect_eq(run("ulp", a, b, NULL, NULL).max, 0x1p13);
  cr_expect_eq(run("ulp", a, b, "f16", NULL).max, 1);
  cr_expect_eq(run("ulp", a, b, "bf16", NULL).max, 0.125);
  kc_buffer_release(a);
  kc_buffer_release(b);
}

/* 1000 elements with errors 1 .. 1000: edges of the bins above the shares 500, 900, 990, 999. */
Test(metric, quantiles_are_upper_edges) {
  double got[1000], ref[1000];
  for (int i = 0; i < 1000; i++) got[i] = i + 1, ref[i] = 0;
  kc_buffer *a = vector("f64", 1000, got), *b = vector("f64", 1000, ref);
  kc_summary s = run("abs", a, b, NULL, NULL);
  const double expected[] = {512, 1000, 1000, 1000, 1000}; /* 1024 is cut to the maximum */
  for (int k = 0; k < 5; k++) cr_expect_eq(s.quantile[k], expected[k], "quantile %d: %g", k, s.quantile[k]);
  cr_expect(s.mean == 500.5 && s.max == 1000 && s.worst == 999);
  cr_expect(s.histogram[33] == 1 && s.histogram[34] == 1 && s.histogram[35] == 2 && s.histogram[43] == 1000 - 512);
  kc_buffer_release(a);
  kc_buffer_release(b);
}

/* Sums of doubles depend on the order: the mean over many blocks must be the one of adding block by block. */
Test(metric, mean_does_not_depend_on_threads) {
  enum { N = 300000, BLOCK = 1024 };
  kc_buffer *a = vector("f32", N, NULL), *b = vector("f32", N, NULL);
  kc_dist d = {.kind = KC_DIST_NORMAL, .b = 1};
  kc_text err;
  cr_assert_eq(kc_fill(kc_buffer_format(a), kc_buffer_data(a), N, 0, 1, &d, &err), KC_OK);
  cr_assert_eq(kc_fill(kc_buffer_format(b), kc_buffer_data(b), N, 0, 2, &d, &err), KC_OK);
  const float *x = kc_buffer_cdata(a), *y = kc_buffer_cdata(b);
  double sum = 0;
  for (int i = 0; i < N; i += BLOCK) {
    double block = 0;
    for (int k = i; k < i + BLOCK && k < N; k++) block += fabs((double)x[k] - (double)y[k]);
    sum += block;
  }
  for (int k = 0; k < 5; k++) cr_expect_eq(run("abs", a, b, NULL, NULL).mean, sum / N);
  kc_buffer_release(a);
  kc_buffer_release(b);
}

Test(metric, empty_buffers) {
  kc_buffer *a = vector("f32", 0, NULL);
  for (size_t i = 0; kc_metric_at(i); i++) {
    if (strcmp(kc_metric_at(i)->name, "denom") == 0) continue;
    kc_summary s = run(kc_metric_at(i)->name, a, a, NULL, NULL);
    cr_expect(s.count == 0 && s.finite == 0 && s.worst == -1 && s.first_mismatch == -1 && s.max == 0 && s.mean == 0, "%s",
              kc_metric_at(i)->name);
  }
  kc_buffer_release(a);
}

Test(metric, refusals_and_table) {
  kc_buffer *a = vector("f32", 1, (double[]){1}), *b = vector("f16", 1, (double[]){1}), *c = vector("f32", 2, NULL);
  kc_summary s;
  kc_text err;
  const double one = 1;
  const kc_metric *ulp = kc_metric_find("ulp"), *rel = kc_metric_find("rel"), *denom = kc_metric_find("denom");
  cr_expect_eq(kc_metric_run(&s, ulp, a, b, NULL, NULL, &err), KC_EINVAL);
  cr_expect_eq(kc_metric_run(&s, ulp, a, c, NULL, NULL, &err), KC_EINVAL);
  cr_expect_eq(kc_metric_run(&s, ulp, a, a, kc_format_find("i8"), NULL, &err), KC_EINVAL);
  cr_expect_eq(kc_metric_run(&s, rel, a, a, kc_format_find("f16"), NULL, &err), KC_EINVAL);
  cr_expect_eq(kc_metric_run(&s, rel, a, a, NULL, &one, &err), KC_EINVAL);
  cr_expect_eq(kc_metric_run(&s, denom, a, a, NULL, NULL, &err), KC_EINVAL);
  size_t n = 0;
  for (; kc_metric_at(n); n++) {
    cr_expect_eq(kc_metric_find(kc_metric_at(n)->name), kc_metric_at(n));
    cr_expect(kc_metric_at(n)->doc[0] && kc_metric_at(n)->unit[0]);
  }
  cr_expect_eq(n, 7);
  cr_expect_null(kc_metric_find("ulps"));
  kc_buffer_release(a);
  kc_buffer_release(b);
  kc_buffer_release(c);
}
