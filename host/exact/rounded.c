/* rounded.c - values rounded into a format. Rounding is monotone: the ends of a ball, rounded, enclose what its numbers round to. */
#include <math.h>

#include "tensor.h"
#include "value.h"

enum {
  FINITES = KC_NFIN | KC_PFIN,
  LARGE = 1100,  /* 2^1100 rounds as every larger number does, in every format and every mode; */
  SMALL = -1200, /* 2^-1200 as every smaller one */
};

typedef struct rounding {
  const kc_format *f;
  kc_encoding how;
  kc_exact_value seen; /* classes and hull of the finite results so far; lo > hi: none */
} rounding;

static double round_parts(const rounding *w, kc_parts p) {
  return kc_decode(w->f, kc_encode_parts(w->f, p, &w->how));
}

static void admit(rounding *w, double x) {
  w->seen.classes |= (uint8_t)kc_classify_double(x);
  if (!isfinite(x)) return;
  if (x < w->seen.lo) w->seen.lo = x;
  if (x > w->seen.hi) w->seen.hi = x;
}

/* NaN stays NaN even where the format has none: what becomes of it then is declared nowhere. */
static void admit_special(rounding *w, kc_class c) {
  admit(w, c == KC_NAN ? (double)NAN : round_parts(w, (kc_parts){.cls = c}));
}

/* The magnitude `m`, or the nearest one that rounds alike, with the sign of class c. */
static double round_magnitude(const rounding *w, arf_t m, kc_class c) {
  if (arf_cmp_2exp_si(m, SMALL) < 0) arf_set_si_2exp_si(m, 1, SMALL);
  if (arf_cmp_2exp_si(m, LARGE) > 0) arf_set_si_2exp_si(m, 1, LARGE);
  mpfr_t v;
  mpfr_init2(v, arf_bits(m));
  arf_get_mpfr(v, m, MPFR_RNDN); /* exact */
  kc_parts p = kc_exact_parts(v);
  mpfr_clear(v);
  p.cls = c;
  return round_parts(w, p);
}

/* The finite numbers of class c in a bracket: the results reach from that of the smallest magnitude to that of the largest. Where only
 * the largest overflows, every number of the format up to its last one lies between. */
static void admit_finite(rounding *w, kc__bracket *b, kc_class c) {
  if (c == KC_NFIN) {
    arf_swap(b->lo, b->hi);
    arf_neg(b->lo, b->lo);
    arf_neg(b->hi, b->hi);
  }
  double near = round_magnitude(w, b->lo, c), far = round_magnitude(w, b->hi, c);
  admit(w, near);
  admit(w, far);
  if (isfinite(near) && !isfinite(far)) far = copysign(kc_decode(w->f, w->f->max_code), c == KC_NFIN ? -1 : 1);
  if (isfinite(near)) admit(w, far);
}

static void bracket_of(kc__bracket *b, const arb_t x) {
  if (arb_is_finite(x)) {
    kc__bracket_of_ball(b, x);
  } else {
    arf_neg_inf(b->lo);
    arf_pos_inf(b->hi);
  }
}

void kc__value_round(kc__value r, kc__value x, const kc_format *f, kc_rounding mode) {
  rounding w = {.f = f, .how = {.rounding = (uint8_t)mode}, .seen = {(double)INFINITY, -(double)INFINITY, 0}};
  kc__bracket b;
  kc__bracket_init(&b);
  for (unsigned c = KC_NAN; c <= KC_PINF; c <<= 1) {
    if (!(*x.classes & c)) continue;
    if (c & FINITES) {
      bracket_of(&b, x.x);
      admit_finite(&w, &b, (kc_class)c);
    } else {
      admit_special(&w, (kc_class)c);
    }
  }
  kc__bracket_clear(&b);
  kc__value_set_bounds(r, w.seen.lo, w.seen.hi, w.seen.classes);
}
