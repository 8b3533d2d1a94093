/* gather.c - rows of x picked by an index tensor, and values scattered to places that one names. */
#include <stdlib.h>

#include "../integers.h"
#include "../parallel.h"
#include "oracle.h"

enum { GRAIN = 16 * 1024 };

/* Elements of one row: the product of all dimensions but the first. */
static int64_t row_elements(const kc_buffer *x) {
  int64_t n = 1;
  for (int i = 1; i < kc_buffer_rank(x); i++) n *= kc_buffer_shape(x)[i];
  return n;
}

static kc_status count_gather(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)p;
  const kc_buffer *x = inputs[0], *index = inputs[1];
  if (kc_buffer_rank(x) < 1) return kc_fail(err, KC_EINVAL, "input 1: expected at least one dimension to pick from");
  if (kc_buffer_format(index)->kind == KC_FLOAT) {
    return kc_fail(err, KC_EINVAL, "input 2: expected integer indices, got %s", kc_buffer_format(index)->name);
  }
  if (__builtin_mul_overflow(kc_buffer_count(index), row_elements(x), out)) {
    return kc_fail(err, KC_EINVAL, "the output would have more than 2^63 elements");
  }
  return kc__require_exact(x, 1, err);
}

typedef struct gathering {
  kc_enclosure *out;
  const kc_buffer *x, *index;
  int64_t row;
  uint8_t outside;
  double fill;
} gathering;

enum { UNDECLARED, CLAMP, ZERO, WRAP, FILL, ANYTHING, DROP };

/* The row that an index means; -1 where the policy picks none. */
static int64_t row_of(int64_t k, int64_t rows, uint8_t outside) {
  if (k >= 0 && k < rows) return k;
  if (rows == 0) return -1;
  if (outside == CLAMP) return k < 0 ? 0 : rows - 1;
  if (outside == WRAP) return k % rows < 0 ? k % rows + rows : k % rows;
  return -1;
}

static void gather_range(void *user, int worker, int64_t begin, int64_t end) {
  const gathering *g = user;
  const kc_format *f = kc_buffer_format(g->x), *fi = kc_buffer_format(g->index);
  int64_t rows = kc_buffer_shape(g->x)[0];
  (void)worker;
  for (int64_t o = begin; o < end; o++) {
    int64_t k = kc__index_value(fi, kc_load(fi, kc_buffer_cdata(g->index), (size_t)(o / g->row)));
    k = row_of(k, rows, g->outside);
    if (k < 0 && g->outside == ANYTHING) g->out->classes[o] = KC_ANYTHING;
    if (k < 0 && g->outside != ZERO && g->outside != FILL) continue; /* classes stay empty: undeclared */
    kc__known v = k < 0 ? kc__known_exactly(g->outside == ZERO ? 0 : g->fill)
                        : kc__known_exactly(kc_decode(f, kc_load(f, kc_buffer_cdata(g->x), (size_t)(k * g->row + o % g->row))));
    g->out->lo[o] = v.lo;
    g->out->hi[o] = v.hi;
    g->out->classes[o] = v.classes;
  }
}

static kc_status eval_gather(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)err;
  gathering g = {out, inputs[0], inputs[1], row_elements(inputs[0]), p->outside, p->a};
  kc__parallel_for(out->count, GRAIN, gather_range, &g);
  return KC_OK;
}

const kc_oracle kc__oracle_gather = {.name = "gather",
                                     .doc = "x[index[i]] along the first axis, 0-based; an index outside of x gives what "
                                            "outside=clamp, zero, wrap, fill or anything "
                                            "says, else it is undeclared",
                                     .arity = 2,
                                     .parameters = "outside fill",
                                     .count = count_gather,
                                     .eval = eval_gather};

static kc_status count_scatter(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)p;
  const kc_buffer *index = inputs[1], *values = inputs[2];
  if (kc_buffer_format(index)->kind == KC_FLOAT)
    return kc_fail(err, KC_EINVAL, "input 2: expected integer indices, got %s", kc_buffer_format(index)->name);
  if (kc_buffer_count(index) != kc_buffer_count(values))
    return kc_fail(err, KC_EINVAL, "inputs 2 and 3: expected as many indices as values, got %lld and %lld",
                   (long long)kc_buffer_count(index), (long long)kc_buffer_count(values));
  *out = kc_buffer_count(inputs[0]);
  kc_status status = kc__require_exact(inputs[0], 1, err);
  return status == KC_OK ? kc__require_exact(values, 3, err) : status;
}

static kc__known element_of(const kc_buffer *b, int64_t i) {
  const kc_format *f = kc_buffer_format(b);
  return kc__known_exactly(kc_decode(f, kc_load(f, kc_buffer_cdata(b), (size_t)i)));
}

static void put(kc_enclosure *out, int64_t at, kc__known v) {
  out->lo[at] = v.lo;
  out->hi[at] = v.hi;
  out->classes[at] = v.classes;
}

/* What a value that hits an element which another one has hit makes of it: the rule says which stays; without one, equal values only. */
static void put_again(kc_enclosure *out, int64_t at, kc__known v, uint8_t tie) {
  bool same = out->lo[at] == v.lo && out->classes[at] == v.classes;
  if (tie == 0 || same || !out->classes[at]) return;
  if (tie == 1) {
    put(out, at, v);
  } else {
    out->classes[at] = 0;
  }
}

/* Sequential: the order of the values decides. */
static kc_status eval_scatter(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  const kc_buffer *base = inputs[0], *index = inputs[1], *values = inputs[2];
  const kc_format *f = kc_buffer_format(index);
  bool *hit = calloc((size_t)out->count + 1, sizeof *hit), undeclared = false;
  if (!hit) return kc_fail(err, KC_ENOMEM, "out of memory");
  for (int64_t i = 0; i < out->count; i++) put(out, i, element_of(base, i));
  for (int64_t i = 0; i < kc_buffer_count(index); i++) {
    int64_t k = kc__index_value(f, kc_load(f, kc_buffer_cdata(index), (size_t)i));
    int64_t at = row_of(k, out->count, p->outside);
    undeclared = undeclared || (at < 0 && p->outside != DROP);
    if (at < 0) continue;
    if (hit[at]) {
      put_again(out, at, element_of(values, i), p->tie);
    } else {
      put(out, at, element_of(values, i));
    }
    hit[at] = true;
  }
  for (int64_t i = 0; undeclared && i < out->count; i++) out->classes[i] = 0;
  free(hit);
  return KC_OK;
}

const kc_oracle kc__oracle_scatter = {.name = "scatter",
                                      .doc =
                                          "base with values[i] at index[i], 0-based; an index outside does what outside=drop, "
                                          "clamp or wrap says; of several values for one element tie=first or last stays",
                                      .arity = 3,
                                      .parameters = "outside tie",
                                      .count = count_scatter,
                                      .eval = eval_scatter};
