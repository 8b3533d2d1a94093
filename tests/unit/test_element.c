/* test_element.c - the rules for one element against the text of spec/verdicts.md evaluated in exact integers: what is called held
 * must be right for every value of the enclosure, what is called violated wrong for every value, and a value that is known exactly
 * must be decided.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "decide_element.h"
#include "kc.h"

/* All quantities are multiples of 2^-UNIT; f16 and e5m2 have spacings of at least 2^-24, and quarters of ulps are used. */
enum { UNIT = 30 };

typedef struct rule {
  const kc_format *f;
  kc_tolerance t;
  int64_t sixteenths; /* the tolerance in sixteenths of an ulp, of a unit or of |y*| */
} rule;

static int64_t units(double x) {
  return (int64_t)(x * (double)(1ll << UNIT));
}

/* Spacing at magnitude m: by counting bits, not by kc_ulp_at. */
static int64_t spacing(const kc_format *f, int64_t m) {
  int e = f->emin;
  while (e < f->emax && m >= 1ll << (UNIT + e + 1)) e++;
  return 1ll << (UNIT + e - f->frac_bits);
}

/* 16 times the tolerance at y*. */
static int64_t allowed16(const rule *r, int64_t exact) {
  int64_t m = exact < 0 ? -exact : exact;
  switch (r->t.kind) {
  case KC_TOL_ULP:
    return r->sixteenths * spacing(r->f, m);
  case KC_TOL_REL:
    return r->sixteenths * m;
  case KC_TOL_ABS:
  case KC_TOL_GIVEN:
    return r->sixteenths << (UNIT - 20); /* in units of 2^-20 */
  default:
    return 0;
  }
}

/* Is the code right for this exact value; zero_sign tells which zero an exact 0 is. */
static bool right(const rule *r, uint64_t code, int64_t exact, int zero_sign) {
  kc_class c = kc_classify(r->f, code);
  int64_t tolerance = allowed16(r, exact), m = exact < 0 ? -exact : exact;
  bool by_sign = r->t.kind != KC_TOL_ABS && r->t.kind != KC_TOL_GIVEN;
  bool negative = c & (KC_NINF | KC_NZERO | KC_NFIN);
  if (c == KC_NAN) return false;
  if (c & (KC_NINF | KC_PINF)) {
    int64_t limit = 1ll << (UNIT + r->f->emax + 1);
    if (r->t.kind == KC_TOL_EXACT) return false;
    if (exact == 0 || negative != (exact < 0)) return 16 * (limit + m) <= tolerance;
    return limit <= m || 16 * (limit - m) <= tolerance;
  }
  if (c & (KC_NZERO | KC_PZERO)) {
    if (exact == 0) return negative == (zero_sign < 0);
    if (16 * m <= tolerance) return !by_sign || negative == (exact < 0);
    bool flushed = r->t.denormals == KC_DENORMALS_FLUSH && 16 * m - tolerance < 16ll << (UNIT + r->f->emin);
    return flushed && negative == (exact < 0);
  }
  int64_t difference = units(kc_decode(r->f, code)) - exact;
  return 16 * (difference < 0 ? -difference : difference) <= tolerance;
}

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 16;
}

static uint64_t near_code(const rule *r, int64_t exact, uint64_t random) {
  kc_encoding nearest = {.rounding = KC_RNE};
  uint64_t code = kc_encode(r->f, ldexp((double)exact, -UNIT), &nearest);
  switch (random % 10) {
  case 0:
    return random >> 8 & ((1u << r->f->bits) - 1); /* any code */
  case 1:
    return code + 1;
  case 2:
    return code ? code - 1 : 1;
  case 3:
    return code + 2;
  case 4:
    return code & 1u << (r->f->bits - 1); /* a zero of its sign */
  case 5:
    return (code ^ 1u << (r->f->bits - 1)) & 1u << (r->f->bits - 1); /* a zero of the other sign */
  default:
    return code;
  }
}

static rule any_rule(const kc_format *f, uint64_t random) {
  static const int64_t limits[] = {0, 4, 8, 12, 16, 24, 32, 64};
  rule r = {.f = f, .t = {.kind = (uint8_t)(random % 5), .denormals = random >> 8 & 1}, .sixteenths = limits[random >> 16 & 7]};
  r.t.value = (double)r.sixteenths / 16 * (r.t.kind == KC_TOL_ABS ? 0x1p-20 : 1);
  return r;
}

/* Values of all sizes, around powers of two, the subnormals and the overflow threshold, and zero. */
static int64_t any_value(const kc_format *f, uint64_t random) {
  int top = UNIT + f->emax + 2, bottom = UNIT + f->emin - f->frac_bits - 3;
  int64_t v = 1ll << (bottom + (int)(random % (uint64_t)(top - bottom)));
  switch (random >> 8 & 7) {
  case 0:
    v += (int64_t)(random >> 20 & 0xff) * (v >> 8);
    break;
  case 1:
    v += (int64_t)(random >> 20 & 31) * (v >> 5);
    break;
  case 2:
    v -= (int64_t)(random >> 20 & 31) * (v >> 7);
    break;
  case 3:
    v = (int64_t)(random >> 20 & 0xffff) << (bottom - 2 > 0 ? bottom - 2 : 0);
    break;
  case 4:
    v = (random >> 20 & 7) ? v : 0;
    break;
  default:
    break;
  }
  return random >> 60 & 1 || random >> 40 & 1 ? -v : v;
}

static kc_element_decision decide(const rule *r, uint64_t code, int64_t lo, int64_t hi, uint8_t classes) {
  double a = ldexp((double)lo, -UNIT), b = ldexp((double)hi, -UNIT), y = kc_decode(r->f, code);
  kc__bounds d = {0, 0};
  if (!isnan(y)) d = kc__difference(r->f, y, (kc__bounds){a, b});
  double allowed = r->t.kind == KC_TOL_GIVEN ? ldexp((double)r->sixteenths, -24) : 0;
  return kc_decide_element(r->f, code, a, b, d.lo, d.hi, classes, &r->t, allowed);
}

static uint8_t classes_of(int64_t lo, int64_t hi, int zero_sign) {
  uint8_t zero = zero_sign < 0 ? KC_NZERO : KC_PZERO;
  return (uint8_t)((lo < 0 ? KC_NFIN : 0) | (hi > 0 ? KC_PFIN : 0) | (lo <= 0 && hi >= 0 ? zero : 0));
}

static const char *describe(char *out, size_t size, const rule *r, uint64_t code, int64_t lo, int64_t hi) {
  snprintf(out, size, "%s code 0x%llx kind %d value %g flush %d, exact [%lld, %lld] * 2^-%d", r->f->name,
           (unsigned long long)code, r->t.kind, (double)r->sixteenths / 16, r->t.denormals, (long long)lo, (long long)hi, UNIT);
  return out;
}

static void exact_values_are_decided(const char *name) {
  uint64_t state = 11;
  char text[256];
  int held = 0;
  for (int i = 0; i < 400000; i++) {
    rule r = any_rule(kc_format_find(name), next(&state));
    int64_t v = any_value(r.f, next(&state));
    uint64_t code = near_code(&r, v, next(&state)) & ((1u << r.f->bits) - 1);
    int zero_sign = (i & 1) ? -1 : 1;
    kc_element_decision d = decide(&r, code, v, v, classes_of(v, v, zero_sign));
    bool yes = d.cls == KC_YES && d.value == KC_YES, no = d.cls == KC_NO || d.value == KC_NO;
    bool expected = right(&r, code, v, zero_sign);
    held += expected;
    cr_assert(expected ? yes : no, "%s: class %d value %d, expected %s", describe(text, sizeof text, &r, code, v, v), d.cls,
              d.value, expected ? "held" : "violated");
    if (yes) cr_assert(d.ratio_lo <= 1 && d.ratio_hi <= 1, "%s: ratio %g", text, d.ratio_hi);
    if (no) cr_assert(d.ratio_hi > 1, "%s: ratio %g", describe(text, sizeof text, &r, code, v, v), d.ratio_hi);
  }
  cr_assert(held > 40000 && held < 360000, "the cases must be mixed: %d of 400000 held", held);
}

Test(element, exact_values_are_decided_f16) {
  exact_values_are_decided("f16");
}
Test(element, exact_values_are_decided_e5m2) {
  exact_values_are_decided("e5m2");
}

static void answers_hold_for_every_value(const char *name) {
  uint64_t state = 23;
  char text[256];
  int64_t answered = 0;
  for (int i = 0; i < 300000; i++) {
    rule r = any_rule(kc_format_find(name), next(&state));
    int64_t middle = any_value(r.f, next(&state)), width = (int64_t)(next(&state) & 63) << (next(&state) % 20);
    int64_t lo = middle - width, hi = middle + (int64_t)(next(&state) % 3) * width;
    uint64_t code = near_code(&r, middle, next(&state)) & ((1u << r.f->bits) - 1);
    int zero_sign = (i & 1) ? -1 : 1;
    kc_element_decision d = decide(&r, code, lo, hi, classes_of(lo, hi, zero_sign));
    bool yes = d.cls == KC_YES && d.value == KC_YES, no = d.cls == KC_NO || d.value == KC_NO;
    answered += yes || no;
    for (int k = 0; k <= 8; k++) {
      int64_t v = k == 8 && lo <= 0 && hi >= 0 ? 0 : lo + (hi - lo) / 8 * (k < 8 ? k : 8);
      if (k == 7) v = hi;
      bool ok = right(&r, code, v, zero_sign);
      cr_assert(!(yes && !ok) && !(no && ok), "%s: called %s, but %lld is %s", describe(text, sizeof text, &r, code, lo, hi),
                yes ? "held" : "violated", (long long)v, ok ? "right" : "wrong");
    }
  }
  cr_assert(answered > 100000, "most cases must get an answer: %lld", (long long)answered);
}

Test(element, answers_hold_for_every_value_f16) {
  answers_hold_for_every_value("f16");
}
Test(element, answers_hold_for_every_value_e5m2) {
  answers_hold_for_every_value("e5m2");
}

static kc_element_decision of_double(double y, double lo, double hi, uint8_t classes, kc_tolerance t) {
  const kc_format *f = kc_format_find("f64");
  kc_encoding nearest = {.rounding = KC_RNE};
  kc__bounds d = kc__difference(f, y, (kc__bounds){lo, hi});
  return kc_decide_element(f, kc_encode(f, y, &nearest), lo, hi, d.lo, d.hi, classes, &t, 0);
}

/* An infinite f64 stands for 2^1024, which is no double. */
Test(element, overflow_of_f64) {
  const double inf = KC__INF, max = 0x1.fffffffffffffp1023;
  kc_tolerance one = {.kind = KC_TOL_ULP, .value = 1}, less = {.kind = KC_TOL_ULP, .value = 0.875};
  cr_expect_eq(of_double(inf, max, max, KC_PFIN, one).cls, KC_YES);
  cr_expect_eq(of_double(inf, max, max, KC_PFIN, less).cls, KC_NO);
  cr_expect_eq(of_double(-inf, -max, -max, KC_NFIN, one).cls, KC_YES);
  cr_expect_eq(of_double(inf, max, inf, KC_PFIN, one).cls, KC_YES, "beyond the doubles, from the oracle for exp");
  cr_expect_eq(of_double(inf, max, inf, KC_PFIN, less).cls, KC_UNKNOWN);
  cr_expect_eq(of_double(max, max, inf, KC_PFIN, one).value, KC_UNKNOWN);
}

/* 2^-1075 is between 0 and the smallest f64: lo = 0 and hi = 2^-1074 is all that doubles can say. */
Test(element, underflow_of_f64) {
  kc_tolerance one = {.kind = KC_TOL_ULP, .value = 1}, half = {.kind = KC_TOL_ULP, .value = 0.5};
  cr_expect_eq(of_double(0, 0, DBL_TRUE_MIN, KC_PFIN, one).value, KC_YES);
  cr_expect_eq(of_double(0, 0, DBL_TRUE_MIN, KC_PFIN, half).value, KC_UNKNOWN);
  cr_expect_eq(of_double(-0.0, 0, DBL_TRUE_MIN, KC_PFIN, one).cls, KC_NO);
}

static kc_element_decision of_code(const char *name, uint64_t code, double v, uint8_t classes, kc_tolerance t) {
  const kc_format *f = kc_format_find(name);
  double y = kc_decode(f, code);
  kc__bounds d = {0, 0};
  if (!isnan(y)) d = kc__difference(f, y, (kc__bounds){v, v});
  return kc_decide_element(f, code, v, v, d.lo, d.hi, classes, &t, 0);
}

/* Formats without infinities: whether overflow saturates or gives NaN is not declared by a tolerance. */
Test(element, conversions_that_a_tolerance_does_not_declare) {
  kc_tolerance ulp = {.kind = KC_TOL_ULP, .value = 1};
  cr_expect_eq(of_code("e4m3fn", 0x7e, 448, KC_PFIN, ulp).value, KC_YES);
  cr_expect_eq(of_code("e4m3fn", 0x7e, 1000, KC_PFIN, ulp).value, KC_UNKNOWN, "saturated");
  cr_expect_eq(of_code("e4m3fn", 0x7f, 1000, KC_PFIN, ulp).cls, KC_UNKNOWN, "NaN for overflow");
  cr_expect_eq(of_code("e4m3fn", 0x7f, 448, KC_PFIN, ulp).cls, KC_NO, "NaN for a number that fits");
  cr_expect_eq(of_code("e4m3fn", 0xfe, 1000, KC_PFIN, ulp).value, KC_NO, "saturated to the wrong sign");
  cr_expect_eq(of_code("e4m3fn", 0x38, 1000, KC_PFIN, ulp).value, KC_NO, "1 for 1000");
  cr_expect_eq(of_code("i8", 0x80, 200, KC_PFIN, ulp).value, KC_UNKNOWN, "wrapped or saturated");
  cr_expect_eq(of_code("i8", 0x7f, 127, KC_PFIN, ulp).value, KC_YES);
  cr_expect_eq(of_code("i8", 0x80, -128, KC_NFIN, ulp).value, KC_YES);
  cr_expect_eq(of_code("i8", 5, 7, KC_PFIN, ulp).value, KC_NO);
  cr_expect_eq(of_code("i32", 0, 0, KC_NAN, ulp).cls, KC_UNKNOWN, "NaN as an integer");
}

/* FNUZ formats have one zero, so it stands for small values of either sign. */
Test(element, formats_with_one_zero) {
  kc_tolerance half = {.kind = KC_TOL_ULP, .value = 0.5}, exact = {.kind = KC_TOL_EXACT};
  cr_expect_eq(of_code("e5m2fnuz", 0, -0x1p-19, KC_NFIN, half).cls, KC_YES);
  cr_expect_eq(of_code("e5m2fnuz", 0, -0.0, KC_NZERO, exact).cls, KC_YES);
  cr_expect_eq(of_code("e5m2", 0, -0x1p-18, KC_NFIN, half).cls, KC_NO, "e5m2 has two");
}

Test(element, several_possible_kinds_are_unknown) {
  kc_tolerance ulp = {.kind = KC_TOL_ULP, .value = 1};
  cr_expect_eq(of_code("f32", 0x7fc00000, 1, KC_NAN | KC_PFIN, ulp).cls, KC_UNKNOWN);
  cr_expect_eq(of_code("f32", 0x3f800000, 1, KC_NAN | KC_PFIN, ulp).cls, KC_UNKNOWN);
  cr_expect_eq(of_code("f32", 0xff800000, 1, KC_NAN | KC_PFIN, ulp).cls, KC_NO, "right for neither");
  cr_expect_eq(of_code("f32", 0x3f800000, 0, 0, ulp).cls, KC_UNKNOWN, "nothing known");
}

Test(element, formulas_that_gave_nan_allow_nothing_to_be_said) {
  const kc_format *f = kc_format_find("f32");
  kc_tolerance given = {.kind = KC_TOL_GIVEN};
  double bad = nan("");
  cr_expect_eq(kc_decide_element(f, 0x3f800000, 2, 2, 1, 1, KC_PFIN, &given, bad).value, KC_UNKNOWN);
  cr_expect_eq(kc_decide_element(f, 0x3f800000, 2, 2, 1, 1, KC_PFIN, &given, 1).value, KC_YES);
  cr_expect_eq(kc_decide_element(f, 0x3f800000, 2, 1, 1, 1, KC_PFIN, &given, 1).value, KC_UNKNOWN, "lo > hi proves nothing");
}
