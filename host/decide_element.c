/* decide_element.c - the rules by which one output element is judged: admissible classes first, then the value.
 *
 * The exact value is one of several alternatives when its classes are not known; an answer is yes or no only when every
 * alternative gives it.
 */
#include "decide_element.h"

enum {
  ZEROS = KC_NZERO | KC_PZERO,
  FINITES = KC_NFIN | KC_PFIN,
  SPECIALS = KC_NAN | KC_NINF | KC_PINF,
};

typedef struct element {
  const kc_format *f;
  const kc_tolerance *t;
  double y;
  kc_class found;
  uint8_t classes; /* of the exact value, in terms of what the format distinguishes */
  kc__bounds magnitude, error, allowed;
  kc_truth inadmissible; /* KC_NO, or KC_UNKNOWN where the format's saturation decides and is not declared */
} element;

/* Alternatives seen so far and the answer on which they agree. */
typedef struct agreement {
  bool any;
  kc_truth answer;
} agreement;

static void agree(agreement *a, bool possible, kc_truth answer) {
  if (!possible) return;
  a->answer = !a->any || a->answer == answer ? answer : KC_UNKNOWN;
  a->any = true;
}

static kc_truth either(kc_truth a, kc_truth b) {
  return a > b ? a : b;
}

double kc_decision_anchor(const kc_format *f, double y, double *rest) {
  *rest = 0;
  if (!isinf(y)) return y;
  if (f->emax < 1023) return copysign(kc__pow2(f->emax + 1), y);
  *rest = copysign(0x1p971, y);
  return copysign(DBL_MAX, y);
}

kc__bounds kc__difference(const kc_format *f, double y, kc__bounds value) {
  double rest, anchor = kc_decision_anchor(f, y, &rest);
  kc__bounds d = {kc__sub_down(value.lo, anchor), kc__sub_up(value.hi, anchor)};
  if (rest != 0) d = (kc__bounds){kc__sub_down(d.lo, rest), kc__sub_up(d.hi, rest)};
  /* Beyond 2^53 kc_decode rounds 64-bit integers to the nearest double. */
  if (f->kind != KC_FLOAT && fabs(y) >= 0x1p53) {
    double step = kc__up(fabs(y)) - fabs(y);
    d = (kc__bounds){kc__sub_down(d.lo, step), kc__sub_up(d.hi, -step)};
  }
  return d;
}

static kc__bounds magnitude_of(kc__bounds v) {
  if (v.lo >= 0) return v;
  if (v.hi <= 0) return (kc__bounds){-v.hi, -v.lo};
  return (kc__bounds){0, -v.lo > v.hi ? -v.lo : v.hi};
}

/* |y - y*|. An infinity stands for everything from its anchor on, so values beyond the anchor have no error. */
static kc__bounds error_of(kc__bounds d, kc_class found) {
  if (found == KC_PINF && d.hi > 0) d = (kc__bounds){d.lo < 0 ? d.lo : 0, 0};
  if (found == KC_NINF && d.lo < 0) d = (kc__bounds){0, d.hi > 0 ? d.hi : 0};
  return magnitude_of(d);
}

/* n units of u, a power of two: dividing back shows whether the product was exact. */
static double units_down(double n, double u) {
  double p = n * u;
  return p / u == n ? p : kc__mul_down(n, u);
}

static double units_up(double n, double u) {
  double p = n * u;
  return p / u == n ? p : kc__mul_up(n, u);
}

/* Smallest and largest value that the tolerance can have over the bounds of |y*|. */
static kc__bounds allowed_of(const kc_format *f, kc__bounds m, const kc_tolerance *t, double allowed) {
  switch ((kc_tol_kind)t->kind) {
  case KC_TOL_EXACT:
    return (kc__bounds){0, 0};
  case KC_TOL_ULP: {
    double u = kc_ulp_at(f, m.lo < DBL_MAX ? m.lo : DBL_MAX);
    if (m.lo == m.hi) return (kc__bounds){units_down(t->value, u), units_up(t->value, u)};
    return (kc__bounds){units_down(t->value, u), units_up(t->value, kc_ulp_at(f, m.hi < DBL_MAX ? m.hi : DBL_MAX))};
  }
  case KC_TOL_ABS:
    return (kc__bounds){t->value, t->value};
  case KC_TOL_REL:
    return (kc__bounds){kc__mul_down(t->value, m.lo), kc__mul_up(t->value, m.hi)};
  case KC_TOL_GIVEN:
    break;
  }
  if (!(allowed >= 0)) return (kc__bounds){0, KC__INF}; /* a formula that gave NaN allows nothing to be said */
  return (kc__bounds){allowed, allowed};
}

static kc_truth within(kc__bounds error, kc__bounds allowed) {
  if (error.hi <= allowed.lo) return KC_YES;
  return error.lo > allowed.hi ? KC_NO : KC_UNKNOWN;
}

/* May y* be replaced by a zero of its sign: is it, or may it round to, a subnormal. */
static kc_truth flushable(const element *e) {
  if (e->t->denormals != KC_DENORMALS_FLUSH || e->f->kind != KC_FLOAT) return KC_NO;
  double smallest_normal = kc__pow2(e->f->emin);
  if (kc__sub_up(e->magnitude.hi, e->allowed.lo) < smallest_normal) return KC_YES;
  return kc__sub_down(e->magnitude.lo, e->allowed.hi) < smallest_normal ? KC_UNKNOWN : KC_NO;
}

/* With these tolerances an output of the wrong sign of zero is wrong whatever its distance. */
static bool signs_matter(const kc_tolerance *t) {
  return !t->either_zero && t->kind != KC_TOL_ABS && t->kind != KC_TOL_GIVEN;
}

/* Largest finite number of the format; for signed integers the smallest lies one further down. */
static double largest(const kc_format *f) {
  return kc_decode(f, f->max_code);
}

/* Does the format lack what the exact value needs, so that its conversion rule, which no tolerance declares, makes the output. */
static bool undeclared_conversion(const element *e, kc__bounds v) {
  const kc_format *f = e->f;
  if ((e->classes & KC_NAN) && f->nan_rule == KC_NAN_NONE) return true;
  if (f->has_inf) return false;
  double max = largest(f), min = !f->has_sign ? 0 : f->kind == KC_INT ? -max - 1 : -max;
  bool over = (e->classes & KC_PINF) || ((e->classes & (FINITES | ZEROS)) && v.hi > max);
  bool under = (e->classes & KC_NINF) || ((e->classes & (FINITES | ZEROS)) && v.lo < min);
  if (!over && !under) return false;
  if (f->kind != KC_FLOAT || e->found == KC_NAN) return true;
  return (over && e->y == max) || (under && e->y == min);
}

/* A zero: the alternatives differ by the sign of the exact value. */
static void judge_zero(const element *e, kc_truth value, agreement *cls, agreement *val) {
  bool unsigned_zero = !e->f->has_signed_zero;
  uint8_t own = e->found == KC_NZERO ? KC_NFIN : KC_PFIN;
  kc_truth flushed = either(value, flushable(e));
  kc_truth other = unsigned_zero ? flushed : signs_matter(e->t) ? KC_NO : value;
  kc_truth exact = (e->classes & e->found) ? KC_YES : e->inadmissible;
  agree(cls, e->classes & ZEROS, exact);
  agree(val, e->classes & ZEROS, value);
  agree(cls, e->classes & own, flushed);
  agree(val, e->classes & own, flushed);
  agree(cls, e->classes & FINITES & ~own, other);
  agree(val, e->classes & FINITES & ~own, other);
}

/* The alternative that the exact value is finite, zero included. */
static void judge_finite(const element *e, agreement *cls, agreement *val) {
  if (!(e->classes & (FINITES | ZEROS))) return;
  bool nothing_claimed = e->t->kind == KC_TOL_GIVEN && e->allowed.lo == KC__INF;
  kc_truth value = nothing_claimed ? KC_YES : e->found == KC_NAN ? KC_NO : within(e->error, e->allowed);
  if (e->found & (KC_NINF | KC_PINF) && e->t->kind == KC_TOL_EXACT) value = KC_NO;
  value = either(value, e->inadmissible);
  if (e->found & ZEROS) {
    judge_zero(e, value, cls, val);
    return;
  }
  /* A tolerance that reaches across zero admits the other sign; an infinity or NaN has only the value test to admit it. */
  agree(cls, true, (e->found & FINITES & e->classes) ? KC_YES : value);
  agree(val, true, value);
}

/* Would a zero pass although the exact value is known not to be zero. */
static bool is_vacuous(const element *e) {
  if ((e->classes & ~FINITES) || !e->classes) return false;
  return e->magnitude.lo <= e->allowed.hi || flushable(e) != KC_NO;
}

static void set_ratio(kc_element_decision *d, const element *e, bool by_tolerance) {
  d->error_lo = e->error.lo;
  d->error_hi = e->error.hi;
  d->allowed = e->allowed.lo;
  if (d->cls == KC_NO) {
    d->ratio_lo = d->ratio_hi = KC__INF;
  } else if (by_tolerance && e->allowed.lo < KC__INF) {
    d->ratio_lo = kc__div_down(e->error.lo, e->allowed.hi);
    d->ratio_hi = kc__div_up(e->error.hi, e->allowed.lo);
  } else if (d->value != KC_YES) {
    d->ratio_hi = KC__INF;
  }
}

/* Outputs of another class than the exact value, and exact values of several possible classes. */
static kc_element_decision judge_classes(element *e, kc__bounds v) {
  e->inadmissible = undeclared_conversion(e, v) ? KC_UNKNOWN : KC_NO;
  agreement cls = {false, KC_UNKNOWN}, val = {false, KC_UNKNOWN};
  for (unsigned special = KC_NAN; special <= KC_PINF; special <<= 1) {
    kc_truth same = e->found == (kc_class)special ? KC_YES : e->inadmissible;
    agree(&cls, e->classes & SPECIALS & special, same);
    agree(&val, e->classes & SPECIALS & special, same);
  }
  judge_finite(e, &cls, &val);
  kc_element_decision d = {.cls = cls.answer, .value = cls.answer == KC_NO ? KC_NO : val.answer, .vacuous = is_vacuous(e)};
  /* A result admitted by its class or by the flush policy owes nothing to the tolerance. */
  bool finite_alternative = e->classes & (FINITES | ZEROS);
  set_ratio(&d, e, finite_alternative && !(d.value == KC_YES && within(e->error, e->allowed) != KC_YES));
  return d;
}

kc_element_decision kc__decide_value(const kc_format *f, double y, kc_class found, const kc__exact *x, const kc_tolerance *t,
                                     double allowed) {
  if (x->classes & KC_ANYTHING) return (kc_element_decision){.cls = KC_YES, .value = KC_YES};
  if (!x->classes) return (kc_element_decision){.ratio_hi = KC__INF, .error_hi = KC__INF};
  bool finite_known = x->classes & (FINITES | ZEROS);
  element e = {.f = f, .t = t, .y = y, .found = found, .classes = x->classes};
  if (finite_known) {
    if (!(x->value.lo <= x->value.hi) || !(x->difference.lo <= x->difference.hi))
      return (kc_element_decision){.ratio_hi = KC__INF, .error_hi = KC__INF};
    e.magnitude = magnitude_of(x->value);
    e.error = found == KC_NAN ? (kc__bounds){KC__INF, KC__INF} : error_of(x->difference, found);
    e.allowed = allowed_of(f, e.magnitude, t, allowed);
  }
  if (!f->has_signed_zero && (x->classes & KC_NZERO)) e.classes = (uint8_t)((x->classes & ~KC_NZERO) | KC_PZERO);
  kc_truth value = within(e.error, e.allowed);
  bool plain = x->classes == found && (found & FINITES) && (value == KC_YES || f->has_inf);
  if (!plain) return judge_classes(&e, x->value);
  kc_element_decision d = {.cls = KC_YES, .value = value, .vacuous = is_vacuous(&e)};
  set_ratio(&d, &e, true);
  return d;
}

kc_element_decision kc_decide_element(const kc_format *f, uint64_t code, double lo, double hi, double dlo, double dhi,
                                      uint8_t classes, const kc_tolerance *t, double allowed) {
  kc__exact x = {{lo, hi}, {dlo, dhi}, classes};
  return kc__decide_value(f, kc_decode(f, code), kc_classify(f, code), &x, t, allowed);
}
