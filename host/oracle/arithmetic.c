/* arithmetic.c - sqrt, div, rsqrt in binary64. The hardware rounds correctly, the residual of the result (exact, by fma) tells the
 * side, so an enclosure is one step wide, or a point where the result is exact. Exceptional operands follow tables (IEEE 754-2019
 * sections 6.1 to 6.3, 9.2.1 for rSqrt).
 */
#include "../directed.h"
#include "oracle.h"

static kc_status count_float(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)p;
  *out = kc_buffer_count(inputs[0]);
  return kc__require_float(inputs[0], 1, err);
}

static kc_status count_floats(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  kc_status status = count_float(out, inputs, p, err);
  if (status == KC_OK) status = kc__require_float(inputs[1], 2, err);
  return status == KC_OK ? kc__require_same_shape(inputs[0], inputs[1], err) : status;
}

/* Bounds of sqrt(x), x > 0 finite. Small x is scaled by 2^400, which is exact both ways: x >= 2^-1074 gives s >= 2^-537. */
static kc__bounds sqrt_bounds(double x) {
  if (x < KC__RESIDUAL_SAFE) {
    kc__bounds b = sqrt_bounds(x * 0x1p400);
    return (kc__bounds){b.lo * 0x1p-200, b.hi * 0x1p-200};
  }
  double s = sqrt(x);
  double residual = fma(s, s, -x);
  return (kc__bounds){residual > 0 ? kc__down(s) : s, residual < 0 ? kc__up(s) : s};
}

/* Result by class of the operand, in the order of kc_class's bits; 0: computed. */
static const uint8_t sqrt_table[7] = {KC_NAN, KC_NAN, KC_NAN, KC_NZERO, KC_PZERO, 0, KC_PINF};
static const uint8_t rsqrt_table[7] = {KC_NAN, KC_NAN, KC_NAN, KC_NINF, KC_PINF, 0, KC_PZERO};

static kc__known sqrt_of(const double *x, const kc_oracle_params *p) {
  (void)p;
  uint8_t special = sqrt_table[__builtin_ctz(kc_classify_double(x[0]))];
  if (special) return kc__known_class((kc_class)special);
  kc__bounds b = sqrt_bounds(x[0]);
  return (kc__known){b.lo, b.hi, KC_PFIN};
}

static kc__known rsqrt_of(const double *x, const kc_oracle_params *p) {
  (void)p;
  uint8_t special = rsqrt_table[__builtin_ctz(kc_classify_double(x[0]))];
  if (special) return kc__known_class((kc_class)special);
  kc__bounds b = sqrt_bounds(x[0]);
  return (kc__known){kc__div_down(1, b.hi), kc__div_up(1, b.lo), KC_PFIN};
}

/* Magnitude of a quotient by kind of operand: NaN, infinity, finite, zero; 0: computed. */
enum { KIND_NAN, KIND_INF, KIND_FIN, KIND_ZERO };
static const uint8_t kind_of[7] = {KIND_NAN, KIND_INF, KIND_FIN, KIND_ZERO, KIND_ZERO, KIND_FIN, KIND_INF};
static const uint8_t div_table[4][4] = {{KC_NAN, KC_NAN, KC_NAN, KC_NAN},
                                        {KC_NAN, KC_NAN, KC_PINF, KC_PINF},
                                        {KC_NAN, KC_PZERO, 0, KC_PINF},
                                        {KC_NAN, KC_PZERO, KC_PZERO, KC_NAN}};

/* kc_class's bits are symmetric about the zeros: bit k of a positive class is bit 7 - k of the negative one. */
static uint8_t negated(uint8_t c) {
  return c == KC_NAN ? c : (uint8_t)(1u << (7 - __builtin_ctz(c)));
}

static kc__known div_of(const double *x, const kc_oracle_params *p) {
  (void)p;
  bool negative = !signbit(x[0]) != !signbit(x[1]);
  int a = __builtin_ctz(kc_classify_double(x[0])), b = __builtin_ctz(kc_classify_double(x[1]));
  uint8_t special = div_table[kind_of[a]][kind_of[b]];
  if (special) return kc__known_class((kc_class)(negative ? negated(special) : special));
  kc__bounds q = {kc__div_down(fabs(x[0]), fabs(x[1])), kc__div_up(fabs(x[0]), fabs(x[1]))};
  if (negative) return (kc__known){-q.hi, -q.lo, KC_NFIN};
  return (kc__known){q.lo, q.hi, KC_PFIN};
}

static kc_status eval_sqrt(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  return kc__elementwise(out, inputs, 1, sqrt_of, p);
}

static kc_status eval_rsqrt(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  return kc__elementwise(out, inputs, 1, rsqrt_of, p);
}

static kc_status eval_div(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  return kc__elementwise(out, inputs, 2, div_of, p);
}

const kc_oracle kc__oracle_sqrt = {
    .name = "sqrt", .doc = "square root; sqrt(-0) = -0, NaN below", .arity = 1, .count = count_float, .eval = eval_sqrt};
const kc_oracle kc__oracle_rsqrt = {
    .name = "rsqrt", .doc = "1 / sqrt(x); rsqrt(-0) = -inf, NaN below", .arity = 1, .count = count_float, .eval = eval_rsqrt};
const kc_oracle kc__oracle_div = {.name = "div", .doc = "x / y", .arity = 2, .count = count_floats, .eval = eval_div};
