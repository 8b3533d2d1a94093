/* bench.h - the clock, and the median of a few rounds. */
#ifndef KC_BENCH_H
#define KC_BENCH_H

#include <stdlib.h>
#include <time.h>

/* Seconds of the monotonic clock. */
static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the list. */
static inline double median(double *list, size_t n) {
  qsort(list, n, sizeof *list, compare_doubles);
  return list[n / 2];
}

#endif
