/* test_matmul.c - certified matrix products against sums in MPFR at a precision that holds every product and sum of doubles. There
 * bounds must be the exact value rounded down and up, bit for bit; MPFR's own rules give NaN and infinities.
 */
#include <float.h>

#include "matmul_rig.h"

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

/* Large enough for slices, where OpenBLAS is there. */
Test(matmul, large) {
  const product rows[] = {
      {.formats = {"f16", "f16"}, .m = 300, .n = 260, .k = 100, .alpha = 1, .dist = normal},
      {.formats = {"f32", "f32", "f32"},
       .m = 70,
       .n = 90,
       .k = 1500,
       .alpha = -3,
       .beta = 0.1,
       .transpose_a = true,
       .dist = normal},
      {.formats = {"f32", "bf16"}, .m = 9, .n = 5, .k = 70000, .alpha = 1, .transpose_b = true, .dist = normal},
      {.formats = {"f64", "f32"}, .m = 60, .n = 60, .k = 600, .alpha = 1, .dist = log_uniform(-15, 15)},
      {.formats = {"f64", "f64"}, .m = 100, .n = 100, .k = 200, .alpha = 1, .dist = log_uniform(-1074, -1010)},
      {.formats = {"f64", "f64"}, .m = 100, .n = 100, .k = 200, .alpha = 1, .dist = log_uniform(-540, -535)},
      {.formats = {"f64", "f64"}, .m = 100, .n = 100, .k = 200, .alpha = 1, .dist = log_uniform(505, 512)},
      {.formats = {"f16", "f32"},
       .m = 64,
       .n = 64,
       .k = 512,
       .alpha = 1,
       .magnitude = true,
       .exceptional = 1e-3,
       .dist = normal},
      {.formats = {"f64", "f64"}, .m = 64, .n = 64, .k = 512, .alpha = 1, .dist = {.kind = KC_DIST_SUBNORMAL}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_product(&rows[i], 1000 + i);
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
    run r = {.p = &p, .n = 3, .label = "by hand"};
    r.in[0] = row_of(rows[i].x, 2, false);
    r.in[1] = row_of(rows[i].y, 2, true);
    r.in[2] = row_of(&rows[i].c, 1, false);
    start(&r);
    cr_expect_eq(r.e.classes[0], rows[i].classes, "row %zu: classes %d, expected %d", i, r.e.classes[0], rows[i].classes);
    check_element(&r, 0, (const int64_t[]){0, 0, 0}, (const int64_t[]){1, 1});
    finish(&r);
    release(&r);
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
    run r = {.p = &p, .n = 3, .label = "by hand"};
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
      check_element(&r, e, first, (const int64_t[]){1, 4});
    }
    finish(&r);
    release(&r);
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
