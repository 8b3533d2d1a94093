/* ulp.c - distance in units of the last place.
 *
 * Without `as` it is the number of steps between two codes on the line of the format's values. Formats of sign and magnitude with
 * at most 32 bits take a path in whole blocks of 32-bit codes, written as loops of constant length without branches, which
 * compilers turn into vector code; blocks that agree in every bit end after the first loop.
 */
#include "real.h"

enum { BLOCK = KC__METRIC_BLOCK };

/* ---- blocks of 32-bit codes ---- */

typedef struct layout {
  uint32_t magnitude; /* mask of all bits but the sign */
  int32_t largest;    /* magnitude of the largest finite number */
  int sign;           /* position of the sign bit */
} layout;

static bool fits_layout(const kc_format *f) {
  return f->kind == KC_FLOAT && f->has_sign && f->bits <= 32 && f->nan_rule != KC_NAN_NEG_ZERO;
}

static layout layout_of(const kc_format *f) {
  return (layout){(1u << (f->bits - 1)) - 1, (int32_t)f->max_code, f->bits - 1};
}

/* Bits that differ anywhere, and the number of pairs with a NaN or an infinity. */
static uint32_t scan(const layout *l, const uint32_t *restrict a, const uint32_t *restrict b, int *special) {
  uint32_t differing = 0, mask = l->magnitude;
  int32_t largest = l->largest;
  int count = 0;
  for (int i = 0; i < BLOCK; i++) {
    int32_t x = (int32_t)(a[i] & mask), y = (int32_t)(b[i] & mask);
    differing |= a[i] ^ b[i];
    count += (x > largest) | (y > largest);
  }
  *special = count;
  return differing;
}

typedef struct distances {
  uint32_t d[BLOCK]; /* 0 for pairs that are not both finite */
  uint32_t max;
  uint64_t sum;
  int bit_differences, zero_mismatches;
} distances;

/* Position on the line of values: the magnitude, negated where the sign is set. */
static inline int32_t position(uint32_t code, uint32_t mask, int sign) {
  uint32_t negative = 0u - (code >> sign);
  return (int32_t)(((code & mask) ^ negative) - negative);
}

/* Largest value. SSE2 compares signed numbers only, hence the offset. */
static uint32_t largest_of(const uint32_t *restrict d) {
  int32_t max = INT32_MIN;
  for (int i = 0; i < BLOCK; i++) {
    int32_t v = (int32_t)(d[i] ^ 0x80000000u);
    max = v > max ? v : max;
  }
  return (uint32_t)max ^ 0x80000000u;
}

static void measure(const layout *l, const uint32_t *restrict a, const uint32_t *restrict b, distances *restrict out) {
  uint32_t mask = l->magnitude, low = 0, high = 0; /* halves of the sum: 1024 times 16 bits fit */
  int32_t largest = l->largest;
  int sign = l->sign, bits = 0, zeros = 0;
  for (int i = 0; i < BLOCK; i++) {
    int32_t x = position(a[i], mask, sign), y = position(b[i], mask, sign);
    uint32_t forward = (uint32_t)x - (uint32_t)y;
    uint32_t backward = (uint32_t)y - (uint32_t)x;
    int32_t u = (int32_t)(a[i] & mask), v = (int32_t)(b[i] & mask);
    uint32_t finite = 0u - (uint32_t)((u <= largest) & (v <= largest));
    uint32_t d = (x > y ? forward : backward) & finite;
    out->d[i] = d;
    low += d & 0xffff;
    high += d >> 16;
    bits += a[i] != b[i];
    zeros += (a[i] != b[i]) & ((u | v) == 0);
  }
  out->sum = ((uint64_t)high << 16) + low;
  out->max = largest_of(out->d);
  out->bit_differences = bits;
  out->zero_mismatches = zeros;
}

static int count_above(const uint32_t *restrict d, int32_t limit) {
  int n = 0;
  for (int i = 0; i < BLOCK; i++) n += (int32_t)d[i] > limit;
  return n;
}

/* Number of bits of v. */
static inline int width(uint32_t v) {
  return 63 - __builtin_clzll(((uint64_t)v << 1) | 1);
}

/* Bin of distance d > 0 is 33 + width(d - 1), see kc__bin. Four counters in turn, so that equal bins in a row do not wait for each
 * other; a distance of 0 lands in width(-1) = 32 and is taken out afterwards. */
static void bin_each(const uint32_t *d, int zeros, int64_t *histogram) {
  int counts[4][33] = {{0}};
  for (int i = 0; i < BLOCK; i += 4) {
    for (int k = 0; k < 4; k++) counts[k][width(d[i + k] - 1)]++;
  }
  for (int w = 0; w <= 32; w++) histogram[33 + w] += counts[0][w] + counts[1][w] + counts[2][w] + counts[3][w];
  histogram[65] -= zeros;
}

/* Adds the distances that are not 0; returns the number of zeros. A vector pass per bin is cheaper while there are few bins. */
static int bin_distances(const distances *x, int64_t *histogram) {
  int above = count_above(x->d, 0), zeros = BLOCK - above;
  if (x->max > INT32_MAX) { /* count_above compares signed: these came out as not above 0 */
    zeros = 0;
    for (int i = 0; i < BLOCK; i++) zeros += x->d[i] == 0;
  }
  if (x->max > 128) {
    bin_each(x->d, zeros, histogram);
    return zeros;
  }
  for (int w = 0; above > 0; w++) {
    int next = count_above(x->d, 1 << w);
    histogram[33 + w] += above - next;
    above = next;
  }
  return zeros;
}

static int first_with(const uint32_t *d, uint32_t value) {
  int i = 0;
  while (d[i] != value) i++;
  return i;
}

static bool both_finite(const layout *l, uint32_t a, uint32_t b) {
  return (int32_t)(a & l->magnitude) <= l->largest && (int32_t)(b & l->magnitude) <= l->largest;
}

/* The rare pairs: not both finite, or zeros of different sign. */
static void tally_special(const kc__metric_job *j, const layout *l, const uint32_t *a, const uint32_t *b, int64_t first, int n,
                          kc__tally *t) {
  for (int i = 0; i < n; i++) {
    bool zeros = !((a[i] | b[i]) & l->magnitude) && a[i] != b[i];
    bool special = !both_finite(l, a[i], b[i]) && kc_classify(j->f, a[i]) != kc_classify(j->f, b[i]);
    if (zeros || special) kc__tally_mismatch(t, first + i);
  }
}

/* Element of the largest distance: in a block of zeros the first finite pair. */
static void tally_worst(const layout *l, const uint32_t *a, const uint32_t *b, const distances *x, int64_t first, int n,
                        kc__tally *t) {
  double max = x->max;
  bool better = t->worst < 0 || max > t->max || (max == t->max && first < t->worst);
  if (!better) return;
  int i = x->max ? first_with(x->d, x->max) : 0;
  while (i < n && !both_finite(l, a[i], b[i])) i++;
  if (i == n) return;
  t->max = max;
  t->worst = first + i;
}

/* a and b hold BLOCK codes; those from n on are padding: equal zeros. */
static double tally_block(const kc__metric_job *j, const layout *l, const uint32_t *a, const uint32_t *b, int64_t first, int n,
                          kc__tally *t) {
  int special, padding = BLOCK - n;
  uint32_t differing = scan(l, a, b, &special);
  distances x;
  int zeros = BLOCK;
  x.max = 0;
  x.sum = 0;
  if (differing) {
    measure(l, a, b, &x);
    zeros = bin_distances(&x, t->histogram);
    t->bit_differences += x.bit_differences;
    if (special || x.zero_mismatches) tally_special(j, l, a, b, first, n, t);
  }
  t->finite += n - special;
  t->histogram[0] += zeros - special - padding;
  if (special < n) tally_worst(l, a, b, &x, first, n, t);
  return (double)x.sum;
}

/* Codes as 32-bit numbers, padded with zeros. */
static void widen(const kc_format *f, const void *array, int64_t first, int n, uint32_t *restrict out) {
  const uint8_t *bytes = array;
  const uint16_t *halves = array;
  const uint32_t *words = array;
  int shift = f->shift;
  if (f->storage == 1) {
    for (int i = 0; i < n; i++) out[i] = bytes[first + i] >> shift;
  } else if (f->storage == 2) {
    for (int i = 0; i < n; i++) out[i] = (uint32_t)halves[first + i] >> shift;
  } else {
    for (int i = 0; i < n; i++) out[i] = words[first + i] >> shift;
  }
  for (int i = n; i < BLOCK; i++) out[i] = 0;
}

static double block_of_codes(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  layout l = layout_of(j->f);
  if (n == BLOCK && j->f->bits == 32) {
    return tally_block(j, &l, (const uint32_t *)j->got + first, (const uint32_t *)j->ref + first, first, n, t);
  }
  uint32_t a[BLOCK], b[BLOCK];
  widen(j->f, j->got, first, n, a);
  widen(j->f, j->ref, first, n, b);
  return tally_block(j, &l, a, b, first, n, t);
}

/* ---- any format ---- */

static bool is_finite(const kc_format *f, uint64_t code) {
  return !(kc_classify(f, code) & (KC_NAN | KC_NINF | KC_PINF));
}

static double block_of_any(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  double sum = 0;
  for (int64_t i = first; i < first + n; i++) {
    uint64_t got = kc_load(j->f, j->got, (size_t)i), ref = kc_load(j->f, j->ref, (size_t)i);
    t->bit_differences += got != ref;
    bool finite = is_finite(j->f, got) && is_finite(j->f, ref);
    int64_t a = kc_ordered(j->f, got), b = kc_ordered(j->f, ref);
    bool mismatch = finite ? got != ref && a == b : kc_classify(j->f, got) != kc_classify(j->f, ref);
    if (mismatch) kc__tally_mismatch(t, i);
    if (!finite) continue;
    double v = (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
    t->finite++;
    kc__tally_value(t, i, v);
    sum += v;
  }
  return sum;
}

static double value_as(const kc__metric_job *j, int64_t i, double got, double ref) {
  (void)i;
  return fabs(got - ref) / kc_ulp_at(j->as, ref);
}

static double block_ulp(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  if (j->as) return kc__metric_real_block(j, first, n, t, value_as);
  return fits_layout(j->f) ? block_of_codes(j, first, n, t) : block_of_any(j, first, n, t);
}

const kc__metric_row kc__metric_ulp = {
    .public = {"ulp", "ulp", "steps between the two codes; with as=format, |got - ref| in that format's spacing at ref"},
    .block = block_ulp,
    .measures_ulps = true};
