/* ulp.c - the ulp metric: distance of codes on the line of a format's numbers, or, when another format is named, the real
 * error in that format's ulps at the reference.
 *
 * Formats of at most 32 bits have a path that compilers vectorise: each loop over a block is one simple pass over the first-level
 * cache. Pairs with a NaN, an infinity or zeros of different sign are counted one by one and leave the block before.
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

enum { NO_CODE = 0 }; /* always a number */

/* How codes of a format of at most 32 bits become places on its line of numbers. */
typedef struct ruler {
  uint32_t sign;   /* sign bit of a float or signed integer, else 0 */
  uint32_t bias;   /* taken off, so that 32-bit unsigned codes fit */
  uint32_t mirror; /* all ones: sign and magnitude, as floats have; 0: two's complement */
  int32_t largest; /* magnitudes above it are infinite or NaN */
  uint32_t nan;    /* one more NaN: the code of -0 in FNUZ formats, else NO_CODE */
} ruler;

static inline ruler ruler_of(const kc_format *f) {
  ruler r = {.sign = (uint32_t)kc__sign_bit(f), .largest = INT32_MAX, .nan = NO_CODE};
  if (f->kind == KC_UINT && f->bits == 32) r.bias = UINT32_C(1) << 31;
  if (f->kind != KC_FLOAT) return r;
  r.mirror = UINT32_MAX;
  r.largest = (int32_t)f->max_code;
  if (f->nan_rule == KC_NAN_NEG_ZERO) r.nan = r.sign;
  return r;
}

/* Place of a code on the line of numbers; -0 and +0 coincide. */
static inline int32_t place(const ruler *r, uint32_t code) {
  uint32_t negative = -(uint32_t)((code & r->sign) != 0), magnitude = code & ~r->sign;
  uint32_t mirrored = (magnitude ^ negative) - negative, extended = (code ^ r->sign) - r->sign - r->bias;
  return (int32_t)((mirrored & r->mirror) | (extended & ~r->mirror));
}

/* Built for AVX2 too: loops over a block then take a quarter of the time, and the same bits come out. */
#define KC__VECTOR __attribute__((target_clones("avx2", "default")))

/* What one pass over a block of codes finds, besides the distances. */
typedef struct sweep {
  uint32_t special, zeros; /* flags: a NaN or infinity; zeros of different sign */
  uint32_t differ, max;
  uint32_t sum; /* modulo 2^32 */
} sweep;

static inline __attribute__((always_inline)) sweep sweep_with(uint32_t *restrict d, const uint32_t *restrict got,
                                                              const uint32_t *restrict ref, int n, ruler r) {
  uint32_t special = 0, zeros = 0, differ = 0, max = 0, sum = 0, magnitude = ~r.sign | ~r.mirror;
  for (int k = 0; k < n; k++) {
    uint32_t a = got[k], b = ref[k];
    int32_t x = place(&r, a), y = place(&r, b);
    d[k] = x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x;
    special |= (uint32_t)((int32_t)(a & magnitude) > r.largest) | (uint32_t)((int32_t)(b & magnitude) > r.largest);
    if (r.nan != NO_CODE) special |= (uint32_t)(a == r.nan) | (uint32_t)(b == r.nan);
    zeros |= (uint32_t)(d[k] == 0) & (uint32_t)(a != b);
    differ += (uint32_t)(a != b);
    max = d[k] > max ? d[k] : max;
    sum += d[k];
  }
  return (sweep){special, zeros, differ, max, sum};
}

/* The same twice: with constants for f32, which saves half of the time, and for any format. */
KC__VECTOR static sweep sweep_f32(uint32_t *restrict d, const uint32_t *restrict got, const uint32_t *restrict ref, int n) {
  return sweep_with(d, got, ref, n, (ruler){UINT32_C(1) << 31, 0, UINT32_MAX, 0x7f7fffff, NO_CODE});
}

KC__VECTOR static sweep sweep_any(uint32_t *restrict d, const uint32_t *restrict got, const uint32_t *restrict ref, int n,
                                  ruler r) {
  return sweep_with(d, got, ref, n, r);
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

KC__VECTOR static uint64_t total(const uint32_t *d, int n) {
  uint64_t sum = 0;
  for (int k = 0; k < n; k++) sum += d[k];
  return sum;
}

/* Enters the largest distance of a block, whose first `skip` elements have none. */
static void note_worst(kc__tally *t, const uint32_t *d, int n, int64_t first, uint32_t max, int skip) {
  if (t->worst >= 0 && ((double)max < t->max || ((double)max == t->max && t->worst < first))) return;
  int k = skip;
  while (k < n - 1 && d[k] != max) k++;
  t->max = max;
  t->worst = first + k;
}

/* Codes of a block, right-aligned in 32 bits. */
KC__VECTOR static void widen(uint32_t *restrict out, const char *restrict in, int n, int size, int shift) {
  if (size == 1) {
    for (int k = 0; k < n; k++) out[k] = (uint8_t)in[k];
  } else if (size == 2) {
    const uint16_t *x = (const uint16_t *)(const void *)in;
    for (int k = 0; k < n; k++) out[k] = x[k];
  } else {
    const uint32_t *x = (const uint32_t *)(const void *)in;
    for (int k = 0; k < n; k++) out[k] = x[k] >> shift;
  }
}

/* Counts the pairs that have no distance, or a class of their own, and makes two equal numbers of each; gives how many have none.
 * `skip`: how many of those stand before the first that has one. */
static int set_aside(const kc__metric_job *j, int64_t first, int n, kc__tally *t, uint32_t *got, uint32_t *ref, int *skip) {
  int removed = 0;
  *skip = 0;
  for (int k = 0; k < n; k++) {
    kc_class a = kc_classify(j->f, got[k]), b = kc_classify(j->f, ref[k]);
    bool finite = is_finite(a) && is_finite(b), zeros = (a | b) == (KC_NZERO | KC_PZERO);
    if (finite && !zeros) continue;
    t->bit_differences += got[k] != ref[k];
    if (a != b) kc__tally_mismatch(t, first + k);
    *skip += !finite && removed == k;
    removed += !finite;
    got[k] = ref[k] = 0;
  }
  return removed;
}

static sweep sweep_codes(const kc_format *f, uint32_t *d, const uint32_t *got, const uint32_t *ref, int n) {
  return f->kind == KC_FLOAT && f->bits == 32 ? sweep_f32(d, got, ref, n) : sweep_any(d, got, ref, n, ruler_of(f));
}

/* The codes of a block: where they are, or widened into `room`. */
static const uint32_t *codes(const kc_format *f, const void *array, int64_t first, int n, uint32_t room[BLOCK]) {
  if (f->bits == 32) return (const uint32_t *)array + first;
  widen(room, (const char *)array + (size_t)first * f->storage, n, f->storage, f->shift);
  return room;
}

void kc__ulp_distances(uint32_t *d, const kc_format *f, const void *got, const void *ref, int n) {
  uint32_t room[2][BLOCK];
  (void)sweep_codes(f, d, codes(f, got, 0, n, room[0]), codes(f, ref, 0, n, room[1]), n);
}

static double block_narrow(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  uint32_t d[BLOCK], room[2][BLOCK];
  const uint32_t *got = codes(j->f, j->got, first, n, room[0]), *ref = codes(j->f, j->ref, first, n, room[1]);
  sweep s = sweep_codes(j->f, d, got, ref, n);
  int removed = 0, skip = 0;
  if (s.special || s.zeros) {
    memmove(room[0], got, (size_t)n * sizeof *got);
    memmove(room[1], ref, (size_t)n * sizeof *ref);
    removed = set_aside(j, first, n, t, room[0], room[1], &skip);
    s = sweep_codes(j->f, d, room[0], room[1], n);
  }
  t->finite += n - removed;
  t->bit_differences += s.differ;
  if (removed < n) note_worst(t, d, n, first, s.max, skip);
  /* Without zeros of different sign equal places are equal codes, so n - differ distances are 0. */
  for (int k = n; k < BLOCK; k++) d[k] = 0;
  bin_distances(t, d, n, n - (int)s.differ, s.max);
  t->histogram[0] -= removed;
  return s.max < (UINT32_MAX / BLOCK) ? (double)s.sum : (double)total(d, n);
}

static double value_ulps(const kc__metric_job *j, int64_t i, double got, double ref) {
  (void)i;
  return fabs(got - ref) / kc_ulp_at(j->as, ref);
}

static double block_ulp(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  if (j->as) return kc__metric_real_block(j, first, n, t, value_ulps);
  return j->f->bits <= 32 ? block_narrow(j, first, n, t) : block_codes(j, first, n, t);
}

const kc__metric_row kc__metric_ulp = {
    .public =
        {"ulp", "ulp",
         "numbers of the format between the two: distance of ordered codes; with 'as' the real error in that format's ulps at "
         "the reference"},
    .block = block_ulp,
    .measures_ulps = true};
