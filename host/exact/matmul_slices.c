/* matmul_slices.c - error-free matrix products, after Ozaki, Ogita, Oishi, Rump, "Error-free transformations of matrix multiplication
 * by using fast routines of matrix multiplication and its applications", Numerical Algorithms 59 (2012).
 *
 * Rows are scaled by powers of two to integers below 2^53 and cut into slices, digits of `bits` bits between -2^(bits - 1) and
 * 2^(bits - 1). With k terms in a block and bits_a + bits_b <= 55 - log2 k, sums of products of such digits, also partial ones, are
 * integers up to 2^53: dgemm adds them without rounding, so order, FMA, threads and processor do not matter. Products of all pairs of
 * slices, shifted, add up to the exact integer. Rows whose values spread too far are left to matmul_sum.c.
 */
#include "matmul_slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../bits.h"
#include "../parallel.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

enum {
  WIDEST = KC__WIDEST,
  MOST_TERMS = 1 << 20, /* 53 + 53 + 20 bits fit into 126 */
  BLOCK = 512,          /* terms of one dgemm */
  MOST_SLICES = 8,
  MOST_PRODUCTS = 16,
  LEAST_BITS = 3, /* of a slice */
  SUM_COST = 40   /* of one term summed, in terms of dgemm; sets no more than speed */
};

/* How the two panels are cut. Index 0 is A, 1 is B. */
typedef struct slice_plan {
  int widest[2]; /* rows of more bits are not cut */
  int slices[2], bits[2];
  double cost;
} slice_plan;

/* ---- planning -------------------------------------------------------------------------------------------------------- */

static int ceil_log2(int64_t n) {
  return n <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)n - 1);
}

static int at_least(int a, int b) {
  return a > b ? a : b;
}

/* Fewest products for rows of widest[0] and widest[1] bits. A number below 2^w needs w + 1 bits in digits with sign. */
static void cut(slice_plan *p, int together) {
  int best = MOST_PRODUCTS + 1;
  for (int s = 1; s <= MOST_SLICES; s++) {
    int bits_a = at_least(LEAST_BITS, p->widest[0] / s + 1), bits_b = together - bits_a;
    if (bits_b < LEAST_BITS) continue;
    int t = p->widest[1] / bits_b + 1;
    if (t > MOST_SLICES || s * t >= best) continue;
    best = s * t;
    p->slices[0] = s;
    p->slices[1] = t;
    p->bits[0] = bits_a;
    p->bits[1] = bits_b;
  }
  p->cost = best <= MOST_PRODUCTS ? best : (double)INFINITY;
}

/* rows[b]: how many rows have at most b bits. */
static void count_rows(int64_t *rows, const kc__panel *p) {
  memset(rows, 0, sizeof *rows * (WIDEST + 1));
  for (int64_t i = 0; i < p->rows; i++) {
    if (p->bits[i] <= WIDEST) rows[p->bits[i]]++;
  }
  for (int b = 1; b <= WIDEST; b++) rows[b] += rows[b - 1];
}

static bool same_as_before(const int64_t *rows, int b) {
  return rows[b] == 0 || (b > 0 && rows[b] == rows[b - 1]);
}

/* The cheapest pair of limits: elements within both cost their products, the others a sum. False: sum everything. */
static bool make_plan(slice_plan *best, const kc__tile *t) {
  int64_t a[WIDEST + 1], b[WIDEST + 1], block = t->a->k < BLOCK ? t->a->k : BLOCK;
  double all = (double)(t->a->rows * t->b->rows);
  count_rows(a, t->a);
  count_rows(b, t->b);
  best->cost = all * SUM_COST;
  for (int i = 0; i <= WIDEST; i++) {
    for (int j = 0; j <= WIDEST; j++) {
      if (same_as_before(a, i) || same_as_before(b, j)) continue;
      slice_plan p = {.widest = {i, j}};
      cut(&p, 55 - ceil_log2(block));
      p.cost = p.cost * all + (all - (double)(a[i] * b[j])) * SUM_COST;
      if (p.cost < best->cost) *best = p;
    }
  }
  return best->cost < all * SUM_COST;
}

/* ---- slicing --------------------------------------------------------------------------------------------------------- */

typedef struct slicing {
  const kc__panel *p;
  double *out; /* slices * rows * n */
  const bool *use;
  int slices, bits;
  int64_t first, n; /* the block */
} slicing;

/* Rounding to an integer by adding and subtracting a number whose last place is 1: |x| < 2^50 here. */
static void cut_row(double *slice, double *rest, int64_t n, int bits) {
  double down = kc__pow2(-bits), up = kc__pow2(bits), shift = 0x1.8p52;
  for (int64_t k = 0; k < n; k++) {
    double high = (rest[k] * down + shift) - shift;
    slice[k] = rest[k] - high * up;
    rest[k] = high;
  }
}

static void slice_rows(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const slicing *s = user;
  size_t bytes = sizeof(double) * (size_t)s->n;
  for (int64_t i = begin; i < end; i++) {
    double *rest = s->out + ((s->slices - 1) * s->p->rows + i) * s->n;
    memcpy(rest, s->p->values + i * s->p->k + s->first, bytes);
    if (!s->use[i]) memset(rest, 0, bytes);
    for (int d = 0; d < s->slices - 1; d++) cut_row(s->out + (d * s->p->rows + i) * s->n, rest, s->n, s->bits);
  }
}

/* ---- products -------------------------------------------------------------------------------------------------------- */

typedef struct combining {
  const kc__product *p;
  const slice_plan *plan;
  int64_t m, n;
} combining;

/* sums += products * 2^shift. What is not an integer up to 2^53 cannot come from a working dgemm and counts as 0: the check sees it. */
static void add_shifted(i128 *sums, const double *products, int64_t n, int shift) {
  for (int64_t j = 0; j < n; j++) {
    double x = products[j];
    int64_t integer = fabs(x) <= 0x1p53 ? (int64_t)x : 0;
    sums[j] = (i128)((u128)sums[j] + ((u128)(i128)integer << shift));
  }
}

static void combine_rows(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const combining *c = user;
  const int *slices = c->plan->slices, *bits = c->plan->bits;
  for (int64_t i = begin; i < end; i++) {
    for (int e = 0; e < slices[0] * slices[1]; e++) {
      int s = e / slices[1], t = e % slices[1];
      const double *products = c->p->partial + ((s * c->m + i) * slices[1] + t) * c->n;
      add_shifted(c->p->sums + i * c->n, products, c->n, s * bits[0] + t * bits[1]);
    }
  }
}

static int64_t grain(int64_t work_of_a_row) {
  return (1 << 16) / (work_of_a_row + 1) + 1;
}

/* One dgemm multiplies every slice of A by every slice of B. */
static void multiply_block(kc__product *p, const kc__tile *t, const slice_plan *plan, int64_t first, int64_t n) {
  const kc__panel *panels[2] = {t->a, t->b};
  const bool *use[2] = {p->use_a, p->use_b};
  for (int o = 0; o < 2; o++) {
    slicing s = {panels[o], p->slices[o], use[o], plan->slices[o], plan->bits[o], first, n};
    kc__parallel_for(panels[o]->rows, grain(n * plan->slices[o]), slice_rows, &s);
  }
  int m = (int)(plan->slices[0] * t->a->rows), columns = (int)(plan->slices[1] * t->b->rows), k = (int)n;
  p->dgemm(KC__ROW_MAJOR, KC__NO_TRANSPOSE, KC__TRANSPOSE, m, columns, k, 1, p->slices[0], k, p->slices[1], k, 0, p->partial,
           columns);
  combining c = {p, plan, t->a->rows, t->b->rows};
  kc__parallel_for(c.m, grain(c.n * plan->slices[0] * plan->slices[1]), combine_rows, &c);
}

bool kc__product_run(kc__product *p, const kc__tile *t) {
  slice_plan plan = {0};
  if (!make_plan(&plan, t)) return false;
  for (int64_t i = 0; i < t->a->rows; i++) p->use_a[i] = t->a->bits[i] <= plan.widest[0];
  for (int64_t j = 0; j < t->b->rows; j++) p->use_b[j] = t->b->bits[j] <= plan.widest[1];
  memset(p->sums, 0, sizeof *p->sums * (size_t)(t->a->rows * t->b->rows));
  for (int64_t first = 0; first < t->a->k; first += BLOCK) {
    multiply_block(p, t, &plan, first, t->a->k - first < BLOCK ? t->a->k - first : BLOCK);
  }
  kc__matmul_check(t, p);
  return true;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

kc__product *kc__product_create(int64_t rows, int64_t k) {
  kc__product *p = k <= MOST_TERMS ? calloc(1, sizeof *p) : NULL;
  if (!p) return NULL;
  p->dgemm = kc__blas_dgemm();
  if (!p->dgemm) goto fail;
  size_t block = (size_t)(k < BLOCK ? k : BLOCK), square = (size_t)(rows * rows);
  for (int o = 0; o < 2; o++) p->slices[o] = malloc(sizeof(double) * MOST_SLICES * block * (size_t)rows);
  p->partial = malloc(sizeof(double) * MOST_PRODUCTS * square);
  p->sums = malloc(sizeof *p->sums * square);
  p->y = malloc(sizeof *p->y * (size_t)k);
  if (p->slices[0] && p->slices[1] && p->partial && p->sums && p->y) return p;
fail:
  kc__product_free(p);
  return NULL;
}

void kc__product_free(kc__product *p) {
  if (!p) return;
  free(p->y);
  free(p->sums);
  free(p->partial);
  free(p->slices[1]);
  free(p->slices[0]);
  free(p);
}
