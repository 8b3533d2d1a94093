/* row.h - sums and row functions: what one operation supplies, and what the driver (row.c) does for all of them. Internal. */
#ifndef KC_EXACT_ROW_H
#define KC_EXACT_ROW_H

#include "tensor.h"

/* One row: the elements of the inputs along the axis. Inputs beyond the operation's `tensors` (weight, bias) are the same in every
 * row, NULL where not given. */
typedef struct kc__row {
  const kc_oracle_params *p;
  int64_t n;
  const double *x[3];
} kc__row;

/* What an operation computes once for a row, at one precision; each uses what it needs. */
typedef struct kc__prepared {
  slong precision;
  kc__known_point whole; /* the result of every element, where `classes` is not 0 */
  int64_t first[3];      /* position of the first NaN, +inf, -inf among the terms; INT64_MAX: none */
  arf_t sum, squares;    /* exact */
  int64_t position;      /* number of terms in `sum`, where it grows with the elements */
  double most;           /* the largest element, */
  int64_t most_at;       /* and where it is first */
  arb_t scale;           /* what every element is combined with */
  arb_ptr terms;         /* one ball per element; NULL for `element` when they were dropped */
  int64_t count;         /* of terms */
} kc__prepared;

/* A row is prepared by `begin`, then `term` for pieces of it (perhaps at the same time), then `end`; `begin` may find the whole row
 * known, which ends it. Then `element` is called for elements that `special` does not know. */
typedef struct kc__row_op {
  int tensors;   /* inputs of the full shape; any further one is a vector as long as the axis */
  bool each;     /* a result per element, else one per row */
  bool ordered;  /* elements are taken one by one in increasing order */
  uint8_t zero;  /* classes of a result that is exactly zero */
  double lo, hi; /* every finite result lies in between */
  kc_status (*check)(const kc_oracle_params *p, int64_t n, kc_text *err);
  void (*begin)(kc__prepared *s, const kc__row *r);
  void (*term)(kc__prepared *s, const kc__row *r, int64_t begin, int64_t end);
  void (*end)(kc__prepared *s, const kc__row *r);
  kc__known_point (*special)(const kc__prepared *s, const kc__row *r, int64_t i);
  void (*element)(arb_t y, kc__prepared *s, const kc__row *r, int64_t i);
} kc__row_op;

/* Entries of kc_tensor_oracle; each operation binds kc__row_open to itself. */
kc_status kc__row_open(void **out, int64_t *count, const kc_buffer *const *inputs, int n, const kc_oracle_params *p,
                       const kc__row_op *op, kc_text *err);
kc_status kc__row_eval(void *state, kc_enclosure *out, kc_text *err);
kc_status kc__row_refine(void *state, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                         uint8_t *classes);
void kc__row_close(void *state);

/* Defines the tensor oracle kc__oracle_NAME over the kc__row_op called NAME_row. */
#define KC__ROW_ORACLE(id, least_inputs, most_inputs, text)                                                                    \
  static kc_status id##_open(void **state, int64_t *count, const kc_buffer *const *inputs, int n, const kc_oracle_params *p,   \
                             kc_text *err) {                                                                                   \
    return kc__row_open(state, count, inputs, n, p, &id##_row, err);                                                           \
  }                                                                                                                            \
  const kc_tensor_oracle kc__oracle_##id = {.name = #id,                                                                       \
                                            .doc = text,                                                                       \
                                            .least = least_inputs,                                                             \
                                            .most = most_inputs,                                                               \
                                            .open = id##_open,                                                                 \
                                            .eval = kc__row_eval,                                                              \
                                            .refine = kc__row_refine,                                                          \
                                            .close = kc__row_close}

/* Terms along the row are x, or x y where the row has two inputs of full shape; of their absolute values with `magnitude`. */

/* Fills s->first. */
void kc__row_scan(kc__prepared *s, const kc__row *r);
/* NaN, or the infinity, that the terms 0..i sum to; classes 0 where they are all finite. */
kc__known_point kc__row_exceptional(const kc__prepared *s, int64_t i);
/* The exact sum of the squares of x into s->squares and, if asked for, that of x into s->sum. */
void kc__row_moments(kc__prepared *s, const kc__row *r, bool sum);

/* A known NaN. */
#define KC__KNOWN_NAN ((kc__known_point){KC_NAN, 0})

#endif
