/* cpu_fiber.h - fibres for the work-items of one group: a stack each, guarded by pages, switched by Boost.Context. */
#ifndef KC_CPU_FIBER_H
#define KC_CPU_FIBER_H

#include "kc.h"

typedef struct kc__fiber {
  void *context; /* where it continues; NULL: not started or ended */
  void *shadow;  /* AddressSanitizer's fake stack while it waits */
  unsigned valgrind;
  bool ended;
} kc__fiber;

/* A pool of fibres and the thread that resumes them. One thread at a time. */
typedef struct kc__fibers {
  char *stacks;
  kc__fiber *list;
  int count, current;
  void (*body)(void *user, int index);
  void *user;
  void *host; /* the resumer's context while a fibre runs */
  const void *host_bottom;
  size_t host_size;
} kc__fibers;

/* Makes sure of `count` fibres, none of them started. */
kc_status kc__fibers_reserve(kc__fibers *f, int count, kc_text *err);
void kc__fibers_release(kc__fibers *f);
/* Prepares fibres 0..count-1 to run body(user, index) from its beginning. They inherit the floating-point state
 * of this call. */
void kc__fibers_prepare(kc__fibers *f, int count, void (*body)(void *user, int index), void *user);
/* Continues a fibre until it yields or its body returns; true when it has ended. */
bool kc__fiber_resume(kc__fibers *f, int index);
/* Called by the running fibre: back to whoever resumed it. */
void kc__fiber_yield(kc__fibers *f);

#endif
