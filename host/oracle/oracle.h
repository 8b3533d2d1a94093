/* oracle.h - what tier-1 oracles share. Internal. */
#ifndef KC_ORACLE_ORACLE_H
#define KC_ORACLE_ORACLE_H

#include "kc.h"

/* What is known of one exact value. */
typedef struct kc__known {
  double lo, hi;
  uint8_t classes;
} kc__known;

/* x holds one operand per input; all arithmetic runs under kc_fpstate_default. */
typedef kc__known (*kc__element_fn)(const double *x, const kc_oracle_params *p);

/* Rows of the table, one per file below host/oracle. */
extern const kc_oracle kc__oracle_relu, kc__oracle_clamp, kc__oracle_max, kc__oracle_reduce_max, kc__oracle_argmax,
    kc__oracle_gather, kc__oracle_scatter, kc__oracle_sqrt, kc__oracle_div, kc__oracle_rsqrt;

/* A value known exactly. */
kc__known kc__known_exactly(double x);
/* A value of which only the class matters; zeros and infinities get their value. */
kc__known kc__known_class(kc_class c);

/* Fails unless every value of the input's format is a double: floats, and integers of at most 32 bits. */
kc_status kc__require_exact(const kc_buffer *b, int input, kc_text *err);
/* Fails unless the input is a tensor of a float format. */
kc_status kc__require_float(const kc_buffer *b, int input, kc_text *err);
/* Fails unless the inputs have the same shape. */
kc_status kc__require_same_shape(const kc_buffer *a, const kc_buffer *b, kc_text *err);
/* "f32[2,3]", for messages. */
void kc__describe_tensor(kc_text *out, const kc_buffer *b);

/* out[i] = fn(inputs[0][i], ..., inputs[arity - 1][i]); arity 1 or 2. */
kc_status kc__elementwise(kc_enclosure *out, const kc_buffer *const *inputs, int arity, kc__element_fn fn,
                          const kc_oracle_params *p);

/* A reduction over one axis sees a tensor as outer x length x inner; output (a, b) is element a * inner + b. */
typedef struct kc__axis {
  int64_t outer, length, inner;
} kc__axis;

/* Fails when the axis (from 0, negative from the end) is out of range. */
kc_status kc__axis_of(kc__axis *out, const kc_buffer *b, int axis, kc_text *err);
/* Calls step(user, output, position along the axis, value) for every input element, in increasing position for each output;
 * different outputs may be visited at the same time. */
typedef void (*kc__fold_fn)(void *user, int64_t output, int64_t position, double x);
void kc__fold(const kc_buffer *b, const kc__axis *axis, kc__fold_fn step, void *user);

#endif
