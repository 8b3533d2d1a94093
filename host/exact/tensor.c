/* tensor.c - the table of tensor oracles. */
#include "tensor.h"

#include <string.h>

enum { END_BITS = 8192 };

static const kc_tensor_oracle *const oracles[] = {
    &kc__oracle_matmul,   &kc__oracle_sum,       &kc__oracle_mean,        &kc__oracle_dot,
    &kc__oracle_cumsum,   &kc__oracle_softmax,   &kc__oracle_log_softmax, &kc__oracle_logsumexp,
    &kc__oracle_variance, &kc__oracle_layernorm, &kc__oracle_rmsnorm,     NULL,
};

const kc_tensor_oracle *kc_tensor_oracle_at(size_t i) {
  return i + 1 < sizeof oracles / sizeof *oracles ? oracles[i] : NULL;
}

const kc_tensor_oracle *kc_tensor_oracle_find(const char *name) {
  for (size_t i = 0; kc_tensor_oracle_at(i); i++) {
    if (strcmp(oracles[i]->name, name) == 0) return oracles[i];
  }
  return NULL;
}

/* Ends of an inexact ball are rounded outward: exact ones could need as many bits as lie between midpoint and radius. */
void kc__bracket_of_ball(kc__bracket *b, const arb_t x) {
  if (arb_is_exact(x)) {
    arf_set(b->lo, arb_midref(x));
    arf_set(b->hi, arb_midref(x));
    return;
  }
  arb_get_lbound_arf(b->lo, x, END_BITS);
  arb_get_ubound_arf(b->hi, x, END_BITS);
}
