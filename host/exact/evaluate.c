/* evaluate.c - enclosures at one point and over whole tensors. */
#include <math.h>
#include <stdlib.h>

#include "../parallel.h"
#include "operation.h"

enum {
  FIRST_PRECISION = 80, /* 2^-79 relative: bounds straddle a double for one result in 2^25, at the price of two limbs */
  ACCURACY = 60,
  LAST_PRECISION = 4096, /* where even this is too little the bounds stay wide, never wrong */
  GRAIN = 1024,
  BLOCK = 256
};

static double infinite(bool negative) {
  return negative ? -(double)INFINITY : (double)INFINITY;
}

kc_exact_value kc__exact_known(kc__known_point p) {
  double v = p.classes & (KC_NINF | KC_PINF) ? infinite(p.classes & KC_NINF) : p.value;
  return (kc_exact_value){v, v, p.classes};
}

kc_exact_value kc__exact_doubles(const kc__bracket *b) {
  kc_exact_value v = {arf_get_d(b->lo, ARF_RND_FLOOR), arf_get_d(b->hi, ARF_RND_CEIL), KC_PFIN};
  if (arf_sgn(b->hi) <= 0) {
    v.classes = KC_NFIN;
  } else if (arf_sgn(b->lo) < 0) {
    v.classes = KC_NFIN | KC_NZERO | KC_PZERO | KC_PFIN;
  }
  return v;
}

/* An algebraic function: one correctly rounded result, whose ternary value tells whether it is exact. */
static void bracket_point(kc__bracket *b, const kc_exact *op, const double x[2]) {
  if (op->algebraic) {
    kc__exact_real(b, op, x, 53);
    return;
  }
  slong precision = FIRST_PRECISION;
  while (!kc__exact_ball(b, op, x, precision, ACCURACY) && precision < LAST_PRECISION) precision *= 2;
}

static kc_exact_value value_at(const kc_exact *op, const double x[2], kc__bracket *scratch) {
  kc__known_point known = kc__exact_special(op, x);
  if (known.classes) return kc__exact_known(known);
  bracket_point(scratch, op, x);
  return kc__exact_doubles(scratch);
}

kc_exact_value kc_exact_point(const kc_exact *op, const double x[2]) {
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  kc__bracket scratch;
  kc__bracket_init(&scratch);
  kc_exact_value v = value_at(op, x, &scratch);
  kc__bracket_clear(&scratch);
  kc_fpstate_set(saved);
  return v;
}

typedef struct job {
  kc_enclosure *out;
  const kc_exact *op;
  const kc_buffer *const *inputs;
  kc_exact_value *by_code; /* one result per code of the input's format */
} job;

static void store(kc_enclosure *out, int64_t i, kc_exact_value v) {
  out->lo[i] = v.lo;
  out->hi[i] = v.hi;
  out->classes[i] = v.classes;
}

static void decode_some(double *out, const kc_buffer *b, int64_t first, int n) {
  const kc_format *f = kc_buffer_format(b);
  kc_decode_array(f, out, (const char *)kc_buffer_cdata(b) + (size_t)first * f->storage, (size_t)n);
}

static void evaluate_block(const job *j, int64_t first, int n, kc__bracket *scratch) {
  double x[2][BLOCK] = {{0}};
  for (int a = 0; a < j->op->arity; a++) decode_some(x[a], j->inputs[a], first, n);
  for (int k = 0; k < n; k++) store(j->out, first + k, value_at(j->op, (double[2]){x[0][k], x[1][k]}, scratch));
}

/* flint_cleanup gives back what this thread cached; a helper thread may end after any piece. */
static void evaluate_range(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  kc__bracket scratch;
  kc__bracket_init(&scratch);
  for (int64_t i = begin; i < end; i += BLOCK) evaluate_block(user, i, (int)(end - i < BLOCK ? end - i : BLOCK), &scratch);
  kc__bracket_clear(&scratch);
  flint_cleanup();
}

static void evaluate_codes(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const job *j = user;
  kc__bracket scratch;
  kc__bracket_init(&scratch);
  for (int64_t code = begin; code < end; code++) {
    double x[2] = {kc_decode(kc_buffer_format(j->inputs[0]), (uint64_t)code), 0};
    j->by_code[code] = value_at(j->op, x, &scratch);
  }
  kc__bracket_clear(&scratch);
  flint_cleanup();
}

static void look_up_range(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const job *j = user;
  const kc_format *f = kc_buffer_format(j->inputs[0]);
  const void *data = kc_buffer_cdata(j->inputs[0]);
  for (int64_t i = begin; i < end; i++) store(j->out, i, j->by_code[kc_load(f, data, (size_t)i)]);
}

static kc_status evaluate_by_code(job *j, int64_t codes, kc_text *err) {
  j->by_code = malloc((size_t)codes * sizeof *j->by_code);
  if (!j->by_code) return kc_fail(err, KC_ENOMEM, "no memory for a table of %lld results", (long long)codes);
  kc__parallel_for(codes, GRAIN, evaluate_codes, j);
  kc__parallel_for(j->out->count, 16 * GRAIN, look_up_range, j);
  free(j->by_code);
  return KC_OK;
}

static bool same_shape(const kc_buffer *a, const kc_buffer *b) {
  if (kc_buffer_rank(a) != kc_buffer_rank(b)) return false;
  for (int i = 0; i < kc_buffer_rank(a); i++) {
    if (kc_buffer_shape(a)[i] != kc_buffer_shape(b)[i]) return false;
  }
  return true;
}

kc_status kc__exact_check(const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  for (int a = 0; a < op->arity; a++) {
    const kc_format *f = kc_buffer_format(inputs[a]);
    if (f->kind != KC_FLOAT) {
      return kc_fail(err, KC_EINVAL, "oracle %s, input %d: expected a float format, got %s", op->name, a + 1, f->name);
    }
  }
  if (op->arity == 2 && !same_shape(inputs[0], inputs[1])) {
    return kc_fail(err, KC_EINVAL, "oracle %s: expected two inputs of one shape, got %lld and %lld elements", op->name,
                   (long long)kc_buffer_count(inputs[0]), (long long)kc_buffer_count(inputs[1]));
  }
  return KC_OK;
}

kc_status kc_exact_eval(kc_enclosure *out, const kc_exact *op, const kc_buffer *const *inputs, kc_text *err) {
  kc_status status = kc__exact_check(op, inputs, err);
  if (status != KC_OK) return status;
  if (out->count != kc_buffer_count(inputs[0])) {
    return kc_fail(err, KC_EINVAL, "oracle %s: the enclosure has %lld elements, the input %lld", op->name,
                   (long long)out->count, (long long)kc_buffer_count(inputs[0]));
  }
  const kc_oracle *binary64 = kc_oracle_find(op->name);
  if (binary64) return binary64->eval(out, inputs, &(kc_oracle_params){0}, err);
  job j = {out, op, inputs, NULL};
  int bits = kc_buffer_format(inputs[0])->bits;
  if (op->arity == 1 && bits <= 16 && out->count >= INT64_C(1) << bits) return evaluate_by_code(&j, INT64_C(1) << bits, err);
  kc__parallel_for(out->count, GRAIN, evaluate_range, &j);
  return KC_OK;
}
