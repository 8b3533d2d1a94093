/* test_rounded.c - exact values rounded into a format: points against MPFR's own subnormal arithmetic, balls against the points in
 * them, and the alternatives that are no ball.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "tensor.h"
#include "value.h"

enum { BITS = 200, FINITES = KC_NFIN | KC_PFIN, ZEROS = KC_NZERO | KC_PZERO };

static const char *const ieee[] = {"f64", "f32", "tf32", "hf32", "bf16", "f16", "e5m2"};

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ (*state >> 31);
}

/* Any exponent that the format has and some that it has not; 1 to 80 significant bits, so that ties are frequent. */
static void random_number(mpfr_ptr x, uint64_t *state, const kc_format *f) {
  int width = 1 + (int)(next(state) % 80), span = f->emax - f->emin + f->frac_bits + 8;
  mpfr_set_ui_2exp(x, next(state) >> 1 | UINT64_C(1) << 62, 0, MPFR_RNDN);
  mpfr_mul_ui(x, x, next(state) >> 40 | 1, MPFR_RNDN);
  mpfr_prec_round(x, width < 2 ? 2 : width, MPFR_RNDZ);
  mpfr_prec_round(x, BITS, MPFR_RNDN);
  mpfr_set_exp(x, f->emin - f->frac_bits - 3 + (int)(next(state) % (uint64_t)span));
  if (next(state) & 1024) mpfr_neg(x, x, MPFR_RNDN);
}

/* The number in an IEEE-like format by MPFR: rounded to its significand, then to its exponents. */
static double reference(const kc_format *f, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t r;
  mpfr_init2(r, f->frac_bits + 1);
  int t = mpfr_set(r, x, mode);
  mpfr_set_emin(f->emin - f->frac_bits + 1);
  mpfr_set_emax(f->emax + 1);
  t = mpfr_check_range(r, t, mode);
  mpfr_subnormalize(r, t, mode);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  double d = mpfr_get_d(r, MPFR_RNDN);
  mpfr_clear(r);
  return d;
}

/* What is known after rounding the ball with these classes. */
static kc_exact_value rounded(const arb_t x, uint8_t classes, const kc_format *f, kc_rounding mode) {
  arb_t in, out;
  uint8_t found = 0;
  arb_init(in);
  arb_init(out);
  arb_set(in, x);
  kc__value_round((kc__value){out, &found}, (kc__value){in, &classes}, f, mode);
  kc__bracket b;
  kc__bracket_init(&b);
  kc__bracket_of_ball(&b, out);
  kc_exact_value v = kc__exact_doubles(&b);
  v.classes = found;
  kc__bracket_clear(&b);
  arb_clear(out);
  arb_clear(in);
  return v;
}

static kc_exact_value rounded_point(mpfr_srcptr p, const kc_format *f, kc_rounding mode) {
  arb_t x;
  arb_init(x);
  arf_set_mpfr(arb_midref(x), p);
  kc_exact_value v = rounded(x, mpfr_sgn(p) < 0 ? KC_NFIN : KC_PFIN, f, mode);
  arb_clear(x);
  return v;
}

Test(rounded, points_agree_with_mpfr) {
  static const struct {
    kc_rounding ours;
    mpfr_rnd_t theirs;
  } modes[] = {{KC_RNE, MPFR_RNDN}, {KC_RZ, MPFR_RNDZ}, {KC_RU, MPFR_RNDU}, {KC_RD, MPFR_RNDD}};
  uint64_t state = 1;
  int zeros = 0, subnormals = 0, infinities = 0;
  mpfr_t x;
  mpfr_init2(x, BITS);
  for (int i = 0; i < 28000; i++) {
    const kc_format *f = kc_format_find(ieee[i % 7]);
    int m = (int)(next(&state) >> 32) & 3;
    random_number(x, &state, f);
    double want = reference(f, x, modes[m].theirs);
    kc_exact_value got = rounded_point(x, f, modes[m].ours);
    bool value = isinf(want) || (got.lo == want && got.hi == want);
    cr_assert(value && got.classes == kc_classify_double(want), "%s, mode %d, number %d: [%a, %a] %d, expected %a", f->name, m,
              i, got.lo, got.hi, got.classes, want);
    zeros += want == 0;
    subnormals += want != 0 && fabs(want) < ldexp(1, f->emin);
    infinities += isinf(want) != 0;
  }
  cr_expect(zeros > 100 && subnormals > 1000 && infinities > 100, "%d zeros, %d subnormals, %d infinities", zeros, subnormals,
            infinities);
  mpfr_clear(x);
}

/* An exact tie goes to the even neighbour, what lies ever so little beyond it does not. */
Test(rounded, ties_and_what_lies_beside_them) {
  static const struct {
    const char *text;
    kc_rounding mode;
    double value;
  } rows[] = {{"0x1.00000100000000000000000000000000000000000p0", KC_RNE, 1},
              {"0x1.00000100000000000000000000000000000000001p0", KC_RNE, 1 + 0x1p-23},
              {"0x1.000000ffffffffffffffffffffffffffffffffffp0", KC_RNE, 1},
              {"0x1.000001p0", KC_RNA, 1 + 0x1p-23},
              {"-0x1.000001p0", KC_RNA, -1 - 0x1p-23},
              {"0x1p-150", KC_RNE, 0},
              {"0x1.00000000000000000000000000000000001p-150", KC_RNE, 0x1p-149},
              {"0x1p-150", KC_RNA, 0x1p-149},
              {"0x1.fffffefffffffffffffffffffffffffffffp127", KC_RNE, 0x1.fffffep127},
              {"0x1p-100000", KC_RU, 0x1p-149},
              {"0x1p100000", KC_RD, 0x1.fffffep127}};
  const kc_format *f = kc_format_find("f32");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_set_str(x, rows[i].text, 0, MPFR_RNDN);
    kc_exact_value v = rounded_point(x, f, rows[i].mode);
    cr_expect(v.lo == rows[i].value && v.hi == rows[i].value, "%s: [%a, %a]", rows[i].text, v.lo, v.hi);
    mpfr_clear(x);
  }
}

/* A point of the ball: mid + k/8 rad, k = -8 .. 8. */
static void point_in(mpfr_ptr p, const arb_t x, int k) {
  arf_t r;
  arf_init(r);
  arf_set_mag(r, arb_radref(x));
  arf_mul_si(r, r, k, ARF_PREC_EXACT, ARF_RND_DOWN);
  arf_mul_2exp_si(r, r, -3);
  arf_add(r, r, arb_midref(x), ARF_PREC_EXACT, ARF_RND_DOWN);
  mpfr_set_prec(p, 2 * BITS);
  arf_get_mpfr(p, r, MPFR_RNDN);
  arf_clear(r);
}

/* The class and value that a point rounds to are among those of the ball. */
static void holds(kc_exact_value ball, mpfr_srcptr p, const kc_format *f, kc_rounding mode) {
  kc_encoding e = {.rounding = (uint8_t)mode};
  uint64_t code = kc_encode_parts(f, kc_exact_parts(p), &e);
  double v = kc_decode(f, code);
  kc_class c = kc_classify_double(v);
  bool inside = !isfinite(v) || (ball.lo <= v && v <= ball.hi);
  cr_assert((ball.classes & c) && inside, "%s, mode %d: %a in [%a, %a], classes %d", f->name, mode, v, ball.lo, ball.hi,
            ball.classes);
}

Test(rounded, balls_hold_what_their_points_round_to) {
  uint64_t state = 2;
  int wide = 0, single = 0;
  mpfr_t p;
  mpfr_init2(p, BITS);
  arb_t x;
  arb_init(x);
  for (int i = 0; i < 40000; i++) {
    const kc_format *f = kc_format_at((size_t)i % 14);
    kc_rounding mode = (kc_rounding)((next(&state) >> 32) % 5);
    random_number(p, &state, f);
    arf_set_mpfr(arb_midref(x), p);
    mag_set_ui_2exp_si(arb_radref(x), 1 + (next(&state) >> 60), mpfr_get_exp(p) + 1 - (slong)(next(&state) % 60));
    uint8_t classes = arb_is_positive(x) ? KC_PFIN : arb_is_negative(x) ? KC_NFIN : FINITES | ZEROS;
    kc_exact_value v = rounded(x, classes, f, mode);
    for (int k = -8; k <= 8; k++) {
      point_in(p, x, k);
      holds(v, p, f, mode);
    }
    wide += v.lo < v.hi;
    single += v.lo == v.hi && !(v.classes & (v.classes - 1));
  }
  cr_expect(wide > 10000 && single > 10000, "%d wide, %d single", wide, single);
  arb_clear(x);
  mpfr_clear(p);
}

Test(rounded, what_is_no_ball) {
  static const struct {
    const char *format;
    kc_class from;
    uint8_t to;
    double value;
  } rows[] = {{"f16", KC_NAN, KC_NAN, 0},          {"e2m1", KC_NAN, KC_NAN, 0},          {"f16", KC_NINF, KC_NINF, 0},
              {"e4m3fn", KC_PINF, KC_NAN, 0},      {"e2m1", KC_NINF, KC_NFIN, -6},       {"f32", KC_NZERO, KC_NZERO, 0},
              {"e4m3fnuz", KC_NZERO, KC_PZERO, 0}, {"e8m0", KC_PZERO, KC_PFIN, 0x1p-127}};
  arb_t x;
  arb_init(x);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_exact_value v = rounded(x, (uint8_t)rows[i].from, kc_format_find(rows[i].format), KC_RNE);
    cr_expect(v.classes == rows[i].to && v.lo == rows[i].value && v.hi == v.lo, "%s, class %d: [%a, %a] %d", rows[i].format,
              rows[i].from, v.lo, v.hi, v.classes);
  }
  /* Nothing known of the magnitude: everything that f16 has, but no NaN. */
  arb_zero_pm_inf(x);
  kc_exact_value v = rounded(x, FINITES | ZEROS, kc_format_find("f16"), KC_RNE);
  cr_expect(v.lo <= -65504 && v.hi >= 65504 && v.classes == (FINITES | ZEROS | KC_NINF | KC_PINF), "[%a, %a] %d", v.lo, v.hi,
            v.classes);
  /* A hull reaches into infinity; the other sign is not among the classes. */
  arb_set_ui(x, 100000);
  arb_add_error_2exp_si(x, 16);
  v = rounded(x, KC_PFIN, kc_format_find("f16"), KC_RNE);
  cr_expect(v.classes == (KC_PFIN | KC_PINF) && v.hi >= 65504 && v.lo <= 100000 - 0x1p16, "[%a, %a] %d", v.lo, v.hi, v.classes);
  arb_clear(x);
}
