/* matmul_panel.c - rows of operands, decoded; where wanted, scaled to integers. */
#include <math.h>
#include <stdlib.h>

#include "../bits.h"
#include "../parallel.h"
#include "matmul.h"

enum { ROWS_AT_ONCE = 32 };

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

static void decode_run(const kc__operand *o, double *out, int64_t first, int64_t n) {
  const kc_format *f = kc_buffer_format(o->buffer);
  kc_decode_array(f, out, (const char *)kc_buffer_cdata(o->buffer) + (size_t)first * f->storage, (size_t)n);
}

/* Where rows lie across, pieces of them are decoded and turned. */
static void decode(const kc__matmul *w, const kc__operand *o, double *out, int64_t offset, int64_t n) {
  if (o->column == 1) {
    for (int64_t i = 0; i < n; i++) decode_run(o, out + i * w->k, offset + i * o->row, w->k);
    return;
  }
  double piece[ROWS_AT_ONCE];
  for (int64_t k = 0; k < w->k; k++) {
    decode_run(o, piece, offset + k * o->column, n);
    for (int64_t i = 0; i < n; i++) out[i * w->k + k] = piece[i];
  }
}

void kc__matmul_decode(const kc__matmul *w, const kc__operand *o, double *out, int64_t batch, int64_t first, int64_t n) {
  decode(w, o, out, kc__matmul_offset(w, o, batch) + first * o->row, n);
  for (int64_t i = 0; w->magnitude && i < n * w->k; i++) out[i] = fabs(out[i]);
}

/* ---- scaling --------------------------------------------------------------------------------------------------------- */

typedef struct extent {
  int low, high; /* exponents of the lowest and of the highest bit set */
  bool finite;
  uint64_t digest;
} extent;

static void widen(extent *e, uint64_t bits) {
  uint64_t fraction = bits & kc__mask(52);
  int field = (int)(bits >> 52 & 0x7ff);
  e->digest = kc__digest(e->digest, bits);
  if (field == 0x7ff) e->finite = false;
  if (field) fraction |= UINT64_C(1) << 52;
  if (!fraction) return;
  int last = (field ? field : 1) - 1075, low = last + __builtin_ctzll(fraction), high = last + 63 - __builtin_clzll(fraction);
  if (low < e->low) e->low = low;
  if (high > e->high) e->high = high;
}

/* In two steps, since 2^1074 is no double; all numbers lie between the row's and the integers. */
static void scale(double *x, int64_t n, int exponent) {
  double half = kc__pow2(-exponent / 2), rest = kc__pow2(-exponent - -exponent / 2);
  for (int64_t i = 0; i < n; i++) x[i] = x[i] * half * rest;
}

static void scale_row(kc__panel *p, int64_t row) {
  double *x = p->values + row * p->k;
  extent e = {.low = 4096, .high = -4096, .finite = true};
  for (int64_t i = 0; i < p->k; i++) widen(&e, kc__bits_of(x[i]));
  p->digest[row] = e.digest;
  if (!e.finite || e.high - e.low >= KC__WIDEST) return;
  bool zero = e.high < e.low;
  p->bits[row] = zero ? 0 : e.high - e.low + 1;
  p->exponent[row] = zero ? 0 : e.low;
  if (p->exponent[row]) scale(x, p->k, e.low);
}

/* ---- panels ---------------------------------------------------------------------------------------------------------- */

kc_status kc__panel_create(kc__panel *p, int64_t rows, int64_t k, bool scaled) {
  *p = (kc__panel){.first = -1, .k = k, .scaled = scaled};
  if ((uint64_t)k > SIZE_MAX / sizeof(double) / (uint64_t)rows) return KC_ENOMEM;
  p->values = malloc(sizeof(double) * (size_t)(rows * k) + 1);
  p->exponent = calloc((size_t)rows, sizeof *p->exponent);
  p->bits = calloc((size_t)rows, sizeof *p->bits);
  p->digest = calloc((size_t)rows, sizeof *p->digest);
  return p->values && p->exponent && p->bits && p->digest ? KC_OK : KC_ENOMEM;
}

void kc__panel_clear(kc__panel *p) {
  free(p->values);
  free(p->exponent);
  free(p->bits);
  free(p->digest);
}

typedef struct loading {
  const kc__matmul *w;
  const kc__operand *o;
  kc__panel *p;
} loading;

static void load_rows(void *user, int worker, int64_t begin, int64_t end) {
  (void)worker;
  const loading *l = user;
  for (int64_t i = begin; i < end; i += ROWS_AT_ONCE) {
    int64_t n = end - i < ROWS_AT_ONCE ? end - i : ROWS_AT_ONCE;
    kc__matmul_decode(l->w, l->o, l->p->values + i * l->w->k, l->p->batch, l->p->first + i, n);
  }
  for (int64_t i = begin; i < end; i++) {
    l->p->exponent[i] = 0;
    l->p->bits[i] = KC__UNSCALED;
    if (l->p->scaled) scale_row(l->p, i);
  }
}

void kc__panel_load(kc__panel *p, const kc__matmul *w, const kc__operand *o, int64_t batch, int64_t first, int64_t rows) {
  loading l = {w, o, p};
  if (p->first == first && p->rows == rows && p->batch == batch) return;
  p->batch = batch;
  p->first = first;
  p->rows = rows;
  kc__parallel_for(rows, ROWS_AT_ONCE, load_rows, &l);
}
