/* fill_dot.c - ill-conditioned dot products, after Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26
 * (2005), algorithm 6.1: the first half of the terms is large, each later term cancels most of what the exact sum has reached,
 * until a value of order one unit is left. The sum is kept exactly, in fixed point. */
#include <string.h>

#include "bits.h"
#include "fill.h"

typedef unsigned __int128 u128;

/* Two's complement, least significant limb first, unit 2^-2148 (the square of the smallest double); the largest product is
 * below 2^2048, so 67 limbs leave 90 bits for carries and the sign. */
enum { LIMBS = 67, UNIT = -2148 };
typedef struct fixed {
  uint64_t limb[LIMBS];
} fixed;

static void negate(fixed *a) {
  unsigned carry = 1;
  for (int i = 0; i < LIMBS; i++) {
    a->limb[i] = ~a->limb[i] + carry;
    carry = carry && a->limb[i] == 0;
  }
}

static void add(fixed *a, const fixed *b) {
  u128 sum = 0;
  for (int i = 0; i < LIMBS; i++) {
    sum += (u128)a->limb[i] + b->limb[i];
    a->limb[i] = (uint64_t)sum;
    sum >>= 64;
  }
}

/* a += sig * 2^exp, sig < 2^107, exp >= UNIT. */
static void add_term(fixed *a, bool negative, u128 sig, int exp) {
  fixed term = {{0}};
  int place = (exp - UNIT) / 64, shift = (exp - UNIT) % 64;
  u128 low = sig << shift, high = shift ? sig >> (128 - shift) : 0;
  term.limb[place] = (uint64_t)low;
  term.limb[place + 1] = (uint64_t)(low >> 64);
  if (place + 2 < LIMBS) term.limb[place + 2] = (uint64_t)high;
  if (negative) negate(&term);
  add(a, &term);
}

static void add_product(fixed *a, const kc_format *f, uint64_t x, uint64_t y, bool magnitude) {
  kc_parts p = kc_parts_of_code(f, x), q = kc_parts_of_code(f, y);
  if (p.sig && q.sig) add_term(a, !magnitude && p.cls != q.cls, p.sig * q.sig, p.exp + q.exp);
}

/* The leading 64 bits and whether anything follows. */
static kc_parts leading(fixed a) {
  bool negative = a.limb[LIMBS - 1] >> 63;
  int top = LIMBS - 1;
  if (negative) negate(&a);
  while (top > 0 && a.limb[top] == 0) top--;
  u128 pair = (u128)a.limb[top] << 64 | (top > 0 ? a.limb[top - 1] : 0);
  if (pair == 0) return (kc_parts){.cls = KC_PZERO};
  int drop = kc__log2_u128(pair) - 63;
  kc_parts p = {.cls = negative ? KC_NFIN : KC_PFIN, .sig = pair >> drop, .exp = UNIT + 64 * (top - 1) + drop};
  p.sticky = (pair & (((u128)1 << drop) - 1)) != 0;
  for (int i = top - 2; i >= 0 && !p.sticky; i--) p.sticky = a.limb[i] != 0;
  return p;
}

static const kc_encoding nearest = {.rounding = KC_RNE, .saturate = true};

/* The code nearest to p / x; p has 64 bits, x at most 53, so the quotient has at least 75. */
static uint64_t quotient(const kc_format *f, kc_parts p, uint64_t x) {
  kc_parts d = kc_parts_of_code(f, x);
  if (p.sig == 0) return 0;
  u128 dividend = p.sig << 64;
  kc_parts q = {.cls = p.cls == d.cls ? KC_PFIN : KC_NFIN, .sig = dividend / d.sig, .exp = p.exp - 64 - d.exp};
  q.sticky = p.sticky || dividend % d.sig != 0;
  return kc_encode_parts(f, q, &nearest);
}

typedef struct generator {
  const kc_format *f;
  void *x, *y;
  size_t n;
  uint64_t key, used; /* words drawn so far */
  int bits, base;     /* log2 of the condition; exponents are counted from base */
} generator;

static uint64_t draw(generator *g) {
  return kc__random_word(g->key, g->used++);
}

/* A random number with magnitude in [1/2, 1) * 2^exponent, as sign, significand 2^63..2^64 and exponent. */
static kc_parts draw_number(generator *g, int exponent) {
  uint64_t word = draw(g);
  return (kc_parts){.cls = word >> 63 ? KC_NFIN : KC_PFIN, .sig = word | UINT64_C(1) << 63, .exp = exponent - 64};
}

static uint64_t draw_code(generator *g, int exponent) {
  return kc_encode_parts(g->f, draw_number(g, exponent), &nearest);
}

/* Random terms: exponents up to half of the condition's, the first term with the largest, the last with the smallest. */
static void fill_large(generator *g, size_t half, fixed *sum, fixed *magnitude) {
  int peak = g->bits - g->bits / 2;
  for (size_t i = 0; i < half; i++) {
    int random = (int)kc__random_below(draw(g), (unsigned)peak + 1);
    int e = i == 0 ? peak : i == half - 1 ? 0 : random;
    uint64_t x = draw_code(g, g->base + e), y = draw_code(g, g->base + (i == 0 ? g->bits / 2 : e));
    kc_store(g->f, g->x, i, x);
    kc_store(g->f, g->y, i, y);
    add_product(sum, g->f, x, y, false);
    add_product(magnitude, g->f, x, y, true);
  }
}

/* Cancelling terms: each brings the sum to a random target, whose exponent falls with that of x, but not below `last`. */
static void fill_cancelling(generator *g, size_t half, fixed *sum, int last) {
  size_t terms = g->n - half;
  for (size_t j = 0; j < terms; j++) {
    int e = terms > 1 ? (int)((size_t)(g->bits / 2) * (terms - 1 - j) / (terms - 1)) : 0;
    uint64_t x = draw_code(g, g->base + e);
    fixed wanted = *sum;
    negate(&wanted);
    kc_parts target = draw_number(g, 2 * (g->base + e) > last ? 2 * (g->base + e) : last);
    add_term(&wanted, target.cls == KC_NFIN, target.sig, target.exp);
    uint64_t y = quotient(g->f, leading(wanted), x);
    kc_store(g->f, g->x, half + j, x);
    kc_store(g->f, g->y, half + j, y);
    add_product(sum, g->f, x, y, false);
  }
}

static void swap(const kc_format *f, void *array, size_t i, size_t j) {
  uint64_t a = kc_load(f, array, i), b = kc_load(f, array, j);
  kc_store(f, array, i, b);
  kc_store(f, array, j, a);
}

static void shuffle(generator *g) {
  for (size_t i = g->n; i > 1; i--) {
    size_t j = (size_t)kc__random_below(draw(g), i);
    swap(g->f, g->x, i - 1, j);
    swap(g->f, g->y, i - 1, j);
  }
}

kc_status kc_fill_dot(const kc_format *f, void *x, void *y, size_t n, uint64_t key, double condition, kc_text *err) {
  if (f->kind != KC_FLOAT || !f->has_sign)
    return kc_fail(err, KC_EINVAL, "ill-conditioned products need a signed floating-point format, got %s", f->name);
  int bits = (int)(kc__bits_of(condition) >> 52) - 1023; /* a negative number gives 1024 and more, like NaN and infinity */
  if (bits < 0 || bits > 1023) return kc_fail(err, KC_EINVAL, "expected a finite condition of at least 1, got %g", condition);
  generator g = {.f = f, .x = x, .y = y, .n = n, .key = key, .bits = bits, .base = -(bits / 4)};
  if (g.base < f->emin + 1 || g.base + bits / 2 + 2 > f->emax)
    return kc_fail(err, KC_EINVAL, "a condition of %g needs numbers from 2^%d to 2^%d, beyond format %s", condition, g.base,
                   g.base + bits / 2 + 2, f->name);
  fixed sum = {{0}}, magnitude = {{0}};
  fill_large(&g, n / 2, &sum, &magnitude);
  kc_parts size = leading(magnitude); /* the cancelling terms about double it */
  int last = size.sig ? size.exp + 64 + 1 - bits : 2 * g.base;
  fill_cancelling(&g, n / 2, &sum, last);
  shuffle(&g);
  return KC_OK;
}
