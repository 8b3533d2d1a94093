/* test_parts.c - MPFR numbers into formats: rounded once, by way of no other format. */
#include <criterion/criterion.h>

#include "exact.h"

Test(parts, mpfr_numbers_are_rounded_once) {
  static const struct {
    const char *format, *text;
    uint64_t code;
  } rows[] = {
      {"bf16", "0x1.0100000001p0", 0x3f81}, /* 1 + 2^-8 + 2^-40; by way of f32: the tie, 0x3f80 */
      {"bf16", "0x1.01p0", 0x3f80},         /* the tie */
      {"f32", "0x1.00000100000000000000000000000000000000001p0", 0x3f800001}, /* sticky beyond 128 bits */
      {"f32", "-0x1.000001p0", 0xbf800000},
      {"f16", "1e-1000000000", 0},
      {"f16", "-1e1000000000", 0xfc00},
      {"f64", "0x1p-1075", 0},
      {"f64", "0x1.00000000000000000000000000000000000000001p-1075", 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mpfr_t x;
    mpfr_init2(x, 300);
    mpfr_set_str(x, rows[i].text, 0, MPFR_RNDN);
    kc_encoding e = {.rounding = KC_RNE};
    uint64_t code = kc_encode_parts(kc_format_find(rows[i].format), kc_exact_parts(x), &e);
    cr_expect_eq(code, rows[i].code, "%s in %s: %llx", rows[i].text, rows[i].format, (unsigned long long)code);
    mpfr_clear(x);
  }
}
