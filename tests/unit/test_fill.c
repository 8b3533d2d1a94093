/* test_fill.c - random fills: the normal table against MPFR, each distribution against its definition, and one set of bits everywhere. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kc.h"
#include "normal_table.h"
#include "quantile.h"

static kc_status fill(const char *format, void *out, size_t n, uint64_t first, uint64_t key, kc_dist d) {
  kc_text err = {""};
  kc_status status = kc_fill(kc_format_find(format), out, n, first, key, &d, &err);
  if (status != KC_OK) cr_expect(err.s[0], "a failure has a text");
  return status;
}

static void fill_doubles(const char *format, double *out, size_t n, uint64_t key, kc_dist d) {
  static char memory[8 << 16];
  cr_assert_leq(n, (size_t)1 << 16);
  cr_assert_eq(fill(format, memory, n, 0, key, d), KC_OK, "%s distribution %d", format, d.kind);
  kc_decode_array(kc_format_find(format), out, memory, n);
}

enum { N = 1 << 16 };
static double x[N];

/* ---- the normal table -------------------------------------------------------------------------------------------- */

static void check_rows(int begin, int end) {
  for (int row = begin; row < end; row++) {
    long long c[6];
    quantile_row(c, row / 16, row % 16);
    for (int j = 0; j < 6; j++)
      cr_assert_eq(kc__normal_table[row][j], c[j], "row %d coefficient %d: %lld, MPFR gives %lld", row, j,
                   (long long)kc__normal_table[row][j], c[j]);
  }
}

Test(fill, table_regenerated_1) {
  check_rows(0, 256);
}
Test(fill, table_regenerated_2) {
  check_rows(256, 512);
}
Test(fill, table_regenerated_3) {
  check_rows(512, 768);
}
Test(fill, table_regenerated_4) {
  check_rows(768, 1024);
}

/* The word of element i: two 64-bit words a block, the first in the low half. */
static uint64_t word_of(uint64_t key, uint64_t i) {
  uint32_t out[4];
  kc_philox4x32(out, (uint32_t[4]){(uint32_t)(i / 2), (uint32_t)(i / 2 >> 32), 0, 0},
                (uint32_t[2]){(uint32_t)key, (uint32_t)(key >> 32)});
  return i % 2 ? out[2] | (uint64_t)out[3] << 32 : out[0] | (uint64_t)out[1] << 32;
}

/* The probability beyond the deviate is ((word << 1) | 1) / 2^65. */
Test(fill, normal_is_the_quantile) {
  uint64_t key = 0x123456789abcdef0;
  fill_doubles("f64", x, 4000, key, (kc_dist){.kind = KC_DIST_NORMAL, .b = 1});
  mpfr_t p, z;
  mpfr_inits2(QUANTILE_PRECISION, p, z, (mpfr_ptr)0);
  for (uint64_t i = 0; i < 4000; i++) {
    uint64_t word = word_of(key, i);
    mpfr_set_uj(p, word << 1 | 1, MPFR_RNDN);
    mpfr_div_2ui(p, p, 65, MPFR_RNDN);
    upper_quantile(z, p);
    double want = mpfr_get_d(z, MPFR_RNDN) * (word >> 63 ? -1 : 1);
    cr_assert_leq(fabs(x[i] - want), 0x1p-35, "element %lu: %a, expected %a", (unsigned long)i, x[i], want);
  }
  mpfr_clears(p, z, (mpfr_ptr)0);
}

Test(fill, normal_moments) {
  double sum = 0, square = 0, fourth = 0;
  fill_doubles("f32", x, N, 99, (kc_dist){.kind = KC_DIST_NORMAL, .b = 4});
  for (int i = 0; i < N; i++) {
    double z = x[i] / 4;
    sum += z, square += z * z, fourth += z * z * z * z;
  }
  cr_expect_lt(fabs(sum / N), 5 / sqrt(N));
  cr_expect_lt(fabs(square / N - 1), 5 * sqrt(2.0 / N));
  cr_expect_lt(fabs(fourth / N - 3), 5 * sqrt(96.0 / N));
}

/* ---- one set of bits --------------------------------------------------------------------------------------------- */

static uint64_t fnv1a(const void *data, size_t n) {
  const unsigned char *p = data;
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

/* 4096 elements, key 2026. The digests were stored when the tests in this file first held; a change is a break of all traces. */
static const struct {
  const char *format;
  kc_dist d;
  uint64_t digest;
} stored[] = {
    {"f32", {KC_DIST_CONSTANT, 0.1, 0, 0}, 0x4b8cc64609684325},
    {"f32", {KC_DIST_UNIFORM, -1, 3, 0}, 0xb807024430e29abd},
    {"f64", {KC_DIST_UNIFORM, -0x1p-1060, 0x1p-1062, 0}, 0x99557d8bed0c2790},
    {"bf16", {KC_DIST_UNIFORM, 0, 1e-40, 0}, 0x4fc2238d67a86aac},
    {"f64", {KC_DIST_NORMAL, 0, 1, 0}, 0x07015411cdb1d1f4},
    {"f32", {KC_DIST_NORMAL, 0, 1, 0}, 0xc4e08728aeb64fa6},
    {"f16", {KC_DIST_NORMAL, 0, 0x1p-20, 0}, 0x83c8381d64369981},
    {"e4m3fn", {KC_DIST_NORMAL, 0, 8, 0}, 0xf09c03a27377c66d},
    {"f32", {KC_DIST_LOG_UNIFORM, -149, 100, 0}, 0xfe4bd67ae9f5af03},
    {"f16", {KC_DIST_LOG_UNIFORM, -5, 5, 1}, 0x55bc3693e9192c2f},
    {"f32", {KC_DIST_INTEGERS, -31, 31, 0}, 0x3e2ca66c1561ed65},
    {"i32", {KC_DIST_INTEGERS, 0, 1000000, 0}, 0x7babf02237b678bb},
    {"f16", {KC_DIST_BITS, 0, 0, 0}, 0x60e4c500e31debe2},
    {"f64", {KC_DIST_FINITE_BITS, 0, 0, 0}, 0xcbc00bcc983d63a5},
    {"f32", {KC_DIST_SUBNORMAL, 0, 0, 0}, 0x58fad3458110102d},
    {"u16", {KC_DIST_EXHAUSTIVE, 3, 0, 0}, 0x54920801313507d5},
    {"f32", {KC_DIST_EXCEPTIONAL, 0.5, 0, 0}, 0x8898663d3b0669a5},
};
enum { STORED = sizeof stored / sizeof *stored };

static uint64_t digest_of(int i) {
  static char memory[8 * 4096];
  memset(memory, 0, sizeof memory);
  if (fill(stored[i].format, memory, 4096, 0, 2026, stored[i].d) != KC_OK) return 0;
  return fnv1a(memory, 4096 * kc_format_find(stored[i].format)->storage);
}

Test(fill, stored_digests) {
  for (int i = 0; i < STORED; i++)
    cr_expect_eq(digest_of(i), stored[i].digest, "%s distribution %d: 0x%016lx", stored[i].format, stored[i].d.kind,
                 (unsigned long)digest_of(i));
}

Test(fill, same_digests_in_a_strange_state) {
  kc_fpstate odd = kc_fpstate_default();
  if (odd.mxcsr == 0) cr_skip_test("no control register to set");
  const uint32_t settings[] = {0x8040, 0x2000, 0x4000, 0x6000, 0xe040}; /* FTZ and DAZ, each rounding mode, all at once */
  for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
    for (int i = 0; i < STORED; i++) {
      odd.mxcsr = kc_fpstate_default().mxcsr | settings[s];
      kc_fpstate_set(odd);
      uint64_t digest = digest_of(i);
      kc_fpstate_set(kc_fpstate_default());
      cr_expect_eq(digest, stored[i].digest, "%s distribution %d under MXCSR 0x%x", stored[i].format, stored[i].d.kind,
                   odd.mxcsr);
    }
}

Test(fill, an_element_depends_on_its_position_alone) {
  static char whole[8 * 256], part[8 * 256];
  for (int i = 0; i < STORED; i++) {
    size_t size = kc_format_find(stored[i].format)->storage;
    memset(whole, 0, sizeof whole), memset(part, 0, sizeof part);
    fill(stored[i].format, whole, 256, 1000, 5, stored[i].d);
    for (size_t at = 0; at < 256; at += 37)
      fill(stored[i].format, part + at * size, at + 37 < 256 ? 37 : 256 - at, 1000 + at, 5, stored[i].d);
    cr_expect_eq(memcmp(whole, part, 256 * size), 0, "%s distribution %d", stored[i].format, stored[i].d.kind);
  }
}

Test(fill, keys_and_high_positions_differ) {
  double a[4], b[4], c[4];
  kc_dist d = {.kind = KC_DIST_UNIFORM, .a = 0, .b = 1};
  fill("f64", a, 4, 0, 1, d);
  fill("f64", b, 4, 0, UINT64_C(1) << 32 | 1, d);
  fill("f64", c, 4, UINT64_C(1) << 33, 1, d);
  for (int i = 0; i < 4; i++) cr_expect(a[i] != b[i] && a[i] != c[i]);
}

/* ---- distributions ------------------------------------------------------------------------------------------------ */

Test(fill, constant) {
  fill_doubles("bf16", x, 100, 1, (kc_dist){.kind = KC_DIST_CONSTANT, .a = 1 + 0x1p-8 + 0x1p-40});
  for (int i = 0; i < 100; i++) cr_assert_eq(x[i], 1 + 0x1p-7);
  fill_doubles("f16", x, 1, 1, (kc_dist){.kind = KC_DIST_CONSTANT, .a = -HUGE_VAL});
  cr_expect_eq(x[0], -HUGE_VAL);
  fill_doubles("e4m3fn", x, 1, 1, (kc_dist){.kind = KC_DIST_CONSTANT, .a = (double)NAN});
  cr_expect(isnan(x[0]));
}

Test(fill, uniform) {
  const double bounds[][2] = {{0, 1},      {-1, 1},  {1, 1 + 0x1p-52}, {-0x1p-1074, 0x1p-1074},
                              {-1e300, 3}, {5, 5.5}, {-1e-300, 1e300}};
  for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
    double a = bounds[k][0], b = bounds[k][1], mean = 0;
    fill_doubles("f64", x, N, k, (kc_dist){.kind = KC_DIST_UNIFORM, .a = a, .b = b});
    for (int i = 0; i < N; i++) {
      cr_assert(x[i] >= a && x[i] <= b, "%a in [%a, %a)", x[i], a, b);
      mean += (x[i] / 2 - a / 2) / (b / 2 - a / 2) / N;
    }
    if (k != 3) cr_expect_lt(fabs(mean - 0.5), 5 / sqrt(12.0 * N), "mean %g of [%g, %g)", mean, a, b);
  }
}

Test(fill, log_uniform) {
  int octaves[20] = {0}, negative = 0;
  fill_doubles("f32", x, N, 3, (kc_dist){.kind = KC_DIST_LOG_UNIFORM, .a = -10, .b = 10});
  for (int i = 0; i < N; i++) {
    cr_assert(fabs(x[i]) >= 0x1p-10 && fabs(x[i]) <= 0x1p10, "%a", x[i]);
    octaves[(int)fmin(ilogb(x[i]), 9) + 10]++;
    negative += x[i] < 0;
  }
  for (int k = 0; k < 20; k++)
    cr_expect_lt(fabs(octaves[k] - N / 20.0), 5 * sqrt(N / 20.0), "octave %d: %d", k - 10, octaves[k]);
  cr_expect_lt(abs(negative - N / 2), 5 * 128);
  fill_doubles("f16", x, N, 3, (kc_dist){.kind = KC_DIST_LOG_UNIFORM, .a = -24, .b = 16, .c = 1});
  for (int i = 0; i < N; i++) cr_assert(x[i] > 0 && x[i] <= 65504, "%a", x[i]); /* rounding up never overflows */
}

Test(fill, integers) {
  int seen[7] = {0};
  fill_doubles("i8", x, N, 3, (kc_dist){.kind = KC_DIST_INTEGERS, .a = -3, .b = 3});
  for (int i = 0; i < N; i++) {
    cr_assert(x[i] >= -3 && x[i] <= 3 && x[i] == floor(x[i]), "%a", x[i]);
    seen[(int)x[i] + 3]++;
  }
  for (int k = 0; k < 7; k++) cr_expect_lt(fabs(seen[k] - N / 7.0), 5 * sqrt(N / 7.0));
  fill_doubles("f64", x, 100, 3, (kc_dist){.kind = KC_DIST_INTEGERS, .a = 7, .b = 7});
  for (int i = 0; i < 100; i++) cr_assert_eq(x[i], 7);
}

/* Counts how often each code of an 8-bit format or narrower comes. */
static void count_codes(const char *format, kc_dist d, int counts[256]) {
  static unsigned char memory[N];
  memset(counts, 0, 256 * sizeof *counts);
  cr_assert_eq(fill(format, memory, N, 0, 11, d), KC_OK, "%s distribution %d", format, d.kind);
  for (int i = 0; i < N; i++) counts[memory[i]]++;
}

/* Codes for which `wanted` holds come equally often, others never. */
static void check_equal(const char *format, kc_dist d, bool (*wanted)(const kc_format *f, unsigned code)) {
  const kc_format *f = kc_format_find(format);
  int counts[256], many = 0;
  count_codes(format, d, counts);
  for (unsigned code = 0; code < 256; code++) many += code < 1u << f->bits && wanted(f, code);
  double mean = (double)N / many;
  for (unsigned code = 0; code < 256; code++) {
    bool expected = code < 1u << f->bits && wanted(f, code);
    cr_expect(expected ? fabs(counts[code] - mean) < 5 * sqrt(mean) : counts[code] == 0,
              "%s distribution %d code 0x%x: %d times, mean %g", format, d.kind, code, counts[code], expected ? mean : 0);
  }
}

static bool any(const kc_format *f, unsigned code) {
  return f && code < 256;
}
static bool is_finite(const kc_format *f, unsigned code) {
  return !(kc_classify(f, code) & (KC_NAN | KC_PINF | KC_NINF));
}
static bool subnormal(const kc_format *f, unsigned code) {
  double y = fabs(kc_decode(f, code));
  return y > 0 && y < ldexp(1, f->emin);
}

Test(fill, codes) {
  const char *formats[] = {"e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e8m0", "i8", "u8"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    check_equal(formats[i], (kc_dist){.kind = KC_DIST_BITS}, any);
    check_equal(formats[i], (kc_dist){.kind = KC_DIST_FINITE_BITS}, is_finite);
    if (kc_format_find(formats[i])->frac_bits) check_equal(formats[i], (kc_dist){.kind = KC_DIST_SUBNORMAL}, subnormal);
  }
  fill_doubles("f64", x, N, 1, (kc_dist){.kind = KC_DIST_FINITE_BITS});
  for (int i = 0; i < N; i++) cr_assert(isfinite(x[i]));
}

Test(fill, exhaustive) {
  static uint16_t codes[N];
  cr_assert_eq(fill("f16", codes, N, 0, 0, (kc_dist){.kind = KC_DIST_EXHAUSTIVE, .a = 5}), KC_OK);
  for (int i = 0; i < N; i++) cr_assert_eq(codes[i], (uint16_t)(i + 5));
  fill("f16", codes, 3, 65530, 0, (kc_dist){.kind = KC_DIST_EXHAUSTIVE, .a = 5});
  cr_expect(codes[0] == 65535 && codes[1] == 0 && codes[2] == 1);
}

Test(fill, exceptional) {
  static float y[N];
  int special = 0, nan = 0, kinds[7] = {0};
  for (int i = 0; i < N; i++) y[i] = 3;
  cr_assert_eq(fill("f32", y, N, 0, 8, (kc_dist){.kind = KC_DIST_EXCEPTIONAL, .a = 0.25}), KC_OK);
  const float values[] = {INFINITY, -INFINITY, 0x1p-149f, 0x1.fffffep127f};
  for (int i = 0; i < N; i++) {
    special += y[i] != 3;
    nan += isnan(y[i]);
    for (int k = 0; k < 4; k++) kinds[k] += y[i] == values[k];
    if (y[i] == 0) kinds[signbit(y[i]) ? 4 : 5]++;
  }
  kinds[6] = nan;
  cr_expect_lt(fabs(special - N / 4.0), 5 * sqrt(N / 4.0));
  for (int k = 0; k < 7; k++) cr_expect_lt(fabs(kinds[k] - N / 28.0), 5 * sqrt(N / 28.0), "kind %d: %d", k, kinds[k]);
  for (int i = 0; i < N; i++) y[i] = 3;
  fill("f32", y, N, 0, 8, (kc_dist){.kind = KC_DIST_EXCEPTIONAL, .a = 0});
  for (int i = 0; i < N; i++) cr_assert_eq(y[i], 3);
  fill("f32", y, N, 0, 8, (kc_dist){.kind = KC_DIST_EXCEPTIONAL, .a = 1});
  for (int i = 0; i < N; i++) cr_assert_neq(y[i], 3);
}

Test(fill, what_does_not_fit) {
  const struct {
    const char *format;
    kc_dist d;
  } bad[] = {
      {"f16", {KC_DIST_CONSTANT, 1e6, 0, 0}},
      {"e2m1", {KC_DIST_CONSTANT, (double)NAN, 0, 0}},
      {"e4m3fn", {KC_DIST_CONSTANT, HUGE_VAL, 0, 0}},
      {"u8", {KC_DIST_CONSTANT, -1, 0, 0}},
      {"f32", {KC_DIST_UNIFORM, 1, 1, 0}},
      {"f32", {KC_DIST_UNIFORM, 2, 1, 0}},
      {"f32", {KC_DIST_UNIFORM, 0, 1e39, 0}},
      {"f32", {KC_DIST_UNIFORM, (double)NAN, 1, 0}},
      {"u8", {KC_DIST_UNIFORM, -1, 1, 0}},
      {"f32", {KC_DIST_NORMAL, 1, 1, 0}},
      {"f32", {KC_DIST_NORMAL, 0, 3, 0}},
      {"f32", {KC_DIST_NORMAL, 0, -1, 0}},
      {"u32", {KC_DIST_NORMAL, 0, 1, 0}},
      {"f16", {KC_DIST_NORMAL, 0, 0x1p20, 0}},
      {"f16", {KC_DIST_LOG_UNIFORM, 0, 17, 0}},
      {"f16", {KC_DIST_LOG_UNIFORM, -25, 0, 0}},
      {"f16", {KC_DIST_LOG_UNIFORM, 0.5, 2, 0}},
      {"f16", {KC_DIST_LOG_UNIFORM, 2, 2, 0}},
      {"e8m0", {KC_DIST_LOG_UNIFORM, 0, 2, 0}},
      {"i8", {KC_DIST_INTEGERS, 0, 128, 0}},
      {"i8", {KC_DIST_INTEGERS, 3, 1, 0}},
      {"f32", {KC_DIST_INTEGERS, 0.5, 1, 0}},
      {"f64", {KC_DIST_INTEGERS, 0, 1e17, 0}},
      {"i32", {KC_DIST_SUBNORMAL, 0, 0, 0}},
      {"e8m0", {KC_DIST_SUBNORMAL, 0, 0, 0}},
      {"f32", {KC_DIST_EXCEPTIONAL, 1.5, 0, 0}},
      {"f32", {KC_DIST_EXCEPTIONAL, -0.1, 0, 0}},
      {"f32", {KC_DIST_EXHAUSTIVE, 0.5, 0, 0}},
      {"f32", {200, 0, 0, 0}},
  };
  char memory[8];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    cr_expect_eq(fill(bad[i].format, memory, 1, 0, 0, bad[i].d), KC_EINVAL, "case %zu: %s distribution %d", i, bad[i].format,
                 bad[i].d.kind);
}

/* ---- stratified ---------------------------------------------------------------------------------------------------- */

/* Every exponent and sign gets its equal share, and within it the significands are drawn. */
Test(fill, stratified_gives_every_exponent_and_sign_its_share) {
  enum { SHARE = 20, STRATA = 2 * 255 };
  static float drawn[SHARE * STRATA];
  static int seen[2][256];
  kc_dist d = {KC_DIST_STRATIFIED, -2000, 2000, 0};
  cr_assert_eq(fill("f32", drawn, SHARE * STRATA, 0, 5, d), KC_OK);
  int differ = 0;
  for (int i = 0; i < SHARE * STRATA; i++) {
    uint32_t bits;
    memcpy(&bits, &drawn[i], 4);
    seen[bits >> 31][bits >> 23 & 255]++;
    differ += i > 0 && (bits & 0x7fffff) != 0;
  }
  for (int s = 0; s < 2; s++)
    for (int e = 0; e < 256; e++)
      cr_expect_eq(seen[s][e], e == 255 ? 0 : SHARE, "sign %d exponent field %d: %d", s, e, seen[s][e]);
  cr_expect_gt(differ, SHARE * STRATA - 10);
}

Test(fill, stratified_keeps_to_its_exponents_and_to_the_format) {
  static char memory[8 * 1000];
  static const struct {
    const char *format;
    double a, b, low, high;
  } cases[] = {{"f32", -3, 2, 0.125, 8},   {"f32", -127, -127, 0, 0x1p-126}, {"f64", 1023, 4000, 0x1p1023, HUGE_VAL},
               {"e4m3fn", 8, 8, 256, 449}, {"e4m3fnuz", -50, 50, 0, 241},    {"e8m0", 127, 127, 0x1p127, 0x1p128}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const kc_format *f = kc_format_find(cases[i].format);
    cr_assert_eq(fill(f->name, memory, 1000, 0, 9, (kc_dist){KC_DIST_STRATIFIED, cases[i].a, cases[i].b, 0}), KC_OK);
    kc_decode_array(f, x, memory, 1000);
    for (int k = 0; k < 1000; k++)
      cr_assert(fabs(x[k]) >= cases[i].low && fabs(x[k]) < cases[i].high, "%s: element %d is %g", f->name, k, x[k]);
  }
  cr_expect_eq(fill("f32", memory, 1, 0, 0, (kc_dist){KC_DIST_STRATIFIED, 128, 200, 0}), KC_EINVAL);
  cr_expect_eq(fill("f32", memory, 1, 0, 0, (kc_dist){KC_DIST_STRATIFIED, 2, 1, 0}), KC_EINVAL);
  cr_expect_eq(fill("i32", memory, 1, 0, 0, (kc_dist){KC_DIST_STRATIFIED, 0, 1, 0}), KC_EINVAL);
}

/* ---- dot products ------------------------------------------------------------------------------------------------- */

/* 2 sum |x y| / |sum x y|, by MPFR at a precision that is exact here. */
static double condition_of(const double *a, const double *b, size_t n) {
  mpfr_t sum, magnitude, t;
  mpfr_inits2(5000, sum, magnitude, t, (mpfr_ptr)0);
  mpfr_set_zero(sum, 1);
  mpfr_set_zero(magnitude, 1);
  for (size_t i = 0; i < n; i++) {
    mpfr_set_d(t, a[i], MPFR_RNDN);
    mpfr_mul_d(t, t, b[i], MPFR_RNDN);
    mpfr_add(sum, sum, t, MPFR_RNDN);
    mpfr_abs(t, t, MPFR_RNDN);
    mpfr_add(magnitude, magnitude, t, MPFR_RNDN);
  }
  mpfr_div(t, magnitude, sum, MPFR_RNDN);
  double c = 2 * fabs(mpfr_get_d(t, MPFR_RNDN));
  mpfr_clears(sum, magnitude, t, (mpfr_ptr)0);
  return c;
}

Test(fill, dot_has_the_condition) {
  static char a[8 * 1000], b[8 * 1000];
  static double u[1000], v[1000];
  const struct {
    const char *format;
    double condition;
  } cases[] = {{"f64", 1e6},  {"f64", 1e30}, {"f64", 1e100}, {"f32", 100},  {"f32", 1e6},
               {"f32", 1e20}, {"bf16", 1e6}, {"f16", 1e6},   {"f16", 1e10}, {"e5m2", 1e4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t n = 64; n <= 1000; n += 312)
      for (uint64_t key = 0; key < 8; key++) {
        const kc_format *f = kc_format_find(cases[i].format);
        kc_text err = {""};
        cr_assert_eq(kc_fill_dot(f, a, b, n, key, cases[i].condition, &err), KC_OK, "%s", err.s);
        kc_decode_array(f, u, a, n);
        kc_decode_array(f, v, b, n);
        double ratio = condition_of(u, v, n) / cases[i].condition;
        cr_expect(ratio > 0.05 && ratio < 20, "%s n %zu condition %g key %lu: ratio %g", f->name, n, cases[i].condition,
                  (unsigned long)key, ratio);
      }
}

Test(fill, dot_of_few_terms_and_refusals) {
  double a[8], b[8];
  kc_text err = {""};
  for (size_t n = 0; n <= 8; n++) {
    a[0] = b[0] = (double)NAN;
    cr_assert_eq(kc_fill_dot(kc_format_find("f64"), a, b, n, 1, 1e8, &err), KC_OK, "%s", err.s);
    for (size_t i = 0; i < n; i++) cr_expect(isfinite(a[i]) && isfinite(b[i]));
  }
  cr_expect_eq(kc_fill_dot(kc_format_find("f16"), a, b, 8, 1, 1e40, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "beyond format f16"), "%s", err.s);
  cr_expect_eq(kc_fill_dot(kc_format_find("i8"), a, b, 8, 1, 10, &err), KC_EINVAL);
  const double bad[] = {0.5, 0, -5, (double)NAN, HUGE_VAL};
  for (int i = 0; i < 5; i++)
    cr_expect_eq(kc_fill_dot(kc_format_find("f64"), a, b, 8, 1, bad[i], &err), KC_EINVAL, "%g", bad[i]);
}
