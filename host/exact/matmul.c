/* matmul.c - the oracle of matrix products: shapes, panels, evaluation and refinement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../parallel.h"
#include "matmul.h"

enum { PANEL_ELEMENTS = 1 << 24, BLOCK = 64 };

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

static void decode_run(const kc__operand *o, double *out, int64_t first, int64_t n) {
  const kc_format *f = kc_buffer_format(o->buffer);
  kc_decode_array(f, out, (const char *)kc_buffer_cdata(o->buffer) + (size_t)first * f->storage, (size_t)n);
}

/* Row `first` of the operand and the next rows, n <= BLOCK; where they lie across, pieces of them are decoded and turned. */
static void decode_rows(const kc__matmul *w, const kc__operand *o, double *out, int64_t offset, int64_t first, int64_t n) {
  offset += first * o->row;
  if (o->column == 1) {
    for (int64_t i = 0; i < n; i++) decode_run(o, out + i * w->k, offset + i * o->row, w->k);
    return;
  }
  double piece[BLOCK];
  for (int64_t k = 0; k < w->k; k++) {
    decode_run(o, piece, offset + k * o->column, n);
    for (int64_t i = 0; i < n; i++) out[i * w->k + k] = piece[i];
  }
}

/* ---- panels ---------------------------------------------------------------------------------------------------------- */

static kc_status panel_create(kc__panel *p, int64_t rows, int64_t k) {
  *p = (kc__panel){.first = -1, .k = k};
  if ((uint64_t)k > SIZE_MAX / sizeof(double) / (uint64_t)rows) return KC_ENOMEM;
  p->values = malloc(sizeof(double) * (size_t)(rows * k) + 1);
  p->exponent = calloc((size_t)rows, sizeof *p->exponent);
  p->bits = calloc((size_t)rows, sizeof *p->bits);
  return p->values && p->exponent && p->bits ? KC_OK : KC_ENOMEM;
}

static void panel_clear(kc__panel *p) {
  free(p->values);
  free(p->exponent);
  free(p->bits);
}

typedef struct loading {
  const kc__matmul *w;
  const kc__operand *o;
  kc__panel *p;
  int64_t offset;
} loading;

static void load_rows(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const loading *l = user;
  for (int64_t i = begin; i < end; i += BLOCK) {
    int64_t n = end - i < BLOCK ? end - i : BLOCK;
    decode_rows(l->w, l->o, l->p->values + i * l->w->k, l->offset, l->p->first + i, n);
  }
  for (int64_t i = begin; i < end; i++) {
    l->p->exponent[i] = 0;
    l->p->bits[i] = KC__UNSCALED;
  }
}

/* Loads rows first..first+rows-1 unless the panel holds them. */
static void panel_load(kc__panel *p, const kc__matmul *w, const kc__operand *o, int64_t batch, int64_t first, int64_t rows) {
  loading l = {w, o, p, kc__matmul_offset(w, o, batch)};
  if (p->first == first && p->rows == rows && p->batch == batch) return;
  p->batch = batch;
  p->first = first;
  p->rows = rows;
  kc__parallel_for(rows, BLOCK, load_rows, &l);
}

/* ---- evaluation ------------------------------------------------------------------------------------------------------ */

int64_t kc__matmul_index(const kc__tile *t, int64_t i, int64_t j) {
  return (t->batch * t->w->m + t->a->first + i) * t->w->n + t->b->first + j;
}

static void evaluate_elements(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const kc__tile *t = user;
  int64_t k = t->w->k;
  arf_t sum;
  arf_init(sum);
  for (int64_t e = begin; e < end; e++) {
    int64_t i = e / t->b->rows, j = e % t->b->rows, index = kc__matmul_index(t, i, j);
    uint8_t infinite = kc__matmul_sum(sum, t->a->values + i * k, t->b->values + j * k, k, t->a->exponent[i] + t->b->exponent[j],
                                      t->w->magnitude);
    double c = kc__matmul_c(t->w, t->batch, t->a->first + i, t->b->first + j);
    kc_exact_value v = kc__matmul_finish(t->w, sum, infinite, c);
    t->out->lo[index] = v.lo;
    t->out->hi[index] = v.hi;
    t->out->classes[index] = v.classes;
  }
  arf_clear(sum);
  flint_cleanup(); /* a helper thread may end after any piece */
}

static void evaluate_tile(kc__tile *t) {
  int64_t grain = (1 << 16) / (t->w->k + 64) + 1;
  kc__parallel_for(t->a->rows * t->b->rows, grain, evaluate_elements, t);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static void evaluate_batch(const kc__matmul *w, kc_enclosure *out, kc__panel *a, kc__panel *b, int64_t batch, int64_t size) {
  for (int64_t i = 0; i < w->m; i += size) {
    panel_load(a, w, &w->a, batch, i, least(size, w->m - i));
    for (int64_t j = 0; j < w->n; j += size) {
      panel_load(b, w, &w->b, batch, j, least(size, w->n - j));
      evaluate_tile(&(kc__tile){w, a, b, batch, out});
    }
  }
}

static kc_status matmul_eval(void *state, kc_enclosure *out, kc_text *err) {
  const kc__matmul *w = state;
  if (out->count == 0) return KC_OK;
  int64_t fitting = PANEL_ELEMENTS / (w->k + 1) + 1, size = least(KC__PANEL_ROWS, fitting);
  kc__panel a, b;
  kc_status status = panel_create(&a, size, w->k);
  kc_status second = panel_create(&b, size, w->k);
  if (status == KC_OK) status = second;
  for (int64_t i = 0; i < w->batches && status == KC_OK; i++) evaluate_batch(w, out, &a, &b, i, size);
  panel_clear(&b);
  panel_clear(&a);
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
  decode_rows(w, &w->a, x, kc__matmul_offset(w, &w->a, batch), row, 1);
  decode_rows(w, &w->b, x + w->k, kc__matmul_offset(w, &w->b, batch), column, 1);
  kc__bracket b;
  kc__bracket_init(&b);
  uint8_t infinite = kc__matmul_sum(b.lo, x, x + w->k, w->k, 0, w->magnitude);
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
