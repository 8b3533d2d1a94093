/* matmul_sum.c - one element, exactly: products of doubles are summed in fixed point, as in Kulisch's long accumulator; a sum of
 * positive and one of negative terms, so that carries stay short. Nothing is rounded, whatever the exponents.
 */
#include <math.h>
#include <string.h>

#include "../bits.h"
#include "matmul.h"

typedef unsigned __int128 u128;

/* Least significant limb first, unit 2^-2148, the square of the smallest double; products are below 2^2048, which leaves 92 bits for
 * carries. */
enum { LIMBS = 67, UNIT = -2148, FRACTION = 52 };
typedef struct accumulator {
  uint64_t limb[2][LIMBS]; /* terms of positive, of negative sign */
} accumulator;

static uint64_t mantissa(uint64_t bits) {
  uint64_t fraction = bits & kc__mask(FRACTION);
  return (bits >> FRACTION & 0x7ff) ? fraction | UINT64_C(1) << FRACTION : fraction;
}

/* Exponent of the last place, counted from that of subnormal numbers. */
static unsigned place(uint64_t bits) {
  unsigned field = bits >> FRACTION & 0x7ff;
  return field ? field - 1 : 0;
}

static void add_product(uint64_t *limb, uint64_t x, uint64_t y) {
  u128 product = (u128)mantissa(x) * mantissa(y);
  unsigned at = place(x) + place(y), shift = at % 64;
  limb += at / 64;
  u128 low = product << shift, sum = (u128)limb[0] + (uint64_t)low;
  limb[0] = (uint64_t)sum;
  sum = (sum >> 64) + limb[1] + (uint64_t)(low >> 64);
  limb[1] = (uint64_t)sum;
  sum = (sum >> 64) + limb[2] + (shift ? (uint64_t)(product >> (128 - shift)) : 0);
  limb[2] = (uint64_t)sum;
  for (int i = 3; sum >> 64; i++) {
    sum = (u128)limb[i] + 1;
    limb[i] = (uint64_t)sum;
  }
}

static bool is_finite(uint64_t bits) {
  return (bits >> FRACTION & 0x7ff) != 0x7ff;
}

/* One factor at least is not finite. */
static uint8_t infinite_class(double x, double y) {
  if (isnan(x) || isnan(y) || x == 0 || y == 0) return KC_NAN;
  return !signbit(x) != !signbit(y) ? KC_NINF : KC_PINF;
}

static void set_limbs(arf_t r, const uint64_t *limb) {
  int top = LIMBS;
  while (top > 0 && limb[top - 1] == 0) top--;
  if (top == 0) {
    arf_zero(r);
  } else {
    arf_set_mpn(r, (mp_srcptr)limb, top, 0);
  }
}

uint8_t kc__matmul_sum(arf_t sum, const double *x, const double *y, int64_t k, int exponent) {
  accumulator s;
  uint8_t infinite = 0;
  memset(&s, 0, sizeof s);
  for (int64_t i = 0; i < k; i++) {
    uint64_t p = kc__bits_of(x[i]), q = kc__bits_of(y[i]);
    if (is_finite(p) && is_finite(q)) {
      add_product(s.limb[(p ^ q) >> 63], p, q);
    } else {
      infinite |= infinite_class(x[i], y[i]);
    }
  }
  arf_t negative;
  arf_init(negative);
  set_limbs(sum, s.limb[0]);
  set_limbs(negative, s.limb[1]);
  arf_sub(sum, sum, negative, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_mul_2exp_si(sum, sum, UNIT + exponent);
  arf_clear(negative);
  return infinite;
}

static uint8_t with_sign(uint8_t classes, bool negative) {
  if (!negative) return classes;
  return (uint8_t)((classes & KC_NAN) | (classes & KC_NINF ? KC_PINF : 0) | (classes & KC_PINF ? KC_NINF : 0));
}

static kc_exact_value not_finite(uint8_t classes) {
  bool nan = (classes & KC_NAN) || classes == (KC_NINF | KC_PINF);
  return kc__exact_known((kc__known_point){nan ? KC_NAN : classes, 0});
}

/* sum = factor * sum + beta * c, exactly. */
static void combine(arf_t sum, double alpha, double beta, double c) {
  arf_t factor, term;
  arf_init(factor);
  arf_init(term);
  arf_set_d(factor, alpha);
  arf_mul(sum, sum, factor, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_set_d(factor, beta);
  arf_set_d(term, c);
  arf_addmul(sum, factor, term, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_clear(term);
  arf_clear(factor);
}

/* Bounds of an exact value: it, rounded down and up. Order and initial value decide the sign of a zero, so either is right. */
static kc_exact_value bounds_of(const arf_t x) {
  if (arf_is_zero(x)) return (kc_exact_value){0, 0, KC_NZERO | KC_PZERO};
  return (kc_exact_value){arf_get_d(x, ARF_RND_FLOOR), arf_get_d(x, ARF_RND_CEIL), arf_sgn(x) < 0 ? KC_NFIN : KC_PFIN};
}

kc_exact_value kc__matmul_finish(const kc__matmul *w, arf_t sum, uint8_t infinite, double c) {
  double alpha = w->magnitude ? fabs(w->alpha) : w->alpha, beta = w->magnitude ? fabs(w->beta) : w->beta;
  if (w->magnitude) c = fabs(c);
  infinite = with_sign(infinite, alpha < 0);
  if (isnan(c) || isnan(alpha) || isnan(beta)) infinite |= KC_NAN;
  if (isinf(c)) infinite |= with_sign(KC_PINF, (c < 0) != (beta < 0));
  if (infinite) return not_finite(infinite);
  if (alpha != 1 || c != 0) combine(sum, alpha, beta, c);
  return bounds_of(sum);
}

/* 2^128 > m > 0. Away from the ends of the exponent range, the leading 53 bits; there, the codec. */
static void round_outward(double *down, double *up, u128 m, int exponent) {
  int top = kc__log2_u128(m), drop = top - FRACTION;
  if (top + exponent < -1021 || top + exponent > 1022) {
    const kc_format *f64 = kc_format_at(0);
    kc_parts p = {.cls = KC_PFIN, .sig = m, .exp = exponent};
    *down = kc_decode(f64, kc_encode_parts(f64, p, &(kc_encoding){.rounding = KC_RD}));
    *up = kc_decode(f64, kc_encode_parts(f64, p, &(kc_encoding){.rounding = KC_RU}));
    return;
  }
  uint64_t fraction = (uint64_t)(drop > 0 ? m >> drop : m << -drop) & kc__mask(FRACTION);
  uint64_t bits = (uint64_t)(top + exponent + 1023) << FRACTION | fraction;
  bool inexact = drop > 0 && (m & (((u128)1 << drop) - 1)) != 0;
  *down = kc__double_of(bits);
  *up = kc__double_of(bits + inexact);
}

static void set_integer(arf_t r, u128 m, bool negative, int exponent) {
  uint64_t limb[2] = {(uint64_t)m, (uint64_t)(m >> 64)};
  if (m == 0) {
    arf_zero(r);
  } else {
    arf_set_mpn(r, (mp_srcptr)limb, limb[1] ? 2 : 1, negative);
  }
  arf_mul_2exp_si(r, r, exponent);
}

kc_exact_value kc__matmul_round(const kc__matmul *w, arf_t scratch, __int128 t, int exponent, double c) {
  bool negative = t < 0;
  u128 m = negative ? -(u128)t : (u128)t;
  double alpha = w->magnitude ? fabs(w->alpha) : w->alpha, down, up;
  if (fabs(alpha) != 1 || w->c.buffer || m == 0) {
    set_integer(scratch, m, negative, exponent);
    return kc__matmul_finish(w, scratch, 0, c);
  }
  round_outward(&down, &up, m, exponent);
  return negative == (alpha < 0) ? (kc_exact_value){down, up, KC_PFIN} : (kc_exact_value){-up, -down, KC_NFIN};
}
