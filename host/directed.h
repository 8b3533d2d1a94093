/* directed.h - sums, products and quotients of doubles with a proven direction, under rounding to nearest. Internal.
 *
 * An exact residual (Dekker, Knuth; Boldo and Melquiond) tells on which side of the true value the rounded one lies, so results
 * that are exact stay exact: a tie such as error == tolerance is seen as equal. Where the residual could underflow the result
 * simply moves one step outward.
 */
#ifndef KC_DIRECTED_H
#define KC_DIRECTED_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bits.h"

/* <math.h> has infinity as a float. */
#define KC__INF ((double)INFINITY)

/* Interval of doubles, lo <= hi. */
typedef struct kc__bounds {
  double lo, hi;
} kc__bounds;

/* Below this magnitude the residual of a product or quotient may be subnormal: its last bit is at least 2^-106 of the result,
 * and 2^-900 * 2^-106 > 2^-1022. */
#define KC__RESIDUAL_SAFE 0x1p-900

/* The next double above; +inf and NaN stay, -inf gives -DBL_MAX. */
static inline double kc__up(double x) {
  if (x == 0) return DBL_TRUE_MIN;
  if (!(x < KC__INF)) return x;
  return kc__double_of(x > 0 ? kc__bits_of(x) + 1 : kc__bits_of(x) - 1);
}

static inline double kc__down(double x) {
  return -kc__up(-x);
}

/* a - b rounded down; -inf where nothing better is known (inf - inf). */
static inline double kc__sub_down(double a, double b) {
  double s = a - b;
  if (!(s - s == 0)) return s > 0 ? (isinf(a) || isinf(b) ? s : DBL_MAX) : -KC__INF;
  double t = s - a;
  double residual = (a - (s - t)) - (b + t);
  return residual < 0 ? kc__down(s) : s;
}

/* a - b rounded up. */
static inline double kc__sub_up(double a, double b) {
  return -kc__sub_down(b, a);
}

/* a * b rounded up and down, for a, b >= 0; 0 * inf is 0 below and inf above. */
static inline double kc__mul_up(double a, double b) {
  if (a == 0 && b < KC__INF) return 0;
  double p = a * b;
  if (!(p < KC__INF)) return KC__INF;
  if (p < KC__RESIDUAL_SAFE) return b == 0 ? 0 : kc__up(p);
  return fma(a, b, -p) > 0 ? kc__up(p) : p;
}

static inline double kc__mul_down(double a, double b) {
  if (a == 0 || b == 0) return 0;
  double p = a * b;
  if (!(p < KC__INF)) return a < KC__INF && b < KC__INF ? DBL_MAX : p;
  if (p < KC__RESIDUAL_SAFE) return p == 0 ? 0 : kc__down(p);
  return fma(a, b, -p) < 0 ? kc__down(p) : p;
}

/* a / b rounded up and down, for a, b >= 0; a / 0 is inf unless a is 0, which gives 0. */
static inline double kc__div_up(double a, double b) {
  if (a == 0) return 0;
  double q = a / b;
  if (!(q < KC__INF)) return KC__INF;
  if (a < KC__RESIDUAL_SAFE || q < KC__RESIDUAL_SAFE) return kc__up(q);
  return fma(q, b, -a) < 0 ? kc__up(q) : q;
}

static inline double kc__div_down(double a, double b) {
  if (a == 0 || (isinf(a) && isinf(b))) return 0;
  double q = a / b;
  if (isinf(q)) return b == 0 || isinf(a) ? q : DBL_MAX;
  if (a < KC__RESIDUAL_SAFE || q < KC__RESIDUAL_SAFE) return q == 0 ? 0 : kc__down(q);
  return fma(q, b, -a) > 0 ? kc__down(q) : q;
}

/* Bin of a histogram with 66 bins for x >= 0: 0 for zero, k for (2^(k-34), 2^(k-33)], ends clamp; +inf in the last. */
static inline int kc__bin(double x) {
  if (x <= 0) return 0;
  int ceil_log2 = (int)((kc__bits_of(x) - 1) >> 52) - 1022;
  int k = ceil_log2 + 33;
  return k < 1 ? 1 : k > 65 ? 65 : k;
}

#endif
