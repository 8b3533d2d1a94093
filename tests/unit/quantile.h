/* quantile.h - the coefficients of host/normal_table.h from MPFR; make_normal_table.c writes them, test_fill.c compares them. */
#ifndef KC_TEST_QUANTILE_H
#define KC_TEST_QUANTILE_H

#include <mpfr.h>

#define QUANTILE_PRECISION 160
#define QUANTILE_DEGREE 5
#define QUANTILE_UNIT 48

/* z such that the normal distribution exceeds it with probability p <= 1/2: Newton on log Q(z), which is concave: from anywhere
 * the second step on lies beyond the root and approaches it monotonically. Q(z) < exp(-z^2 / 2) gives the start. */
static inline void upper_quantile(mpfr_t z, const mpfr_t p) {
  mpfr_t q, density, step, s;
  mpfr_inits2(QUANTILE_PRECISION, q, density, step, s, (mpfr_ptr)0);
  mpfr_log(z, p, MPFR_RNDN);
  mpfr_mul_si(z, z, -2, MPFR_RNDN);
  mpfr_sqrt(z, z, MPFR_RNDN);
  for (int i = 0; i < 100; i++) {
    mpfr_set_ui(s, 2, MPFR_RNDN); /* q = erfc(z / sqrt 2) / 2 */
    mpfr_sqrt(s, s, MPFR_RNDN);
    mpfr_div(s, z, s, MPFR_RNDN);
    mpfr_erfc(q, s, MPFR_RNDN);
    mpfr_div_2ui(q, q, 1, MPFR_RNDN);
    mpfr_sqr(density, s, MPFR_RNDN); /* density = exp(-z^2 / 2) / sqrt(2 pi) */
    mpfr_neg(density, density, MPFR_RNDN);
    mpfr_exp(density, density, MPFR_RNDN);
    mpfr_const_pi(s, MPFR_RNDN);
    mpfr_mul_2ui(s, s, 1, MPFR_RNDN);
    mpfr_sqrt(s, s, MPFR_RNDN);
    mpfr_div(density, density, s, MPFR_RNDN);
    mpfr_div(step, q, p, MPFR_RNDN); /* step = log(q / p) q / density */
    mpfr_log(step, step, MPFR_RNDN);
    mpfr_mul(step, step, q, MPFR_RNDN);
    mpfr_div(step, step, density, MPFR_RNDN);
    mpfr_add(z, z, step, MPFR_RNDN);
    if (mpfr_zero_p(step) || mpfr_get_exp(step) < -75) break;
  }
  mpfr_clears(q, density, step, s, (mpfr_ptr)0);
}

/* The tail probability at position x in 0..1 of a cell. */
static inline void tail_probability(mpfr_t p, int k, int cell, const mpfr_t x) {
  mpfr_add_si(p, x, cell + 16, MPFR_RNDN);
  mpfr_div_2ui(p, p, (unsigned long)k + 6, MPFR_RNDN);
}

/* Coefficients of the polynomial in x through the quantile at the Chebyshev points of 0..1, in units of 2^-48. */
static inline void quantile_row(long long row[QUANTILE_DEGREE + 1], int k, int cell) {
  enum { N = QUANTILE_DEGREE + 1 };
  mpfr_t x[N], y[N], c[N], t;
  mpfr_init2(t, QUANTILE_PRECISION);
  for (int j = 0; j < N; j++) {
    mpfr_inits2(QUANTILE_PRECISION, x[j], y[j], c[j], (mpfr_ptr)0);
    mpfr_const_pi(x[j], MPFR_RNDN); /* (1 - cos((2 j + 1) pi / (2 N))) / 2 */
    mpfr_mul_si(x[j], x[j], 2 * j + 1, MPFR_RNDN);
    mpfr_div_si(x[j], x[j], 2 * N, MPFR_RNDN);
    mpfr_cos(x[j], x[j], MPFR_RNDN);
    mpfr_si_sub(x[j], 1, x[j], MPFR_RNDN);
    mpfr_div_2ui(x[j], x[j], 1, MPFR_RNDN);
    tail_probability(t, k, cell, x[j]);
    upper_quantile(y[j], t);
    mpfr_set_zero(c[j], 1);
  }
  for (int level = 1; level < N; level++) /* divided differences in place */
    for (int j = N - 1; j >= level; j--) {
      mpfr_sub(y[j], y[j], y[j - 1], MPFR_RNDN);
      mpfr_sub(t, x[j], x[j - level], MPFR_RNDN);
      mpfr_div(y[j], y[j], t, MPFR_RNDN);
    }
  for (int j = N - 1; j >= 0; j--) { /* c = c * (x - x[j]) + y[j] */
    for (int i = N - 1; i >= 0; i--) {
      mpfr_mul(c[i], c[i], x[j], MPFR_RNDN);
      mpfr_neg(c[i], c[i], MPFR_RNDN);
      if (i > 0) mpfr_add(c[i], c[i], c[i - 1], MPFR_RNDN);
    }
    mpfr_add(c[0], c[0], y[j], MPFR_RNDN);
  }
  for (int j = 0; j < N; j++) {
    mpfr_mul_2ui(c[j], c[j], QUANTILE_UNIT, MPFR_RNDN);
    row[j] = mpfr_get_si(c[j], MPFR_RNDN);
    mpfr_clears(x[j], y[j], c[j], (mpfr_ptr)0);
  }
  mpfr_clear(t);
}

#endif
