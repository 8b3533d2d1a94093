/* oracle.c - the table of tier-1 oracles and what they share: checks of inputs, elementwise loops, folds along an axis. */
#include "oracle/oracle.h"

#include <stdio.h>
#include <string.h>

#include "directed.h"
#include "parallel.h"

enum { BLOCK = 512, GRAIN = 16 * 1024 };

static const kc_oracle *const oracles[] = {
    &kc__oracle_relu,   &kc__oracle_clamp,   &kc__oracle_max,  &kc__oracle_reduce_max, &kc__oracle_argmax,
    &kc__oracle_gather, &kc__oracle_scatter, &kc__oracle_sqrt, &kc__oracle_div,        &kc__oracle_rsqrt,
};

const kc_oracle *kc_oracle_at(size_t i) {
  return i < sizeof oracles / sizeof *oracles ? oracles[i] : NULL;
}

const kc_oracle *kc_oracle_find(const char *name) {
  for (size_t i = 0; kc_oracle_at(i); i++) {
    if (strcmp(oracles[i]->name, name) == 0) return oracles[i];
  }
  return NULL;
}

/* An enclosure says one thing in two ways: a class that the bounds leave no room for is a mistake in the oracle. No class at all says
 * that nothing is declared, and then the bounds mean nothing. */
static bool contradicts(uint8_t classes, double lo, double hi) {
  const uint8_t zero = KC_PZERO | KC_NZERO;
  if (classes & KC_ANYTHING || !(classes & (KC_NFIN | KC_PFIN | zero))) return false;
  return !(lo <= hi) || (classes & KC_NFIN && !(lo < 0)) || (classes & KC_PFIN && !(hi > 0)) ||
         (classes & zero && !(lo <= 0 && hi >= 0));
}

static kc_status check_sets(const kc_enclosure *e, const kc_oracle *o, kc_text *err) {
  if (!e->set_offsets || e->set_offsets[0] != 0)
    return kc_fail(err, KC_EINTERNAL, "oracle '%s' gives indices: expected set_offsets, from 0 on", o->name);
  for (int64_t i = 0; i < e->count; i++) {
    if (e->set_offsets[i + 1] < e->set_offsets[i])
      return kc_fail(err, KC_EINTERNAL, "oracle '%s': set_offsets decrease behind element %lld", o->name, (long long)i);
  }
  if (e->set_offsets[e->count] > 0 && !e->set_items)
    return kc_fail(err, KC_EINTERNAL, "oracle '%s': set_items are missing", o->name);
  return KC_OK;
}

static kc_status check_enclosure(const kc_enclosure *e, const kc_oracle *o, kc_text *err) {
  if (o->index) return check_sets(e, o, err);
  for (int64_t i = 0; i < e->count; i++) {
    if (contradicts(e->classes[i], e->lo[i], e->hi[i]))
      return kc_fail(err, KC_EINTERNAL, "oracle '%s': element %lld: bounds %g and %g with classes 0x%02x are no enclosure",
                     o->name, (long long)i, e->lo[i], e->hi[i], e->classes[i]);
  }
  return KC_OK;
}

/* Believes a status only when it is one, and makes sure that a failure names the oracle: kc's own say what is wrong with the inputs. */
static kc_status answered(kc_status status, const kc_oracle *o, kc_text *err) {
  if (status == KC_OK || kc_oracle_find(o->name) == o) return status;
  if (status > KC_OK || status < KC_ECANCELLED)
    return kc_fail(err, KC_EINTERNAL, "oracle '%s' answered %d, which is no status", o->name, (int)status);
  if (err && !err->s[0]) kc_fail(err, status, "oracle '%s' failed and did not say why (%s)", o->name, kc_status_name(status));
  return status;
}

kc_status kc_oracle_run(kc_enclosure *out, const kc_oracle *o, const kc_buffer *const *inputs, const kc_oracle_params *p,
                        kc_text *err) {
  int64_t count = 0;
  memset(out, 0, sizeof *out);
  if (err) err->s[0] = '\0';
  kc_status status = answered(o->count(&count, inputs, p, err), o, err);
  if (status == KC_OK && count < 0)
    return kc_fail(err, KC_EINTERNAL, "oracle '%s': it counts %lld elements", o->name, (long long)count);
  if (status != KC_OK) return status;
  status = kc_enclosure_create(out, count);
  if (status != KC_OK) return kc_fail(err, status, "no memory for an enclosure of %lld elements", (long long)count);
  status = answered(o->eval(out, inputs, p, err), o, err);
  if (status == KC_OK && kc_oracle_find(o->name) != o) status = check_enclosure(out, o, err);
  if (status != KC_OK) kc_enclosure_clear(out);
  return status;
}

kc__known kc__known_exactly(double x) {
  return (kc__known){x, x, (uint8_t)kc_classify_double(x)};
}

kc__known kc__known_class(kc_class c) {
  double value = c == KC_PINF ? KC__INF : c == KC_NINF ? -KC__INF : c == KC_NZERO ? -0.0 : 0.0;
  return (kc__known){value, value, (uint8_t)c};
}

void kc__describe_tensor(kc_text *out, const kc_buffer *b) {
  const int64_t *shape = kc_buffer_shape(b);
  int used = snprintf(out->s, sizeof out->s, "%s[", kc_buffer_format(b)->name);
  for (int i = 0; i < kc_buffer_rank(b); i++) { /* at most 8 dimensions of 20 characters: fits */
    used += snprintf(out->s + used, sizeof out->s - (size_t)used, i ? ",%lld" : "%lld", (long long)shape[i]);
  }
  snprintf(out->s + used, sizeof out->s - (size_t)used, "]");
}

kc_status kc__require_exact(const kc_buffer *b, int input, kc_text *err) {
  const kc_format *f = kc_buffer_format(b);
  if (f->kind == KC_FLOAT || f->bits <= 32) return KC_OK;
  return kc_fail(err, KC_EUNSUPPORTED, "input %d: values of %s do not all fit a double; use at most 32 bits", input, f->name);
}

kc_status kc__require_float(const kc_buffer *b, int input, kc_text *err) {
  if (kc_buffer_format(b)->kind == KC_FLOAT) return KC_OK;
  return kc_fail(err, KC_EINVAL, "input %d: expected a float format, got %s", input, kc_buffer_format(b)->name);
}

kc_status kc__require_same_shape(const kc_buffer *a, const kc_buffer *b, kc_text *err) {
  int rank = kc_buffer_rank(a);
  bool same = rank == kc_buffer_rank(b);
  for (int i = 0; same && i < rank; i++) same = kc_buffer_shape(a)[i] == kc_buffer_shape(b)[i];
  if (same) return KC_OK;
  kc_text first, second;
  kc__describe_tensor(&first, a);
  kc__describe_tensor(&second, b);
  return kc_fail(err, KC_EINVAL, "input 2: expected the shape of input 1, which is %.200s, got %.200s", first.s, second.s);
}

/* Decodes n elements from `first` on. */
static void decode_some(double *out, const kc_buffer *b, int64_t first, int n) {
  const kc_format *f = kc_buffer_format(b);
  kc_decode_array(f, out, (const char *)kc_buffer_cdata(b) + (size_t)first * f->storage, (size_t)n);
}

typedef struct elementwise {
  kc_enclosure *out;
  const kc_buffer *const *inputs;
  int arity;
  kc__element_fn fn;
  const kc_oracle_params *p;
} elementwise;

static void elementwise_block(const elementwise *w, int64_t first, int n) {
  double x[2][BLOCK];
  for (int a = 0; a < w->arity; a++) decode_some(x[a], w->inputs[a], first, n);
  for (int k = 0; k < n; k++) {
    double operands[2] = {x[0][k], w->arity > 1 ? x[1][k] : 0};
    kc__known known = w->fn(operands, w->p);
    w->out->lo[first + k] = known.lo;
    w->out->hi[first + k] = known.hi;
    w->out->classes[first + k] = known.classes;
  }
}

static void elementwise_range(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  for (int64_t i = begin; i < end; i += BLOCK) elementwise_block(user, i, (int)(end - i < BLOCK ? end - i : BLOCK));
}

kc_status kc__elementwise(kc_enclosure *out, const kc_buffer *const *inputs, int arity, kc__element_fn fn,
                          const kc_oracle_params *p) {
  elementwise w = {out, inputs, arity, fn, p};
  kc__parallel_for(out->count, GRAIN, elementwise_range, &w);
  return KC_OK;
}

kc_status kc__axis_of(kc__axis *out, const kc_buffer *b, int axis, kc_text *err) {
  int rank = kc_buffer_rank(b);
  if (axis < -rank || axis >= rank) {
    kc_text shape;
    kc__describe_tensor(&shape, b);
    return kc_fail(err, KC_EINVAL, "axis %d: expected one of the %d axes of %.200s", axis, rank, shape.s);
  }
  if (axis < 0) axis += rank;
  const int64_t *n = kc_buffer_shape(b);
  *out = (kc__axis){1, n[axis], 1};
  for (int i = 0; i < axis; i++) out->outer *= n[i];
  for (int i = axis + 1; i < kc_buffer_rank(b); i++) out->inner *= n[i];
  return KC_OK;
}

typedef struct fold {
  const kc_buffer *b;
  const kc__axis *axis;
  kc__fold_fn step;
  void *user;
} fold;

/* One slab, length x inner elements that lie side by side in memory. */
static void fold_slab(const fold *w, int64_t a) {
  const kc__axis *axis = w->axis;
  double x[BLOCK];
  int64_t size = axis->length * axis->inner, position = 0, column = 0;
  for (int64_t i = 0; i < size; i += BLOCK) {
    int n = (int)(size - i < BLOCK ? size - i : BLOCK);
    decode_some(x, w->b, a * size + i, n);
    for (int k = 0; k < n; k++) {
      w->step(w->user, a * axis->inner + column, position, x[k]);
      if (++column == axis->inner) {
        column = 0;
        position++;
      }
    }
  }
}

static void fold_range(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  for (int64_t a = begin; a < end; a++) fold_slab(user, a);
}

void kc__fold(const kc_buffer *b, const kc__axis *axis, kc__fold_fn step, void *user) {
  if (axis->inner == 0) return;
  fold w = {b, axis, step, user};
  int64_t slab = axis->length * axis->inner;
  kc__parallel_for(axis->outer, slab < GRAIN ? GRAIN / slab : 1, fold_range, &w);
}
