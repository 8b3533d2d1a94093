/* real.h - metrics that are a function of two real numbers. Internal. */
#ifndef KC_METRIC_REAL_H
#define KC_METRIC_REAL_H

#include "metric.h"

/* The value of element i, from two finite numbers; >= 0, not NaN. */
typedef double (*kc__value_fn)(const kc__metric_job *j, int64_t i, double got, double ref);

/* A block function (kc__metric_block_fn) made of a value function. */
double kc__metric_real_block(const kc__metric_job *j, int64_t first, int n, kc__tally *t, kc__value_fn value);

#endif
