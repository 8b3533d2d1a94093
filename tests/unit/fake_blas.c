/* fake_blas.c - a shared library with a slow cblas_dgemm that is wrong on demand. */
#include "fake_blas.h"

#include <math.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_blas kc_fake_blas = {FAKE_NONE, 1, 0, 0};
EXPORT void cblas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
                        int lda, const double *b, int ldb, double beta, double *c, int ldc);

static void spoil(double *c, int m, int n, int ldc) {
  int i = kc_fake_blas.calls * 7 % m, j = kc_fake_blas.calls * 5 % n, other = (j + 1) % n;
  double *row = c + (long)i * ldc, kept = row[j];
  switch (kc_fake_blas.fault) {
  case FAKE_OFF_BY_ONE:
    row[j] += 1;
    return;
  case FAKE_LAST_PLACE:
    row[j] = nextafter(row[j], (double)INFINITY);
    return;
  case FAKE_HALF:
    row[j] += kept < 0 ? -1.5 : 1.5;
    return;
  case FAKE_NAN:
    row[j] = (double)NAN;
    return;
  case FAKE_HUGE:
    row[j] = 0x1p900;
    return;
  case FAKE_SWAPPED:
    row[j] = row[other];
    row[other] = kept;
    return;
  case FAKE_STALE:
    memset(row, 0, sizeof *row * (unsigned)n);
    return;
  case FAKE_EVERYTHING:
    for (int e = 0; e < m; e++) {
      for (int f = 0; f < n; f++) c[(long)e * ldc + f] += 2;
    }
    return;
  default:
    return;
  }
}

/* Row-major A B', alpha 1, beta 0: all that kc asks for; anything else gives zeros, which no check accepts. */
void cblas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc) {
  int known = order == 101 && transpose_a == 111 && transpose_b == 112 && alpha == 1 && beta == 0;
  kc_fake_blas.calls++;
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k && known; l++) sum += a[(long)i * lda + l] * b[(long)j * ldb + l];
      c[(long)i * ldc + j] = sum;
    }
  }
  if (kc_fake_blas.fault == FAKE_NONE || kc_fake_blas.calls % kc_fake_blas.every) return;
  kc_fake_blas.faults++;
  spoil(c, m, n, ldc);
}
