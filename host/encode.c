/* encode.c - the one codec: every conversion into a format is kc_encode_parts, or a shortcut with the same result. */
#include "bits.h"

typedef unsigned __int128 u128;

static bool is_negative(kc_class c) {
  return (c & (KC_NINF | KC_NFIN | KC_NZERO)) != 0;
}

kc_parts kc_parts_of_double(double x) {
  return kc_parts_of_code(kc_format_at(0), kc__bits_of(x));
}

kc_parts kc_parts_of_code(const kc_format *f, uint64_t code) {
  kc_parts p = {.cls = kc_classify(f, code)};
  if (!(p.cls & (KC_NFIN | KC_PFIN))) return p;
  code &= kc__mask(f->bits);
  if (f->kind != KC_FLOAT) {
    p.sig = p.cls == KC_NFIN ? -code & kc__mask(f->bits) : code;
    return p;
  }
  uint64_t fraction = code & kc__mask(f->frac_bits), field = code >> f->frac_bits & kc__mask(f->exp_bits);
  bool normal = field != 0 || !f->has_zero;
  p.sig = fraction | (uint64_t)normal << f->frac_bits;
  p.exp = (normal ? (int32_t)field - f->bias : f->emin) - f->frac_bits;
  return p;
}

/* What lies between a truncated value and the next one, as a fraction of the distance. */
typedef struct remainder {
  u128 bits;   /* bits / 2^width, the part that is known */
  int width;   /* > 0, or 0 for none */
  bool sticky; /* something more, below 2^-width */
} remainder;

/* Splits |x| = sig * 2^exp into a multiple of 2^place (modulo 2^128) and the remainder. */
static u128 split(const kc_parts *p, int64_t place, remainder *r) {
  int64_t drop = place - p->exp;
  *r = (remainder){.sticky = p->sticky};
  if (drop <= 0) return drop > -128 ? p->sig << -drop : 0;
  r->width = drop < 256 ? (int)drop : 256; /* beyond 128 a remainder is below one half whatever the width */
  r->bits = drop < 128 ? p->sig & (((u128)1 << drop) - 1) : p->sig;
  return drop < 128 ? p->sig >> drop : 0;
}

/* Sign of remainder - 1/2. */
static int compare_half(const remainder *r) {
  if (r->width == 0 || r->width > 128) return -1;
  u128 half = (u128)1 << (r->width - 1);
  if (r->bits != half) return r->bits > half ? 1 : -1;
  return r->sticky ? 1 : 0;
}

/* remainder + random / 2^n >= 1, as floor(remainder * 2^n) >= 2^n - random: both sides are integers. */
static bool stochastic_up(const remainder *r, const kc_encoding *e) {
  int n = e->random_bits <= 64 ? e->random_bits : 64, drop = r->width - n;
  u128 scaled = drop <= 0 ? r->bits << -drop : drop < 128 ? r->bits >> drop : 0;
  return scaled >= ((u128)1 << n) - (e->random & kc__mask((unsigned)n));
}

/* Does the truncated magnitude move up to the next one? */
static bool rounds_up(const remainder *r, bool negative, bool odd, const kc_encoding *e) {
  bool inexact = r->bits != 0 || r->sticky;
  switch (e->rounding) {
  case KC_RZ:
    return false;
  case KC_RU:
    return inexact && !negative;
  case KC_RD:
    return inexact && negative;
  case KC_RNA:
    return compare_half(r) >= 0;
  case KC_SR:
    return stochastic_up(r, e);
  default:
    return compare_half(r) + odd > 0;
  }
}

static uint64_t encode_nan(const kc_format *f) {
  switch (f->nan_rule) {
  case KC_NAN_IEEE:
    return f->max_code + 1 + (UINT64_C(1) << (f->frac_bits - 1)); /* infinity plus the quiet bit */
  case KC_NAN_ALL_ONES:
    return f->max_code + 1;
  case KC_NAN_NEG_ZERO:
    return kc__sign_bit(f);
  default:
    return f->kind == KC_FLOAT ? f->max_code : 0;
  }
}

/* A magnitude above the largest finite number. */
static uint64_t encode_overflow(const kc_format *f, uint64_t sign, bool saturate) {
  if (saturate || f->nan_rule == KC_NAN_NONE) return sign | f->max_code;
  return f->has_inf || f->nan_rule == KC_NAN_ALL_ONES ? sign | (f->max_code + 1) : encode_nan(f);
}

static uint64_t encode_finite(const kc_format *f, const kc_parts *p, uint64_t sign, const kc_encoding *e) {
  bool negative = p->cls == KC_NFIN;
  bool towards_zero = e->rounding == KC_RZ || e->rounding == (negative ? KC_RU : KC_RD);
  int64_t top = (int64_t)p->exp + kc__log2_u128(p->sig), exponent = top < f->emin ? f->emin : top;
  if (!f->has_zero && top < f->emin) return 0; /* e8m0: the smallest number is all there is */
  uint64_t code = f->max_code + 1;
  if (exponent <= f->emax) {
    remainder r;
    uint64_t significand = (uint64_t)split(p, exponent - f->frac_bits, &r);
    /* The hidden bit of the significand adds one to the exponent field; a carry out of the fraction likewise. */
    code = ((uint64_t)(exponent - f->emin) << f->frac_bits) + significand - (f->has_zero ? 0 : 1);
    code += rounds_up(&r, negative, code & 1, e);
  }
  if (code > f->max_code) return towards_zero ? sign | f->max_code : encode_overflow(f, sign, e->saturate);
  if (f->has_zero && e->flush && code >> f->frac_bits == 0) code = 0;
  return code || f->has_signed_zero ? sign | code : 0;
}

static uint64_t encode_float(const kc_format *f, const kc_parts *p, const kc_encoding *e) {
  bool negative = is_negative(p->cls);
  uint64_t sign = negative ? kc__sign_bit(f) : 0;
  if (p->cls == KC_NAN) return encode_nan(f);
  if (p->cls & (KC_NZERO | KC_PZERO)) return f->has_signed_zero ? sign : 0;
  if (negative && !f->has_sign) return encode_nan(f);
  if (p->cls & (KC_NINF | KC_PINF)) return encode_overflow(f, sign, e->saturate);
  return encode_finite(f, p, sign, e);
}

/* The code nearest to an infinite or too large value of this sign. */
static uint64_t clamp_integer(const kc_format *f, bool negative) {
  return negative ? kc__sign_bit(f) : f->max_code;
}

static uint64_t encode_integer(const kc_format *f, const kc_parts *p, const kc_encoding *e) {
  bool negative = is_negative(p->cls);
  if (p->cls & (KC_NINF | KC_PINF)) return clamp_integer(f, negative);
  if (!(p->cls & (KC_NFIN | KC_PFIN))) return 0;
  remainder r;
  u128 magnitude = split(p, 0, &r);
  magnitude += rounds_up(&r, negative, magnitude & 1, e);
  u128 limit = negative ? kc__sign_bit(f) : f->max_code;
  bool beyond = (int64_t)p->exp + kc__log2_u128(p->sig) >= 64 || magnitude > limit;
  if (beyond && e->saturate) return clamp_integer(f, negative);
  return (negative ? -(uint64_t)magnitude : (uint64_t)magnitude) & kc__mask(f->bits);
}

uint64_t kc_encode_parts(const kc_format *f, kc_parts p, const kc_encoding *e) {
  return f->kind == KC_FLOAT ? encode_float(f, &p, e) : encode_integer(f, &p, e);
}

/* The common case of conversion from a double, to nearest: in range and normal. Adding half a unit in the last place less
 * one, plus the last kept bit, carries into the kept bits exactly when rounding to nearest-even goes up. */
static inline bool encode_normal(const kc_format *f, uint64_t bits, uint64_t *code) {
  unsigned drop = kc__extra_bits(f);
  uint64_t magnitude = bits & kc__mask(63);
  uint64_t rounded = drop ? (magnitude + kc__mask(drop - 1) + (magnitude >> drop & 1)) >> drop : magnitude;
  *code = (rounded - kc__rebias(f)) | (bits >> 63 ? kc__sign_bit(f) : 0);
  return magnitude >= (uint64_t)(f->emin + 1023) << 52 && rounded <= f->max_code + kc__rebias(f);
}

static bool has_shortcut(const kc_format *f, const kc_encoding *e) {
  return f->kind == KC_FLOAT && f->has_sign && e->rounding == KC_RNE;
}

uint64_t kc_encode(const kc_format *f, double x, const kc_encoding *e) {
  uint64_t code;
  if (has_shortcut(f, e) && encode_normal(f, kc__bits_of(x), &code)) return code;
  return kc_encode_parts(f, kc_parts_of_double(x), e);
}

/* Numbers that are normal in their format are normal doubles: shift and rebias. */
static inline bool decode_normal(const kc_format *f, uint64_t code, double *x) {
  uint64_t sign = code & kc__sign_bit(f), magnitude = code ^ sign;
  *x = kc__double_of(((magnitude + kc__rebias(f)) << kc__extra_bits(f)) | (sign ? UINT64_C(1) << 63 : 0));
  return f->kind == KC_FLOAT && magnitude >> f->frac_bits != 0 && magnitude <= f->max_code;
}

double kc_decode(const kc_format *f, uint64_t code) {
  static const kc_encoding nearest = {.rounding = KC_RNE};
  double x;
  code &= kc__mask(f->bits);
  if (decode_normal(f, code, &x)) return x;
  return kc__double_of(kc_encode_parts(kc_format_at(0), kc_parts_of_code(f, code), &nearest));
}

/* Words of memory, by storage size; little-endian hosts only, as all that kc supports. */
static inline uint64_t load_word(const void *array, size_t i, size_t size) {
  uint64_t word = 0;
  memcpy(&word, (const char *)array + i * size, size);
  return word;
}

static inline void store_word(void *array, size_t i, size_t size, uint64_t word) {
  memcpy((char *)array + i * size, &word, size);
}

/* Runs BODY with `size` a constant, so that the copies above become single moves. */
#define WITH_CONSTANT_SIZE(f, BODY)                                                                                            \
  switch ((f)->storage) {                                                                                                      \
  case 1:                                                                                                                      \
    BODY(1);                                                                                                                   \
    break;                                                                                                                     \
  case 2:                                                                                                                      \
    BODY(2);                                                                                                                   \
    break;                                                                                                                     \
  case 4:                                                                                                                      \
    BODY(4);                                                                                                                   \
    break;                                                                                                                     \
  default:                                                                                                                     \
    BODY(8);                                                                                                                   \
    break;                                                                                                                     \
  }

uint64_t kc_load(const kc_format *f, const void *array, size_t i) {
  uint64_t word;
#define LOAD(size) word = load_word(array, i, size)
  WITH_CONSTANT_SIZE(f, LOAD)
#undef LOAD
  return word >> f->shift & kc__mask(f->bits);
}

void kc_store(const kc_format *f, void *array, size_t i, uint64_t code) {
  uint64_t word = (code & kc__mask(f->bits)) << f->shift;
#define STORE(size) store_word(array, i, size, word)
  WITH_CONSTANT_SIZE(f, STORE)
#undef STORE
}

static inline void decode_words(const kc_format *f, double *out, const void *in, size_t n, size_t size) {
  const kc_format g = *f; /* a copy in registers: `out` cannot alias it */
  for (size_t i = 0; i < n; i++) {
    uint64_t code = load_word(in, i, size) >> g.shift & kc__mask(g.bits);
    if (!decode_normal(&g, code, &out[i])) out[i] = kc_decode(f, code);
  }
}

void kc_decode_array(const kc_format *f, double *out, const void *in, size_t n) {
#define DECODE(size) decode_words(f, out, in, n, size)
  WITH_CONSTANT_SIZE(f, DECODE)
#undef DECODE
}

static inline void encode_words(const kc_format *f, void *out, const double *in, size_t n, const kc_encoding *e, size_t size) {
  const kc_format g = *f;
  bool shortcut = has_shortcut(f, e);
  for (size_t i = 0; i < n; i++) {
    uint64_t code;
    if (!shortcut || !encode_normal(&g, kc__bits_of(in[i]), &code)) {
      code = kc_encode_parts(f, kc_parts_of_double(in[i]), e);
    }
    store_word(out, i, size, code << g.shift);
  }
}

void kc_encode_array(const kc_format *f, void *out, const double *in, size_t n, const kc_encoding *e) {
#define ENCODE(size) encode_words(f, out, in, n, e, size)
  WITH_CONSTANT_SIZE(f, ENCODE)
#undef ENCODE
}
