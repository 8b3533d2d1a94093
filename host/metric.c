/* metric.c - the table of metrics, the loop over blocks and the summary.
 *
 * Sums of doubles depend on their order: every block's sum is kept and they are added in the order of blocks, so that the mean is
 * the same with any number of threads.
 */
#include "metric/metric.h"

#include <stdlib.h>
#include <string.h>

#include "parallel.h"

enum { GRAIN = 64 * KC__METRIC_BLOCK };

static const kc__metric_row *const metrics[] = {
    &kc__metric_ulp,  &kc__metric_abs,     &kc__metric_rel,   &kc__metric_denom,
    &kc__metric_bits, &kc__metric_bitwise, &kc__metric_class,
};

/* The public struct is the row's first member. */
const kc_metric *kc_metric_at(size_t i) {
  return i < sizeof metrics / sizeof *metrics ? &metrics[i]->public : NULL;
}

const kc_metric *kc_metric_find(const char *name) {
  for (size_t i = 0; kc_metric_at(i); i++) {
    if (strcmp(kc_metric_at(i)->name, name) == 0) return kc_metric_at(i);
  }
  return NULL;
}

typedef struct pass {
  const kc__metric_row *row;
  const kc__metric_job *job;
  kc__tally *tallies; /* per worker */
  double *sums;       /* per block */
} pass;

static void run_range(void *user, int worker, int64_t begin, int64_t end) {
  const pass *p = user;
  for (int64_t i = begin; i < end; i += KC__METRIC_BLOCK) {
    int n = end - i < KC__METRIC_BLOCK ? (int)(end - i) : KC__METRIC_BLOCK;
    p->sums[i / KC__METRIC_BLOCK] = p->row->block(p->job, i, n, &p->tallies[worker]);
  }
}

void kc__tally_init(kc__tally *t) {
  *t = (kc__tally){.worst = -1, .first_mismatch = -1};
}

void kc__tally_merge(kc__tally *t, const kc__tally *from) {
  t->finite += from->finite;
  t->class_mismatches += from->class_mismatches;
  t->bit_differences += from->bit_differences;
  for (int k = 0; k < 66; k++) t->histogram[k] += from->histogram[k];
  bool earlier = from->first_mismatch >= 0 && (t->first_mismatch < 0 || from->first_mismatch < t->first_mismatch);
  if (earlier) t->first_mismatch = from->first_mismatch;
  if (from->worst < 0) return;
  if (t->worst < 0 || from->max > t->max || (from->max == t->max && from->worst < t->worst)) {
    t->max = from->max;
    t->worst = from->worst;
  }
}

double kc__tally_quantile(const kc__tally *t, double q) {
  int64_t wanted = (int64_t)ceil(q * (double)t->finite), seen = 0;
  for (int k = 0; k < 65; k++) {
    seen += t->histogram[k];
    if (seen >= wanted) return k == 0 ? 0 : kc__pow2(k - 33);
  }
  return t->max;
}

static void summarise(kc_summary *out, const pass *p, const kc__tally *t, int64_t count) {
  static const double shares[4] = {0.5, 0.9, 0.99, 0.999};
  *out = (kc_summary){.count = count,
                      .finite = t->finite,
                      .class_mismatches = t->class_mismatches,
                      .bit_differences = t->bit_differences,
                      .worst = t->worst,
                      .first_mismatch = t->first_mismatch};
  memcpy(out->histogram, t->histogram, sizeof out->histogram);
  if (t->finite == 0) return;
  double sum = 0;
  int64_t blocks = (count + KC__METRIC_BLOCK - 1) / KC__METRIC_BLOCK;
  for (int64_t b = 0; b < blocks; b++) sum += p->sums[b];
  out->max = t->max;
  out->mean = sum / (double)t->finite;
  for (int k = 0; k < 4; k++) out->quantile[k] = fmin(kc__tally_quantile(t, shares[k]), t->max);
  out->quantile[4] = t->max;
  if (!p->row->report) return;
  out->max = p->row->report(p->job, out->max);
  out->mean = p->row->report(p->job, out->mean);
  for (int k = 0; k < 5; k++) out->quantile[k] = p->row->report(p->job, out->quantile[k]);
}

static kc_status check_buffers(const kc_buffer *got, const kc_buffer *ref, kc_text *err) {
  const kc_format *f = kc_buffer_format(got), *g = kc_buffer_format(ref);
  if (f != g) return kc_fail(err, KC_EINVAL, "formats differ: %s and %s", f->name, g->name);
  bool same = kc_buffer_rank(got) == kc_buffer_rank(ref);
  for (int i = 0; same && i < kc_buffer_rank(got); i++) same = kc_buffer_shape(got)[i] == kc_buffer_shape(ref)[i];
  if (same) return KC_OK;
  return kc_fail(err, KC_EINVAL, "shapes differ: rank %d with %lld elements and rank %d with %lld elements",
                 kc_buffer_rank(got), (long long)kc_buffer_count(got), kc_buffer_rank(ref), (long long)kc_buffer_count(ref));
}

static kc_status check_extras(const kc__metric_row *row, const kc_format *as, const double *denominator, kc_text *err) {
  const char *name = row->public.name;
  if (as && !row->measures_ulps) return kc_fail(err, KC_EINVAL, "metric %s does not count ulps: 'as' has no meaning", name);
  if (as && as->kind != KC_FLOAT) return kc_fail(err, KC_EINVAL, "'as': expected a float format, got %s", as->name);
  if (denominator && !row->divides) return kc_fail(err, KC_EINVAL, "metric %s takes no denominator", name);
  if (!denominator && row->divides) return kc_fail(err, KC_EINVAL, "metric %s needs one denominator per element", name);
  return KC_OK;
}

kc_status kc_metric_run(kc_summary *out, const kc_metric *m, const kc_buffer *got, const kc_buffer *ref, const kc_format *as,
                        const double *denominator, kc_text *err) {
  const kc__metric_row given = {.public = *m, .block = kc__metric_given_block};
  const kc__metric_row *row = m->value ? &given : (const kc__metric_row *)m;
  kc_status status = check_buffers(got, ref, err);
  if (status == KC_OK) status = check_extras(row, as, denominator, err);
  if (status != KC_OK) return status;
  int64_t count = kc_buffer_count(got);
  kc__metric_job job = {kc_buffer_format(got), kc_buffer_cdata(got), kc_buffer_cdata(ref), as, denominator, m->value};
  int workers = kc__parallel_workers(count, GRAIN);
  pass p = {.row = row, .job = &job};
  p.tallies = malloc((size_t)workers * sizeof *p.tallies);
  p.sums = malloc(((size_t)count / KC__METRIC_BLOCK + 1) * sizeof *p.sums);
  if (!p.tallies || !p.sums) {
    status = kc_fail(err, KC_ENOMEM, "no memory to compare %lld elements", (long long)count);
    goto done;
  }
  for (int k = 0; k < workers; k++) kc__tally_init(&p.tallies[k]);
  kc__parallel_for(count, GRAIN, run_range, &p);
  for (int k = 1; k < workers; k++) kc__tally_merge(&p.tallies[0], &p.tallies[k]);
  summarise(out, &p, &p.tallies[0], count);
done:
  free(p.sums);
  free(p.tallies);
  return status;
}
