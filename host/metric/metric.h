/* metric.h - what metrics share. Internal. */
#ifndef KC_METRIC_METRIC_H
#define KC_METRIC_METRIC_H

#include "../directed.h"
#include "kc.h"

/* Elements handled at a time: constant, so that compilers vectorise the loops over a block, and small enough for the first-level
 * cache. */
enum { KC__METRIC_BLOCK = 1024 };

typedef struct kc__metric_job {
  const kc_format *f;
  const void *got, *ref;
  const kc_format *as;                                         /* format whose ulps are counted; f itself by default */
  const double *denominator;                                   /* one per element, or NULL */
  double (*value)(double got, double ref, const kc_format *f); /* of a metric that is none of kc's own */
} kc__metric_job;

/* Counts of one worker; everything in it is independent of the order in which blocks are added. */
typedef struct kc__tally {
  int64_t finite, class_mismatches, bit_differences, worst, first_mismatch;
  double max;
  int64_t histogram[66];
} kc__tally;

/* Adds elements first .. first + n - 1 (n <= KC__METRIC_BLOCK) to the tally and returns the sum of their values. */
typedef double (*kc__metric_block_fn)(const kc__metric_job *j, int64_t first, int n, kc__tally *t);

/* A row of the table: the public part, how to tally a block, and how to turn the tallied figure into the reported one (NULL: as
 * it is). */
typedef struct kc__metric_row {
  kc_metric public;
  kc__metric_block_fn block;
  double (*report)(const kc__metric_job *j, double figure);
  bool measures_ulps; /* takes `as` */
  bool divides;       /* takes `denominator` */
} kc__metric_row;

extern const kc__metric_row kc__metric_ulp, kc__metric_abs, kc__metric_rel, kc__metric_denom, kc__metric_bits,
    kc__metric_bitwise, kc__metric_class;

/* The block of metrics that are none of kc's own. */
double kc__metric_given_block(const kc__metric_job *j, int64_t first, int n, kc__tally *t);

void kc__tally_init(kc__tally *t);
void kc__tally_merge(kc__tally *t, const kc__tally *from);
/* Smallest upper edge of a bin that a share q of the values or more does not exceed. */
double kc__tally_quantile(const kc__tally *t, double q);

/* Numbers of the format between two codes that are not NaN. */
uint64_t kc__ulp_distance(const kc_format *f, uint64_t a, uint64_t b);

/* Distances of n <= KC__METRIC_BLOCK pairs of a format of at most 32 bits; of NaNs they mean nothing. */
void kc__ulp_distances(uint32_t *d, const kc_format *f, const void *got, const void *ref, int n);

/* Adds one value of element i. */
static inline void kc__tally_value(kc__tally *t, int64_t i, double value) {
  t->histogram[kc__bin(value)]++;
  if (value > t->max || t->worst < 0 || (value == t->max && i < t->worst)) {
    t->max = value;
    t->worst = i;
  }
}

static inline void kc__tally_mismatch(kc__tally *t, int64_t i) {
  t->class_mismatches++;
  if (t->first_mismatch < 0 || i < t->first_mismatch) t->first_mismatch = i;
}

#endif
