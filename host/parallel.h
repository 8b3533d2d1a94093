/* parallel.h - data-parallel loops for the host's own passes over tensors. Internal. */
#ifndef KC_PARALLEL_H
#define KC_PARALLEL_H

#include <stdint.h>

/** Handles elements begin..end-1. Calls with the same `worker` never overlap in time, so per-worker results need no lock;
 * `begin` is always a multiple of the grain. */
typedef void (*kc__range_fn)(void *user, int worker, int64_t begin, int64_t end);

/** Most workers that a loop ever uses; sizes arrays of per-worker results. */
enum { KC__MAX_WORKERS = 64 };

/** Number of workers that kc__parallel_for will use for n elements: 1 when there is at most one grain of work. */
int kc__parallel_workers(int64_t n, int64_t grain);

/** Calls fn over 0..n-1 in pieces of `grain` elements (the last may be shorter), handed out on demand to the calling thread
 * and helpers. Every worker, the caller included, runs under kc_fpstate_default; the caller's state is restored. When threads
 * cannot be had the caller does all the work. */
void kc__parallel_for(int64_t n, int64_t grain, kc__range_fn fn, void *user);

#endif
