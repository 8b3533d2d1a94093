/* reduce.c - reduce_max and argmax along one axis. */
#include <stdlib.h>

#include "../directed.h"
#include "oracle.h"

static kc_status reduced(kc__axis *out, const kc_buffer *x, int axis, kc_text *err) {
  kc_status status = kc__axis_of(out, x, axis, err);
  if (status != KC_OK || out->length > 0) return status;
  return kc_fail(err, KC_EINVAL, "axis %d is empty: nothing to reduce", axis);
}

static kc_status count_reduced(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  kc__axis axis;
  kc_status status = kc__require_exact(inputs[0], 1, err);
  if (status == KC_OK) status = reduced(&axis, inputs[0], p->axis, err);
  if (status == KC_OK) *out = axis.outer * axis.inner;
  return status;
}

typedef struct reduction {
  kc_enclosure *out;
  const kc_oracle_params *p;
  int64_t *next; /* argmax, second pass: where the next index of each output's set goes */
} reduction;

enum { PROPAGATE, IGNORE, UNDECLARED };

/* The state is the output itself; classes 0: nothing seen yet. */
static void step_max(void *user, int64_t o, int64_t position, double x) {
  const reduction *r = user;
  kc_enclosure *out = r->out;
  (void)position;
  kc_class c = kc_classify_double(x);
  if (out->classes[o] == KC_NAN || (c == KC_NAN && r->p->nan == IGNORE)) return;
  if (c == KC_NAN || !out->classes[o] || x > out->lo[o]) {
    out->lo[o] = out->hi[o] = c == KC_NAN ? 0 : x;
    out->classes[o] = (uint8_t)c;
  } else if (x == out->lo[o]) {
    out->classes[o] |= (uint8_t)c; /* equal numbers differ at most in the sign of zero */
  }
}

static kc_status eval_reduce_max(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  kc__axis axis;
  kc_status status = reduced(&axis, inputs[0], p->axis, err);
  if (status != KC_OK) return status;
  reduction r = {.out = out, .p = p};
  kc__fold(inputs[0], &axis, step_max, &r);
  for (int64_t o = 0; o < out->count; o++) {
    if (p->nan == UNDECLARED && out->classes[o] == KC_NAN) {
      out->classes[o] = 0;
    } else if (!out->classes[o]) {
      out->classes[o] = KC_NAN; /* only NaNs, all ignored: IEEE 754-2019 maximumNumber */
    }
  }
  return KC_OK;
}

const kc_oracle kc__oracle_reduce_max = {
    .name = "reduce_max",
    .doc = "largest element along axis (the last when absent); either zero where both occur; nan=propagate or ignore",
    .arity = 1,
    .parameters = "axis nan",
    .count = count_reduced,
    .eval = eval_reduce_max};

/* argmax. While it runs, lo holds the best value, classes whether it is a number (KC_PFIN) or NaN, and set_offsets[o + 1] the
 * number of places where it occurs. A propagated NaN is larger than every number, as in NumPy. */
typedef enum standing { WORSE, EQUAL, BETTER } standing;

static standing compare(const reduction *r, int64_t o, double x) {
  uint8_t best = r->out->classes[o];
  if (isnan(x)) return r->p->nan ? WORSE : best == KC_NAN ? EQUAL : BETTER;
  if (best == KC_NAN) return WORSE;
  if (!best || x > r->out->lo[o]) return BETTER;
  return x == r->out->lo[o] ? EQUAL : WORSE;
}

static void step_count(void *user, int64_t o, int64_t position, double x) {
  const reduction *r = user;
  (void)position;
  standing s = compare(r, o, x);
  if (s == EQUAL && r->p->tie == 2) r->out->set_offsets[o + 1]++;
  if (s != BETTER) return;
  r->out->lo[o] = x;
  r->out->classes[o] = isnan(x) ? KC_NAN : KC_PFIN;
  r->out->set_offsets[o + 1] = 1;
}

static void step_collect(void *user, int64_t o, int64_t position, double x) {
  reduction *r = user;
  kc_enclosure *out = r->out;
  if (compare(r, o, x) != EQUAL) return;
  bool full = r->next[o] == out->set_offsets[o + 1];
  if (full && r->p->tie == 1) r->next[o]--; /* the last tie replaces the one before */
  if (full && r->p->tie != 1) return;
  out->set_items[r->next[o]++] = position;
}

/* Replaces the working state by bounds and classes of the indices; an empty set (only ignored NaNs) has none: undeclared. */
static void describe_sets(kc_enclosure *out) {
  for (int64_t o = 0; o < out->count; o++) {
    int64_t begin = out->set_offsets[o], end = out->set_offsets[o + 1];
    out->classes[o] = 0;
    out->lo[o] = out->hi[o] = 0;
    if (begin == end) continue;
    out->lo[o] = (double)out->set_items[begin]; /* positions increase */
    out->hi[o] = (double)out->set_items[end - 1];
    out->classes[o] = (uint8_t)((out->lo[o] == 0 ? KC_PZERO : 0) | (out->hi[o] > 0 ? KC_PFIN : 0));
  }
}

static kc_status eval_argmax(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  kc__axis axis;
  kc_status status = reduced(&axis, inputs[0], p->axis, err);
  if (status != KC_OK) return status;
  size_t n = (size_t)out->count + 1;
  reduction r = {.out = out, .p = p, .next = malloc(n * sizeof(int64_t))};
  out->set_offsets = calloc(n, sizeof(int64_t));
  if (!r.next || !out->set_offsets) goto exhausted;
  kc__fold(inputs[0], &axis, step_count, &r);
  for (int64_t o = 0; o < out->count; o++) {
    r.next[o] = out->set_offsets[o];
    out->set_offsets[o + 1] += out->set_offsets[o];
  }
  out->set_items = malloc(((size_t)out->set_offsets[out->count] + 1) * sizeof(int64_t));
  if (!out->set_items) goto exhausted;
  kc__fold(inputs[0], &axis, step_collect, &r);
  describe_sets(out);
  free(r.next);
  return KC_OK;
exhausted:
  free(r.next);
  return kc_fail(err, KC_ENOMEM, "no memory for the index sets of %lld outputs", (long long)out->count);
}

const kc_oracle kc__oracle_argmax = {
    .name = "argmax",
    .doc = "0-based index of the largest element along axis (the last when absent); tie=first, last or any; a NaN is "
           "largest, or with nan=ignore skipped (only NaNs: undeclared)",
    .arity = 1,
    .parameters = "axis nan tie",
    .index = true,
    .count = count_reduced,
    .eval = eval_argmax};
