/* refine.c - one element again, more precisely, until a tolerance can be decided. */
#include <math.h>
#include <stdlib.h>

#include "operation.h"

struct kc_exact_refiner {
  const kc_exact *op;
  kc_buffer *inputs[2];
};

/* Precision of each tier, and whether MPFR answers where it has the function: its ternary value tells exact results. */
static const struct {
  slong precision;
  bool real;
} tiers[] = {{128, false}, {256, false}, {512, false}, {160, true}, {4096, true}};

kc_status kc_exact_refiner_create(kc_exact_refiner **out, const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  *out = NULL;
  kc_status status = kc__exact_check(op, inputs, err);
  if (status != KC_OK) return status;
  kc_exact_refiner *r = calloc(1, sizeof *r);
  if (!r) return kc_fail(err, KC_ENOMEM, "%s: out of memory", op->name);
  r->op = op;
  for (int i = 0; i < op->arity; i++) r->inputs[i] = kc_buffer_retain((kc_buffer *)(uintptr_t)inputs[i]);
  *out = r;
  return KC_OK;
}

void kc_exact_refiner_free(void *refiner) {
  kc_exact_refiner *r = refiner;
  if (!r) return;
  for (int i = 0; i < 2; i++) kc_buffer_release(r->inputs[i]);
  free(r);
}

static double argument(const kc_buffer *b, int64_t i) {
  if (!b) return 0;
  const kc_format *f = kc_buffer_format(b);
  return kc_decode(f, kc_load(f, kc_buffer_cdata(b), (size_t)i));
}

/* bound - y, rounded in the given direction; 256 bits are far more than a double keeps. */
static double difference(const arf_t bound, double y, arf_rnd_t rounding) {
  arf_t t;
  arf_init(t);
  arf_set_d(t, y);
  arf_sub(t, bound, t, 256, rounding);
  double d = arf_get_d(t, rounding);
  arf_clear(t);
  return d;
}

static void subtract(const kc__bracket *b, double y, double *dlo, double *dhi) {
  if (isnan(y)) {
    *dlo = -(double)INFINITY;
    *dhi = (double)INFINITY;
    return;
  }
  *dlo = difference(b->lo, y, ARF_RND_FLOOR);
  *dhi = difference(b->hi, y, ARF_RND_CEIL);
}

static kc_exact_value enclose(kc__bracket *b, const kc_exact *op, const double x[2], int tier) {
  kc__known_point known = kc__exact_special(op, x);
  if (known.classes) {
    kc_exact_value v = kc__exact_known(known);
    arf_set_d(b->lo, isinf(v.lo) ? 0 : v.lo); /* an infinity has no difference; its class decides */
    arf_set(b->hi, b->lo);
    return v;
  }
  bool real = (tiers[tier].real || op->algebraic) && kc__exact_has_real(op);
  if (real)
    kc__exact_real(b, op, x, tiers[tier].precision);
  else
    kc__exact_ball(b, op, x, tiers[tier].precision, 0);
  return kc__exact_doubles(b);
}

kc_status kc_exact_refine(void *refiner, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                          uint8_t *classes) {
  const kc_exact_refiner *r = refiner;
  if (tier < 1 || tier > (int)(sizeof tiers / sizeof *tiers)) return KC_EUNSUPPORTED;
  double x[2] = {argument(r->inputs[0], i), argument(r->inputs[1], i)};
  kc__bracket b;
  kc__bracket_init(&b);
  kc_exact_value v = enclose(&b, r->op, x, tier - 1);
  subtract(&b, y, dlo, dhi);
  kc__bracket_clear(&b);
  *lo = v.lo;
  *hi = v.hi;
  *classes = v.classes;
  return KC_OK;
}
