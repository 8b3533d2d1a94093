/* tensor.h - rows of the table of tensor oracles, and what they share. Internal. */
#ifndef KC_EXACT_TENSOR_H
#define KC_EXACT_TENSOR_H

#include "operation.h"

extern const kc_tensor_oracle kc__oracle_matmul;

/* Bounds, classes and the signed difference y* - y of one exact value that is known to lie in a bracket: what a kc_refine_fn
 * writes. An output y that is NaN gives the difference [-inf, inf]. */
void kc__exact_difference(const kc__bracket *b, double y, double *dlo, double *dhi);
/* The bracket of a ball: its lower and upper end, exactly. */
void kc__bracket_of_ball(kc__bracket *b, const arb_t x);

/* Rows of the table. */
extern const kc_tensor_oracle kc__oracle_sum, kc__oracle_mean, kc__oracle_dot, kc__oracle_cumsum, kc__oracle_softmax,
    kc__oracle_log_softmax, kc__oracle_logsumexp, kc__oracle_variance, kc__oracle_layernorm, kc__oracle_rmsnorm;

#endif
