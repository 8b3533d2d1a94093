/* parallel.c - one shared counter hands out pieces of a loop; whoever is free takes the next. */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kc.h"

typedef struct loop {
  _Atomic int64_t next;
  int64_t n, grain;
  kc__range_fn fn;
  void *user;
} loop;

typedef struct helper {
  loop *work;
  pthread_t thread;
  int worker;
} helper;

static void take_pieces(loop *w, int worker) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&w->next, w->grain, memory_order_relaxed);
    if (begin >= w->n) return;
    int64_t end = w->n - begin > w->grain ? begin + w->grain : w->n;
    w->fn(w->user, worker, begin, end);
  }
}

/* A new thread inherits the creator's state, but a library loaded -ffast-math may change that: set it. */
static void *run_helper(void *p) {
  helper *h = p;
  kc_fpstate_set(kc_fpstate_default());
  take_pieces(h->work, h->worker);
  return NULL;
}

int kc__parallel_workers(int64_t n, int64_t grain) {
  if (n <= grain) return 1;
  int64_t pieces = (n - 1) / grain + 1;
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  int64_t workers = cpus < 1 ? 1 : cpus > KC__MAX_WORKERS ? KC__MAX_WORKERS : cpus;
  return (int)(pieces < workers ? pieces : workers);
}

void kc__parallel_for(int64_t n, int64_t grain, kc__range_fn fn, void *user) {
  loop work = {.n = n, .grain = grain, .fn = fn, .user = user};
  helper helpers[KC__MAX_WORKERS];
  int wanted = kc__parallel_workers(n, grain) - 1, started = 0;
  while (started < wanted) {
    helpers[started] = (helper){.work = &work, .worker = started + 1};
    if (pthread_create(&helpers[started].thread, NULL, run_helper, &helpers[started]) != 0) break;
    started++;
  }
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  take_pieces(&work, 0);
  kc_fpstate_set(saved);
  for (int i = 0; i < started; i++) pthread_join(helpers[i].thread, NULL);
}
