/* ulp.c - the ulp metric: distance of codes on the line of a format's numbers, or, when another format is named, the real
 * error in that format's ulps at the reference.
 *
 * f32 has a path of its own that compilers vectorise: each loop over a block is one simple pass over the first-level cache. A block
 * with a NaN, an infinity or zeros of different sign takes the general path.
 */
#include "real.h"

enum { BLOCK = KC__METRIC_BLOCK, FIRST_BIN = 33 /* of the value 1 */ };

static uint64_t distance(const kc_format *f, uint64_t a, uint64_t b) {
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
    uint64_t d = distance(j->f, got, ref);
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

KC__VECTOR static sweep sweep_f32(uint32_t d[BLOCK], const uint32_t *got, const uint32_t *ref, int n) {
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

/* The bins of 0, 1, 2, (2, 4], (4, 8], (8, 16] by counting what lies above each edge. */
KC__VECTOR static void bins_of_small(kc__tally *t, const uint32_t *d, int n, int32_t max) {
  int32_t below = n;
  for (int b = -1; below > 0; b++) {
    int32_t edge = b < 0 ? 0 : (int32_t)1 << b, above = 0;
    if (edge < max)
      for (int k = 0; k < n; k++) above += (int32_t)d[k] > edge;
    t->histogram[b < 0 ? 0 : FIRST_BIN + b] += below - above;
    below = above;
  }
}

enum { TOP_EXPONENT = 127 + 31 };

/* d - 1 as a float, its lower bits thinned so that the conversion cannot round up. The biased exponent is then 0 for d = 1, 127 + b
 * for d in (2^b, 2^(b+1)], and that of 2^31 for d = 0 too. */
KC__VECTOR static void floats_of(float x[BLOCK], const uint32_t *d, int n) {
  for (int k = 0; k < n; k++) {
    uint32_t w = d[k] - 1;
    x[k] = (int32_t)w < 0 ? 0x1p31f : (float)(int32_t)(w & ~(w >> 1));
  }
}

static inline uint32_t exponent_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 23;
}

static void bins_of_any(kc__tally *t, const uint32_t *d, int n, uint32_t zeros) {
  float x[BLOCK];
  uint32_t bins[4][TOP_EXPONENT + 1] = {{0}}; /* four, so that equal neighbours do not wait for each other's store */
  floats_of(x, d, n);
  int k = 0;
  for (; k + 4 <= n; k += 4)
    for (int lane = 0; lane < 4; lane++) bins[lane][exponent_of(x[k + lane])]++;
  for (; k < n; k++) bins[0][exponent_of(x[k])]++;
  for (int b = -1; b < 32; b++) {
    int at = b < 0 ? 0 : 127 + b;
    t->histogram[FIRST_BIN + 1 + b] += (int64_t)bins[0][at] + bins[1][at] + bins[2][at] + bins[3][at];
  }
  t->histogram[FIRST_BIN + 32] -= zeros;
  t->histogram[0] += zeros;
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
  if (s.max <= 16)
    bins_of_small(t, d, n, (int32_t)s.max);
  else
    bins_of_any(t, d, n, (uint32_t)n - s.differ);
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
