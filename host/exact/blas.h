/* blas.h - the one function that is wanted of OpenBLAS, which is loaded on first use and need not be there. Internal. */
#ifndef KC_EXACT_BLAS_H
#define KC_EXACT_BLAS_H

/* C = alpha op(A) op(B) + beta C as cblas_dgemm has it. */
enum { KC__ROW_MAJOR = 101, KC__NO_TRANSPOSE = 111, KC__TRANSPOSE = 112 };
typedef void (*kc__dgemm_fn)(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
                             int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* cblas_dgemm of libopenblas.so.0, or of the library that the environment variable KC_OPENBLAS names ("none": of none). NULL where
 * there is none. The library stays loaded, its threads are its own. */
kc__dgemm_fn kc__blas_dgemm(void);

#endif
