/* codes.c - metrics that look at codes only; every element has a value, exceptional ones included. */
#include "metric.h"

static double tally_codes(const kc__metric_job *j, int64_t first, int n, kc__tally *t, bool by_class) {
  int64_t sum = 0;
  for (int64_t i = first; i < first + n; i++) {
    uint64_t got = kc_load(j->f, j->got, (size_t)i), ref = kc_load(j->f, j->ref, (size_t)i);
    bool other_class = kc_classify(j->f, got) != kc_classify(j->f, ref);
    bool differs = by_class ? other_class : got != ref;
    t->finite++;
    t->bit_differences += got != ref;
    if (other_class) kc__tally_mismatch(t, i);
    kc__tally_value(t, i, differs);
    sum += differs;
  }
  return (double)sum;
}

static double block_bitwise(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  return tally_codes(j, first, n, t, false);
}

static double block_class(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  return tally_codes(j, first, n, t, true);
}

const kc__metric_row kc__metric_bitwise = {.public = {"bitwise", "1", "1 where the bits differ, every element counted"},
                                           .block = block_bitwise};
const kc__metric_row kc__metric_class = {
    .public = {"class", "1", "1 where the classes (NaN, -inf, -finite, -0, +0, +finite, +inf) differ, every element counted"},
    .block = block_class};
