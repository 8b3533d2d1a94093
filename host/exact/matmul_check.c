/* matmul_check.c - integer products T = A B', computed elsewhere, against A (B' x) modulo the prime 2^61 - 1 (Freivalds).
 *
 * What is proven: for a row of T that is wrong by anything but a multiple of the prime, at most one vector x in 2^61 passes. A
 * single wrong number in a product of slices, an integer below 2^54 times a power of two, is no such multiple. The vector depends on
 * the operands through a digest and Philox: it is the same on every machine, but no library that is merely broken is wrong in just
 * the way that this vector does not see; one made to deceive could be. The check knows nothing of slices: it takes the integers
 * that are to be certified, so it covers slicing and combining too.
 */
#include <math.h>

#include "../bits.h"
#include "../parallel.h"
#include "matmul_slices.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

/* Values are below 2^53 and residues below 2^61: sums of 2^12 products stay below 2^126. */
enum { COLUMNS = 512, RUN = 4096 };
#define PRIME kc__mask(61)

static uint64_t reduce(i128 x) {
  u128 m = x < 0 ? -(u128)x : (u128)x;
  uint64_t r = (uint64_t)(m & PRIME) + (uint64_t)(m >> 61 & PRIME) + (uint64_t)(m >> 122);
  r = (r & PRIME) + (r >> 61);
  if (r >= PRIME) r -= PRIME;
  return x < 0 && r ? PRIME - r : r;
}

typedef struct check {
  const kc__tile *t;
  kc__product *p;
} check;

static uint64_t seed(const kc__tile *t) {
  uint64_t h = 0;
  for (int64_t i = 0; i < t->a->rows; i++) h = kc__digest(h, t->a->digest[i]);
  for (int64_t j = 0; j < t->b->rows; j++) h = kc__digest(h, t->b->digest[j]);
  return h;
}

static void draw_vector(const kc__tile *t, kc__product *p) {
  uint64_t key = seed(t);
  for (int64_t j = 0; j < t->b->rows; j++) {
    uint32_t out[4], counter[4] = {(uint32_t)j, 0, 0, 0};
    kc_philox4x32(out, counter, (uint32_t[2]){(uint32_t)key, (uint32_t)(key >> 32)});
    uint64_t word = out[0] | (uint64_t)out[1] << 32;
    p->x[j] = p->use_b[j] ? word % (PRIME - 1) + 1 : 0;
  }
}

/* y = B' x for COLUMNS columns at most. At most 2^8 rows: no reduction on the way. */
static void project(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const check *c = user;
  i128 sums[COLUMNS] = {0};
  for (int64_t j = 0; j < c->t->b->rows; j++) {
    const double *row = c->t->b->values + j * c->t->b->k;
    uint64_t x = c->p->x[j];
    for (int64_t k = begin; x && k < end; k++) sums[k - begin] += (i128)(int64_t)row[k] * (int64_t)x;
  }
  for (int64_t k = begin; k < end; k++) c->p->y[k] = reduce(sums[k - begin]);
}

static uint64_t dot(const double *a, const uint64_t *y, int64_t k) {
  uint64_t result = 0;
  for (int64_t i = 0; i < k; i += RUN) {
    int64_t end = i + RUN < k ? i + RUN : k;
    i128 sum = 0;
    for (int64_t l = i; l < end; l++) sum += (i128)(int64_t)a[l] * (int64_t)y[l];
    result += reduce(sum);
    if (result >= PRIME) result -= PRIME;
  }
  return result;
}

static uint64_t dot_wide(const i128 *t, const uint64_t *x, int64_t n) {
  i128 sum = 0;
  for (int64_t j = 0; j < n; j++) sum += reduce((i128)((u128)reduce(t[j]) * x[j]));
  return reduce(sum);
}

static void compare_rows(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const check *c = user;
  int64_t n = c->t->b->rows, k = c->t->a->k;
  for (int64_t i = begin; i < end; i++) {
    if (!c->p->use_a[i]) continue;
    c->p->use_a[i] = dot(c->t->a->values + i * k, c->p->y, k) == dot_wide(c->p->sums + i * n, c->p->x, n);
  }
}

void kc__matmul_check(const kc__tile *t, kc__product *p) {
  check c = {t, p};
  draw_vector(t, p);
  kc__parallel_for(t->b->k, COLUMNS, project, &c);
  kc__parallel_for(t->a->rows, (1 << 17) / (t->a->k + t->b->rows) + 1, compare_rows, &c);
}
