/* expression.h - oracles and formulas given as expressions over whole tensors, evaluated with certified bounds.
 *
 * An expression is a list of nodes, each of which refers to earlier ones. It is built once and evaluated over any number of
 * tensor groups: every element is a ball together with the classes that it may have (NaN, infinities, zeros), at a precision that
 * rises until the results are accurate or the highest one is reached. Dimensions broadcast as NumPy's do; reductions keep the reduced
 * dimension with size 1.
 */
#ifndef KC_EXPRESSION_H
#define KC_EXPRESSION_H

#include "kc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KC_MAX_ARGUMENTS 3

/** One node. `op` is one of
 *   "input" (number: index of the operand, from 0), "constant" (text: decimal, hexadecimal float, p/q, "pi", "e", exact; "inf", "-inf", "nan"),
 *   "isclass" (number: OR of kc_class; 1 or 0), "neg" "abs" "floor" and every certified function of one argument that takes balls (exp, log, tanh, ...),
 *   "power" (number: the integer exponent), "rounded" (text: a floating-point format; number: kc_rounding, but not KC_SR),
 *   "add" "sub" "mul" "div" "max" "min",
 *   "lt" "le" "gt" "ge" "eq" "ne" (1 or 0), "where" (condition, if true, if false),
 *   "sum" "reduce_max" "reduce_min" "cumsum" "size" (number: axis, negative from the end), "matmul" (batches broadcast),
 *   "transpose" (of the last two axes). */
typedef struct kc_node {
  const char *op;
  int args[KC_MAX_ARGUMENTS]; /* earlier nodes */
  int arg_count;
  int64_t number;
  const char *text;
} kc_node;

/** An expression under construction or finished; immutable while states refer to it. */
typedef struct kc_expression kc_expression;

/** Creates an expression without nodes; the caller frees it. */
KC_API KC_MUST_CHECK kc_status kc_expression_create(kc_expression **out, kc_text *err);
/** Frees an expression; NULL is allowed. No state may still refer to it. */
KC_API void kc_expression_free(kc_expression *e);
/** Appends a node and writes its id, counted from 0; the last node is the result. Fails with KC_EINVAL for an unknown operation, a
 * wrong number of arguments, an argument that is not an earlier node, or a constant that is not a number. */
KC_API KC_MUST_CHECK kc_status kc_expression_add(kc_expression *e, int *id, const kc_node *node, kc_text *err);

/** An operand: a buffer of floats or of integers up to 32 bits, or an enclosure with its shape. Borrowed: it must outlive the state. */
typedef struct kc_operand {
  const kc_buffer *buffer;
  const kc_enclosure *enclosure; /* when buffer is NULL */
  int rank;
  int64_t shape[KC_MAX_RANK];
} kc_operand;

/** Opens an evaluation of the last node: infers every shape and gives the number of elements of the result and its shape (rank
 * and shape may be NULL). Fails with KC_EINVAL naming the node whose operands do not fit. The state refers to expression and operands. */
KC_API KC_MUST_CHECK kc_status kc_expression_open(void **state, int64_t *count, int *rank, int64_t shape[KC_MAX_RANK],
                                                  const kc_expression *e, const kc_operand *operands, int n, kc_text *err);
/** Writes the enclosure of the result (already created with `count` elements), at `precision` bits first (0: enough for bounds that are
 * mostly neighbouring doubles); `rising` false stops there. */
KC_API KC_MUST_CHECK kc_status kc_expression_eval(void *state, kc_enclosure *out, int precision, bool rising, kc_text *err);
/** A kc_refine_fn over a state: the whole result at rising precision, kept for the next element. */
KC_API KC_MUST_CHECK kc_status kc_expression_refine(void *state, int64_t i, double y, int tier, double *lo, double *hi,
                                                    double *dlo, double *dhi, uint8_t *classes);
/** Frees a state. */
KC_API void kc_expression_close(void *state);

#ifdef __cplusplus
}
#endif
#endif
