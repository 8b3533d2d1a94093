/* special.c - results that need no evaluation, by class of the arguments. Never by arithmetic on doubles: only comparisons,
 * signs, and fmod, which is exact.
 */
#include <math.h>

#include "operation.h"

static kc__known_point of_class(kc_class c) {
  return (kc__known_point){(uint8_t)c, 0};
}

static kc__known_point zero(bool negative) {
  return of_class(negative ? KC_NZERO : KC_PZERO);
}

static kc__known_point infinity(bool negative) {
  return of_class(negative ? KC_NINF : KC_PINF);
}

kc__known_point kc__exact_special(const kc_exact *op, const double x[2]) {
  if (op->special2) return op->special2(x[0], x[1]);
  if (x[0] == op->edge) return op->at_edge;
  kc__known_point p = op->special[__builtin_ctz((unsigned)kc_classify_double(x[0]))];
  if (p.classes) return p;
  if (x[0] < op->edge) return op->below_edge;
  if (x[0] == op->upper) return op->at_upper;
  return x[0] > op->upper ? op->above_upper : p;
}

enum { MAGNITUDE_ZERO, MAGNITUDE_FINITE, MAGNITUDE_INF };

static int magnitude(double x) {
  return x == 0 ? MAGNITUDE_ZERO : isinf(x) ? MAGNITUDE_INF : MAGNITUDE_FINITE;
}

/* IEEE 754-2019: 6.1 (infinities), 6.3 (sign), 7.2 (invalid: 0/0, inf/inf), 7.3 (division by zero). */
kc__known_point kc__special_div(double x, double y) {
  enum { NAN_, ZERO, INF, EVALUATE };
  static const uint8_t table[3][3] = {{NAN_, ZERO, ZERO}, {INF, EVALUATE, ZERO}, {INF, INF, NAN_}};
  if (isnan(x) || isnan(y)) return of_class(KC_NAN);
  bool negative = !signbit(x) != !signbit(y);
  switch (table[magnitude(x)][magnitude(y)]) {
  case NAN_:
    return of_class(KC_NAN);
  case ZERO:
    return zero(negative);
  case INF:
    return infinity(negative);
  default:
    return (kc__known_point){0, 0};
  }
}

/* C11 F.10.4.4, in an order in which each line may assume that those before did not apply. */
kc__known_point kc__special_pow(double x, double y) {
  if (y == 0 || x == 1) return (kc__known_point){KC_PFIN, 1};
  if (isnan(x) || isnan(y)) return of_class(KC_NAN);
  if (isinf(y)) {
    if (x == -1) return (kc__known_point){KC_PFIN, 1};
    return (fabs(x) > 1) == (y > 0) ? infinity(false) : zero(false);
  }
  bool integer = fmod(y, 1) == 0;
  if (x == 0 || isinf(x)) {
    bool negative = signbit(x) && fabs(fmod(y, 2)) == 1;
    return (x != 0) == (y > 0) ? infinity(negative) : zero(negative);
  }
  if (x < 0 && !integer) return of_class(KC_NAN);
  return (kc__known_point){0, 0};
}

/* C11 F.10.4.3: an infinite side makes the other irrelevant, NaN included. */
kc__known_point kc__special_hypot(double x, double y) {
  if (isinf(x) || isinf(y)) return infinity(false);
  if (isnan(x) || isnan(y)) return of_class(KC_NAN);
  return x == 0 && y == 0 ? zero(false) : (kc__known_point){0, 0};
}
