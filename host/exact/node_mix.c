/* node_mix.c - operations whose elements depend on many: reductions, cumulative sums, matrix products, transposition. */
#include <math.h>

#include "node.h"

/* ---- along an axis --------------------------------------------------------------------------------------------------------- */

static int axis_of(const kc__shape *s, int64_t axis) {
  return (int)(axis < 0 ? axis + s->rank : axis);
}

kc__slices kc__slices_of(const kc__shape *s, int axis) {
  int a = axis_of(s, axis);
  kc__slices r = {1, s->dim[a], 1};
  for (int d = 0; d < a; d++) r.outer *= s->dim[d];
  for (int d = a + 1; d < s->rank; d++) r.inner *= s->dim[d];
  return r;
}

static kc_status check_axis(const kc__node *node, const kc__shape *s, kc_text *err) {
  int64_t axis = node->number;
  if (axis >= -s->rank && axis < s->rank) return KC_OK;
  return kc_fail(err, KC_EINVAL, "axis %lld of a tensor of rank %d; expected %d to %d", (long long)axis, s->rank, -s->rank,
                 s->rank - 1);
}

kc_status kc__infer_reduced(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  kc_status status = check_axis(node, args[0], err);
  if (status != KC_OK) return status;
  *out = *args[0];
  out->dim[axis_of(out, node->number)] = 1;
  out->count = 1;
  for (int d = 0; d < out->rank; d++) out->count *= out->dim[d];
  return KC_OK;
}

kc_status kc__infer_cumulative(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  *out = *args[0];
  return check_axis(node, args[0], err);
}

/* Elements o, o + inner, ... of the slice that output `o` reduces. */
static int64_t slice_begin(const kc__slices *s, int64_t o) {
  return o / s->inner * s->length * s->inner + o % s->inner;
}

static void fold(const kc__work *w, int64_t begin, int64_t end, double first, kc__value_binary op) {
  const kc__tensor *in = w->args[0];
  kc__slices s = kc__slices_of(&in->shape, (int)w->node->number);
  arb_t t;
  uint8_t c = 0;
  arb_init(t);
  kc__value scratch = {t, &c};
  for (int64_t o = begin; o < end; o++) {
    kc__value r = kc__value_at(w->out, o);
    int64_t at = slice_begin(&s, o);
    kc__value_set_double(r, first);
    for (int64_t k = 0; k < s.length; k++, at += s.inner) {
      kc__value x = kc__value_at(in, at);
      if (k == 0) {
        kc__value_copy(r, x);
        continue;
      }
      op(scratch, r, x, w->precision);
      arb_swap(r.x, t);
      *r.classes = c;
    }
  }
  arb_clear(t);
}

/* A sum that is exactly zero may have either sign: the order and the initial value decide it. */
static void forget_sign_of_zero(kc__value r) {
  if ((*r.classes & (KC_NZERO | KC_PZERO)) && arb_contains_zero(r.x)) *r.classes |= KC_NZERO | KC_PZERO;
}

void kc__evaluate_sum(const kc__work *w, int64_t begin, int64_t end) {
  fold(w, begin, end, 0, kc__value_add);
  for (int64_t o = begin; o < end; o++) forget_sign_of_zero(kc__value_at(w->out, o));
}

void kc__evaluate_reduce_max(const kc__work *w, int64_t begin, int64_t end) {
  fold(w, begin, end, -HUGE_VAL, kc__value_max);
}

void kc__evaluate_reduce_min(const kc__work *w, int64_t begin, int64_t end) {
  fold(w, begin, end, HUGE_VAL, kc__value_min);
}

/* Every element is a sum of its own: calls for other ranges cannot wait for this one. Quadratic in the axis, once a range begins
 * inside a slice; within a range the sum goes on. */
void kc__evaluate_cumsum(const kc__work *w, int64_t begin, int64_t end) {
  const kc__tensor *in = w->args[0];
  kc__slices s = kc__slices_of(&in->shape, (int)w->node->number);
  arb_t t;
  uint8_t c = 0;
  arb_init(t);
  for (int64_t o = begin; o < end; o++) {
    kc__value r = kc__value_at(w->out, o);
    int64_t position = o / s.inner % s.length;
    int64_t from = position > 0 && o - s.inner >= begin ? position : 0;
    if (from > 0) {
      kc__value_add(r, kc__value_at(w->out, o - s.inner), kc__value_at(in, o), w->precision);
    } else {
      kc__value_copy(r, kc__value_at(in, o - position * s.inner));
      for (int64_t k = 1; k <= position; k++) {
        kc__value_add((kc__value){t, &c}, r, kc__value_at(in, o - (position - k) * s.inner), w->precision);
        arb_swap(r.x, t);
        *r.classes = c;
      }
    }
    forget_sign_of_zero(r);
  }
  arb_clear(t);
}

/* ---- matrices ----------------------------------------------------------------------------------------------------------------- */

kc_status kc__infer_transpose(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  (void)node;
  *out = *args[0];
  if (out->rank < 2) return kc_fail(err, KC_EINVAL, "expected a tensor of rank 2 or more, got rank %d", out->rank);
  int64_t rows = out->dim[out->rank - 2];
  out->dim[out->rank - 2] = out->dim[out->rank - 1];
  out->dim[out->rank - 1] = rows;
  return KC_OK;
}

void kc__evaluate_transpose(const kc__work *w, int64_t begin, int64_t end) {
  const kc__shape *s = &w->out->shape;
  int64_t rows = s->dim[s->rank - 2], columns = s->dim[s->rank - 1];
  for (int64_t o = begin; o < end; o++) {
    int64_t matrix = o / (rows * columns), row = o / columns % rows, column = o % columns;
    kc__value_copy(kc__value_at(w->out, o), kc__value_at(w->args[0], matrix * rows * columns + column * rows + row));
  }
}

/* The leading dimensions, which broadcast. */
static kc__shape batch_of(const kc__shape *s) {
  kc__shape b = *s;
  b.rank -= 2;
  b.count = 1;
  for (int d = 0; d < b.rank; d++) b.count *= b.dim[d];
  return b;
}

kc_status kc__infer_matmul(kc__shape *out, const kc__node *node, const kc__shape *const *args, kc_text *err) {
  (void)node;
  const kc__shape *a = args[0], *b = args[1];
  if (a->rank < 2 || b->rank < 2)
    return kc_fail(err, KC_EINVAL, "expected two tensors of rank 2 or more, got %d and %d", a->rank, b->rank);
  if (a->dim[a->rank - 1] != b->dim[b->rank - 2])
    return kc_fail(err, KC_EINVAL, "expected [..,M,K] and [..,K,N], got K = %lld and %lld", (long long)a->dim[a->rank - 1],
                   (long long)b->dim[b->rank - 2]);
  kc__shape x = batch_of(a), y = batch_of(b);
  out->rank = (x.rank > y.rank ? x.rank : y.rank) + 2;
  out->count = 1;
  for (int i = 1; i <= out->rank - 2; i++) {
    int64_t m = i <= x.rank ? x.dim[x.rank - i] : 1, n = i <= y.rank ? y.dim[y.rank - i] : 1;
    if (m != n && m != 1 && n != 1)
      return kc_fail(err, KC_EINVAL, "batch sizes %lld and %lld differ", (long long)m, (long long)n);
    out->dim[out->rank - 2 - i] = m == 1 ? n : m;
    out->count *= out->dim[out->rank - 2 - i];
  }
  out->dim[out->rank - 2] = a->dim[a->rank - 2];
  out->dim[out->rank - 1] = b->dim[b->rank - 1];
  out->count *= out->dim[out->rank - 2] * out->dim[out->rank - 1];
  return KC_OK;
}

/* One dot product: balls alone where every operand is finite, else term by term. */
static void dot(kc__value r, const kc__tensor *a, int64_t i, const kc__tensor *b, int64_t j, int64_t k, int64_t columns,
                slong precision) {
  bool real = true;
  for (int64_t n = 0; n < k && real; n++)
    real = kc__value_is_real(kc__value_at(a, i + n)) && kc__value_is_real(kc__value_at(b, j + n * columns));
  arb_t t, u;
  uint8_t c, d;
  arb_init(t);
  arb_init(u);
  if (real) {
    arb_dot(t, NULL, 0, a->x + i, 1, b->x + j, columns, k, precision);
    kc__value_set_ball(r, t);
  } else {
    kc__value_set_double(r, 0);
    for (int64_t n = 0; n < k; n++) {
      kc__value_mul((kc__value){t, &c}, kc__value_at(a, i + n), kc__value_at(b, j + n * columns), precision);
      kc__value_add((kc__value){u, &d}, r, (kc__value){t, &c}, precision);
      arb_swap(r.x, u);
      *r.classes = d;
    }
  }
  forget_sign_of_zero(r);
  arb_clear(u);
  arb_clear(t);
}

void kc__evaluate_matmul(const kc__work *w, int64_t begin, int64_t end) {
  const kc__tensor *a = w->args[0], *b = w->args[1];
  const kc__shape *s = &w->out->shape;
  kc__shape over = batch_of(s), own_a = batch_of(&a->shape), own_b = batch_of(&b->shape);
  int64_t rows = s->dim[s->rank - 2], columns = s->dim[s->rank - 1], k = a->shape.dim[a->shape.rank - 1];
  for (int64_t o = begin; o < end; o++) {
    int64_t batch = o / (rows * columns), row = o / columns % rows, column = o % columns;
    kc__walk at_a, at_b;
    kc__walk_begin(&at_a, &over, &own_a, batch);
    kc__walk_begin(&at_b, &over, &own_b, batch);
    dot(kc__value_at(w->out, o), a, (at_a.at * rows + row) * k, b, at_b.at * k * columns + column, k, columns, w->precision);
  }
}
