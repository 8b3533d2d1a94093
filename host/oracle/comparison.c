/* comparison.c - relu, clamp, max: exact comparisons, no arithmetic. Two zeros compare equal, and which of them a maximum of both
 * is, IEEE 754 leaves to the implementation (2008) or prefers +0 (2019): both are admitted.
 */
#include "../directed.h"
#include "oracle.h"

static kc_status count_one(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)p;
  *out = kc_buffer_count(inputs[0]);
  return kc__require_exact(inputs[0], 1, err);
}

/* The larger of two numbers that are not NaN. */
static kc__known larger(double a, double b) {
  kc__known known = kc__known_exactly(a > b ? a : b);
  if (a == b) known.classes |= (uint8_t)kc_classify_double(a);
  return known;
}

/* max(x, +0): the sign of relu(-0) is the implementation's, NaN stays NaN, negative numbers give +0. */
static kc__known relu(const double *x, const kc_oracle_params *p) {
  (void)p;
  return isnan(x[0]) ? kc__known_class(KC_NAN) : larger(x[0], 0.0);
}

static kc_status eval_relu(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  return kc__elementwise(out, inputs, 1, relu, p);
}

const kc_oracle kc__oracle_relu = {.name = "relu",
                                   .doc = "max(x, 0); NaN stays NaN; either zero for x = -0",
                                   .arity = 1,
                                   .count = count_one,
                                   .eval = eval_relu};

enum { PROPAGATE, IGNORE, UNDECLARED };

/* Where an operand is NaN: NaN, the number that ignoring it gives, or nothing that was declared. */
static kc__known of_nan(const kc_oracle_params *p, double ignored) {
  if (p->nan == UNDECLARED) return (kc__known){.classes = 0};
  return p->nan == IGNORE ? kc__known_exactly(ignored) : kc__known_class(KC_NAN);
}

/* min(max(x, a), b) for a <= b. A zero that equals a limit may be taken from either. */
static kc__known clamp(const double *x, const kc_oracle_params *p) {
  if (isnan(x[0])) return of_nan(p, p->a);
  kc__known known = kc__known_exactly(x[0] < p->a ? p->a : x[0] > p->b ? p->b : x[0]);
  if (known.lo == p->a) known.classes |= (uint8_t)kc_classify_double(p->a);
  if (known.lo == p->b) known.classes |= (uint8_t)kc_classify_double(p->b);
  return known;
}

static kc_status check_limit(const kc_format *f, const char *name, double limit, kc_text *err) {
  kc_encoding nearest = {.rounding = KC_RNE, .saturate = true};
  if (!isnan(limit) && kc_decode(f, kc_encode(f, limit, &nearest)) == limit) return KC_OK;
  return kc_fail(err, KC_EINVAL, "limit %s: expected a number that %s represents exactly, got %a", name, f->name, limit);
}

static kc_status count_clamp(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  const kc_format *f = kc_buffer_format(inputs[0]);
  kc_status status = count_one(out, inputs, p, err);
  if (status == KC_OK) status = check_limit(f, "a", p->a, err);
  if (status == KC_OK) status = check_limit(f, "b", p->b, err);
  if (status == KC_OK && !(p->a <= p->b))
    status = kc_fail(err, KC_EINVAL, "limits: expected a <= b, got %g and %g", p->a, p->b);
  return status;
}

static kc_status eval_clamp(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  return kc__elementwise(out, inputs, 1, clamp, p);
}

const kc_oracle kc__oracle_clamp = {.name = "clamp",
                                    .doc = "min(max(x, a), b); a NaN stays NaN, or with nan=ignore gives a",
                                    .arity = 1,
                                    .parameters = "a b nan",
                                    .count = count_clamp,
                                    .eval = eval_clamp};

static kc_status count_max(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  kc_status status = count_one(out, inputs, p, err);
  if (status == KC_OK) status = kc__require_exact(inputs[1], 2, err);
  return status == KC_OK ? kc__require_same_shape(inputs[0], inputs[1], err) : status;
}

static kc__known max_of(const double *x, const kc_oracle_params *p) {
  bool first = isnan(x[0]), second = isnan(x[1]);
  if (!first && !second) return larger(x[0], x[1]);
  return first && second ? kc__known_class(KC_NAN) : of_nan(p, first ? x[1] : x[0]);
}

static kc_status eval_max(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  return kc__elementwise(out, inputs, 2, max_of, p);
}

const kc_oracle kc__oracle_max = {.name = "max",
                                  .doc = "the larger of x and y; either zero where both are; nan=propagate or ignore",
                                  .arity = 2,
                                  .parameters = "nan",
                                  .count = count_max,
                                  .eval = eval_max};
