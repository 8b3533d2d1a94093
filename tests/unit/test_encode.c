/* test_encode.c - one rounding into every format. Expected values: exact reasoning about neighbours, MPFR, the compiler. */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kc.h"

static const char *const modes[] = {"RNE", "RZ", "RU", "RD", "RNA", "SR"};

static uint64_t encode(const kc_format *f, double x, kc_rounding mode) {
  return kc_encode(f, x, &(kc_encoding){.rounding = (uint8_t)mode});
}

/* What a number strictly between two consecutive numbers of one sign becomes; side is -1, 0, 1: below, at, above the middle. */
static uint64_t expected(kc_rounding mode, uint64_t small, uint64_t large, bool negative, int side) {
  switch (mode) {
  case KC_RZ:
    return small;
  case KC_RU:
    return negative ? small : large;
  case KC_RD:
    return negative ? large : small;
  case KC_RNA:
    return side >= 0 ? large : small;
  default:
    return side > 0 || (side == 0 && large % 2 == 0) ? large : small;
  }
}

static void check_gap(const kc_format *f, uint64_t small, bool negative) {
  uint64_t sign = negative ? UINT64_C(1) << (f->bits - 1) : 0;
  double a = kc_decode(f, small), b = kc_decode(f, small + 1), middle = a / 2 + b / 2;
  const double points[] = {nextafter(middle, a), middle, nextafter(middle, b)};
  for (int side = -1; side <= 1; side++)
    for (int mode = KC_RNE; mode <= KC_RNA; mode++) {
      double x = negative ? -points[side + 1] : points[side + 1];
      uint64_t want = sign | expected(mode, small, small + 1, negative, side), got = encode(f, x, mode);
      if (want == sign && !f->has_signed_zero) want = 0;
      cr_assert_eq(got, want, "kc_encode(%s, %a, %s) is 0x%lx, expected 0x%lx", f->name, x, modes[mode], (unsigned long)got,
                   (unsigned long)want);
    }
}

Test(encode, every_midpoint_of_narrow_formats) {
  for (size_t i = 0; kc_format_at(i); i++) {
    const kc_format *f = kc_format_at(i);
    if (f->kind != KC_FLOAT || f->bits > 20) continue;
    for (uint64_t code = 0; code < f->max_code; code++) {
      check_gap(f, code, false);
      if (f->has_sign) check_gap(f, code, true);
    }
  }
}

Test(encode, sampled_midpoints_of_f32) {
  const kc_format *f = kc_format_find("f32");
  for (uint64_t code = 0; code < f->max_code; code += 40009) {
    check_gap(f, code, false);
    check_gap(f, code, true);
  }
  for (uint64_t code = 0x7ffff0; code < 0x800010; code++) check_gap(f, code, true); /* around the smallest normal */
}

/* ---- MPFR ------------------------------------------------------------------------------------------------------- */

static double by_mpfr(const kc_format *f, double x, mpfr_rnd_t mode) {
  mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t y;
  mpfr_init2(y, f->frac_bits + 1);
  mpfr_set_emin(f->emin - f->frac_bits + 1); /* exponents of MPFR are one larger: significands lie in [1/2, 1) */
  mpfr_set_emax(f->emax + 1);
  int ternary = mpfr_set_d(y, x, mode);
  ternary = mpfr_check_range(y, ternary, mode);
  mpfr_subnormalize(y, ternary, mode);
  double result = mpfr_get_d(y, MPFR_RNDN);
  mpfr_clear(y);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  return result;
}

static uint64_t next_random(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static double random_double(uint64_t *state, int low, int high) {
  uint64_t bits = next_random(state), field = (uint64_t)(low + 1023) + next_random(state) % (uint64_t)(high - low);
  bits = (bits & ~(UINT64_C(0x7ff) << 52)) | field << 52;
  double x;
  memcpy(&x, &bits, 8);
  return x;
}

Test(encode, agrees_with_mpfr) {
  const mpfr_rnd_t theirs[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};
  const char *names[] = {"f32", "tf32", "bf16", "f16", "e5m2"}; /* IEEE-like: overflow as MPFR has it */
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const kc_format *f = kc_format_find(names[i]);
    for (int k = 0; k < 20000; k++) {
      double x = random_double(&state, f->emin - f->frac_bits - 3, f->emax + 2);
      for (int mode = KC_RNE; mode <= KC_RD; mode++) {
        double want = by_mpfr(f, x, theirs[mode]), got = kc_decode(f, encode(f, x, (kc_rounding)mode));
        cr_assert(got == want && signbit(got) == signbit(want), "kc_encode(%s, %a, %s) is %a, MPFR says %a", f->name, x,
                  modes[mode], got, want);
      }
    }
  }
}

Test(encode, f32_agrees_with_the_compiler) {
  const kc_format *f = kc_format_find("f32");
  uint64_t state = 1234567;
  for (int k = 0; k < 200000; k++) {
    double x = random_double(&state, -152, 130);
    float y = (float)x;
    uint32_t bits;
    memcpy(&bits, &y, 4);
    cr_assert_eq(encode(f, x, KC_RNE), bits, "%a", x);
  }
}

/* ---- single cases ----------------------------------------------------------------------------------------------- */

Test(encode, rounds_once) {
  /* By way of f32 this would be 1 + 2^-8, a tie, and fall to 1. */
  cr_expect_eq(encode(kc_format_find("bf16"), 1 + 0x1p-8 + 0x1p-40, KC_RNE), 0x3f81);
  cr_expect_eq(encode(kc_format_find("bf16"), 1 + 0x1p-8, KC_RNE), 0x3f80);
  kc_parts p = {
      .cls = KC_PFIN, .sig = ((unsigned __int128)1 << 100) + ((unsigned __int128)1 << 92), .exp = -100, .sticky = true};
  cr_expect_eq(kc_encode_parts(kc_format_find("bf16"), p, &(kc_encoding){.rounding = KC_RNE}), 0x3f81);
}

Test(encode, stochastic_with_given_bits) {
  const kc_format *f = kc_format_find("bf16");
  for (unsigned sixteenth = 0; sixteenth < 16; sixteenth++)
    for (unsigned random = 0; random < 16; random++) {
      kc_encoding e = {.rounding = KC_SR, .random_bits = 4, .random = random};
      double x = 1 + ldexp(sixteenth, -7 - 4);
      uint64_t want = sixteenth + random >= 16 ? 0x3f81 : 0x3f80;
      cr_assert_eq(kc_encode(f, x, &e), want, "%u/16 of an ulp with random %u", sixteenth, random);
      cr_assert_eq(kc_encode(f, -x, &e), want | 0x8000, "%u/16 of an ulp with random %u", sixteenth, random);
    }
  /* Fewer bits than the remainder needs: 1.5/4 of an ulp counts as 1/4; a half-subnormal likewise moves in magnitude. */
  kc_encoding e = {.rounding = KC_SR, .random_bits = 2, .random = 2};
  cr_expect_eq(kc_encode(f, 1 + 0x1.8p-9, &e), 0x3f80);
  e.random = 3;
  cr_expect_eq(kc_encode(f, 1 + 0x1.8p-9, &e), 0x3f81);
  e = (kc_encoding){.rounding = KC_SR, .random_bits = 64, .random = ~UINT64_C(0)};
  cr_expect_eq(kc_encode(f, 0x1p-134, &e), 1);
  cr_expect_eq(kc_encode(f, 1.0, &e), 0x3f80);
  e.random = 0;
  cr_expect_eq(kc_encode(f, 0x1.fffp-134, &e), 0);
}

/* Cutting a long significand and saying so must not change any rounding. */
Test(encode, sticky_stands_for_the_rest) {
  uint64_t state = 42;
  for (int k = 0; k < 20000; k++) {
    unsigned __int128 sig = (unsigned __int128)(next_random(&state) | UINT64_C(1) << 63) << 62 | next_random(&state) >> 2;
    if (k % 3 == 0) sig = sig >> 110 << 110 | (unsigned __int128)(k % 2) << 9; /* near ties and exact ones */
    kc_parts whole = {.cls = k % 2 ? KC_NFIN : KC_PFIN, .sig = sig, .exp = -125 - k % 40}, cut = whole;
    cut.sig = sig >> 40;
    cut.exp += 40;
    cut.sticky = (sig & (((unsigned __int128)1 << 40) - 1)) != 0;
    for (size_t i = 0; kc_format_at(i); i++)
      for (int mode = KC_RNE; mode <= KC_RNA; mode++) {
        kc_encoding e = {.rounding = (uint8_t)mode};
        cr_assert_eq(kc_encode_parts(kc_format_at(i), whole, &e), kc_encode_parts(kc_format_at(i), cut, &e), "%s %s, case %d",
                     kc_format_at(i)->name, modes[mode], k);
      }
  }
}

static const struct {
  const char *format;
  double x;
  kc_rounding mode;
  bool saturate, flush;
  uint64_t code;
} cases[] = {
    {"f16", 65519.99, KC_RNE, false, false, 0x7bff},
    {"f16", 65520, KC_RNE, false, false, 0x7c00},
    {"f16", 65520, KC_RNE, true, false, 0x7bff},
    {"f16", 1e300, KC_RZ, false, false, 0x7bff},
    {"f16", -1e300, KC_RU, false, false, 0xfbff},
    {"f16", -1e300, KC_RD, false, false, 0xfc00},
    {"f16", HUGE_VAL, KC_RZ, false, false, 0x7c00},
    {"f16", -HUGE_VAL, KC_RNE, true, false, 0xfbff},
    {"f16", (double)NAN, KC_RNE, true, false, 0x7e00},
    {"f32", (double)NAN, KC_RNE, false, false, 0x7fc00000},
    {"e4m3fn", 464, KC_RNE, false, false, 0x7e},
    {"e4m3fn", 464.01, KC_RNE, false, false, 0x7f},
    {"e4m3fn", 464, KC_RNA, false, false, 0x7f},
    {"e4m3fn", 500, KC_RNE, true, false, 0x7e},
    {"e4m3fn", HUGE_VAL, KC_RNE, false, false, 0x7f},
    {"e4m3fn", (double)NAN, KC_RNE, true, false, 0x7f},
    {"e4m3fn", -1e9, KC_RNE, false, false, 0xff},
    {"e5m2", 61440, KC_RNE, false, false, 0x7c},
    {"e5m2", 61439, KC_RNE, false, false, 0x7b},
    {"e4m3fnuz", -0.0, KC_RNE, false, false, 0x00},
    {"e4m3fnuz", -1e-9, KC_RNE, false, false, 0x00},
    {"e4m3fnuz", 300, KC_RNE, false, false, 0x80},
    {"e5m2fnuz", HUGE_VAL, KC_RNE, true, false, 0x7f},
    {"e2m1", HUGE_VAL, KC_RNE, false, false, 0x7},
    {"e2m1", 5, KC_RNE, false, false, 0x6},
    {"e2m1", -100, KC_RNE, false, false, 0xf},
    {"e3m2", 0x1p-5, KC_RNE, false, false, 0x00},
    {"e8m0", 3, KC_RNE, false, false, 0x80}, /* 2 or 4: the even exponent field */
    {"e8m0", 1.5, KC_RNE, false, false, 0x80},
    {"e8m0", 6, KC_RNE, false, false, 0x82},
    {"e8m0", 0, KC_RNE, false, false, 0x00},
    {"e8m0", -1, KC_RNE, false, false, 0xff},
    {"e8m0", 0x1p127, KC_RNE, false, false, 0xfe},
    {"e8m0", 0x1p128, KC_RNE, true, false, 0xfe},
    {"e8m0", 0x1p128, KC_RNE, false, false, 0xff},
    {"f32", 0x1p-127, KC_RNE, false, true, 0},
    {"f32", -0x1p-127, KC_RNE, false, true, 0x80000000},
    {"f32", 0x1.fffffffp-127, KC_RNE, false, true, 0x00800000},
    {"f32", 0x1p-149, KC_RNE, false, false, 1},
    {"f32", 0x1p-150, KC_RNE, false, false, 0},
    {"f32", 0x1p-150, KC_RNA, false, false, 1},
    {"f32", 0x1p-1074, KC_RU, false, false, 1},
    {"i8", 127.5, KC_RNE, true, false, 0x7f},
    {"i8", 127.5, KC_RNE, false, false, 0x80},
    {"i8", -128.5, KC_RNE, true, false, 0x80},
    {"i8", 2.5, KC_RNE, false, false, 2},
    {"i8", -2.5, KC_RNA, false, false, 0xfd},
    {"i8", -2.5, KC_RZ, false, false, 0xfe},
    {"i8", -2.5, KC_RD, false, false, 0xfd},
    {"i8", 0.1, KC_RU, false, false, 1},
    {"i8", (double)NAN, KC_RNE, true, false, 0},
    {"u8", -HUGE_VAL, KC_RNE, false, false, 0},
    {"u8", 300, KC_RNE, false, false, 44},
    {"u8", -1, KC_RNE, false, false, 0xff},
    {"u8", -1, KC_RNE, true, false, 0},
    {"u8", -0.25, KC_RNE, true, false, 0},
    {"i64", 0x1p63, KC_RNE, true, false, INT64_MAX},
    {"i64", -0x1p63, KC_RNE, true, false, UINT64_C(1) << 63},
    {"i64", 0x1p130, KC_RNE, true, false, INT64_MAX},
    {"i64", 0x1p200, KC_RNE, false, false, 0},
    {"u64", 0x1p63, KC_RNE, false, false, UINT64_C(1) << 63},
    {"u64", 0x1.8p64, KC_RNE, false, false, UINT64_C(1) << 63},
    {"i32", 1e300, KC_RNE, true, false, INT32_MAX},
};

Test(encode, single_cases) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kc_encoding e = {.rounding = (uint8_t)cases[i].mode, .saturate = cases[i].saturate, .flush = cases[i].flush};
    uint64_t got = kc_encode(kc_format_find(cases[i].format), cases[i].x, &e);
    cr_expect_eq(got, cases[i].code, "kc_encode(%s, %a, %s%s%s) is 0x%lx, expected 0x%lx", cases[i].format, cases[i].x,
                 modes[cases[i].mode], e.saturate ? " saturate" : "", e.flush ? " flush" : "", (unsigned long)got,
                 (unsigned long)cases[i].code);
  }
}

/* ---- arrays and memory ------------------------------------------------------------------------------------------ */

Test(encode, arrays_equal_single_conversions) {
  enum { N = 4096 };
  static double in[N], back[N];
  static unsigned char memory[N * 8];
  uint64_t state = 7;
  for (size_t i = 0; kc_format_at(i); i++) {
    const kc_format *f = kc_format_at(i);
    for (int k = 0; k < N; k++) in[k] = k % 2 ? random_double(&state, -140, 140) : random_double(&state, -12, 12);
    in[0] = 0, in[1] = -0.0, in[2] = HUGE_VAL, in[3] = -HUGE_VAL, in[4] = 0x1p-1074, in[5] = (double)NAN, in[6] = 0x1p1023;
    for (int mode = KC_RNE; mode <= KC_RNA; mode++) {
      kc_encoding e = {.rounding = (uint8_t)mode, .saturate = mode == KC_RD};
      kc_encode_array(f, memory, in, N, &e);
      kc_decode_array(f, back, memory, N);
      for (int k = 0; k < N; k++) {
        uint64_t want = kc_encode_parts(f, kc_parts_of_double(in[k]), &e), got = kc_load(f, memory, (size_t)k);
        cr_assert_eq(got, want, "%s %s %a: 0x%lx, expected 0x%lx", f->name, modes[mode], in[k], (unsigned long)got,
                     (unsigned long)want);
        double x = kc_decode(f, want);
        cr_assert(memcmp(&x, &back[k], 8) == 0, "%s: %a decodes to %a", f->name, x, back[k]);
      }
    }
  }
}

Test(encode, layout_in_memory) {
  unsigned char bytes[8] = {0};
  kc_store(kc_format_find("tf32"), bytes, 1, 0x3fc01); /* 1 + 2^-10, as the upper bits of an f32 */
  cr_expect_eq(bytes[7], 0x7f);
  float x;
  kc_store(kc_format_find("tf32"), bytes, 0, 127u << 10 | 1);
  memcpy(&x, bytes, 4);
  cr_expect_eq(x, 1 + 0x1p-10f);
  kc_store(kc_format_find("hf32"), bytes, 0, 127u << 11 | 1);
  memcpy(&x, bytes, 4);
  cr_expect_eq(x, 1 + 0x1p-11f);
  kc_store(kc_format_find("e2m1"), bytes, 3, 0x7);
  cr_expect_eq(bytes[3], 7);
  kc_store(kc_format_find("u16"), bytes, 1, 0x1234);
  cr_expect(bytes[2] == 0x34 && bytes[3] == 0x12);
  cr_expect_eq(kc_load(kc_format_find("u16"), bytes, 1), 0x1234);
}

/* Conversions read no ambient rounding mode. */
Test(encode, ambient_state_has_no_say) {
  kc_fpstate odd = kc_fpstate_default();
  if (odd.mxcsr == 0) cr_skip_test("no control register to set");
  odd.mxcsr |= 0x8040 | 0x6000; /* FTZ, DAZ, towards zero */
  double values[] = {1 + 0x1p-8 + 0x1p-40, 0x1p-140, 0x1.8p-149, -0x1.fp-1060, 1e300};
  uint64_t plain[2][5], strange[2][5];
  const char *names[] = {"f32", "bf16"};
  for (int pass = 0; pass < 2; pass++) {
    kc_fpstate_set(pass ? odd : kc_fpstate_default());
    for (int f = 0; f < 2; f++)
      for (int i = 0; i < 5; i++) (pass ? strange : plain)[f][i] = encode(kc_format_find(names[f]), values[i], KC_RNE);
  }
  double tiny = kc_decode(kc_format_find("f32"), 1);
  kc_fpstate_set(kc_fpstate_default());
  cr_expect_eq(tiny, 0x1p-149);
  cr_expect(memcmp(plain, strange, sizeof plain) == 0);
}
