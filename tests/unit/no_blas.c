/* no_blas.c - a shared library without cblas_dgemm. */
__attribute__((visibility("default"))) int kc_no_blas = 1;
