/* node.c - the table of operations, and those that work element by element. */
#include "node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes --------------------------------------------------------------------------------------------------------------- */

void kc__walk_begin(kc__walk *w, const kc__shape *over, const kc__shape *own, int64_t first) {
  int64_t stride = 1, rest = first;
  w->rank = over->rank;
  w->at = 0;
  for (int d = over->rank - 1, o = own->rank - 1; d >= 0; d--, o--) {
    int64_t size = o >= 0 ? own->dim[o] : 1;
    w->dim[d] = over->dim[d];
    w->step[d] = size == 1 ? 0 : stride;
    w->index[d] = over->dim[d] ? rest % over->dim[d] : 0;
    rest = over->dim[d] ? rest / over->dim[d] : 0;
    w->at += w->index[d] * w->step[d];
    stride *= size;
  }
}

void kc__walk_next(kc__walk *w) {
  for (int d = w->rank - 1; d >= 0; d--) {
    w->at += w->step[d];
    if (++w->index[d] < w->dim[d]) return;
    w->at -= w->index[d] * w->step[d];
    w->index[d] = 0;
  }
}

static void describe(kc_text *out, const kc__shape *s) {
  kc_text tail = {""};
  for (int i = s->rank - 1; i >= 0; i--) {
    kc_text rest = tail;
    kc_fail(&tail, KC_OK, "%lld%s%.400s", (long long)s->dim[i], rest.s[0] ? "," : "", rest.s);
  }
  kc_fail(out, KC_OK, "[%.500s]", tail.s);
}

static kc_status broadcast(kc__shape *out, const kc__shape *other, kc_text *err) {
  kc__shape a = *out, b = *other;
  kc__shape r = {.rank = a.rank > b.rank ? a.rank : b.rank, .count = 1};
  for (int i = 1; i <= r.rank; i++) {
    int64_t m = i <= a.rank ? a.dim[a.rank - i] : 1, n = i <= b.rank ? b.dim[b.rank - i] : 1;
    if (m != n && m != 1 && n != 1) {
      kc_text first, second;
      describe(&first, &a);
      describe(&second, &b);
      return kc_fail(err, KC_EINVAL, "shapes %.200s and %.200s do not broadcast", first.s, second.s);
    }
    r.dim[r.rank - i] = m == 1 ? n : m;
    r.count *= r.dim[r.rank - i];
  }
  *out = r;
  return KC_OK;
}

static kc_status infer_elementwise(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  *out = *args[0];
  kc_status status = KC_OK;
  for (int i = 1; i < node->op->args && status == KC_OK; i++) status = broadcast(out, args[i], err);
  return status;
}

/* Its shape is that of the operand, which the evaluation knows. */
static kc_status infer_input(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  (void)out;
  (void)node;
  (void)args;
  (void)err;
  return KC_OK;
}

static kc_status infer_scalar(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  (void)node;
  (void)args;
  (void)err;
  *out = (kc__shape){.rank = 0, .count = 1};
  return KC_OK;
}

static kc_status infer_size(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  kc__shape ignored;
  kc_status status = kc__infer_reduced(&ignored, node, args, err);
  return status == KC_OK ? infer_scalar(out, node, args, err) : status;
}

/* ---- constants and inputs --------------------------------------------------------------------------------------------------- */

static bool parse_number(arb_t x, const char *text, slong precision) {
  const char *digits = text + (*text == '-' || *text == '+');
  if (strncmp(digits, "0x", 2) != 0 && strncmp(digits, "0X", 2) != 0) {
    return strspn(digits, "0123456789.eE+-") == strlen(digits) && arb_set_str(x, text, precision) == 0;
  }
  mpfr_t v; /* four bits a digit hold a hexadecimal float exactly */
  mpfr_init2(v, (mpfr_prec_t)(4 * strlen(text) + 64));
  char *end;
  mpfr_strtofr(v, text, &end, 16, MPFR_RNDN);
  bool ok = *end == '\0' && mpfr_number_p(v);
  if (ok) arf_set_mpfr(arb_midref(x), v);
  if (ok) mag_zero(arb_radref(x));
  mpfr_clear(v);
  return ok;
}

static bool parse_quotient(arb_t x, const char *text, const char *bar, slong precision) {
  char *numerator = strndup(text, (size_t)(bar - text));
  if (!numerator) return false;
  arb_t d;
  arb_init(d);
  bool ok = parse_number(x, numerator, precision) && parse_number(d, bar + 1, precision) && !arb_contains_zero(d);
  if (ok) arb_div(x, x, d, precision);
  arb_clear(d);
  free(numerator);
  return ok;
}

static bool parse_constant(arb_t x, const char *text, slong precision) {
  const char *bar = strchr(text, '/');
  if (bar) return parse_quotient(x, text, bar, precision);
  if (strcmp(text, "pi") == 0) {
    arb_const_pi(x, precision);
  } else if (strcmp(text, "e") == 0) {
    arb_const_e(x, precision);
  } else {
    return parse_number(x, text, precision);
  }
  return true;
}

/* Values that are no numbers. */
static bool special_constant(const char *text, double *x) {
  static const struct {
    const char *text;
    double value;
  } specials[] = {{"inf", (double)INFINITY}, {"-inf", -(double)INFINITY}, {"nan", (double)NAN}, {"-0", -0.0}, {"0", 0.0}};
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
    if (strcmp(text, specials[i].text) != 0) continue;
    *x = specials[i].value;
    return true;
  }
  return false;
}

bool kc__is_constant(const char *text) {
  double special;
  arb_t x;
  arb_init(x);
  bool ok = special_constant(text, &special) || parse_constant(x, text, 64);
  arb_clear(x);
  return ok;
}

static void evaluate_constant(const kc__work *w, int64_t begin, int64_t end) {
  double special;
  bool is_special = special_constant(w->node->text, &special);
  arb_t x;
  arb_init(x);
  if (!is_special) parse_constant(x, w->node->text, w->precision);
  for (int64_t i = begin; i < end; i++) {
    if (is_special) {
      kc__value_set_double(kc__value_at(w->out, i), special);
    } else {
      kc__value_set_ball(kc__value_at(w->out, i), x);
    }
  }
  arb_clear(x);
}

static void evaluate_size(const kc__work *w, int64_t begin, int64_t end) {
  int64_t n = kc__slices_of(&w->args[0]->shape, (int)w->node->number).length;
  for (int64_t i = begin; i < end; i++) kc__value_set_double(kc__value_at(w->out, i), (double)n);
}

static void evaluate_input(const kc__work *w, int64_t begin, int64_t end) {
  const kc_operand *o = w->operand;
  for (int64_t i = begin; i < end; i++) {
    kc__value r = kc__value_at(w->out, i);
    if (o->buffer) {
      const kc_format *f = kc_buffer_format(o->buffer);
      kc__value_set_double(r, kc_decode(f, kc_load(f, kc_buffer_cdata(o->buffer), (size_t)i)));
    } else {
      kc__value_set_bounds(r, o->enclosure->lo[i], o->enclosure->hi[i], o->enclosure->classes[i]);
    }
  }
}

/* ---- element by element -------------------------------------------------------------------------------------------------------- */

static void evaluate_unary(const kc__work *w, int64_t begin, int64_t end,
                           void (*apply)(const kc__work *, kc__value, kc__value)) {
  for (int64_t i = begin; i < end; i++) apply(w, kc__value_at(w->out, i), kc__value_at(w->args[0], i));
}

#define UNARY(name, call)                                                                                                      \
  static void apply_##name(const kc__work *w, kc__value r, kc__value x) {                                                      \
    (void)w;                                                                                                                   \
    call;                                                                                                                      \
  }                                                                                                                            \
  static void evaluate_##name(const kc__work *w, int64_t begin, int64_t end) {                                                 \
    evaluate_unary(w, begin, end, apply_##name);                                                                               \
  }

UNARY(neg, kc__value_neg(r, x))
UNARY(abs, kc__value_abs(r, x))
UNARY(floor, kc__value_floor(r, x, w->precision))
UNARY(isclass, kc__value_is_class(r, x, (uint8_t)w->node->number))
UNARY(power, kc__value_power(r, x, (int)w->node->number, w->precision))
UNARY(rounded, kc__value_round(r, x, w->node->format, (kc_rounding)w->node->number))
UNARY(function, kc__value_apply(r, w->node->function, x, w->precision))

static void evaluate_binary(const kc__work *w, int64_t begin, int64_t end,
                            void (*apply)(const kc__work *, kc__value, kc__value, kc__value)) {
  kc__walk a, b;
  kc__walk_begin(&a, &w->out->shape, &w->args[0]->shape, begin);
  kc__walk_begin(&b, &w->out->shape, &w->args[1]->shape, begin);
  for (int64_t i = begin; i < end; i++) {
    apply(w, kc__value_at(w->out, i), kc__value_at(w->args[0], a.at), kc__value_at(w->args[1], b.at));
    kc__walk_next(&a);
    kc__walk_next(&b);
  }
}

#define BINARY(name, call)                                                                                                     \
  static void apply_##name(const kc__work *w, kc__value r, kc__value x, kc__value y) {                                         \
    (void)w;                                                                                                                   \
    call;                                                                                                                      \
  }                                                                                                                            \
  static void evaluate_##name(const kc__work *w, int64_t begin, int64_t end) {                                                 \
    evaluate_binary(w, begin, end, apply_##name);                                                                              \
  }

BINARY(add, kc__value_add(r, x, y, w->precision))
BINARY(sub, kc__value_sub(r, x, y, w->precision))
BINARY(mul, kc__value_mul(r, x, y, w->precision))
BINARY(div, kc__value_div(r, x, y, w->precision))
BINARY(max, kc__value_max(r, x, y, w->precision))
BINARY(min, kc__value_min(r, x, y, w->precision))
BINARY(lt, kc__value_compare(r, KC__LT, x, y))
BINARY(le, kc__value_compare(r, KC__LE, x, y))
BINARY(gt, kc__value_compare(r, KC__GT, x, y))
BINARY(ge, kc__value_compare(r, KC__GE, x, y))
BINARY(eq, kc__value_compare(r, KC__EQ, x, y))
BINARY(ne, kc__value_compare(r, KC__NE, x, y))

static void evaluate_where(const kc__work *w, int64_t begin, int64_t end) {
  kc__walk at[3];
  for (int a = 0; a < 3; a++) kc__walk_begin(&at[a], &w->out->shape, &w->args[a]->shape, begin);
  for (int64_t i = begin; i < end; i++) {
    kc__value_where(kc__value_at(w->out, i), kc__value_at(w->args[0], at[0].at), kc__value_at(w->args[1], at[1].at),
                    kc__value_at(w->args[2], at[2].at), w->precision);
    for (int a = 0; a < 3; a++) kc__walk_next(&at[a]);
  }
}

/* ---- the table ---------------------------------------------------------------------------------------------------------------- */

#define ELEMENTWISE(op, n)                                                                                                     \
  { #op, n, infer_elementwise, evaluate_##op }

static const kc__operation operations[] = {
    {"input", 0, infer_input, evaluate_input},
    {"constant", 0, infer_scalar, evaluate_constant},
    {"size", 1, infer_size, evaluate_size},
    ELEMENTWISE(neg, 1),
    ELEMENTWISE(abs, 1),
    ELEMENTWISE(floor, 1),
    ELEMENTWISE(isclass, 1),
    ELEMENTWISE(power, 1),
    ELEMENTWISE(rounded, 1),
    ELEMENTWISE(function, 1),
    ELEMENTWISE(add, 2),
    ELEMENTWISE(sub, 2),
    ELEMENTWISE(mul, 2),
    ELEMENTWISE(div, 2),
    ELEMENTWISE(max, 2),
    ELEMENTWISE(min, 2),
    ELEMENTWISE(lt, 2),
    ELEMENTWISE(le, 2),
    ELEMENTWISE(gt, 2),
    ELEMENTWISE(ge, 2),
    ELEMENTWISE(eq, 2),
    ELEMENTWISE(ne, 2),
    ELEMENTWISE(where, 3),
    {"sum", 1, kc__infer_reduced, kc__evaluate_sum},
    {"reduce_max", 1, kc__infer_reduced, kc__evaluate_reduce_max},
    {"reduce_min", 1, kc__infer_reduced, kc__evaluate_reduce_min},
    {"cumsum", 1, kc__infer_cumulative, kc__evaluate_cumsum},
    {"matmul", 2, kc__infer_matmul, kc__evaluate_matmul},
    {"transpose", 1, kc__infer_transpose, kc__evaluate_transpose},
};

static const kc__operation *find(const char *name) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (strcmp(operations[i].name, name) == 0) return &operations[i];
  }
  return NULL;
}

const kc__operation *kc__operation_find(const char *name, const kc_exact **function) {
  const kc__operation *op = find(name);
  *function = op ? NULL : kc_exact_find(name);
  if (op) return strcmp(name, "function") == 0 ? NULL : op;
  return *function && (*function)->arity == 1 && !(*function)->points_only ? find("function") : NULL;
}
