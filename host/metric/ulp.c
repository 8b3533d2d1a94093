/* ulp.c - the ulp metric: distance of codes on the line of a format's numbers, or, when another format is named, the real
 * error in that format's ulps at the reference.
 *
 * f32 has a path of its own that compilers vectorise: each loop over a block is one simple pass over the first-level cache. A block
 * with a NaN, an infinity or zeros of different sign takes the general path.
 */
#include "real.h"

enum { BLOCK = KC__METRIC_BLOCK, FIRST_BIN = 33 /* of the value 1 */ };

uint64_t kc__ulp_distance(const kc_format *f, uint64_t a, uint64_t b) {
  uint64_t x = (uint64_t)kc_ordered(f, a), y = (uint64_t)kc_ordered(f, b);
  return (int64_t)x > (int64_t)y ? x - y : y - x;
}

static bool is_finite(kc_class c) {
  return (c & (KC_NAN | KC_NINF | KC_PINF)) == 0;
}

static double block_codes(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  double sum = 0;
  for (int64_t i = first; i < first + n; i++) {
    uint64_t got = kc_load(j->f, j->got, (size_t)i), ref = kc_load(j->f, j->ref, (size_t)i);
    kc_class a = kc_classify(j->f, got), b = kc_classify(j->f, ref);
    uint64_t d = kc__ulp_distance(j->f, got, ref);
    t->bit_differences += got != ref;
    if (!is_finite(a) || !is_finite(b)) {
      if (a != b) kc__tally_mismatch(t, i);
      continue;
    }
    if (a != b && d == 0) kc__tally_mismatch(t, i); /* zeros of different sign */
    t->finite++;
    kc__tally_value(t, i, (double)d);
    sum += (double)d;
  }
  return sum;
}

/* Position of an f32 code on the line of numbers; -0 and +0 coincide. */
static inline int32_t line_f32(uint32_t code) {
  int32_t magnitude = (int32_t)(code & 0x7fffffffu), sign = -(int32_t)(code >> 31);
  return (magnitude ^ sign) - sign;
}

/* Built for AVX2 too: loops over a block then take a quarter of the time, and the same bits come out. */
#define KC__VECTOR __attribute__((target_clones("avx2", "default")))

/* What one pass over a block of f32 codes finds, besides the distances. */
typedef struct sweep {
  uint32_t special, zeros; /* flags: a NaN or infinity; zeros of different sign */
  uint32_t differ, max;
  uint32_t sum; /* modulo 2^32 */
} sweep;

KC__VECTOR static sweep sweep_f32(uint32_t *restrict d, const uint32_t *restrict got, const uint32_t *restrict ref, int n) {
  uint32_t special = 0, zeros = 0, differ = 0, max = 0, sum = 0;
  for (int k = 0; k < n; k++) {
    uint32_t a = got[k], b = ref[k];
    int32_t x = line_f32(a), y = line_f32(b);
    d[k] = x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x;
    special |= (uint32_t)((int32_t)(a & 0x7fffffffu) > 0x7f7fffff) | (uint32_t)((int32_t)(b & 0x7fffffffu) > 0x7f7fffff);
    zeros |= (uint32_t)(d[k] == 0) & (uint32_t)(a != b);
    differ += (uint32_t)(a != b);
    max = d[k] > max ? d[k] : max;
    sum += d[k];
  }
  return (sweep){special, zeros, differ, max, sum};
}

enum { LANES = 32, EXPONENT_OF_HALF = 126, TOP_WIDTH = 32 };

/* The exponent of d - 1 as a float, its lower bits thinned so that the conversion cannot round up: 0 for d = 1, and 126 + b for the
 * d of bin FIRST_BIN + b, b > 0; with the largest d comes d = 0. */
KC__VECTOR static void exponents(uint8_t *restrict e, const uint32_t *restrict d) {
  for (int k = 0; k < BLOCK; k++) {
    uint32_t v = d[k] - 1, bits;
    float x = (float)(int32_t)(v & ~(v >> 1));
    memcpy(&bits, &x, sizeof bits);
    uint32_t top = (uint32_t)((int32_t)v >> 31);
    e[k] = (uint8_t)((bits >> 23 & ~top) | ((EXPONENT_OF_HALF + TOP_WIDTH) & top));
  }
}

/* How many of the bytes equal `width`: lanes of bytes hold at most BLOCK / LANES each. */
KC__VECTOR static int count_equal(const uint8_t e[BLOCK], uint8_t value) {
  uint8_t lanes[LANES] = {0};
  int sum = 0;
  for (int k = 0; k < BLOCK; k += LANES)
    for (int lane = 0; lane < LANES; lane++) lanes[lane] += e[k + lane] == value;
  for (int lane = 0; lane < LANES; lane++) sum += lanes[lane];
  return sum;
}

/* Adds a block's distances to the histogram. A pass over bytes for each bin is cheaper than a counter for each element; from the top,
 * because most distances lie in the upper bins. */
static void bin_distances(kc__tally *t, const uint32_t d[BLOCK], int n, int zeros, uint32_t max) {
  uint8_t e[BLOCK];
  int left = n - zeros;
  t->histogram[0] += zeros;
  if (left == 0) return;
  exponents(e, d);
  for (int b = max > 1 ? 32 - __builtin_clz(max - 1) : 0; left > 0; b--) {
    int found = count_equal(e, (uint8_t)(b > 0 ? EXPONENT_OF_HALF + b : 0));
    if (b == TOP_WIDTH) found -= BLOCK - n + zeros;
    t->histogram[FIRST_BIN + b] += found;
    left -= found;
  }
}

static uint64_t total(const uint32_t *d, int n) {
  uint64_t sum = 0;
  for (int k = 0; k < n; k++) sum += d[k];
  return sum;
}

static void note_worst(kc__tally *t, const uint32_t *d, int n, int64_t first, uint32_t max) {
  if (t->worst >= 0 && ((double)max < t->max || ((double)max == t->max && t->worst < first))) return;
  int k = 0;
  while (k < n - 1 && d[k] != max) k++;
  t->max = max;
  t->worst = first + k;
}

static double block_f32(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  uint32_t d[BLOCK];
  sweep s = sweep_f32(d, (const uint32_t *)j->got + first, (const uint32_t *)j->ref + first, n);
  if (s.special || s.zeros) return block_codes(j, first, n, t);
  t->finite += n;
  t->bit_differences += s.differ;
  note_worst(t, d, n, first, s.max);
  /* Without zeros of different sign equal places are equal codes, so n - differ distances are 0. */
  for (int k = n; k < BLOCK; k++) d[k] = 0;
  bin_distances(t, d, n, n - (int)s.differ, s.max);
  return s.max < (UINT32_MAX / BLOCK) ? (double)s.sum : (double)total(d, n);
}

static double value_ulps(const kc__metric_job *j, int64_t i, double got, double ref) {
  (void)i;
  return fabs(got - ref) / kc_ulp_at(j->as, ref);
}

static double block_ulp(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  if (j->as) return kc__metric_real_block(j, first, n, t, value_ulps);
  bool f32 = j->f->kind == KC_FLOAT && j->f->storage == 4 && j->f->shift == 0;
  return f32 ? block_f32(j, first, n, t) : block_codes(j, first, n, t);
}

const kc__metric_row kc__metric_ulp = {
    .public =
        {"ulp", "ulp",
         "numbers of the format between the two: distance of ordered codes; with 'as' the real error in that format's ulps at "
         "the reference"},
    .block = block_ulp,
    .measures_ulps = true};
