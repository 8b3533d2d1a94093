/* diff.c - comparing two files, in one pass.
 *
 * Blocks go through the ulp metric, which counts, bins and says whether anything differs. Errors are bounded by a vectorised loop in
 * binary64; only blocks that may hold a new worst element, or one beyond a limit, are looked at element by element, exactly.
 */
#include "diff.h"

#include <stdio.h>
#include <stdlib.h>

#include "diff_error.h"
#include "diff_tiles.h"
#include "diff_vector.h"
#include "metric/metric.h"
#include "parallel.h"

enum { BLOCK = KC__METRIC_BLOCK };

/* An element met: its number in the order of tiles decides between equals, whichever thread meets it. */
typedef struct found {
  int64_t tile, k; /* tile < 0: none */
  uint64_t got, ref;
  double error;
} found;

typedef struct worker {
  kc__tally tally;
  int64_t classes[7][7], class_differences, nan_payloads, beyond;
  found first, first_class, worst[KC_DIFF_KINDS];
  char *got, *ref, *scratch; /* a tile each */
  double *values;            /* to convert a tile */
  kc_status status;
  kc_text err;
} worker;

typedef struct pass {
  const kc_npy *got, *ref;
  const kc_diff_options *options;
  kc__diff_tiles tiles;
  kc__diff_scale scale;
  double limit[KC_DIFF_KINDS];
  worker *workers;
} pass;

/* A block of codes and their values as doubles. */
typedef struct block {
  const char *got, *ref;
  int64_t tile, k;
  int n;
  double x[BLOCK], y[BLOCK];
  bool out[BLOCK]; /* not finite on either side: no errors */
} block;

/* ---- what differs by class or bits ------------------------------------------------------------------------------------- */

static bool is_finite(kc_class c) {
  return (c & (KC_NAN | KC_NINF | KC_PINF)) == 0;
}

/* Classes that no tolerance reconciles. */
static bool class_differs(kc_class a, kc_class b) {
  bool zeros = (a | b) == (KC_NZERO | KC_PZERO);
  return zeros || (a != b && !(is_finite(a) && is_finite(b)));
}

static void note(found *f, const block *b, int k, uint64_t got, uint64_t ref, double error) {
  *f = (found){b->tile, b->k + k, got, ref, error};
}

static void count_class(worker *w, const block *b, int k, uint64_t got, uint64_t ref, kc_class x, kc_class y) {
  if (w->first_class.tile < 0) note(&w->first_class, b, k, got, ref, 0);
  w->classes[__builtin_ctz(x)][__builtin_ctz(y)]++;
  w->class_differences++;
  w->beyond++;
}

/* Blocks with NaNs, infinities or zeros of different sign. Such elements leave the vectors, so that what follows sees no error. */
static void sort_classes(const pass *p, worker *w, block *b) {
  const kc_format *f = p->scale.f;
  for (int k = 0; k < b->n; k++) {
    uint64_t got = kc_load(f, b->got, (size_t)k), ref = kc_load(f, b->ref, (size_t)k);
    kc_class x = kc_classify(f, got), y = kc_classify(f, ref);
    if (class_differs(x, y)) count_class(w, b, k, got, ref, x, y);
    w->nan_payloads += x == KC_NAN && y == KC_NAN && got != ref;
    b->out[k] = !is_finite(x) || !is_finite(y);
    if (b->out[k]) b->x[k] = b->y[k] = 0;
  }
}

static void find_first(const pass *p, worker *w, const block *b) {
  const kc_format *f = p->scale.f;
  for (int k = 0; k < b->n && w->first.tile < 0; k++) {
    uint64_t got = kc_load(f, b->got, (size_t)k), ref = kc_load(f, b->ref, (size_t)k);
    bool nans = kc_classify(f, got) == KC_NAN && kc_classify(f, ref) == KC_NAN;
    if (got != ref && (p->options->bits || !nans)) note(&w->first, b, k, got, ref, 0);
  }
}

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

/* What a block may hold: an element worse than the worst so far, by ulps or by value; one beyond a limit. */
typedef struct looks {
  bool ulps, values, limits;
} looks;

/* May the largest distance of a block exceed a limit? It is exact where distances of codes fit a double. */
static bool ulps_exceed(const pass *p, const kc__tally *t, double limit) {
  bool exact = !p->scale.ulps && t->max < 0x1p53;
  return t->max > limit || (!exact && t->max >= limit * (1 - 0x1p-48));
}

static bool any_value(const pass *p, const block *b, double a, double r) {
  return p->scale.wide || kc__diff_any(b->x, b->y, b->n, a, r);
}

/* A pair like the worst one so far needs no second look: of a constant tensor all are alike. */
static void judge_worst(const pass *p, found *worst, const block *b, int k, kc_diff_kind kind, uint64_t got, uint64_t ref) {
  if (got == worst->got && ref == worst->ref) return;
  if (kc__diff_exceeds(&p->scale, kind, got, ref, b->x[k], b->y[k], worst->error))
    note(worst, b, k, got, ref, kc__diff_error(&p->scale, kind, got, ref));
}

static void find_worst(const pass *p, worker *w, const block *b, looks look) {
  const kc_format *f = p->scale.f;
  for (int k = 0; k < b->n; k++) {
    uint64_t got = kc_load(f, b->got, (size_t)k), ref = kc_load(f, b->ref, (size_t)k);
    if (got == ref || b->out[k]) continue;
    for (kc_diff_kind kind = 0; kind < KC_DIFF_KINDS; kind++)
      if (kind == KC_DIFF_ULP ? look.ulps : look.values) judge_worst(p, &w->worst[kind], b, k, kind, got, ref);
  }
}

/* Flags of the elements whose distance exceeds the limit; ASK where that takes more than distances of narrow codes. */
static void flag_ulps(const pass *p, const block *b, uint8_t *flags) {
  double limit = p->limit[KC_DIFF_ULP];
  if (p->scale.ulps || p->scale.f->bits > 32) {
    for (int k = 0; k < b->n; k++) flags[k] |= KC__DIFF_ASK;
  } else if (limit < UINT32_MAX) {
    uint32_t d[BLOCK], edge = (uint32_t)limit;
    kc__ulp_distances(d, p->scale.f, b->got, b->ref, b->n);
    for (int k = 0; k < b->n; k++) flags[k] |= d[k] > edge ? KC__DIFF_ABOVE : 0;
  }
}

static bool exceeds_any(const pass *p, const block *b, int k) {
  uint64_t got = kc_load(p->scale.f, b->got, (size_t)k), ref = kc_load(p->scale.f, b->ref, (size_t)k);
  bool any = false;
  for (kc_diff_kind kind = 0; kind < KC_DIFF_KINDS && got != ref && !any; kind++)
    any = p->limit[kind] < KC__INF && kc__diff_exceeds(&p->scale, kind, got, ref, b->x[k], b->y[k], p->limit[kind]);
  return any;
}

static void count_beyond(const pass *p, worker *w, const block *b) {
  uint8_t flags[BLOCK];
  if (p->scale.wide)
    memset(flags, KC__DIFF_ASK, sizeof flags);
  else
    kc__diff_flag(flags, b->x, b->y, b->n, p->limit[KC_DIFF_ABS], p->limit[KC_DIFF_REL]);
  if (p->limit[KC_DIFF_ULP] < KC__INF) flag_ulps(p, b, flags);
  for (int k = 0; k < b->n; k++) w->beyond += !b->out[k] && (flags[k] & KC__DIFF_ABOVE || (flags[k] && exceeds_any(p, b, k)));
}

/* Looks closely at a block in which something differs; `plain`: all elements are finite and no zeros differ by sign. */
static void examine(const pass *p, worker *w, block *b, const kc__tally *t, bool plain) {
  const double *limit = p->limit;
  double a = w->worst[KC_DIFF_ABS].error, r = w->worst[KC_DIFF_REL].error;
  looks look = {.ulps = ulps_exceed(p, t, w->worst[KC_DIFF_ULP].error), .limits = ulps_exceed(p, t, limit[KC_DIFF_ULP])};
  if (plain && !look.ulps && !look.limits &&
      !kc__diff_reach(p->scale.f, b->got, b->ref, b->n, fmin(a, limit[KC_DIFF_ABS]), fmin(r, limit[KC_DIFF_REL])))
    return;
  kc__diff_decode(p->scale.f, b->x, b->got, b->n);
  kc__diff_decode(p->scale.f, b->y, b->ref, b->n);
  memset(b->out, 0, sizeof b->out);
  if (!plain) sort_classes(p, w, b);
  look.values = any_value(p, b, a, r);
  bool valued = limit[KC_DIFF_ABS] < KC__INF || limit[KC_DIFF_REL] < KC__INF;
  look.limits = look.limits || (valued && any_value(p, b, limit[KC_DIFF_ABS], limit[KC_DIFF_REL]));
  if (look.ulps || look.values) find_worst(p, w, b, look);
  if (look.limits) count_beyond(p, w, b);
}

static void compare_block(const pass *p, worker *w, block *b) {
  kc__metric_job job = {.f = p->scale.f, .got = b->got, .ref = b->ref, .as = p->scale.ulps};
  kc__tally t;
  kc__tally_init(&t);
  (void)kc__metric_ulp.block(&job, 0, b->n, &t);
  kc__tally_merge(&w->tally, &t);
  if (t.bit_differences == 0) return;
  if (w->first.tile < 0) find_first(p, w, b);
  examine(p, w, b, &t, t.finite == b->n && t.class_mismatches == 0);
}

/* ---- tiles ---------------------------------------------------------------------------------------------------------------- */

/* Reads a tile and converts it into the common format, which holds its values exactly. */
static kc_status fetch(const pass *p, worker *w, int64_t tile, int64_t n, const kc_npy *npy, char *out) {
  static const kc_encoding nearest = {.rounding = KC_RNE};
  kc_status status = kc__diff_tiles_read(&p->tiles, tile, npy, out, w->scratch, &w->err);
  const kc_format *f = kc_npy_describe(npy)->format;
  if (status != KC_OK || f == p->scale.f) return status;
  kc_decode_array(f, w->values, out, (size_t)n);
  kc_encode_array(p->scale.f, out, w->values, (size_t)n, &nearest);
  return KC_OK;
}

static void compare_tile(const pass *p, worker *w, int64_t tile) {
  int64_t n = kc__diff_tiles_size(&p->tiles, tile);
  size_t size = p->scale.f->storage;
  w->status = fetch(p, w, tile, n, p->got, w->got);
  if (w->status == KC_OK) w->status = fetch(p, w, tile, n, p->ref, w->ref);
  block b = {.tile = tile};
  for (; w->status == KC_OK && b.k < n; b.k += BLOCK) {
    b.got = w->got + (size_t)b.k * size;
    b.ref = w->ref + (size_t)b.k * size;
    b.n = n - b.k < BLOCK ? (int)(n - b.k) : BLOCK;
    compare_block(p, w, &b);
  }
}

static void compare_range(void *user, int k, int64_t begin, int64_t end) {
  const pass *p = user;
  for (int64_t i = begin; i < end && p->workers[k].status == KC_OK; i++) compare_tile(p, &p->workers[k], i);
}

/* ---- workers -------------------------------------------------------------------------------------------------------------- */

static void worker_free(worker *w) {
  free(w->got);
  free(w->ref);
  free(w->scratch);
  free(w->values);
}

static bool worker_init(worker *w, size_t bytes) {
  *w = (worker){.first.tile = -1, .first_class.tile = -1};
  for (int kind = 0; kind < KC_DIFF_KINDS; kind++) w->worst[kind].tile = -1;
  kc__tally_init(&w->tally);
  w->got = malloc(bytes);
  w->ref = malloc(bytes);
  w->scratch = malloc(bytes);
  w->values = malloc(KC__DIFF_TILE * sizeof *w->values);
  return w->got && w->ref && w->scratch && w->values;
}

static bool earlier(const found *a, const found *b) {
  return a->tile >= 0 && (b->tile < 0 || a->tile < b->tile || (a->tile == b->tile && a->k < b->k));
}

static void worker_merge(worker *w, const worker *from) {
  kc__tally_merge(&w->tally, &from->tally);
  for (int i = 0; i < 49; i++) w->classes[i / 7][i % 7] += from->classes[i / 7][i % 7];
  w->class_differences += from->class_differences;
  w->nan_payloads += from->nan_payloads;
  w->beyond += from->beyond;
  if (earlier(&from->first, &w->first)) w->first = from->first;
  if (earlier(&from->first_class, &w->first_class)) w->first_class = from->first_class;
  for (int k = 0; k < KC_DIFF_KINDS; k++) {
    const found *a = &from->worst[k], *b = &w->worst[k];
    if (a->error > b->error || (a->error == b->error && earlier(a, b))) w->worst[k] = *a;
  }
}

/* ---- the whole -------------------------------------------------------------------------------------------------------------- */

static const char *shape_text(const kc_npy_info *i, kc_text *out) {
  int n = 0;
  out->s[0] = 0;
  for (int d = 0; d < i->rank; d++)
    n += snprintf(out->s + n, sizeof out->s - (size_t)n, "%s%lld", d ? "," : "", (long long)i->shape[d]);
  return out->s;
}

static kc_status check_shapes(const kc_npy *got, const kc_npy *ref, kc_text *err) {
  const kc_npy_info *a = kc_npy_describe(got), *b = kc_npy_describe(ref);
  bool same = a->rank == b->rank;
  for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
  kc_text x, y;
  if (same) return KC_OK;
  return kc_fail(err, KC_EUNSUPPORTED, "shapes differ: [%s] in '%s' and [%s] in '%s'", shape_text(a, &x), kc_npy_path(got),
                 shape_text(b, &y), kc_npy_path(ref));
}

/* What ulps are counted in: a format of floats, or NULL for the distance of codes. */
static kc_status choose_ulps(kc__diff_scale *s, const kc_format *as, const kc_format *a, const kc_format *b, kc_text *err) {
  s->wide = s->f->kind != KC_FLOAT && s->f->bits == 64;
  if (as && as->kind != KC_FLOAT) return kc_fail(err, KC_EUNSUPPORTED, "ulps of %s: expected a format of floats", as->name);
  if (as && s->wide) return kc_fail(err, KC_EUNSUPPORTED, "ulps of %s have no meaning for %s", as->name, s->f->name);
  s->ulps = as;
  if (as || a == b || s->f->kind != KC_FLOAT) return KC_OK;
  if (a->kind != KC_FLOAT || b->kind != KC_FLOAT)
    s->ulps = a->kind == KC_FLOAT ? a : b->kind == KC_FLOAT ? b : s->f;
  else
    s->ulps = a->frac_bits < b->frac_bits || (a->frac_bits == b->frac_bits && a->emax < b->emax) ? a : b;
  return KC_OK;
}

static kc_status choose_formats(pass *p, kc_text *err) {
  const kc_format *a = kc_npy_describe(p->got)->format, *b = kc_npy_describe(p->ref)->format;
  const kc_npy *raw = !a ? p->got : !b ? p->ref : NULL;
  if (raw) return kc_fail(err, KC_EUNSUPPORTED, "'%s' holds raw elements; name the format they have", kc_npy_path(raw));
  p->scale.f = kc__diff_common(a, b);
  if (!p->scale.f) return kc_fail(err, KC_EUNSUPPORTED, "%s and %s: no format holds the values of both", a->name, b->name);
  if (p->options->bits && a != b)
    return kc_fail(err, KC_EUNSUPPORTED, "formats differ: %s and %s have no bits in common", a->name, b->name);
  return choose_ulps(&p->scale, p->options->as, a, b, err);
}

static kc_diff_element element(const pass *p, const found *f) {
  kc_diff_element e = {.at = -1, .got = f->got, .ref = f->ref, .error = f->error};
  if (f->tile < 0) return e;
  const kc_npy_info *info = kc_npy_describe(p->got);
  kc__diff_tiles_index(&p->tiles, f->tile, f->k, info, e.index);
  e.at = 0;
  for (int d = 0; d < info->rank; d++) e.at = e.at * info->shape[d] + e.index[d];
  return e;
}

static void summarise(kc_diff_summary *out, const pass *p, const worker *w) {
  static const double shares[4] = {0.5, 0.9, 0.99, 0.999};
  *out = (kc_diff_summary){.format = p->scale.f, .ulps_of = p->scale.ulps, .count = kc_npy_describe(p->got)->count};
  out->nan_payloads = w->nan_payloads;
  out->different = w->tally.bit_differences - (p->options->bits ? 0 : w->nan_payloads);
  out->equal = out->count - out->different;
  out->finite = w->tally.finite;
  out->class_differences = w->class_differences;
  out->beyond = w->beyond;
  memcpy(out->classes, w->classes, sizeof out->classes);
  out->first = element(p, &w->first);
  out->first_class = element(p, &w->first_class);
  for (int k = 0; k < KC_DIFF_KINDS; k++) out->worst[k] = element(p, &w->worst[k]);
  memcpy(out->histogram, w->tally.histogram, sizeof out->histogram);
  for (int k = 0; k < 4; k++) out->quantile[k] = fmin(kc__tally_quantile(&w->tally, shares[k]), w->worst[KC_DIFF_ULP].error);
}

/* Compares all tiles; the first worker holds the result. */
static kc_status compare_all(pass *p, kc_text *err) {
  int count = kc__parallel_workers(p->tiles.count, 1), ready = 0;
  kc_status status = KC_OK;
  size_t bytes = KC__DIFF_TILE * sizeof(uint64_t);
  p->workers = malloc((size_t)count * sizeof *p->workers);
  while (p->workers && ready < count && worker_init(&p->workers[ready], bytes)) ready++;
  if (ready < count) {
    if (p->workers) worker_free(&p->workers[ready]);
    status = kc_fail(err, KC_ENOMEM, "no memory to compare files");
  } else {
    kc__parallel_for(p->tiles.count, 1, compare_range, p);
  }
  for (int k = 0; k < ready && status == KC_OK; k++) {
    status = p->workers[k].status;
    if (status != KC_OK)
      *err = p->workers[k].err;
    else if (k > 0)
      worker_merge(&p->workers[0], &p->workers[k]);
  }
  for (int k = 0; k < ready; k++) worker_free(&p->workers[k]);
  return status;
}

kc_status kc_diff_run(kc_diff_summary *out, const kc_npy *got, const kc_npy *ref, const kc_diff_options *o, kc_text *err) {
  kc_text unheard;
  pass p = {.got = got, .ref = ref, .options = o};
  if (!err) err = &unheard;
  for (int k = 0; k < KC_DIFF_KINDS; k++) {
    p.limit[k] = o->limit[k];
    if (!(o->limit[k] >= 0)) return kc_fail(err, KC_EINVAL, "a tolerance is a number >= 0");
  }
  kc_status status = check_shapes(got, ref, err);
  if (status == KC_OK) status = choose_formats(&p, err);
  if (status != KC_OK) return status;
  kc__diff_tiles_plan(&p.tiles, kc_npy_describe(got), kc_npy_describe(ref));
  status = compare_all(&p, err);
  if (status == KC_OK) summarise(out, &p, &p.workers[0]);
  free(p.workers);
  return status;
}
