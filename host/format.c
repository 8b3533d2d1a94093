/* format.c - formats as data, and what follows from the data alone: classes, order, spacing. */
#include "bits.h"

/* IEEE-like formats: infinity where the exponent is all ones, so the largest finite code is one below. */
#define IEEE(n, b, st, sh, e, f, bi)                                                                                           \
  {                                                                                                                            \
    .name = n, .kind = KC_FLOAT, .bits = b, .storage = st, .shift = sh, .exp_bits = e, .frac_bits = f, .bias = bi,             \
    .nan_rule = KC_NAN_IEEE, .has_sign = true, .has_inf = true, .has_signed_zero = true, .has_zero = true, .emin = 1 - bi,     \
    .emax = bi, .max_code = (((UINT64_C(1) << e) - 1) << f) - 1                                                                \
  }
/* One-byte formats without infinity. */
#define SMALL(n, b, e, f, bi, nan, signed_zero, top, max)                                                                      \
  {                                                                                                                            \
    .name = n, .kind = KC_FLOAT, .bits = b, .storage = 1, .exp_bits = e, .frac_bits = f, .bias = bi, .nan_rule = nan,          \
    .has_sign = true, .has_signed_zero = signed_zero, .has_zero = true, .emin = 1 - bi, .emax = top, .max_code = max           \
  }
#define INT(n, b)                                                                                                              \
  {                                                                                                                            \
    .name = n, .kind = KC_INT, .bits = b, .storage = b / 8, .has_sign = true, .has_zero = true, .emax = b - 2,                 \
    .max_code = (UINT64_C(1) << (b - 1)) - 1                                                                                   \
  }
#define UINT(n, b)                                                                                                             \
  {                                                                                                                            \
    .name = n, .kind = KC_UINT, .bits = b, .storage = b / 8, .has_zero = true, .emax = b - 1,                                  \
    .max_code = ~UINT64_C(0) >> (64 - b)                                                                                       \
  }

/* Sources: IEEE 754-2019; PTX ISA (tf32); OCP 8-bit Floating Point 1.0 and Microscaling Formats 1.0; OpenXLA RFC on FNUZ
 * formats; hf32 is taken as IEEE-like, which its vendor does not document. */
static const kc_format formats[] = {
    IEEE("f64", 64, 8, 0, 11, 52, 1023),
    IEEE("f32", 32, 4, 0, 8, 23, 127),
    IEEE("tf32", 19, 4, 13, 8, 10, 127),
    IEEE("hf32", 20, 4, 12, 8, 11, 127),
    IEEE("bf16", 16, 2, 0, 8, 7, 127),
    IEEE("f16", 16, 2, 0, 5, 10, 15),
    SMALL("e4m3fn", 8, 4, 3, 7, KC_NAN_ALL_ONES, true, 8, 0x7e),
    SMALL("e4m3fnuz", 8, 4, 3, 8, KC_NAN_NEG_ZERO, false, 7, 0x7f),
    IEEE("e5m2", 8, 1, 0, 5, 2, 15),
    SMALL("e5m2fnuz", 8, 5, 2, 16, KC_NAN_NEG_ZERO, false, 15, 0x7f),
    SMALL("e3m2", 6, 3, 2, 3, KC_NAN_NONE, true, 4, 0x1f),
    SMALL("e2m3", 6, 2, 3, 1, KC_NAN_NONE, true, 2, 0x1f),
    SMALL("e2m1", 4, 2, 1, 1, KC_NAN_NONE, true, 2, 0x07),
    {.name = "e8m0",
     .kind = KC_FLOAT,
     .bits = 8,
     .storage = 1,
     .exp_bits = 8,
     .bias = 127,
     .nan_rule = KC_NAN_ALL_ONES,
     .emin = -127,
     .emax = 127,
     .max_code = 0xfe},
    INT("i8", 8),
    INT("i16", 16),
    INT("i32", 32),
    INT("i64", 64),
    UINT("u8", 8),
    UINT("u16", 16),
    UINT("u32", 32),
    UINT("u64", 64),
};

const kc_format *kc_format_at(size_t i) {
  return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}

const kc_format *kc_format_find(const char *name) {
  for (size_t i = 0; name && kc_format_at(i); i++)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  return NULL;
}

kc_class kc_classify(const kc_format *f, uint64_t code) {
  code &= kc__mask(f->bits);
  uint64_t sign = code & kc__sign_bit(f), magnitude = code ^ sign;
  if (f->kind != KC_FLOAT) return sign ? KC_NFIN : code ? KC_PFIN : KC_PZERO;
  if (magnitude == 0 && f->has_zero) {
    if (!sign) return KC_PZERO;
    return f->nan_rule == KC_NAN_NEG_ZERO ? KC_NAN : KC_NZERO;
  }
  if (magnitude <= f->max_code) return sign ? KC_NFIN : KC_PFIN;
  /* Infinity directly follows the largest finite number; whatever lies above is NaN. */
  if (!f->has_inf || magnitude > f->max_code + 1) return KC_NAN;
  return sign ? KC_NINF : KC_PINF;
}

kc_class kc_classify_double(double x) {
  return kc_classify(&formats[0], kc__bits_of(x));
}

const char *kc_class_name(kc_class c) {
  static const char *const names[] = {"nan", "-inf", "-finite", "-0", "+0", "+finite", "+inf"};
  return c > 0 && c <= KC_PINF ? names[__builtin_ctz((unsigned)c)] : "no class";
}

int64_t kc_ordered(const kc_format *f, uint64_t code) {
  uint64_t sign = kc__sign_bit(f);
  code &= kc__mask(f->bits);
  if (f->kind == KC_UINT && f->bits == 64) return (int64_t)(code ^ UINT64_C(1) << 63);
  if (f->kind != KC_FLOAT) return (int64_t)((code ^ sign) - sign); /* extends the sign */
  return code & sign ? -(int64_t)(code ^ sign) : (int64_t)code;
}

bool kc_code_at(const kc_format *f, int64_t ordered, uint64_t *code) {
  if (f->kind == KC_FLOAT) {
    uint64_t sign = kc__sign_bit(f), magnitude = ordered < 0 ? -(uint64_t)ordered : (uint64_t)ordered;
    *code = ordered < 0 ? sign | magnitude : magnitude;
    return magnitude <= f->max_code + f->has_inf && (ordered >= 0 || sign);
  }
  *code = (f->kind == KC_UINT && f->bits == 64 ? (uint64_t)ordered ^ UINT64_C(1) << 63 : (uint64_t)ordered) & kc__mask(f->bits);
  return kc_ordered(f, *code) == ordered;
}

double kc_ulp_at(const kc_format *f, double x) {
  if (f->kind != KC_FLOAT) return 1.0;
  uint64_t magnitude = kc__bits_of(x) & kc__mask(63);
  int e = (int)(magnitude >> 52) - 1023; /* subnormal doubles: -1023, below every emin */
  if (e > f->emax) e = f->emax;
  if (e < f->emin) e = f->emin;
  return kc__pow2(e - f->frac_bits);
}

double kc_unit_roundoff(const kc_format *f) {
  return kc__pow2(-(f->frac_bits + 1));
}
