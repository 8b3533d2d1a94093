/* matmul.c - the oracle of matrix products: shapes, panels, evaluation and refinement. */
#include <math.h>
#include <stdlib.h>

#include "../parallel.h"
#include "matmul_slices.h"

enum {
  PANEL_ELEMENTS = 1 << 24,
  LEAST_TERMS = 1 << 20 /* of all elements together: below, loading OpenBLAS costs more than it saves */
};

/* ---- shapes ---------------------------------------------------------------------------------------------------------- */

static kc_status check_formats(const kc_buffer *const *inputs, int n, kc_text *err) {
  for (int i = 0; i < n; i++) {
    const kc_format *f = kc_buffer_format(inputs[i]);
    int rank = kc_buffer_rank(inputs[i]);
    if (f->kind != KC_FLOAT) return kc_fail(err, KC_EINVAL, "input %d: expected a float format, got %s", i + 1, f->name);
    if (rank < 2) return kc_fail(err, KC_EINVAL, "input %d: expected at least 2 dimensions, got %d", i + 1, rank);
    if (rank != kc_buffer_rank(inputs[0])) {
      return kc_fail(err, KC_EINVAL, "input %d: expected %d dimensions like input 1, got %d", i + 1, kc_buffer_rank(inputs[0]),
                     rank);
    }
  }
  return KC_OK;
}

static kc_status check_params(const kc_oracle_params *p, int n, kc_text *err) {
  if (isinf(p->a)) return kc_fail(err, KC_EINVAL, "alpha: expected a finite number or NaN, got %g", p->a);
  if (isinf(p->b)) return kc_fail(err, KC_EINVAL, "beta: expected a finite number or NaN, got %g", p->b);
  if (p->b != 0 && n < 3) return kc_fail(err, KC_EINVAL, "beta is %g: expected a third input, got %d inputs", p->b, n);
  return KC_OK;
}

/* Strides of a matrix whose rows have `rows` and columns `columns` elements as stored. */
static void lay_out(kc__operand *o, bool along_rows, const kc_buffer *b) {
  const int64_t *shape = kc_buffer_shape(b);
  int leading = kc_buffer_rank(b) - 2;
  int64_t width = shape[leading + 1], distance = shape[leading] * width;
  o->row = along_rows ? width : 1;
  o->column = along_rows ? 1 : width;
  for (int d = leading - 1; d >= 0; d--) {
    o->batch[d] = shape[d] == 1 ? 0 : distance;
    distance *= shape[d];
  }
}

/* Leading dimensions: equal, or 1 in one of the two, which is then repeated. C does not widen the result. */
static kc_status merge_leading(kc__matmul *w, const kc_buffer *b, int input, kc_text *err) {
  for (int d = 0; d < w->leading; d++) {
    int64_t size = kc_buffer_shape(b)[d];
    if (w->shape[d] == 1 && input <= 2) w->shape[d] = size;
    if (size != w->shape[d] && size != 1) {
      return kc_fail(err, KC_EINVAL, "input %d, dimension %d: expected %lld or 1, got %lld", input, d + 1,
                     (long long)w->shape[d], (long long)size);
    }
  }
  return KC_OK;
}

static kc_status check_size(int64_t want, int64_t got, const char *what, int input, kc_text *err) {
  if (want == got) return KC_OK;
  return kc_fail(err, KC_EINVAL, "input %d: expected %lld %s, got %lld", input, (long long)want, what, (long long)got);
}

static kc_status set_shape(kc__matmul *w, const kc_buffer *const *inputs, int n, const kc_oracle_params *p, kc_text *err) {
  w->leading = kc_buffer_rank(inputs[0]) - 2;
  const int64_t *a = kc_buffer_shape(inputs[0]) + w->leading, *b = kc_buffer_shape(inputs[1]) + w->leading;
  w->m = a[p->transpose_a];
  w->k = a[!p->transpose_a];
  w->n = b[!p->transpose_b];
  kc_status status = check_size(w->k, b[p->transpose_b], p->transpose_b ? "columns" : "rows", 2, err);
  if (status == KC_OK && n == 3) {
    const int64_t *c = kc_buffer_shape(inputs[2]) + w->leading;
    status = check_size(w->m, c[0], "rows", 3, err);
    if (status == KC_OK) status = check_size(w->n, c[1], "columns", 3, err);
  }
  for (int d = 0; d < w->leading; d++) w->shape[d] = 1;
  for (int i = 0; i < n && status == KC_OK; i++) status = merge_leading(w, inputs[i], i + 1, err);
  return status;
}

static kc_status count_elements(int64_t *count, kc__matmul *w, kc_text *err) {
  bool overflow = false;
  w->batches = 1;
  for (int d = 0; d < w->leading; d++) overflow |= __builtin_mul_overflow(w->batches, w->shape[d], &w->batches);
  overflow |= __builtin_mul_overflow(w->batches, w->m, count);
  overflow |= __builtin_mul_overflow(*count, w->n, count);
  return overflow ? kc_fail(err, KC_EINVAL, "the product would have more than 2^63 elements") : KC_OK;
}

/* The reference counter is the only thing that changes in a buffer that is otherwise read. */
static kc_buffer *retain(const kc_buffer *b) {
  return kc_buffer_retain((kc_buffer *)(uintptr_t)b);
}

/* As in BLAS: where alpha is 0 neither A nor B is read, where beta is 0 C is not. */
static void take_inputs(kc__matmul *w, const kc_buffer *const *inputs, const kc_oracle_params *p) {
  lay_out(&w->a, !p->transpose_a, inputs[0]);
  lay_out(&w->b, p->transpose_b, inputs[1]);
  w->a.buffer = retain(inputs[0]);
  w->b.buffer = retain(inputs[1]);
  if (w->beta == 0) return;
  lay_out(&w->c, true, inputs[2]);
  w->c.buffer = retain(inputs[2]);
}

static void matmul_close(void *state) {
  kc__matmul *w = state;
  if (!w) return;
  kc_buffer_release(w->a.buffer);
  kc_buffer_release(w->b.buffer);
  kc_buffer_release(w->c.buffer);
  free(w);
}

static kc_status matmul_open(void **state, int64_t *count, const kc_buffer *const *inputs, int n, const kc_oracle_params *p,
                             kc_text *err) {
  kc__matmul w = {.alpha = p->a, .beta = p->b, .magnitude = p->magnitude};
  *state = NULL;
  kc_status status = check_formats(inputs, n, err);
  if (status == KC_OK) status = check_params(p, n, err);
  if (status == KC_OK) status = set_shape(&w, inputs, n, p, err);
  if (status == KC_OK) status = count_elements(count, &w, err);
  if (status != KC_OK) return status;
  kc__matmul *held = malloc(sizeof *held);
  if (!held) return kc_fail(err, KC_ENOMEM, "no memory for a matrix product");
  if (w.alpha == 0) w.k = 0;
  if (*count > 0) take_inputs(&w, inputs, p);
  *held = w;
  *state = held;
  return KC_OK;
}

/* ---- elements -------------------------------------------------------------------------------------------------------- */

int64_t kc__matmul_offset(const kc__matmul *w, const kc__operand *o, int64_t batch) {
  int64_t offset = 0;
  for (int d = w->leading - 1; d >= 0; d--) {
    offset += batch % w->shape[d] * o->batch[d];
    batch /= w->shape[d];
  }
  return offset;
}

static double element(const kc__operand *o, int64_t i) {
  const kc_format *f = kc_buffer_format(o->buffer);
  return kc_decode(f, kc_load(f, kc_buffer_cdata(o->buffer), (size_t)i));
}

double kc__matmul_c(const kc__matmul *w, int64_t batch, int64_t row, int64_t column) {
  if (!w->c.buffer) return 0;
  return element(&w->c, kc__matmul_offset(w, &w->c, batch) + row * w->c.row + column * w->c.column);
}

/* ---- evaluation ------------------------------------------------------------------------------------------------------ */

typedef struct evaluation {
  const kc__tile *t;
  const kc__product *p; /* NULL: none was computed */
} evaluation;

/* From the integer product where there is one, else by summing. */
static kc_exact_value evaluate(const evaluation *v, arf_t scratch, int64_t i, int64_t j) {
  const kc__tile *t = v->t;
  int64_t k = t->w->k;
  int exponent = t->a->exponent[i] + t->b->exponent[j];
  double c = kc__matmul_c(t->w, t->batch, t->a->first + i, t->b->first + j);
  if (v->p && v->p->use_a[i] && v->p->use_b[j]) {
    return kc__matmul_round(t->w, scratch, v->p->sums[i * t->b->rows + j], exponent, c);
  }
  uint8_t infinite = kc__matmul_sum(scratch, t->a->values + i * k, t->b->values + j * k, k, exponent);
  return kc__matmul_finish(t->w, scratch, infinite, c);
}

static void evaluate_elements(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const evaluation *v = user;
  const kc__tile *t = v->t;
  arf_t scratch;
  arf_init(scratch);
  for (int64_t e = begin; e < end; e++) {
    int64_t i = e / t->b->rows, j = e % t->b->rows;
    int64_t index = (t->batch * t->w->m + t->a->first + i) * t->w->n + t->b->first + j;
    kc_exact_value x = evaluate(v, scratch, i, j);
    t->out->lo[index] = x.lo;
    t->out->hi[index] = x.hi;
    t->out->classes[index] = x.classes;
  }
  arf_clear(scratch);
  flint_cleanup(); /* a helper thread may end after any piece */
}

static void evaluate_tile(const kc__tile *t, kc__product *p) {
  evaluation v = {t, p && kc__product_run(p, t) ? p : NULL};
  int64_t grain = v.p ? 1024 : (1 << 16) / (t->w->k + 64) + 1;
  kc__parallel_for(t->a->rows * t->b->rows, grain, evaluate_elements, &v);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

typedef struct workspace {
  int64_t rows; /* of a panel */
  kc__panel a, b;
  kc__product *product;
} workspace;

static void evaluate_batch(const kc__matmul *w, kc_enclosure *out, workspace *s, int64_t batch) {
  for (int64_t i = 0; i < w->m; i += s->rows) {
    kc__panel_load(&s->a, w, &w->a, batch, i, least(s->rows, w->m - i));
    for (int64_t j = 0; j < w->n; j += s->rows) {
      kc__panel_load(&s->b, w, &w->b, batch, j, least(s->rows, w->n - j));
      evaluate_tile(&(kc__tile){w, &s->a, &s->b, batch, out}, s->product);
    }
  }
}

static bool large(const kc__matmul *w, int64_t count) {
  int64_t terms;
  return __builtin_mul_overflow(count, w->k, &terms) || terms >= LEAST_TERMS;
}

/* Leaves what it made to workspace_clear, also where it fails. */
static kc_status workspace_create(workspace *s, const kc__matmul *w, int64_t count) {
  *s = (workspace){.rows = least(KC__PANEL_ROWS, PANEL_ELEMENTS / (w->k + 1) + 1)};
  if (large(w, count)) s->product = kc__product_create(s->rows, w->k);
  kc_status status = kc__panel_create(&s->a, s->rows, w->k, s->product);
  return status == KC_OK ? kc__panel_create(&s->b, s->rows, w->k, s->product) : status;
}

static void workspace_clear(workspace *s) {
  kc__panel_clear(&s->b);
  kc__panel_clear(&s->a);
  kc__product_free(s->product);
}

static kc_status matmul_eval(void *state, kc_enclosure *out, kc_text *err) {
  const kc__matmul *w = state;
  if (out->count == 0) return KC_OK;
  workspace s;
  kc_status status = workspace_create(&s, w, out->count);
  for (int64_t i = 0; i < w->batches && status == KC_OK; i++) evaluate_batch(w, out, &s, i);
  workspace_clear(&s);
  return status == KC_OK ? KC_OK : kc_fail(err, status, "no memory for rows of %lld elements", (long long)w->k);
}

/* ---- refinement ------------------------------------------------------------------------------------------------------ */

/* The exact value needs no second tier. */
static kc_status matmul_refine(void *state, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                               uint8_t *classes) {
  const kc__matmul *w = state;
  if (tier != 1) return KC_EUNSUPPORTED;
  int64_t column = i % w->n, row = i / w->n % w->m, batch = i / w->n / w->m;
  double *x = malloc(sizeof *x * 2 * (size_t)w->k + 1);
  if (!x) return KC_ENOMEM;
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  kc__matmul_decode(w, &w->a, x, batch, row, 1);
  kc__matmul_decode(w, &w->b, x + w->k, batch, column, 1);
  kc__bracket b;
  kc__bracket_init(&b);
  uint8_t infinite = kc__matmul_sum(b.lo, x, x + w->k, w->k, 0);
  kc_exact_value v = kc__matmul_finish(w, b.lo, infinite, kc__matmul_c(w, batch, row, column));
  arf_set(b.hi, b.lo);
  kc__exact_difference(&b, y, dlo, dhi);
  kc__bracket_clear(&b);
  kc_fpstate_set(saved);
  free(x);
  *lo = v.lo;
  *hi = v.hi;
  *classes = v.classes;
  return KC_OK;
}

const kc_tensor_oracle kc__oracle_matmul = {
    .name = "matmul",
    .doc = "alpha op(A) op(B) + beta C; A [.., M, K], B [.., K, N], C [.., M, N], leading dimensions equal or 1",
    .least = 2,
    .most = 3,
    .open = matmul_open,
    .eval = matmul_eval,
    .refine = matmul_refine,
    .close = matmul_close,
};
