/* refine.c - one element at rising precision, until the deciding core has what it needs. */
#include <math.h>
#include <stdlib.h>

#include "tensor.h"

/* Arb is the faster; where it cannot tell, the value may be exact (a tie has no finite precision at which a ball excludes it): MPFR
 * says so. 160 bits hold every exact quotient, root and small power of doubles, 4096 powers of 53-bit numbers up to 77. */
static const struct {
  bool real;
  int precision;
} tiers[] = {{false, 128}, {false, 256}, {false, 512}, {true, 160}, {true, 4096}};

struct kc_exact_refiner {
  const kc_exact *op;
  kc_buffer *inputs[2];
};

/* The reference counter is the only thing that changes in a buffer that is otherwise read. */
static kc_buffer *retain(const kc_buffer *b) {
  return kc_buffer_retain((kc_buffer *)(uintptr_t)b);
}

kc_status kc_exact_refiner_create(kc_exact_refiner **out, const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  *out = NULL;
  kc_status status = kc__exact_check(op, inputs, err);
  if (status != KC_OK) return status;
  kc_exact_refiner *r = calloc(1, sizeof *r);
  if (!r) return kc_fail(err, KC_ENOMEM, "no memory for a refiner");
  r->op = op;
  for (int a = 0; a < op->arity; a++) r->inputs[a] = retain(inputs[a]);
  *out = r;
  return KC_OK;
}

void kc_exact_refiner_free(void *refiner) {
  kc_exact_refiner *r = refiner;
  if (!r) return;
  for (int a = 0; a < r->op->arity; a++) kc_buffer_release(r->inputs[a]);
  free(r);
}

static void bracket_tier(kc__bracket *b, const kc_exact *op, const double x[2], int tier) {
  if (tiers[tier].real && kc__exact_has_real(op)) {
    kc__exact_real(b, op, x, tiers[tier].precision);
  } else {
    kc__exact_ball(b, op, x, tiers[tier].precision, 0);
  }
}

/* Exact differences of the bracket's ends, rounded outward once. */
void kc__exact_difference(const kc__bracket *b, double y, double *dlo, double *dhi) {
  *dlo = -(double)INFINITY;
  *dhi = (double)INFINITY;
  if (!isfinite(y)) return;
  arf_t d, v;
  arf_init(d);
  arf_init(v);
  arf_set_d(v, y);
  arf_sub(d, b->lo, v, 64, ARF_RND_FLOOR);
  *dlo = arf_get_d(d, ARF_RND_FLOOR);
  arf_sub(d, b->hi, v, 64, ARF_RND_CEIL);
  *dhi = arf_get_d(d, ARF_RND_CEIL);
  arf_clear(v);
  arf_clear(d);
}

static kc_exact_value refine_point(const kc_exact *op, const double x[2], int tier, kc__bracket *b) {
  kc__known_point known = kc__exact_special(op, x);
  if (known.classes) {
    arf_set_d(b->lo, known.value);
    arf_set_d(b->hi, known.value);
    return kc__exact_known(known);
  }
  bracket_tier(b, op, x, tier);
  return kc__exact_doubles(b);
}

kc_status kc_exact_refine(void *refiner, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                          uint8_t *classes) {
  const kc_exact_refiner *r = refiner;
  if (tier < 1 || tier > (int)(sizeof tiers / sizeof *tiers)) return KC_EUNSUPPORTED;
  double x[2] = {0, 0};
  for (int a = 0; a < r->op->arity; a++) {
    const kc_format *f = kc_buffer_format(r->inputs[a]);
    x[a] = kc_decode(f, kc_load(f, kc_buffer_cdata(r->inputs[a]), (size_t)i));
  }
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  kc__bracket b;
  kc__bracket_init(&b);
  kc_exact_value v = refine_point(r->op, x, tier - 1, &b);
  kc__exact_difference(&b, y, dlo, dhi);
  kc__bracket_clear(&b);
  kc_fpstate_set(saved);
  *lo = v.lo;
  *hi = v.hi;
  *classes = v.classes;
  return KC_OK;
}
