/* row.c - the driver of sums and row functions: gathers a row, prepares it once, encloses its elements, and repeats with more
 * precision what is not accurate enough. Many rows are worked on at the same time; of few long rows, the pieces.
 */
#include "row.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../oracle/oracle.h"
#include "../parallel.h"

enum {
  FIRST_PRECISION = 80, /* as for functions: bounds straddle a double for one result in 2^25, at the price of two limbs */
  ACCURACY = 60,
  LAST_PRECISION = 4096,     /* where even this is too little the bounds stay wide, never wrong */
  TINY = -1100,              /* below 2^TINY doubles cannot show more */
  GRAIN = 4096,              /* elements of a piece of work */
  REFINED_AT_ONCE = 1 << 22, /* elements of rows that are kept for refinement */
  MOST_INPUTS = 3
};

static const slong tiers[] = {160, 512, 2048};
enum { TIERS = sizeof tiers / sizeof *tiers };

/* One row, gathered, with room for preparing it `count` times. */
typedef struct workspace {
  int64_t row; /* -1: none yet */
  double *data;
  kc__row view;
  kc__prepared *prepared; /* precision 0: not for this row yet */
  int count;
} workspace;

typedef struct state {
  const kc__row_op *op;
  kc_oracle_params p;
  kc_buffer *inputs[MOST_INPUTS];
  double *vectors[MOST_INPUTS];
  kc__axis axis;
  workspace *slots; /* rows being refined, with a preparation for each tier */
  int64_t n_slots;
} state;

/* ---- workspaces --------------------------------------------------------------------------------------------------------- */

static void prepared_init(kc__prepared *with) {
  arf_init(with->sum);
  arf_init(with->squares);
  arb_init(with->scale);
}

static void drop_terms(kc__prepared *with) {
  if (with->terms) _arb_vec_clear(with->terms, with->count);
  with->terms = NULL;
}

static void prepared_clear(kc__prepared *with) {
  drop_terms(with);
  arb_clear(with->scale);
  arf_clear(with->squares);
  arf_clear(with->sum);
}

static void workspace_clear(workspace *w) {
  for (int k = 0; k < w->count; k++) prepared_clear(&w->prepared[k]);
  free(w->prepared);
  free(w->data);
}

static bool workspace_init(workspace *w, const state *s, int count) {
  int64_t n = s->axis.length;
  *w = (workspace){.row = -1, .view = {.p = &s->p, .n = n}};
  w->data = malloc(((size_t)n * (size_t)s->op->tensors + 1) * sizeof *w->data);
  w->prepared = calloc((size_t)count, sizeof *w->prepared);
  if (!w->data || !w->prepared) {
    workspace_clear(w);
    return false;
  }
  for (; w->count < count; w->count++) prepared_init(&w->prepared[w->count]);
  for (int k = 0; k < MOST_INPUTS; k++) w->view.x[k] = k < s->op->tensors ? w->data + k * n : s->vectors[k];
  return true;
}

/* Position of element k of a row in its tensor. */
static int64_t position(const kc__axis *a, int64_t row, int64_t k) {
  return (row / a->inner * a->length + k) * a->inner + row % a->inner;
}

static void gather(double *out, const kc_buffer *b, const kc__axis *a, int64_t row) {
  const kc_format *f = kc_buffer_format(b);
  const char *data = kc_buffer_cdata(b);
  if (a->inner == 1) {
    kc_decode_array(f, out, data + (size_t)(row * a->length) * f->storage, (size_t)a->length);
    return;
  }
  for (int64_t k = 0; k < a->length; k++) out[k] = kc_decode(f, kc_load(f, data, (size_t)position(a, row, k)));
}

static void load_row(workspace *w, const state *s, int64_t row) {
  if (w->row == row) return;
  w->row = row;
  for (int k = 0; k < s->op->tensors; k++) gather(w->data + k * s->axis.length, s->inputs[k], &s->axis, row);
  for (int k = 0; k < w->count; k++) w->prepared[k].precision = 0;
}

/* ---- one row ------------------------------------------------------------------------------------------------------------ */

typedef struct piece {
  const kc__row_op *op;
  const kc__row *row;
  kc__prepared *with;
  kc_exact_value *results;
} piece;

/* Pieces of a row at the same time, or the whole row by the caller. flint_cleanup gives back what a helper thread cached; it may
 * end after any piece. */
static void run_pieces(bool parallel, int64_t n, kc__range_fn fn, piece *p) {
  if (parallel) {
    kc__parallel_for(n, GRAIN, fn, p);
  } else {
    fn(p, 0, 0, n);
  }
}

static void terms_range(void *user, int worker, int64_t begin, int64_t end) {
  const piece *p = user;
  p->op->term(p->with, p->row, begin, end);
  if (worker > 0) flint_cleanup();
}

static void prepare(kc__prepared *with, const kc__row_op *op, const kc__row *r, slong precision, bool parallel) {
  if (with->precision == precision) return;
  with->precision = precision;
  op->begin(with, r);
  if (with->whole.classes) return;
  if (op->term && !with->terms) {
    with->terms = _arb_vec_init(r->n);
    with->count = r->n;
  }
  if (op->term) run_pieces(parallel, r->n, terms_range, &(piece){op, r, with, NULL});
  if (op->end) op->end(with, r);
}

/* True when more precision would not show in doubles, nor tell the sign. */
static bool accurate(const kc__bracket *b, const arb_t y) {
  if (arb_is_exact(y) || arb_rel_accuracy_bits(y) >= ACCURACY) return true;
  return arf_sgn(b->lo) * arf_sgn(b->hi) >= 0 && arf_cmpabs_2exp_si(b->lo, TINY) < 0 && arf_cmpabs_2exp_si(b->hi, TINY) < 0;
}

static void clamp(kc__bracket *b, const kc__row_op *op) {
  if (isinf(op->lo) && isinf(op->hi)) return;
  arf_t limit;
  arf_init(limit);
  arf_set_d(limit, op->lo);
  arf_max(b->lo, b->lo, limit);
  arf_set_d(limit, op->hi);
  arf_min(b->hi, b->hi, limit);
  arf_clear(limit);
}

static kc_exact_value known_value(kc__bracket *b, kc__known_point known) {
  kc_exact_value v = kc__exact_known(known);
  arf_set_d(b->lo, v.lo);
  arf_set_d(b->hi, v.hi);
  return v;
}

/* Encloses a result with what was prepared; false when it deserves more precision. */
static bool enclose(kc__bracket *b, kc_exact_value *v, const piece *p, int64_t i) {
  kc__known_point known = p->with->whole;
  if (!known.classes && p->op->special) known = p->op->special(p->with, p->row, i);
  bool enough = true;
  if (!known.classes) {
    arb_t y;
    arb_init(y);
    p->op->element(y, p->with, p->row, i);
    if (arb_is_zero(y)) known.classes = p->op->zero;
    kc__bracket_of_ball(b, y);
    clamp(b, p->op);
    enough = accurate(b, y);
    arb_clear(y);
  }
  *v = known.classes ? known_value(b, known) : kc__exact_doubles(b);
  return enough;
}

/* What needs more precision is left with classes 0. */
static void enclose_range(void *user, int worker, int64_t begin, int64_t end) {
  const piece *p = user;
  kc__bracket b;
  kc__bracket_init(&b);
  for (int64_t i = begin; i < end; i++) {
    if (!enclose(&b, &p->results[i], p, i)) p->results[i].classes = 0;
  }
  kc__bracket_clear(&b);
  if (worker > 0) flint_cleanup();
}

/* The precision never falls within a row, so that preparing again stays rare. */
static void sharpen(const piece *p, int64_t i, bool parallel) {
  kc__bracket b;
  kc__bracket_init(&b);
  slong precision = p->with->precision ? p->with->precision : 2 * FIRST_PRECISION;
  for (;; precision *= 2) {
    prepare(p->with, p->op, p->row, precision, parallel);
    if (enclose(&b, &p->results[i], p, i) || 2 * precision > LAST_PRECISION) break;
  }
  kc__bracket_clear(&b);
}

/* ---- all rows ----------------------------------------------------------------------------------------------------------- */

typedef struct job {
  const state *s;
  kc_enclosure *out;
  atomic_bool no_memory;
} job;

static int64_t results_of_row(const state *s) {
  return s->op->each ? s->axis.length : 1;
}

static void store_row(kc_enclosure *out, const state *s, int64_t row, const kc_exact_value *results) {
  for (int64_t k = 0; k < results_of_row(s); k++) {
    int64_t i = s->op->each ? position(&s->axis, row, k) : row;
    out->lo[i] = results[k].lo;
    out->hi[i] = results[k].hi;
    out->classes[i] = results[k].classes;
  }
}

static void evaluate_row(workspace *w, kc_exact_value *results, const state *s, int64_t row, bool parallel) {
  int64_t n = results_of_row(s);
  load_row(w, s, row);
  prepare(&w->prepared[0], s->op, &w->view, FIRST_PRECISION, parallel);
  run_pieces(parallel && !s->op->ordered, n, enclose_range, &(piece){s->op, &w->view, &w->prepared[0], results});
  for (int64_t i = 0; i < n; i++) {
    if (!results[i].classes) sharpen(&(piece){s->op, &w->view, &w->prepared[1], results}, i, parallel);
  }
}

static void evaluate_rows(job *j, int64_t begin, int64_t end, bool parallel) {
  workspace w;
  kc_exact_value *results = malloc(((size_t)results_of_row(j->s) + 1) * sizeof *results);
  if (!results || !workspace_init(&w, j->s, 2)) {
    free(results);
    atomic_store(&j->no_memory, true);
    return;
  }
  for (int64_t row = begin; row < end; row++) {
    evaluate_row(&w, results, j->s, row, parallel);
    store_row(j->out, j->s, row, results);
  }
  workspace_clear(&w);
  free(results);
}

static void rows_range(void *user, int worker, int64_t begin, int64_t end) {
  evaluate_rows(user, begin, end, false);
  if (worker > 0) flint_cleanup();
}

kc_status kc__row_eval(void *state_, kc_enclosure *out, kc_text *err) {
  const state *s = state_;
  int64_t rows = s->axis.outer * s->axis.inner, n = s->axis.length, grain = n < GRAIN ? GRAIN / (n + 1) + 1 : 1;
  job j = {s, out, false};
  if (rows < kc__parallel_workers(rows * n, GRAIN)) {
    kc_fpstate saved = kc_fpstate_get();
    kc_fpstate_set(kc_fpstate_default());
    evaluate_rows(&j, 0, rows, true);
    kc_fpstate_set(saved);
  } else {
    kc__parallel_for(rows, grain, rows_range, &j);
  }
  return j.no_memory ? kc_fail(err, KC_ENOMEM, "no memory for a row of %lld elements", (long long)n) : KC_OK;
}

/* ---- one element again ---------------------------------------------------------------------------------------------------- */

/* Elements are refined in the order of the output, which goes through `inner` rows at the same time. */
static kc_status make_slots(state *s) {
  const kc__axis *a = &s->axis;
  int64_t fit = REFINED_AT_ONCE / (a->length + 1) + 1, wanted = !s->op->each ? 1 : a->inner < fit ? a->inner : fit;
  if (!s->slots) s->slots = calloc((size_t)wanted, sizeof *s->slots);
  if (!s->slots) return KC_ENOMEM;
  for (; s->n_slots < wanted; s->n_slots++) {
    if (!workspace_init(&s->slots[s->n_slots], s, TIERS)) return s->n_slots ? KC_OK : KC_ENOMEM;
  }
  return KC_OK;
}

/* Keeps no terms, which a single element can do without. */
static kc_exact_value refine_value(kc__bracket *b, state *s, int64_t i, int tier) {
  const kc__axis *a = &s->axis;
  int64_t slab = a->length * a->inner, row = s->op->each ? i / slab * a->inner + i % a->inner : i;
  workspace *w = &s->slots[row % s->n_slots];
  load_row(w, s, row);
  prepare(&w->prepared[tier], s->op, &w->view, tiers[tier], true);
  drop_terms(&w->prepared[tier]);
  kc_exact_value v;
  piece p = {s->op, &w->view, &w->prepared[tier], NULL};
  enclose(b, &v, &p, s->op->each ? i % slab / a->inner : 0);
  return v;
}

kc_status kc__row_refine(void *state_, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                         uint8_t *classes) {
  state *s = state_;
  if (tier < 1 || tier > TIERS) return KC_EUNSUPPORTED;
  if (!s->n_slots && make_slots(s) != KC_OK) return KC_ENOMEM;
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  kc__bracket b;
  kc__bracket_init(&b);
  kc_exact_value v = refine_value(&b, s, i, tier - 1);
  kc__exact_difference(&b, y, dlo, dhi);
  kc__bracket_clear(&b);
  kc_fpstate_set(saved);
  *lo = v.lo;
  *hi = v.hi;
  *classes = v.classes;
  return KC_OK;
}

/* ---- inputs --------------------------------------------------------------------------------------------------------------- */

static kc_status load_vector(state *s, const kc_buffer *b, int k, kc_text *err) {
  int64_t n = s->axis.length;
  if (kc_buffer_rank(b) != 1 || kc_buffer_count(b) != n) {
    kc_text shape;
    kc__describe_tensor(&shape, b);
    return kc_fail(err, KC_EINVAL, "input %d: expected a vector of %lld elements, got %.200s", k + 1, (long long)n, shape.s);
  }
  s->vectors[k] = malloc(((size_t)n + 1) * sizeof(double));
  if (!s->vectors[k]) return kc_fail(err, KC_ENOMEM, "no memory for %lld elements", (long long)n);
  kc_decode_array(kc_buffer_format(b), s->vectors[k], kc_buffer_cdata(b), (size_t)n);
  return KC_OK;
}

static kc_status load_inputs(state *s, const kc_buffer *const *inputs, int n, kc_text *err) {
  kc_status status = KC_OK;
  for (int k = 0; k < n && status == KC_OK; k++) status = kc__require_float(inputs[k], k + 1, err);
  if (status == KC_OK) status = kc__axis_of(&s->axis, inputs[0], s->p.axis, err);
  if (status == KC_OK && s->op->tensors == 2) status = kc__require_same_shape(inputs[0], inputs[1], err);
  for (int k = s->op->tensors; k < n && status == KC_OK; k++) status = load_vector(s, inputs[k], k, err);
  return status == KC_OK && s->op->check ? s->op->check(&s->p, s->axis.length, err) : status;
}

kc_status kc__row_open(void **out, int64_t *count, const kc_buffer *const *inputs, int n, const kc_oracle_params *p,
                       const kc__row_op *op, kc_text *err) {
  *out = NULL;
  state *s = calloc(1, sizeof *s);
  if (!s) return kc_fail(err, KC_ENOMEM, "no memory for an oracle");
  s->op = op;
  s->p = *p;
  kc_status status = load_inputs(s, inputs, n, err);
  if (status != KC_OK) {
    kc__row_close(s);
    return status;
  }
  for (int k = 0; k < n; k++) s->inputs[k] = kc_buffer_retain((kc_buffer *)(uintptr_t)inputs[k]); /* only its counter changes */
  *count = op->each ? kc_buffer_count(inputs[0]) : s->axis.outer * s->axis.inner;
  *out = s;
  return KC_OK;
}

void kc__row_close(void *state_) {
  state *s = state_;
  if (!s) return;
  for (int64_t k = 0; k < s->n_slots; k++) workspace_clear(&s->slots[k]);
  free(s->slots);
  for (int k = 0; k < MOST_INPUTS; k++) {
    kc_buffer_release(s->inputs[k]);
    free(s->vectors[k]);
  }
  free(s);
}
