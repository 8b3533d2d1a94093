/* value.c - arithmetic on alternatives. */
#include "value.h"

#include <math.h>

enum {
  ZEROS = KC_NZERO | KC_PZERO,
  FINITES = KC_NFIN | KC_PFIN,
  REALS = ZEROS | FINITES,
  INFINITIES = KC_NINF | KC_PINF,
  NEGATIVES = KC_NINF | KC_NFIN | KC_NZERO,
  EVERYTHING = REALS | INFINITIES | KC_NAN,
  HULL_BITS = 64, /* a hull is wide anyway */
};

/* ---- making values ------------------------------------------------------------------------------------------------------- */

/* Classes that the finite values of a ball may have. */
static uint8_t classes_of_ball(const arb_t x) {
  if (arb_is_zero(x)) return ZEROS;
  if (!arb_is_finite(x)) return REALS;
  if (arb_is_positive(x)) return KC_PFIN;
  if (arb_is_negative(x)) return KC_NFIN;
  if (arb_is_nonnegative(x)) return ZEROS | KC_PFIN;
  if (arb_is_nonpositive(x)) return ZEROS | KC_NFIN;
  return REALS;
}

/* Adds alternatives: the ball is that of all finite ones seen so far. */
static void admit_ball(kc__value r, const arb_t x, uint8_t classes) {
  if (*r.classes & REALS) {
    arb_union(r.x, r.x, x, HULL_BITS);
  } else {
    arb_set(r.x, x);
  }
  *r.classes |= classes;
}

static void admit_zero(kc__value r, uint8_t sign) {
  if (!(*r.classes & REALS)) {
    arb_zero(r.x);
  } else if (!arb_contains_zero(r.x)) {
    arb_t zero;
    arb_init(zero);
    arb_union(r.x, r.x, zero, HULL_BITS);
    arb_clear(zero);
  }
  *r.classes |= sign;
}

static void admit_special(kc__value r, uint8_t classes) {
  if (classes & ZEROS) admit_zero(r, classes & ZEROS);
  *r.classes |= classes & ~ZEROS;
}

static void begin(kc__value r) {
  *r.classes = 0;
  arb_zero(r.x);
}

void kc__value_set_ball(kc__value r, const arb_t x) {
  arb_set(r.x, x);
  *r.classes = classes_of_ball(x);
}

void kc__value_set_double(kc__value r, double x) {
  *r.classes = (uint8_t)kc_classify_double(x);
  arb_set_d(r.x, isfinite(x) ? x : 0);
}

void kc__value_set_bounds(kc__value r, double lo, double hi, uint8_t classes) {
  if (!classes) {
    kc__value_set_unknown(r);
    return;
  }
  begin(r);
  *r.classes = classes;
  if (!(classes & REALS)) return;
  arf_t a, b;
  arf_init(a);
  arf_init(b);
  arf_set_d(a, lo);
  arf_set_d(b, hi);
  arb_set_interval_arf(r.x, a, b, HULL_BITS);
  if (lo == hi) arb_set_arf(r.x, a);
  arf_clear(b);
  arf_clear(a);
}

void kc__value_set_unknown(kc__value r) {
  arb_zero_pm_inf(r.x);
  *r.classes = EVERYTHING;
}

void kc__value_copy(kc__value r, kc__value x) {
  arb_set(r.x, x.x);
  *r.classes = *x.classes;
}

bool kc__value_is_real(kc__value x) {
  return !(*x.classes & ~REALS);
}

bool kc__value_is_settled(kc__value x) {
  uint8_t c = *x.classes;
  return c == KC_NAN || c == KC_NINF || c == KC_PINF || !(c & ~ZEROS) || c == KC_NFIN || c == KC_PFIN;
}

/* ---- two operands -------------------------------------------------------------------------------------------------------- */

/* What an operation gives for two classes: a set of classes, or one of these. */
enum { EVALUATE = 0, FIRST = 256, SECOND = 512 };
typedef int (*special_fn)(unsigned a, unsigned b);
typedef void (*ball_fn)(arb_t r, const arb_t x, const arb_t y, slong precision);

static int either_nan(unsigned a, unsigned b) {
  return (a | b) & KC_NAN;
}

static int signed_as(bool negative, int if_negative, int if_positive) {
  return negative ? if_negative : if_positive;
}

static bool signs_differ(unsigned a, unsigned b) {
  return !(a & NEGATIVES) != !(b & NEGATIVES);
}

static int special_add(unsigned a, unsigned b) {
  if (either_nan(a, b)) return KC_NAN;
  if (a & INFINITIES) return (b & INFINITIES) && a != b ? KC_NAN : (int)a;
  if (b & INFINITIES) return (int)b;
  if ((a & ZEROS) && (b & ZEROS)) return a == b ? (int)a : KC_PZERO;
  return EVALUATE;
}

static int special_mul(unsigned a, unsigned b) {
  if (either_nan(a, b)) return KC_NAN;
  if (((a & ZEROS) && (b & INFINITIES)) || ((a & INFINITIES) && (b & ZEROS))) return KC_NAN;
  if ((a | b) & INFINITIES) return signed_as(signs_differ(a, b), KC_NINF, KC_PINF);
  if ((a | b) & ZEROS) return signed_as(signs_differ(a, b), KC_NZERO, KC_PZERO);
  return EVALUATE;
}

static int special_div(unsigned a, unsigned b) {
  if (either_nan(a, b)) return KC_NAN;
  if (((a & ZEROS) && (b & ZEROS)) || ((a & INFINITIES) && (b & INFINITIES))) return KC_NAN;
  if ((a & INFINITIES) || (b & ZEROS)) return signed_as(signs_differ(a, b), KC_NINF, KC_PINF);
  if ((b & INFINITIES) || (a & ZEROS)) return signed_as(signs_differ(a, b), KC_NZERO, KC_PZERO);
  return EVALUATE;
}

static int special_max(unsigned a, unsigned b) {
  if (either_nan(a, b)) return KC_NAN;
  if (a == KC_PINF || b == KC_NINF) return FIRST;
  if (b == KC_PINF || a == KC_NINF) return SECOND;
  if ((a & ZEROS) && (b & ZEROS)) return (int)(a | b);
  return EVALUATE;
}

static void admit_alternative(kc__value r, kc__value x, unsigned class) {
  if (class & FINITES) {
    admit_ball(r, x.x, (uint8_t) class);
  } else {
    admit_special(r, (uint8_t) class);
  }
}

static void admit_pair(kc__value r, int special, kc__value x, unsigned a, kc__value y, unsigned b) {
  if (special == FIRST) {
    admit_alternative(r, x, a);
  } else if (special == SECOND) {
    admit_alternative(r, y, b);
  } else {
    admit_special(r, (uint8_t)special);
  }
}

static void combine(kc__value r, kc__value x, kc__value y, special_fn special, ball_fn ball, slong precision) {
  bool evaluate = false;
  begin(r);
  for (unsigned a = KC_NAN; a <= KC_PINF; a <<= 1) {
    if (!(*x.classes & a)) continue;
    for (unsigned b = KC_NAN; b <= KC_PINF; b <<= 1) {
      if (!(*y.classes & b)) continue;
      int s = special(a, b);
      if (s == EVALUATE) {
        evaluate = true;
      } else {
        admit_pair(r, s, x, a, y, b);
      }
    }
  }
  if (!evaluate) return;
  arb_t t;
  arb_init(t);
  ball(t, x.x, y.x, precision);
  admit_ball(r, t, classes_of_ball(t));
  arb_clear(t);
}

void kc__value_add(kc__value r, kc__value x, kc__value y, slong precision) {
  combine(r, x, y, special_add, arb_add, precision);
}

void kc__value_mul(kc__value r, kc__value x, kc__value y, slong precision) {
  combine(r, x, y, special_mul, arb_mul, precision);
}

void kc__value_div(kc__value r, kc__value x, kc__value y, slong precision) {
  combine(r, x, y, special_div, arb_div, precision);
}

void kc__value_max(kc__value r, kc__value x, kc__value y, slong precision) {
  combine(r, x, y, special_max, arb_max, precision);
  /* A zero that comes out is one that went in. */
  uint8_t zeros = (*x.classes | *y.classes) & ZEROS;
  if (arb_is_zero(r.x) && zeros) *r.classes = (uint8_t)((*r.classes & ~ZEROS) | (*r.classes & zeros));
}

/* Operations on the mirror image: a scratch value that is cleared again. */
static void mirrored(kc__value r, kc__value x, kc__value y, bool both, kc__value_binary op, slong precision) {
  arb_t a, b;
  uint8_t ca, cb;
  arb_init(a);
  arb_init(b);
  kc__value u = {a, &ca}, v = {b, &cb};
  if (both) {
    kc__value_neg(u, x);
  } else {
    kc__value_copy(u, x);
  }
  kc__value_neg(v, y);
  op(r, u, v, precision);
  arb_clear(b);
  arb_clear(a);
}

void kc__value_sub(kc__value r, kc__value x, kc__value y, slong precision) {
  mirrored(r, x, y, false, kc__value_add, precision);
}

void kc__value_min(kc__value r, kc__value x, kc__value y, slong precision) {
  arb_t t;
  uint8_t c;
  arb_init(t);
  mirrored((kc__value){t, &c}, x, y, true, kc__value_max, precision);
  kc__value_neg(r, (kc__value){t, &c});
  arb_clear(t);
}

/* ---- one operand --------------------------------------------------------------------------------------------------------- */

/* Class k mirrored is class 6 - k, but for NaN, which is class 0 and stays. */
void kc__value_neg(kc__value r, kc__value x) {
  static const uint8_t mirror[7] = {KC_NAN, KC_PINF, KC_PFIN, KC_PZERO, KC_NZERO, KC_NFIN, KC_NINF};
  uint8_t classes = 0;
  for (int bit = 0; bit < 7; bit++) {
    if (*x.classes >> bit & 1) classes |= mirror[bit];
  }
  arb_neg(r.x, x.x);
  *r.classes = classes;
}

void kc__value_abs(kc__value r, kc__value x) {
  uint8_t c = *x.classes;
  *r.classes =
      (uint8_t)((c & KC_NAN) | (c & INFINITIES ? KC_PINF : 0) | (c & FINITES ? KC_PFIN : 0) | (c & ZEROS ? KC_PZERO : 0));
  arb_abs(r.x, x.x);
}

void kc__value_floor(kc__value r, kc__value x, slong precision) {
  begin(r);
  admit_special(r, *x.classes & ~FINITES);
  if (!(*x.classes & FINITES)) return;
  arb_t t;
  arb_init(t);
  arb_floor(t, x.x, precision);
  admit_ball(r, t, arb_is_zero(t) ? KC_PZERO : classes_of_ball(t));
  arb_clear(t);
}

/* pow of C11 F.10.4.4 for an integer exponent. */
void kc__value_power(kc__value r, kc__value x, int n, slong precision) {
  begin(r);
  bool odd = n & 1;
  for (unsigned c = KC_NAN; c <= KC_PINF && n != 0; c <<= 1) {
    if (!(*x.classes & c) || (c & FINITES)) continue;
    bool negative = odd && (c & NEGATIVES);
    if (c == KC_NAN) {
      admit_special(r, KC_NAN);
    } else if (!(c & ZEROS) == (n > 0)) {
      admit_special(r, negative ? KC_NINF : KC_PINF);
    } else {
      admit_special(r, negative ? KC_NZERO : KC_PZERO);
    }
  }
  if (n != 0 && !(*x.classes & FINITES)) return;
  arb_t t;
  fmpz_t e;
  arb_init(t);
  fmpz_init_set_si(e, n);
  if (n == 0) {
    arb_one(t);
  } else {
    arb_pow_fmpz(t, x.x, e, precision);
  }
  admit_ball(r, t, classes_of_ball(t));
  fmpz_clear(e);
  arb_clear(t);
}

/* What the function gives for a class that needs no evaluation. */
static void admit_known(kc__value r, kc__known_point p) {
  if (!(p.classes & FINITES)) {
    admit_special(r, p.classes);
    return;
  }
  arb_t t;
  arb_init(t);
  arb_set_d(t, p.value);
  admit_ball(r, t, p.classes);
  arb_clear(t);
}

/* Results known for finite arguments: 1 all of them, 0 none, -1 it depends on where in the ball the argument lies. */
static int known_of_ball(const kc_exact *op, kc__value x, kc__known_point *p) {
  kc__known_point below = op->special[__builtin_ctz(KC_NFIN)];
  bool negative = arb_is_negative(x.x), positive = arb_is_positive(x.x);
  if (below.classes) { /* not defined below zero */
    *p = below;
    if (!positive) return negative ? 1 : -1;
  }
  if (isnan(op->edge)) return 0;
  arb_t edge;
  arb_init(edge);
  arb_set_d(edge, op->edge);
  int answer = 0;
  if (arb_is_exact(x.x) && arb_eq(x.x, edge)) {
    *p = op->at_edge;
    answer = 1;
  } else if (op->below_edge.classes && !arb_gt(x.x, edge)) {
    *p = op->below_edge;
    answer = arb_lt(x.x, edge) ? 1 : -1;
  }
  arb_clear(edge);
  return answer;
}

void kc__value_apply(kc__value r, const kc_exact *op, kc__value x, slong precision) {
  begin(r);
  for (int bit = 0; bit < 7; bit++) {
    unsigned c = 1U << bit;
    if ((*x.classes & c) && !(c & FINITES)) admit_known(r, op->special[bit]);
  }
  if (!(*x.classes & FINITES)) return;
  kc__known_point p;
  int known = known_of_ball(op, x, &p);
  if (known < 0) {
    kc__value_set_unknown(r);
  } else if (known > 0) {
    admit_known(r, p);
  } else {
    arb_t t;
    arb_init(t);
    op->ball1(t, x.x, precision);
    admit_ball(r, t, classes_of_ball(t));
    arb_clear(t);
  }
}

/* ---- conditions ---------------------------------------------------------------------------------------------------------- */

static void admit_truth(kc__value r, bool truth) {
  arb_t t;
  arb_init(t);
  arb_set_si(t, truth);
  admit_ball(r, t, truth ? KC_PFIN : KC_PZERO);
  arb_clear(t);
}

/* -1, 0, 1; 2 when the balls do not tell. Equal only when both are exact. */
static int order_of_balls(const arb_t x, const arb_t y) {
  if (arb_lt(x, y)) return -1;
  if (arb_gt(x, y)) return 1;
  return arb_eq(x, y) ? 0 : 2;
}

static int order_of(kc__value x, unsigned a, kc__value y, unsigned b) {
  if (a == b && (a & INFINITIES)) return 0;
  if (a == KC_NINF || b == KC_PINF) return -1;
  if (a == KC_PINF || b == KC_NINF) return 1;
  return order_of_balls(x.x, y.x);
}

static bool holds(kc__comparison how, int order) {
  static const bool table[6][3] = {
      [KC__LT] = {true, false, false}, [KC__LE] = {true, true, false},  [KC__GT] = {false, false, true},
      [KC__GE] = {false, true, true},  [KC__EQ] = {false, true, false}, [KC__NE] = {true, false, true}};
  return table[how][order + 1];
}

/* Every order that overlapping balls leave possible: all three, unless an end that they share rules one out; which is not worth
 * telling. */
static void admit_orders(kc__value r, kc__comparison how, int order) {
  for (int o = -1; o <= 1; o++) {
    if (order == 2 || order == o) admit_truth(r, holds(how, o));
  }
}

void kc__value_compare(kc__value r, kc__comparison how, kc__value x, kc__value y) {
  begin(r);
  for (unsigned a = KC_NAN; a <= KC_PINF; a <<= 1) {
    if (!(*x.classes & a)) continue;
    for (unsigned b = KC_NAN; b <= KC_PINF; b <<= 1) {
      if (!(*y.classes & b)) continue;
      if (either_nan(a, b)) {
        admit_truth(r, how == KC__NE);
      } else {
        admit_orders(r, how, order_of(x, a, y, b));
      }
    }
  }
}

void kc__value_is_class(kc__value r, kc__value x, uint8_t classes) {
  begin(r);
  if (*x.classes & classes) admit_truth(r, true);
  if (*x.classes & ~classes) admit_truth(r, false);
}

static void admit_value(kc__value r, kc__value x) {
  for (unsigned c = KC_NAN; c <= KC_PINF; c <<= 1) {
    if ((*x.classes & c) && !(c & FINITES)) admit_special(r, (uint8_t)c);
  }
  if (*x.classes & FINITES) admit_ball(r, x.x, *x.classes & FINITES);
}

void kc__value_where(kc__value r, kc__value condition, kc__value x, kc__value y, slong precision) {
  (void)precision;
  begin(r);
  if (*condition.classes & ~ZEROS) admit_value(r, x);
  if (*condition.classes & ~FINITES) admit_value(r, y);
}
