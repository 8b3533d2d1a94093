/* expression.c - building expressions, and evaluating them node by node over whole tensors. */
#include "expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../parallel.h"
#include "node.h"
#include "tensor.h"

enum {
  GRAIN = 256,
  FIRST_PRECISION = 96, /* leaves 40 bits to lose before bounds are no longer neighbouring doubles */
  LAST_RISING = 768,    /* what is still wide then waits until an element is asked for */
  LAST_PRECISION = 3072,
  ACCURACY = 55,
};

/* An element takes about 64 bytes in every node that is alive. */
#define MAX_ELEMENTS (INT64_C(1) << 27)

struct kc_expression {
  kc__node *nodes;
  int count, room;
};

kc_status kc_expression_create(kc_expression **out, kc_text *err) {
  *out = calloc(1, sizeof **out);
  return *out ? KC_OK : kc_fail(err, KC_ENOMEM, "no memory for an expression");
}

void kc_expression_free(kc_expression *e) {
  if (!e) return;
  for (int i = 0; i < e->count; i++) free(e->nodes[i].text);
  free(e->nodes);
  free(e);
}

static kc_status check_text(const kc_node *node, kc_text *err) {
  if (node->text && kc__is_constant(node->text)) return KC_OK;
  return kc_fail(err, KC_EINVAL, "constant '%.100s': expected a decimal, a hexadecimal float, p/q, pi, e, inf, -inf or nan",
                 node->text ? node->text : "");
}

static kc_status check_rounded(const kc_node *node, kc_text *err) {
  const kc_format *f = kc_format_find(node->text);
  if (!f || f->kind != KC_FLOAT)
    return kc_fail(err, KC_EINVAL, "rounded: expected a floating-point format, got '%.60s'", node->text ? node->text : "");
  if (node->number < KC_RNE || node->number > KC_RNA)
    return kc_fail(err, KC_EINVAL, "rounded: expected a rounding mode from %d to %d, got %lld", KC_RNE, KC_RNA,
                   (long long)node->number);
  return KC_OK;
}

static kc_status check_node(const kc_expression *e, const kc__operation *op, const kc_node *node, kc_text *err) {
  if (!op) return kc_fail(err, KC_EINVAL, "unknown operation '%.60s'", node->op);
  if (node->arg_count != op->args)
    return kc_fail(err, KC_EINVAL, "%s: expected %d arguments, got %d", node->op, op->args, node->arg_count);
  for (int i = 0; i < node->arg_count; i++) {
    if (node->args[i] < 0 || node->args[i] >= e->count)
      return kc_fail(err, KC_EINVAL, "%s: argument %d is not an earlier node", node->op, i + 1);
  }
  if (strcmp(op->name, "power") == 0 && (node->number < -1024 || node->number > 1024))
    return kc_fail(err, KC_EINVAL, "power: expected an integer exponent from -1024 to 1024, got %lld", (long long)node->number);
  if (strcmp(op->name, "rounded") == 0) return check_rounded(node, err);
  return strcmp(op->name, "constant") == 0 ? check_text(node, err) : KC_OK;
}

static bool make_room(kc_expression *e) {
  if (e->count < e->room) return true;
  int room = e->room ? 2 * e->room : 16;
  kc__node *nodes = realloc(e->nodes, (size_t)room * sizeof *nodes);
  if (!nodes) return false;
  e->nodes = nodes;
  e->room = room;
  return true;
}

kc_status kc_expression_add(kc_expression *e, int *id, const kc_node *node, kc_text *err) {
  const kc_exact *function;
  const kc__operation *op = kc__operation_find(node->op, &function);
  kc_status status = check_node(e, op, node, err);
  if (status != KC_OK) return status;
  char *text = node->text ? strdup(node->text) : NULL;
  if (!make_room(e) || (node->text && !text)) {
    free(text);
    return kc_fail(err, KC_ENOMEM, "no memory for a node");
  }
  kc__node *n = &e->nodes[e->count];
  *n = (kc__node){.op = op, .function = function, .number = node->number, .text = text, .format = kc_format_find(text)};
  memcpy(n->args, node->args, sizeof n->args);
  *id = e->count++;
  return KC_OK;
}

/* ---- states ------------------------------------------------------------------------------------------------------------------- */

typedef struct state {
  const kc_expression *e;
  kc_operand *operands;
  kc__tensor *tensors; /* one per node; values only while alive */
  int *last_use;       /* node that reads it last */
  slong precision;     /* of the result that is kept, 0: none */
} state;

static kc_status infer_node(state *s, int i, int operands, kc_text *err) {
  const kc__node *n = &s->e->nodes[i];
  const kc__shape *shapes[KC_MAX_ARGUMENTS] = {NULL};
  for (int a = 0; a < n->op->args; a++) shapes[a] = &s->tensors[n->args[a]].shape;
  kc__shape *out = &s->tensors[i].shape;
  kc_text why;
  if (strcmp(n->op->name, "input") == 0) {
    if (n->number < 0 || n->number >= operands) return kc_fail(err, KC_EINVAL, "input %lld is missing", (long long)n->number);
    const kc_operand *o = &s->operands[n->number];
    *out = (kc__shape){.rank = o->rank, .count = 1};
    memcpy(out->dim, o->shape, sizeof out->dim);
    for (int d = 0; d < o->rank; d++) out->count *= o->shape[d];
    return KC_OK;
  }
  kc_status status = n->op->infer(out, n, shapes, &why);
  if (status != KC_OK) return kc_fail(err, status, "%s: %.400s", n->function ? n->function->name : n->op->name, why.s);
  if (out->count > MAX_ELEMENTS)
    return kc_fail(err, KC_EUNSUPPORTED, "%s: %lld elements are more than expressions evaluate", n->op->name,
                   (long long)out->count);
  return KC_OK;
}

static kc_status check_operand(const kc_operand *o, int i, kc_text *err) {
  int64_t count = 1;
  for (int d = 0; d < o->rank; d++) count *= o->shape[d];
  if (o->buffer) {
    const kc_format *f = kc_buffer_format(o->buffer);
    if (f->kind != KC_FLOAT && f->bits > 32)
      return kc_fail(err, KC_EUNSUPPORTED, "operand %d: values of %s do not all fit a double", i + 1, f->name);
    if (count != kc_buffer_count(o->buffer))
      return kc_fail(err, KC_EINVAL, "operand %d: the shape does not fit the buffer", i + 1);
    return KC_OK;
  }
  if (!o->enclosure || o->enclosure->count != count)
    return kc_fail(err, KC_EINVAL, "operand %d: the shape does not fit the enclosure", i + 1);
  return KC_OK;
}

static kc_status prepare(state *s, const kc_operand *operands, int n, kc_text *err) {
  size_t nodes = (size_t)s->e->count;
  s->operands = calloc((size_t)n + 1, sizeof *s->operands);
  s->tensors = calloc(nodes, sizeof *s->tensors);
  s->last_use = calloc(nodes, sizeof *s->last_use);
  if (!s->operands || !s->tensors || !s->last_use) return kc_fail(err, KC_ENOMEM, "no memory for an evaluation");
  for (int i = 0; i < n; i++) {
    s->operands[i] = operands[i];
    kc_status status = check_operand(&operands[i], i, err);
    if (status != KC_OK) return status;
  }
  for (int i = 0; i < s->e->count; i++) {
    kc_status status = infer_node(s, i, n, err);
    if (status != KC_OK) return status;
    s->last_use[i] = i;
    for (int a = 0; a < s->e->nodes[i].op->args; a++) s->last_use[s->e->nodes[i].args[a]] = i;
  }
  return KC_OK;
}

kc_status kc_expression_open(void **out, int64_t *count, int *rank, int64_t shape[KC_MAX_RANK], const kc_expression *e,
                             const kc_operand *operands, int n, kc_text *err) {
  *out = NULL;
  if (e->count == 0) return kc_fail(err, KC_EINVAL, "the expression is empty");
  state *s = calloc(1, sizeof *s);
  if (!s) return kc_fail(err, KC_ENOMEM, "no memory for an evaluation");
  s->e = e;
  kc_status status = prepare(s, operands, n, err);
  if (status != KC_OK) {
    kc_expression_close(s);
    return status;
  }
  const kc__shape *result = &s->tensors[e->count - 1].shape;
  *count = result->count;
  if (rank) *rank = result->rank;
  if (shape) memcpy(shape, result->dim, sizeof result->dim);
  *out = s;
  return KC_OK;
}

static void release(kc__tensor *t) {
  if (t->x) _arb_vec_clear(t->x, t->shape.count);
  free(t->classes);
  t->x = NULL;
  t->classes = NULL;
}

void kc_expression_close(void *user) {
  state *s = user;
  if (!s) return;
  for (int i = 0; s->tensors && i < s->e->count; i++) release(&s->tensors[i]);
  free(s->last_use);
  free(s->tensors);
  free(s->operands);
  free(s);
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------------- */

static void evaluate_range(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const kc__work *w = user;
  w->node->op->evaluate(w, begin, end);
  flint_cleanup();
}

/* FLINT aborts when memory runs out; a failing class array at least is reported. */
static bool make_values(kc__tensor *t) {
  t->classes = malloc((size_t)t->shape.count + 1);
  if (!t->classes) return false;
  t->x = _arb_vec_init(t->shape.count);
  return true;
}

static bool evaluate_node(state *s, int i, slong precision) {
  const kc__node *n = &s->e->nodes[i];
  kc__work w = {.node = n, .out = &s->tensors[i], .precision = precision};
  for (int a = 0; a < n->op->args; a++) w.args[a] = &s->tensors[n->args[a]];
  if (strcmp(n->op->name, "input") == 0) w.operand = &s->operands[n->number];
  if (!make_values(w.out)) return false;
  kc__parallel_for(w.out->shape.count, GRAIN, evaluate_range, &w);
  for (int a = 0; a < n->op->args; a++) {
    if (s->last_use[n->args[a]] == i) release(&s->tensors[n->args[a]]);
  }
  return true;
}

/* Leaves the values of the last node; every other node's are freed after their last use. */
static kc_status evaluate(state *s, slong precision, kc_text *err) {
  s->precision = 0;
  for (int i = 0; i < s->e->count; i++) release(&s->tensors[i]);
  for (int i = 0; i < s->e->count; i++) {
    if (!evaluate_node(s, i, precision))
      return kc_fail(err, KC_ENOMEM, "no memory for %lld elements", (long long)s->tensors[i].shape.count);
    if (s->last_use[i] == i && i + 1 < s->e->count) release(&s->tensors[i]);
  }
  s->precision = precision;
  return KC_OK;
}

static bool is_accurate(kc__value v) {
  if (!kc__value_is_settled(v)) return false;
  return !(*v.classes & (KC_NFIN | KC_PFIN)) || arb_rel_accuracy_bits(v.x) >= ACCURACY;
}

static bool all_accurate(const kc__tensor *t) {
  for (int64_t i = 0; i < t->shape.count; i++) {
    if (!is_accurate(kc__value_at(t, i))) return false;
  }
  return true;
}

/* Bounds as doubles, and the classes of every alternative. */
static kc_exact_value value_of(kc__value v, kc__bracket *b) {
  uint8_t c = *v.classes;
  kc_exact_value r = {0, 0, c};
  if (c & (KC_NFIN | KC_PFIN | KC_NZERO | KC_PZERO)) {
    if (!arb_is_finite(v.x)) return (kc_exact_value){-(double)INFINITY, (double)INFINITY, c};
    kc__bracket_of_ball(b, v.x);
    r = kc__exact_doubles(b);
    r.classes = c;
  } else if (c & (KC_NINF | KC_PINF)) {
    r.lo = c & KC_NINF ? -(double)INFINITY : (double)INFINITY;
    r.hi = c & KC_PINF ? (double)INFINITY : -(double)INFINITY;
  }
  return r;
}

typedef struct store_job {
  const kc__tensor *t;
  kc_enclosure *out;
} store_job;

static void store_range(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  store_job *j = user;
  kc__bracket b;
  kc__bracket_init(&b);
  for (int64_t i = begin; i < end; i++) {
    kc_exact_value v = value_of(kc__value_at(j->t, i), &b);
    j->out->lo[i] = v.lo;
    j->out->hi[i] = v.hi;
    j->out->classes[i] = v.classes;
  }
  kc__bracket_clear(&b);
  flint_cleanup();
}

kc_status kc_expression_eval(void *user, kc_enclosure *out, int precision, bool rising, kc_text *err) {
  state *s = user;
  const kc__tensor *result = &s->tensors[s->e->count - 1];
  slong bits = precision > 0 ? precision : FIRST_PRECISION;
  kc_status status = evaluate(s, bits, err);
  while (status == KC_OK && rising && bits < LAST_RISING && !all_accurate(result)) {
    bits *= 2;
    status = evaluate(s, bits, err);
  }
  if (status != KC_OK) return status;
  kc__parallel_for(result->shape.count, 16 * GRAIN, store_range, &(store_job){result, out});
  return KC_OK;
}

kc_status kc_expression_refine(void *user, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                               uint8_t *classes) {
  static const slong tiers[] = {256, 768, LAST_PRECISION};
  state *s = user;
  if (tier < 1 || tier > (int)(sizeof tiers / sizeof *tiers)) return KC_EUNSUPPORTED;
  kc_text why;
  if (s->precision < tiers[tier - 1] && evaluate(s, tiers[tier - 1], &why) != KC_OK) return KC_EUNSUPPORTED;
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  kc__value v = kc__value_at(&s->tensors[s->e->count - 1], i);
  kc__bracket b;
  kc__bracket_init(&b);
  kc_exact_value known = value_of(v, &b);
  if (arb_is_finite(v.x)) {
    kc__bracket_of_ball(&b, v.x);
    kc__exact_difference(&b, y, dlo, dhi);
  } else {
    *dlo = -(double)INFINITY;
    *dhi = (double)INFINITY;
  }
  kc__bracket_clear(&b);
  kc_fpstate_set(saved);
  *lo = known.lo;
  *hi = known.hi;
  *classes = known.classes;
  return KC_OK;
}
