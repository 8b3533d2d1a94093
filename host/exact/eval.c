/* eval.c - enclosures of points and of whole tensors: special results first, then the engine with just enough precision. */
#include <math.h>
#include <stdlib.h>

#include "operation.h"
#include "parallel.h"

enum { GRAIN = 1024, FIRST_PRECISION = 80, ACCURACY = 56, LAST_PRECISION = 640 };

kc_exact_value kc__exact_doubles(const kc__bracket *b) {
  kc_exact_value v = {arf_get_d(b->lo, ARF_RND_FLOOR), arf_get_d(b->hi, ARF_RND_CEIL), 0};
  if (arf_sgn(b->hi) > 0) v.classes |= KC_PFIN;
  if (arf_sgn(b->lo) < 0) v.classes |= KC_NFIN;
  return v;
}

kc_exact_value kc__exact_known(kc__known_point p) {
  double bound = p.classes == KC_PINF ? (double)INFINITY : p.classes == KC_NINF ? -(double)INFINITY : p.value;
  return (kc_exact_value){bound, bound, p.classes};
}

/* MPFR knows exact results of algebraic functions at once; 64 bits are more than a double needs. The others go to balls, whose
 * precision grows until the result is known to about a double's unit. */
static void enclose(kc__bracket *b, const kc_exact *op, const double x[2]) {
  if (op->algebraic && kc__exact_has_real(op)) {
    kc__exact_real(b, op, x, 64);
    return;
  }
  slong precision = FIRST_PRECISION;
  while (!kc__exact_ball(b, op, x, precision, ACCURACY) && precision < LAST_PRECISION) precision *= 2;
}

kc_exact_value kc_exact_point(const kc_exact *op, const double x[2]) {
  kc__known_point known = kc__exact_special(op, x);
  if (known.classes) return kc__exact_known(known);
  kc__bracket b;
  kc__bracket_init(&b);
  enclose(&b, op, x);
  kc_exact_value v = kc__exact_doubles(&b);
  kc__bracket_clear(&b);
  return v;
}

static bool same_shape(const kc_buffer *a, const kc_buffer *b) {
  if (kc_buffer_rank(a) != kc_buffer_rank(b)) return false;
  for (int d = 0; d < kc_buffer_rank(a); d++)
    if (kc_buffer_shape(a)[d] != kc_buffer_shape(b)[d]) return false;
  return true;
}

kc_status kc__exact_check(const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  for (int i = 0; i < op->arity; i++) {
    const kc_format *f = kc_buffer_format(inputs[i]);
    if (f->kind != KC_FLOAT)
      return kc_fail(err, KC_EINVAL, "%s: input %d: expected a floating-point format, got %s", op->name, i + 1, f->name);
    if (!same_shape(inputs[0], inputs[i])) return kc_fail(err, KC_EINVAL, "%s: the inputs differ in shape", op->name);
  }
  return KC_OK;
}

/* One pass over elements, or over the codes of a narrow format. */
typedef struct pass {
  const kc_exact *op;
  const kc_buffer *const *inputs; /* NULL: element i is code i of `format` */
  const kc_format *format;
  kc_exact_value *values; /* where codes' results go */
  kc_enclosure *out;      /* where elements' results go */
} pass;

static double element(const kc_buffer *b, int64_t i) {
  const kc_format *f = kc_buffer_format(b);
  return kc_decode(f, kc_load(f, kc_buffer_cdata(b), (size_t)i));
}

static void put(kc_enclosure *out, int64_t i, kc_exact_value v) {
  out->lo[i] = v.lo;
  out->hi[i] = v.hi;
  out->classes[i] = v.classes;
}

/* FLINT and MPFR keep caches for each thread, which would be lost with it. */
static void drop_caches(void) {
  flint_cleanup();
  mpfr_free_cache();
}

static void evaluate_elements(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  pass *p = user;
  for (int64_t i = begin; i < end; i++) {
    double x[2] = {element(p->inputs[0], i), p->op->arity == 2 ? element(p->inputs[1], i) : 0};
    put(p->out, i, kc_exact_point(p->op, x));
  }
  drop_caches();
}

static void evaluate_codes(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  pass *p = user;
  for (int64_t i = begin; i < end; i++) {
    double x[2] = {kc_decode(p->format, (uint64_t)i), 0};
    p->values[i] = kc_exact_point(p->op, x);
  }
  drop_caches();
}

static kc_status evaluate_by_code(pass *p, int64_t codes) {
  p->values = malloc((size_t)codes * sizeof *p->values);
  if (!p->values) return KC_ENOMEM;
  kc__parallel_for(codes, GRAIN, evaluate_codes, p);
  const void *data = kc_buffer_cdata(p->inputs[0]);
  for (int64_t i = 0; i < p->out->count; i++) put(p->out, i, p->values[kc_load(p->format, data, (size_t)i)]);
  free(p->values);
  return KC_OK;
}

kc_status kc_exact_eval(kc_enclosure *out, const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  kc_status status = kc__exact_check(op, inputs, err);
  if (status != KC_OK) return status;
  pass p = {op, inputs, kc_buffer_format(inputs[0]), NULL, out};
  int64_t codes = p.format->bits <= 16 ? (int64_t)1 << p.format->bits : INT64_MAX;
  if (op->arity == 1 && out->count >= codes) {
    if (evaluate_by_code(&p, codes) != KC_OK) return kc_fail(err, KC_ENOMEM, "%s: out of memory", op->name);
    return KC_OK;
  }
  kc__parallel_for(out->count, GRAIN, evaluate_elements, &p);
  return KC_OK;
}
