/* matmul.h - what the parts of the oracle of matrix products share. Internal.
 *
 * Every element is the sum of k products of doubles, times alpha, plus beta times an element of C. Both ways of getting it, in
 * fixed point one product after another (matmul_sum.c) and through dgemm on slices (matmul_slices.c), give the exact sum, so they
 * give the same bounds.
 */
#ifndef KC_EXACT_MATMUL_H
#define KC_EXACT_MATMUL_H

#include "tensor.h"

/* An operand seen as rows of k elements: rows of op(A), columns of op(B). */
typedef struct kc__operand {
  kc_buffer *buffer;          /* NULL: not read */
  int64_t row, column;        /* distance in elements between rows, and along a row */
  int64_t batch[KC_MAX_RANK]; /* distance along each leading dimension, 0 where the operand is repeated */
} kc__operand;

typedef struct kc__matmul {
  kc__operand a, b, c;
  double alpha, beta;
  bool magnitude;
  int leading; /* number of leading dimensions */
  int64_t shape[KC_MAX_RANK];
  int64_t batches, m, n, k; /* k == 0 where alpha is 0 */
} kc__matmul;

/* First element of an operand in a batch. */
int64_t kc__matmul_offset(const kc__matmul *w, const kc__operand *o, int64_t batch);

/* Rows first..first+n-1 of an operand as doubles, w->k each; their absolute values where magnitudes are wanted. */
void kc__matmul_decode(const kc__matmul *w, const kc__operand *o, double *out, int64_t batch, int64_t first, int64_t n);

enum { KC__UNSCALED = 1000, KC__WIDEST = 53, KC__PANEL_ROWS = 256 };

/* Rows of an operand, decoded; where `scaled` each that can be is brought to integers by a power of two. */
typedef struct kc__panel {
  double *values; /* rows * k */
  int *exponent;  /* of each row: its numbers are values * 2^exponent */
  int *bits;      /* of each row: its values are integers below 2^bits, bits <= KC__WIDEST; or KC__UNSCALED, with exponent 0 */
  uint64_t *digest; /* of each row, where scaled */
  int64_t batch, first, rows, k;
  bool scaled;
} kc__panel;

/* Room for `rows` rows; to be cleared also where it fails. */
kc_status kc__panel_create(kc__panel *p, int64_t rows, int64_t k, bool scaled);
void kc__panel_clear(kc__panel *p);
/* Loads rows first..first+rows-1 unless the panel holds them. */
void kc__panel_load(kc__panel *p, const kc__matmul *w, const kc__operand *o, int64_t batch, int64_t first, int64_t rows);

/* One step of a digest of 64-bit words. */
static inline uint64_t kc__digest(uint64_t h, uint64_t word) {
  h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

/* One tile of the result: the rows of two panels multiplied. */
typedef struct kc__tile {
  const kc__matmul *w;
  const kc__panel *a, *b;
  int64_t batch;
  kc_enclosure *out;
} kc__tile;

/* The exact sum of k products x * y, times 2^exponent. Where terms are not finite it gives instead the
 * set of their classes among NaN, -inf, +inf (a product of zero and infinity is NaN); 0 otherwise. */
uint8_t kc__matmul_sum(arf_t sum, const double *x, const double *y, int64_t k, int exponent);

/* alpha * sum + beta * c as bounds and classes. `infinite` is what kc__matmul_sum returned; the exact value is left in sum. */
kc_exact_value kc__matmul_finish(const kc__matmul *w, arf_t sum, uint8_t infinite, double c);

/* The same for a sum t * 2^exponent. */
kc_exact_value kc__matmul_round(const kc__matmul *w, arf_t scratch, __int128 t, int exponent, double c);

/* The element of C that an element of the result reads, 0 where there is none. */
double kc__matmul_c(const kc__matmul *w, int64_t batch, int64_t row, int64_t column);

#endif
