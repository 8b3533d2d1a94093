/* diff_error.c - exact errors by integers: every number is sig * 2^exp, a quotient is one division of 128-bit integers with a
 * sticky remainder, and each result is rounded once, upward. */
#include "diff_error.h"

#include "metric/metric.h"

typedef unsigned __int128 u128;

static const kc_encoding upward = {.rounding = KC_RU};

/* Does f hold every value of g? */
static bool holds(const kc_format *f, const kc_format *g) {
  if (f->kind != KC_FLOAT) {
    int room = f->bits - (f->kind == KC_INT), need = g->bits - (g->kind == KC_INT);
    return g->kind != KC_FLOAT && room >= need && (f->kind == KC_INT || g->kind == KC_UINT);
  }
  if (g->kind != KC_FLOAT) return f->has_sign && f->frac_bits + 1 >= g->bits - (g->kind == KC_INT) && f->emax >= g->bits;
  bool specials = (f->nan_rule != KC_NAN_NONE || g->nan_rule == KC_NAN_NONE) && f->has_inf >= g->has_inf &&
                  f->has_sign >= g->has_sign && f->has_signed_zero >= g->has_signed_zero && f->has_zero >= g->has_zero;
  return specials && f->frac_bits >= g->frac_bits && f->emax >= g->emax && f->emin - f->frac_bits <= g->emin - g->frac_bits;
}

const kc_format *kc__diff_common(const kc_format *a, const kc_format *b) {
  static const char *const wider[] = {"i16", "i32", "i64", "f32", "f64"};
  if (holds(a, b)) return a;
  if (holds(b, a)) return b;
  for (size_t i = 0; i < sizeof wider / sizeof *wider; i++) {
    const kc_format *f = kc_format_find(wider[i]);
    if (holds(f, a) && holds(f, b)) return f;
  }
  return NULL;
}

/* ---- exact arithmetic ---------------------------------------------------------------------------------------------- */

/* Moves the highest bit of sig != 0 to bit 126; significands have at most 64 bits, so nothing is lost. */
static kc_parts lift(kc_parts p) {
  int by = 126 - kc__log2_u128(p.sig);
  if (by <= 0) return p;
  p.sig <<= by;
  p.exp -= by;
  return p;
}

static bool is_negative(kc_parts p) {
  return p.cls == KC_NFIN;
}

static kc_parts magnitude(kc_parts p) {
  p.cls = KC_PFIN;
  return p;
}

/* |a - b| of finite numbers, as floor and sticky bit. Where bits are cut off the numbers are 60 binary places apart, so the leading
 * bits cannot cancel. */
static kc_parts difference(kc_parts a, kc_parts b) {
  if (b.sig == 0 || a.sig == 0) return magnitude(b.sig ? b : a);
  bool adds = is_negative(a) != is_negative(b);
  a = lift(a);
  b = lift(b);
  bool swap = a.exp < b.exp || (a.exp == b.exp && a.sig < b.sig);
  kc_parts big = swap ? b : a, small = swap ? a : b;
  int64_t shift = (int64_t)big.exp - small.exp;
  u128 kept = shift < 128 ? small.sig >> shift : 0;
  bool cut = shift >= 128 || kept << shift != small.sig;
  kc_parts r = {.cls = KC_PFIN, .exp = big.exp, .sticky = cut};
  r.sig = adds ? big.sig + kept : big.sig - kept - cut;
  return r;
}

/* num / den for den != 0, rounded up. */
static double quotient(kc_parts num, kc_parts den) {
  if (num.sig == 0) return 0;
  if (!num.sticky) num = lift(num); /* a sticky one has its leading bit in place already */
  u128 q = num.sig / den.sig;
  kc_parts r = {.cls = KC_PFIN, .sig = q, .exp = num.exp - den.exp, .sticky = num.sticky || q * den.sig != num.sig};
  return kc__double_of(kc_encode_parts(kc_format_at(0), r, &upward));
}

static double round_up(kc_parts p) {
  return p.sig ? kc__double_of(kc_encode_parts(kc_format_at(0), p, &upward)) : 0;
}

static double distance(const kc_format *f, uint64_t got, uint64_t ref) {
  uint64_t d = kc__ulp_distance(f, got, ref);
  return d >> 53 ? round_up((kc_parts){.cls = KC_PFIN, .sig = d}) : (double)d;
}

static double units(const kc__diff_scale *s, kc_parts error, uint64_t ref) {
  return quotient(error, kc_parts_of_double(kc_ulp_at(s->ulps, kc_decode(s->f, ref))));
}

double kc__diff_error(const kc__diff_scale *s, kc_diff_kind kind, uint64_t got, uint64_t ref) {
  if ((kind == KC_DIFF_ULP && !s->ulps) || (kind == KC_DIFF_ABS && s->f->kind != KC_FLOAT)) return distance(s->f, got, ref);
  kc_parts b = kc_parts_of_code(s->f, ref), error = difference(kc_parts_of_code(s->f, got), b);
  if (error.sig == 0) return 0;
  if (kind == KC_DIFF_ULP) return units(s, error, ref);
  if (kind == KC_DIFF_ABS) return round_up(error);
  return b.sig ? quotient(error, b) : KC__INF;
}

/* ---- shortcuts ------------------------------------------------------------------------------------------------------ */

/* Is error > allowed, both known to a few units in 2^-52? 1 yes, 0 no, -1 too close to tell. */
static int compare_roughly(double error, double allowed) {
  if (error < KC__RESIDUAL_SAFE || error == KC__INF) return -1;
  return error > allowed * (1 + 0x1p-48) ? 1 : error < allowed * (1 - 0x1p-48) ? 0 : -1;
}

/* Of 64-bit integers, whose values as doubles may be rounded. */
static bool exceeds_wide(const kc__diff_scale *s, kc_diff_kind kind, uint64_t got, uint64_t ref, double y, double limit) {
  if (kind != KC_DIFF_REL) return distance(s->f, got, ref) > limit;
  int rough = compare_roughly((double)kc__ulp_distance(s->f, got, ref), limit * fabs(y));
  return rough >= 0 ? rough : kc__diff_error(s, kind, got, ref) > limit;
}

bool kc__diff_exceeds(const kc__diff_scale *s, kc_diff_kind kind, uint64_t got, uint64_t ref, double x, double y,
                      double limit) {
  if (kind == KC_DIFF_ULP && !s->ulps) return distance(s->f, got, ref) > limit;
  if (s->wide) return exceeds_wide(s, kind, got, ref, y, limit);
  double error = kc__sub_up(fmax(x, y), fmin(x, y));
  if (kind == KC_DIFF_ABS) return error > limit;
  double unit = kind == KC_DIFF_REL ? fabs(y) : kc_ulp_at(s->ulps, y);
  int rough = compare_roughly(error, limit * unit);
  return rough >= 0 ? rough : kc__diff_error(s, kind, got, ref) > limit;
}
