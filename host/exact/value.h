/* value.h - what is known of one exact value while an expression is evaluated, and arithmetic on it. Internal.
 *
 * A value is one of several alternatives: NaN, an infinity, a zero of either sign, or a finite number in a ball. Operations take
 * every combination of alternatives through the table of the operation (IEEE 754-2019, section 6) and unite what they give, so that
 * an undecided operand makes the result undecided, never wrong.
 */
#ifndef KC_EXACT_VALUE_H
#define KC_EXACT_VALUE_H

#include "operation.h"

/* One element of a tensor of values: the ball of the finite alternatives (zeros included; exactly 0 when they are all there is),
 * and the set of classes. */
typedef struct kc__value {
  arb_struct *x;
  uint8_t *classes;
} kc__value;

typedef enum kc__comparison { KC__LT, KC__LE, KC__GT, KC__GE, KC__EQ, KC__NE } kc__comparison;

/* Sets r to a known double, with the class it has (zeros with their sign). */
void kc__value_set_double(kc__value r, double x);
/* Sets r to what an enclosure says of an element. */
void kc__value_set_bounds(kc__value r, double lo, double hi, uint8_t classes);
/* Sets r to a ball: classes by its sign; an exact zero may have either sign. */
void kc__value_set_ball(kc__value r, const arb_t x);
/* Anything at all. */
void kc__value_set_unknown(kc__value r);
void kc__value_copy(kc__value r, kc__value x);

/* True when the value is finite or zero whatever alternative holds. */
bool kc__value_is_real(kc__value x);
/* True when nothing is left open but the width of the ball. */
bool kc__value_is_settled(kc__value x);

/* r may not be an operand. */
typedef void (*kc__value_binary)(kc__value r, kc__value x, kc__value y, slong precision);
void kc__value_add(kc__value r, kc__value x, kc__value y, slong precision);
void kc__value_sub(kc__value r, kc__value x, kc__value y, slong precision);
void kc__value_mul(kc__value r, kc__value x, kc__value y, slong precision);
void kc__value_div(kc__value r, kc__value x, kc__value y, slong precision);
/* NaN where an operand is NaN. */
void kc__value_max(kc__value r, kc__value x, kc__value y, slong precision);
void kc__value_min(kc__value r, kc__value x, kc__value y, slong precision);

void kc__value_neg(kc__value r, kc__value x);
void kc__value_abs(kc__value r, kc__value x);
void kc__value_floor(kc__value r, kc__value x, slong precision);
/* The value in a floating-point format, by the codec's rules (kc_encode_parts) and any mode but KC_SR: zeros keep their sign where the
 * format has it, what overflows becomes an infinity or what the format has instead; NaN stays NaN. */
void kc__value_round(kc__value r, kc__value x, const kc_format *f, kc_rounding mode);
/* x^n for an integer n. */
void kc__value_power(kc__value r, kc__value x, int n, slong precision);
/* A certified function of one argument. */
void kc__value_apply(kc__value r, const kc_exact *op, kc__value x, slong precision);

/* 1 for true, 0 for false; false (NE: true) where an operand is NaN. */
void kc__value_compare(kc__value r, kc__comparison how, kc__value x, kc__value y);
/* 1 where the class of x is among `classes`. */
void kc__value_is_class(kc__value r, kc__value x, uint8_t classes);
/* x where the condition (a comparison) is true, y where it is false, the hull of both where it is undecided. */
void kc__value_where(kc__value r, kc__value condition, kc__value x, kc__value y, slong precision);

#endif
