/* matmul_slices.h - integer products of panels through dgemm. Internal. */
#ifndef KC_EXACT_MATMUL_SLICES_H
#define KC_EXACT_MATMUL_SLICES_H

#include "blas.h"
#include "matmul.h"

/* Products of the rows of two panels as integers: sums[i * rows of b + j] times 2^(exponent of row i + exponent of row j) is exact
 * where use_a[i] and use_b[j]. */
typedef struct kc__product {
  kc__dgemm_fn dgemm;
  double *slices[2], *partial; /* slices of a block of both panels, and their products */
  __int128 *sums;
  bool use_a[KC__PANEL_ROWS], use_b[KC__PANEL_ROWS];
  uint64_t x[KC__PANEL_ROWS], *y; /* for the check */
} kc__product;

/* NULL where dgemm or memory is absent, or k too large: then every element is summed. */
kc__product *kc__product_create(int64_t rows, int64_t k);
void kc__product_free(kc__product *p);

/* Fills sums, use_a and use_b; false, and nothing is filled, where summing every element is thought to cost less. */
bool kc__product_run(kc__product *p, const kc__tile *t);

/* Clears use_a for rows that are not A B' modulo 2^61 - 1. */
void kc__matmul_check(const kc__tile *t, kc__product *p);

#endif
