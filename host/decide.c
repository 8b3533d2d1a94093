/* decide.c - decides a whole output tensor: every element by the rules of decide_element.c, in parallel; what stays open goes
 * to the refiner, tier by tier, on the calling thread.
 */
#include <stdlib.h>
#include <string.h>

#include "decide_element.h"
#include "integers.h"
#include "parallel.h"

enum {
  BLOCK = 512,       /* outputs decoded at a time */
  GRAIN = 16 * 1024, /* elements a worker takes at once */
  MAX_TIERS = 64     /* a refiner that never says it has no further tier must not hang the judge */
};

typedef struct job {
  const kc_buffer *y;
  const kc_format *f;
  const kc_enclosure *e;
  const kc_tolerance *t;
  uint8_t *open; /* per element: 1 when left to the refiner; NULL without one */
  kc_decision *workers;
} job;

static int class_bit(unsigned classes) {
  return __builtin_ctz(classes);
}

/* kc_classify_double, inlined for the two classes that make up nearly every tensor. */
static inline kc_class class_of(double y) {
  if (y > 0 && y <= DBL_MAX) return KC_PFIN;
  if (y < 0 && y >= -DBL_MAX) return KC_NFIN;
  return kc_classify_double(y);
}

static void decision_init(kc_decision *d) {
  *d = (kc_decision){.first_class_no = -1, .first_value_no = -1, .worst = -1, .worst_ratio_lo = -1};
}

static void count_truth(kc_truth t, int64_t *yes, int64_t *no, int64_t *unknown) {
  ++*(t == KC_YES ? yes : t == KC_NO ? no : unknown);
}

/* Smaller index; -1 is none. */
static int64_t earlier(int64_t a, int64_t b) {
  return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void add_confusion(kc_decision *d, uint8_t classes, kc_class found) {
  if (!classes) return;
  d->confusion[class_bit(classes & found ? (unsigned)found : classes)][class_bit(found)]++;
}

static void add_worst(kc_decision *d, int64_t i, const kc_element_decision *e, kc__bounds value) {
  if (e->ratio_lo < d->worst_ratio_lo || (e->ratio_lo == d->worst_ratio_lo && i > d->worst)) return;
  d->worst = i;
  d->worst_ratio_lo = e->ratio_lo;
  d->worst_ratio_hi = e->ratio_hi;
  d->worst_lo = value.lo;
  d->worst_hi = value.hi;
  d->worst_error = e->error_hi;
  d->worst_allowed = e->allowed;
}

/* Errors of inadmissible classes have no size. */
static void add_scaled(kc_decision *d, const kc_tolerance *t, int64_t i, const kc_element_decision *e) {
  if (!t->scale || e->cls == KC_NO || e->error_hi == 0) return;
  double scaled = kc__div_up(e->error_hi, t->scale[i]);
  if (scaled > d->worst_scaled) d->worst_scaled = scaled;
}

static void add_element(kc_decision *d, int64_t i, kc_class found, const kc__exact *x, const kc_element_decision *e) {
  if (x->classes & KC_ANYTHING) {
    d->anything++;
    return;
  }
  count_truth(e->cls, &d->class_yes, &d->class_no, &d->class_unknown);
  count_truth(e->value, &d->value_yes, &d->value_no, &d->value_unknown);
  d->vacuous += e->vacuous;
  d->exact += e->allowed == 0;
  d->undeclared += x->classes == 0;
  d->zeros += (found & (KC_NZERO | KC_PZERO)) != 0;
  if (e->cls == KC_NO) d->first_class_no = earlier(d->first_class_no, i);
  if (e->value == KC_NO) d->first_value_no = earlier(d->first_value_no, i);
  add_confusion(d, x->classes, found);
  if (e->cls == KC_NO || !x->classes) return;
  d->histogram[kc__bin(e->ratio_hi)]++;
  add_worst(d, i, e, x->value);
}

static void merge(kc_decision *d, const kc_decision *from) {
  int64_t *const sums[] = {&d->class_yes, &d->class_no, &d->class_unknown, &d->value_yes,  &d->value_no, &d->value_unknown,
                           &d->vacuous,   &d->zeros,    &d->exact,         &d->undeclared, &d->anything};
  const int64_t terms[] = {from->class_yes, from->class_no,      from->class_unknown, from->value_yes,
                           from->value_no,  from->value_unknown, from->vacuous,       from->zeros,
                           from->exact,     from->undeclared,    from->anything};
  for (size_t k = 0; k < sizeof terms / sizeof *terms; k++) *sums[k] += terms[k];
  for (int k = 0; k < 66; k++) d->histogram[k] += from->histogram[k];
  for (int k = 0; k < 49; k++) d->confusion[k / 7][k % 7] += from->confusion[k / 7][k % 7];
  if (from->worst_scaled > d->worst_scaled) d->worst_scaled = from->worst_scaled;
  d->first_class_no = earlier(d->first_class_no, from->first_class_no);
  d->first_value_no = earlier(d->first_value_no, from->first_value_no);
  if (from->worst < 0) return;
  kc_element_decision e = {.ratio_lo = from->worst_ratio_lo,
                           .ratio_hi = from->worst_ratio_hi,
                           .error_hi = from->worst_error,
                           .allowed = from->worst_allowed};
  add_worst(d, from->worst, &e, (kc__bounds){from->worst_lo, from->worst_hi});
}

static double allowed_at(const kc_tolerance *t, int64_t i) {
  return t->kind == KC_TOL_GIVEN ? t->allowed[i] : 0;
}

static void decide_block(const job *j, kc_decision *d, int64_t first, int n) {
  double y[BLOCK];
  kc_decode_array(j->f, y, (const char *)kc_buffer_cdata(j->y) + (size_t)first * j->f->storage, (size_t)n);
  for (int k = 0; k < n; k++) {
    int64_t i = first + k;
    kc__exact x = {.value = {j->e->lo[i], j->e->hi[i]}, .classes = j->e->classes[i]};
    kc_class found = class_of(y[k]);
    if (x.classes & ~(KC_NAN | KC_NINF | KC_PINF)) x.difference = kc__difference(j->f, y[k], x.value);
    kc_element_decision e = kc__decide_value(j->f, y[k], found, &x, j->t, allowed_at(j->t, i));
    if (j->open && !kc__decided(&e)) {
      j->open[i] = 1;
    } else {
      add_element(d, i, found, &x, &e);
      add_scaled(d, j->t, i, &e);
    }
  }
}

static void decide_range(void *user, int worker, int64_t begin, int64_t end) {
  const job *j = user;
  for (int64_t i = begin; i < end; i += BLOCK) {
    decide_block(j, &j->workers[worker], i, (int)(end - i < BLOCK ? end - i : BLOCK));
  }
}

static bool in_set(const kc_enclosure *e, int64_t i, int64_t value) {
  for (int64_t k = e->set_offsets[i]; k < e->set_offsets[i + 1]; k++) {
    if (e->set_items[k] == value) return true;
  }
  return false;
}

static void decide_index_range(void *user, int worker, int64_t begin, int64_t end) {
  const job *j = user;
  const void *data = kc_buffer_cdata(j->y);
  for (int64_t i = begin; i < end; i++) {
    uint64_t code = kc_load(j->f, data, (size_t)i);
    bool undeclared = j->e->set_offsets[i] == j->e->set_offsets[i + 1];
    kc_element_decision e = {.cls = KC_YES, .value = KC_UNKNOWN, .ratio_hi = KC__INF, .error_hi = KC__INF};
    if (!undeclared && in_set(j->e, i, kc__index_value(j->f, code))) {
      e = (kc_element_decision){.cls = KC_YES, .value = KC_YES};
    } else if (!undeclared) {
      e.value = KC_NO;
      e.ratio_lo = KC__INF;
    }
    kc__exact x = {.value = {j->e->lo[i], j->e->hi[i]}};
    add_element(&j->workers[worker], i, kc_classify(j->f, code), &x, &e);
  }
}

/* Asks for tighter bounds until the element is decided or no tier is left. */
static kc_status refine_element(const job *j, int64_t i, kc_refine_fn refine, void *user, kc_decision *d) {
  double y = kc_decode(j->f, kc_load(j->f, kc_buffer_cdata(j->y), (size_t)i));
  kc_class found = class_of(y);
  double rest, anchor = kc_decision_anchor(j->f, y, &rest);
  kc__exact x = {.value = {j->e->lo[i], j->e->hi[i]}, .classes = j->e->classes[i]};
  x.difference = kc__difference(j->f, y, x.value);
  kc_element_decision e = kc__decide_value(j->f, y, found, &x, j->t, allowed_at(j->t, i));
  for (int tier = 1; tier <= MAX_TIERS && !kc__decided(&e); tier++) {
    kc__bounds *b = &x.difference;
    kc_status status = refine(user, i, anchor, tier, &x.value.lo, &x.value.hi, &b->lo, &b->hi, &x.classes);
    if (status == KC_EUNSUPPORTED) break;
    if (status != KC_OK) return status;
    if (rest != 0) *b = (kc__bounds){kc__sub_down(b->lo, rest), kc__sub_up(b->hi, rest)};
    e = kc__decide_value(j->f, y, found, &x, j->t, allowed_at(j->t, i));
  }
  d->refined++;
  add_element(d, i, found, &x, &e);
  add_scaled(d, j->t, i, &e);
  return KC_OK;
}

static kc_status refine_open(const job *j, kc_refine_fn refine, void *user, kc_decision *d, kc_text *err) {
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  kc_status status = KC_OK;
  for (int64_t i = 0; i < j->e->count && status == KC_OK; i++) {
    if (!j->open[i]) continue;
    status = refine_element(j, i, refine, user, d);
    if (status != KC_OK) kc_fail(err, status, "refining element %lld failed (%s)", (long long)i, kc_status_name(status));
  }
  kc_fpstate_set(saved);
  return status;
}

static kc_status check_arguments(const kc_buffer *y, const kc_enclosure *e, const kc_tolerance *t, kc_text *err) {
  if (kc_buffer_count(y) != e->count) {
    return kc_fail(err, KC_EINVAL, "the output has %lld elements, the enclosure %lld", (long long)kc_buffer_count(y),
                   (long long)e->count);
  }
  if (t->kind > KC_TOL_GIVEN) return kc_fail(err, KC_EINVAL, "unknown kind of tolerance %d", t->kind);
  bool takes_value = t->kind == KC_TOL_ULP || t->kind == KC_TOL_ABS || t->kind == KC_TOL_REL;
  if (takes_value && !(t->value >= 0 && t->value <= DBL_MAX)) {
    return kc_fail(err, KC_EINVAL, "the tolerance's value: expected a finite number >= 0, got %g", t->value);
  }
  if (t->kind == KC_TOL_GIVEN && !t->allowed) return kc_fail(err, KC_EINVAL, "the tolerance has no allowed errors");
  if (e->set_offsets && kc_buffer_format(y)->kind == KC_FLOAT) {
    return kc_fail(err, KC_EINVAL, "sets of indices: expected an integer output, got %s", kc_buffer_format(y)->name);
  }
  return KC_OK;
}

static void finish(kc_decision *out, const kc_decision *workers, int n, int64_t count) {
  for (int k = 0; k < n; k++) merge(out, &workers[k]);
  out->count = count;
  if (out->worst < 0) out->worst_ratio_lo = 0;
}

kc_status kc_decide(kc_decision *out, const kc_buffer *y, const kc_enclosure *e, const kc_tolerance *t, kc_refine_fn refine,
                    void *user, kc_text *err) {
  decision_init(out);
  kc_status status = check_arguments(y, e, t, err);
  if (status != KC_OK) return status;
  int n = kc__parallel_workers(e->count, GRAIN);
  bool refinable = refine && !e->set_offsets && e->count > 0;
  job j = {.y = y, .f = kc_buffer_format(y), .e = e, .t = t};
  j.workers = malloc((size_t)n * sizeof *j.workers);
  j.open = refinable ? calloc((size_t)e->count, 1) : NULL;
  if (!j.workers || (refinable && !j.open)) {
    status = kc_fail(err, KC_ENOMEM, "no memory to decide %lld elements", (long long)e->count);
    goto done;
  }
  for (int k = 0; k < n; k++) decision_init(&j.workers[k]);
  kc__parallel_for(e->count, GRAIN, e->set_offsets ? decide_index_range : decide_range, &j);
  if (refinable) status = refine_open(&j, refine, user, &j.workers[0], err);
  if (status == KC_OK) {
    out->refined = j.workers[0].refined;
    finish(out, j.workers, n, e->count);
  }
done:
  free(j.open);
  free(j.workers);
  return status;
}
