/* test_format.c - the table of formats against its sources, decoding against a second reading of the fields, order and spacing. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kc.h"

/* Extremes as the defining documents print them. */
static const struct {
  const char *name;
  int bits, storage, sign, exp, frac, bias;
  double max, min_normal, min_subnormal;
} facts[] = {
    {"f64", 64, 8, 1, 11, 52, 1023, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074},
    {"f32", 32, 4, 1, 8, 23, 127, 0x1.fffffep127, 0x1p-126, 0x1p-149},
    {"tf32", 19, 4, 1, 8, 10, 127, 0x1.ffcp127, 0x1p-126, 0x1p-136},
    {"hf32", 20, 4, 1, 8, 11, 127, 0x1.ffep127, 0x1p-126, 0x1p-137},
    {"bf16", 16, 2, 1, 8, 7, 127, 0x1.fep127, 0x1p-126, 0x1p-133},
    {"f16", 16, 2, 1, 5, 10, 15, 65504, 0x1p-14, 0x1p-24},
    {"e4m3fn", 8, 1, 1, 4, 3, 7, 448, 0x1p-6, 0x1p-9},
    {"e4m3fnuz", 8, 1, 1, 4, 3, 8, 240, 0x1p-7, 0x1p-10},
    {"e5m2", 8, 1, 1, 5, 2, 15, 57344, 0x1p-14, 0x1p-16},
    {"e5m2fnuz", 8, 1, 1, 5, 2, 16, 57344, 0x1p-15, 0x1p-17},
    {"e3m2", 6, 1, 1, 3, 2, 3, 28, 0.25, 0.0625},
    {"e2m3", 6, 1, 1, 2, 3, 1, 7.5, 1, 0.125},
    {"e2m1", 4, 1, 1, 2, 1, 1, 6, 1, 0.5},
    {"e8m0", 8, 1, 0, 8, 0, 127, 0x1p127, 0x1p-127, 0x1p-127},
};
enum { FLOATS = sizeof facts / sizeof *facts };

Test(format, facts) {
  for (int i = 0; i < FLOATS; i++) {
    const kc_format *f = kc_format_find(facts[i].name);
    cr_assert_not_null(f, "%s", facts[i].name);
    cr_expect_eq(f->bits, facts[i].bits, "%s", f->name);
    cr_expect_eq(f->storage, facts[i].storage, "%s", f->name);
    cr_expect_eq(f->exp_bits, facts[i].exp, "%s", f->name);
    cr_expect_eq(f->frac_bits, facts[i].frac, "%s", f->name);
    cr_expect_eq(f->bias, facts[i].bias, "%s", f->name);
    cr_expect_eq(kc_decode(f, f->max_code), facts[i].max, "%s: max %a", f->name, kc_decode(f, f->max_code));
    cr_expect_eq(kc_decode(f, f->has_zero), facts[i].min_subnormal, "%s: %a", f->name, kc_decode(f, f->has_zero));
    uint64_t smallest_normal = f->has_zero ? UINT64_C(1) << f->frac_bits : 0;
    cr_expect_eq(kc_decode(f, smallest_normal), facts[i].min_normal, "%s: %a", f->name, kc_decode(f, smallest_normal));
    cr_expect_eq(ilogb(facts[i].max), f->emax, "%s", f->name);
    cr_expect_eq(ilogb(facts[i].min_normal), f->emin, "%s", f->name);
  }
}

Test(format, every_name_is_found) {
  const char *names[] = {"f64",  "f32",  "tf32", "hf32", "bf16", "f16", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e3m2",
                         "e2m3", "e2m1", "e8m0", "i8",   "i16",  "i32", "i64",    "u8",       "u16",  "u32",      "u64"};
  size_t n = sizeof names / sizeof *names;
  for (size_t i = 0; i < n; i++) {
    cr_assert_not_null(kc_format_find(names[i]), "%s", names[i]);
    cr_expect_str_eq(kc_format_at(i)->name, names[i]);
  }
  cr_expect_null(kc_format_at(n));
  cr_expect_null(kc_format_find("f33"));
  cr_expect_null(kc_format_find(NULL));
}

/* A second reading of a code: field by field, in floating-point. */
static double reference(int i, unsigned code) {
  int frac = facts[i].frac, sign = facts[i].sign && code >> (facts[i].bits - 1) & 1;
  int fraction = (int)(code & ((1u << frac) - 1)), field = (int)(code >> frac) & ((1 << facts[i].exp) - 1);
  double x = field || !facts[i].sign ? ldexp(1 + ldexp(fraction, -frac), field - facts[i].bias)
                                     : ldexp(fraction, 1 - facts[i].bias - frac);
  return sign ? -x : x;
}

/* Codes that are not numbers, by the documents. */
static kc_class exceptional(const char *name, unsigned code) {
  unsigned magnitude = code & 0x7f;
  if (strcmp(name, "e4m3fn") == 0) return magnitude == 0x7f ? KC_NAN : 0;
  if (strcmp(name, "e4m3fnuz") == 0 || strcmp(name, "e5m2fnuz") == 0) return code == 0x80 ? KC_NAN : 0;
  if (strcmp(name, "e8m0") == 0) return code == 0xff ? KC_NAN : 0;
  if (strcmp(name, "e5m2") == 0) return magnitude > 0x7c ? KC_NAN : magnitude < 0x7c ? 0 : code & 0x80 ? KC_NINF : KC_PINF;
  unsigned inf = strcmp(name, "f16") == 0 ? 0x7c00 : strcmp(name, "bf16") == 0 ? 0x7f80 : 0;
  if (!inf || (code & 0x7fff) < inf) return 0;
  return (code & 0x7fff) > inf ? KC_NAN : code & 0x8000 ? KC_NINF : KC_PINF;
}

Test(format, every_code_of_narrow_formats) {
  for (int i = 0; i < FLOATS; i++) {
    const kc_format *f = kc_format_find(facts[i].name);
    if (f->bits > 16) continue;
    for (unsigned code = 0; code < 1u << f->bits; code++) {
      kc_class expected = exceptional(f->name, code), got = kc_classify(f, code);
      double x = kc_decode(f, code), y = reference(i, code);
      if (!expected) expected = y == 0 ? (signbit(y) ? KC_NZERO : KC_PZERO) : y < 0 ? KC_NFIN : KC_PFIN;
      cr_assert_eq(got, expected, "%s code 0x%x: %s", f->name, code, kc_class_name(got));
      if (expected == KC_NAN)
        cr_assert(isnan(x), "%s code 0x%x", f->name, code);
      else if (expected & (KC_NINF | KC_PINF))
        cr_assert(isinf(x) && signbit(x) == (expected == KC_NINF));
      else
        cr_assert(x == y && signbit(x) == signbit(y), "%s code 0x%x: %a, expected %a", f->name, code, x, y);
    }
  }
}

Test(format, every_code_round_trips) {
  for (size_t i = 0; kc_format_at(i); i++) {
    const kc_format *f = kc_format_at(i);
    if (f->bits > 16) continue;
    for (unsigned code = 0; code < 1u << f->bits; code++) {
      if (kc_classify(f, code) == KC_NAN) continue;
      for (int mode = KC_RNE; mode <= KC_SR; mode++) {
        kc_encoding e = {.rounding = (uint8_t)mode, .random_bits = 8, .random = 255};
        uint64_t back = kc_encode(f, kc_decode(f, code), &e);
        cr_assert_eq(back, code, "%s mode %d: 0x%x came back as 0x%lx", f->name, mode, code, (unsigned long)back);
        cr_assert_eq(kc_encode_parts(f, kc_parts_of_code(f, code), &e), code, "%s mode %d: parts of 0x%x", f->name, mode, code);
      }
    }
  }
}

Test(format, f32_decodes_like_the_compiler) {
  const kc_format *f = kc_format_find("f32");
  for (uint64_t code = 0; code < UINT64_C(1) << 32; code += 65521) {
    uint32_t bits = (uint32_t)code;
    float x;
    memcpy(&x, &bits, 4);
    double y = kc_decode(f, code);
    cr_assert(isnan(x) ? isnan(y) : (double)x == y && !signbit(x) == !signbit(y), "0x%08x", bits);
  }
}

Test(format, integers) {
  cr_expect_eq(kc_decode(kc_format_find("i8"), 0x80), -128);
  cr_expect_eq(kc_decode(kc_format_find("u8"), 0xff), 255);
  cr_expect_eq(kc_decode(kc_format_find("i64"), UINT64_C(1) << 63), -0x1p63);
  cr_expect_eq(kc_decode(kc_format_find("i64"), (UINT64_C(1) << 53) + 1), 0x1p53); /* nearest, ties to even */
  cr_expect_eq(kc_decode(kc_format_find("u64"), ~UINT64_C(0)), 0x1p64);
  cr_expect_eq(kc_classify(kc_format_find("i16"), 0), KC_PZERO);
  cr_expect_eq(kc_classify(kc_format_find("i16"), 0x8000), KC_NFIN);
  cr_expect_eq(kc_classify(kc_format_find("u16"), 0x8000), KC_PFIN);
}

Test(format, order_is_the_order_of_values) {
  for (size_t i = 0; kc_format_at(i); i++) {
    const kc_format *f = kc_format_at(i);
    if (f->bits > 16) continue;
    for (unsigned code = 0; code < 1u << f->bits; code++) {
      if (kc_classify(f, code) == KC_NAN) continue;
      int64_t position = kc_ordered(f, code);
      uint64_t above, same;
      cr_assert(kc_code_at(f, position, &same) && kc_decode(f, same) == kc_decode(f, code), "%s 0x%x", f->name, code);
      bool last = !kc_code_at(f, position + 1, &above) || kc_classify(f, above) == KC_NAN;
      if (!last) cr_assert_gt(kc_decode(f, above), kc_decode(f, code), "%s 0x%x", f->name, code);
      if (last) cr_assert_eq(kc_decode(f, code), f->has_inf ? HUGE_VAL : kc_decode(f, f->max_code), "%s", f->name);
    }
  }
  const kc_format *u64 = kc_format_find("u64");
  cr_expect_eq(kc_ordered(u64, 0), INT64_MIN);
  cr_expect_eq(kc_ordered(u64, ~UINT64_C(0)), INT64_MAX);
  cr_expect_eq(kc_ordered(kc_format_find("f64"), UINT64_C(1) << 63), 0);
  cr_expect_eq(kc_ordered(kc_format_find("i32"), 0xffffffff), -1);
}

/* The distance between the two consecutive finite numbers that enclose |x|. */
Test(format, spacing) {
  for (int i = 0; i < FLOATS; i++) {
    const kc_format *f = kc_format_find(facts[i].name);
    if (f->bits > 16) continue;
    for (unsigned code = 0; code < f->max_code; code++) {
      double low = kc_decode(f, code), high = kc_decode(f, code + 1), spacing = high - low;
      cr_assert_eq(kc_ulp_at(f, low), spacing, "%s at %a: %a, expected %a", f->name, low, kc_ulp_at(f, low), spacing);
      cr_assert_eq(kc_ulp_at(f, -(low + spacing / 2)), spacing, "%s at %a", f->name, low + spacing / 2);
    }
    double top = kc_decode(f, f->max_code) - kc_decode(f, f->max_code - 1);
    cr_expect_eq(kc_ulp_at(f, HUGE_VAL), f->frac_bits ? top : top * 2, "%s", f->name);
  }
  cr_expect_eq(kc_ulp_at(kc_format_find("f64"), 0), 0x1p-1074);
  cr_expect_eq(kc_ulp_at(kc_format_find("f64"), 0x1p-1030), 0x1p-1074);
  cr_expect_eq(kc_ulp_at(kc_format_find("f32"), 0x1p-1074), 0x1p-149);
  cr_expect_eq(kc_ulp_at(kc_format_find("f32"), 1), 0x1p-23);
  cr_expect_eq(kc_ulp_at(kc_format_find("i32"), 1e9), 1);
  cr_expect_eq(kc_unit_roundoff(kc_format_find("f64")), 0x1p-53);
  cr_expect_eq(kc_unit_roundoff(kc_format_find("bf16")), 0x1p-8);
}

Test(format, class_names) {
  const char *names[] = {"nan", "-inf", "-finite", "-0", "+0", "+finite", "+inf"};
  const double values[] = {(double)NAN, -HUGE_VAL, -1e-310, -0.0, 0.0, 3, HUGE_VAL};
  for (int i = 0; i < 7; i++) cr_expect_str_eq(kc_class_name(kc_classify_double(values[i])), names[i]);
}
