/* node.h - nodes of expressions: what each operation needs, how it infers its shape, how it is evaluated. Internal. */
#ifndef KC_EXACT_NODE_H
#define KC_EXACT_NODE_H

#include "expression.h"
#include "value.h"

typedef struct kc__shape {
  int rank;
  int64_t dim[KC_MAX_RANK];
  int64_t count;
} kc__shape;

/* A tensor of values: balls and classes side by side. */
typedef struct kc__tensor {
  kc__shape shape;
  arb_ptr x;
  uint8_t *classes;
} kc__tensor;

typedef struct kc__operation kc__operation;

typedef struct kc__node {
  const kc__operation *op;
  const kc_exact *function;
  int args[KC_MAX_ARGUMENTS];
  int64_t number;
  char *text;
  const kc_format *format; /* rounded */
} kc__node;

/* What evaluating one node reads. */
typedef struct kc__work {
  const kc__node *node;
  kc__tensor *out;
  const kc__tensor *args[KC_MAX_ARGUMENTS];
  const kc_operand *operand; /* input */
  slong precision;
} kc__work;

struct kc__operation {
  const char *name;
  int args;
  /* Shape of the result; KC_EINVAL with a message that says what was expected. */
  kc_status (*infer)(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err);
  /* Elements begin..end-1 of `out`; calls for other ranges run at the same time. */
  void (*evaluate)(const kc__work *w, int64_t begin, int64_t end);
};

/* The operation called `name` (certified functions of one argument: the operation "function", with *function set), or NULL. */
const kc__operation *kc__operation_find(const char *name, const kc_exact **function);

static inline kc__value kc__value_at(const kc__tensor *t, int64_t i) {
  return (kc__value){t->x + i, t->classes + i};
}

/* A position in a tensor that is walked in row-major order of a larger shape onto which it broadcasts. */
typedef struct kc__walk {
  int rank;
  int64_t dim[KC_MAX_RANK], step[KC_MAX_RANK], index[KC_MAX_RANK], at;
} kc__walk;

/* Starts at element `first` of the shape. */
void kc__walk_begin(kc__walk *w, const kc__shape *over, const kc__shape *own, int64_t first);
void kc__walk_next(kc__walk *w);

/* Reductions over one axis see a tensor as outer x length x inner. */
typedef struct kc__slices {
  int64_t outer, length, inner;
} kc__slices;
kc__slices kc__slices_of(const kc__shape *s, int axis);

/* infer and evaluate of the operations that mix elements (node_mix.c). */
kc_status kc__infer_reduced(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err);
kc_status kc__infer_cumulative(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err);
kc_status kc__infer_matmul(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err);
kc_status kc__infer_transpose(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err);
void kc__evaluate_sum(const kc__work *w, int64_t begin, int64_t end);
void kc__evaluate_reduce_max(const kc__work *w, int64_t begin, int64_t end);
void kc__evaluate_reduce_min(const kc__work *w, int64_t begin, int64_t end);
void kc__evaluate_cumsum(const kc__work *w, int64_t begin, int64_t end);
void kc__evaluate_matmul(const kc__work *w, int64_t begin, int64_t end);
void kc__evaluate_transpose(const kc__work *w, int64_t begin, int64_t end);

/* Is the text one that a constant may have. */
bool kc__is_constant(const char *text);

#endif
