/* cpu.h - the cpu backend: the host compiles a kernel with the system compiler and runs it in its own process. Internals shared
 * by cpu*.c; the rest of the program sees kc_driver_cpu (drivers.h) only. */
#ifndef KC_CPU_H
#define KC_CPU_H

#include "cpu_fiber.h"
#include "kc_driver.h"
#include "library.h"
#include "prelude/kc_cpu_state.h"
#include "request.h"
#include "text.h"

/* ---- the compiler: cpu_compiler.c ---------------------------------------------------------------------------------- */

typedef struct kc__compiler {
  char path[512];    /* absolute; empty: not looked for yet */
  char version[192]; /* first line of --version */
} kc__compiler;

/* Finds the compiler (KC_CC, else cc on PATH) and asks for its version, once. KC_ENODEV "no C compiler: ...". */
kc_status kc__compiler_find(kc__compiler *c, kc_text *err);

/* ---- from text to a loaded function: cpu_source.c, cpu_build.c ------------------------------------------------------- */

/* One work-item, a whole group in the order given (NULL: natural), one call of a host function. */
typedef void kc__item_fn(struct kc_cpu_state *s, void *const *args);
typedef void kc__group_fn(struct kc_cpu_state *s, void *const *args, const int *order);
typedef void kc__call_fn(void *const *args, void *result);

struct kc_drv_kernel {
  uint8_t dialect;
  bool fibers; /* work-items may meet: run each on its own stack */
  bool flush;
  kc_param *params; /* names are not kept */
  int param_count;
  const kc_format *result;
  void *module;
  kc__item_fn *item;
  kc__group_fn *group;
  kc__call_fn *call;
  kc__library library;
};

/* The complete text that is compiled: prelude, defines, the author's text under his own line numbers, and the calls. */
kc_status kc__cpu_source(kc__string *out, const kc_build *b, kc_text *err);
/* The compiler's flags for a build, NULL-terminated, at most KC__MAX_FLAGS. */
enum { KC__MAX_FLAGS = 40 };
void kc__cpu_flags(const char *flags[KC__MAX_FLAGS], const kc_build *b, const kc__compiler *c);
/* Builds a kernel of dialect KC or C: checks, compiles or takes from the cache, loads. */
kc_status kc__cpu_build(kc_drv_kernel *k, kc_drv_device *d, const kc_build *b, kc__string *log, kc_text *err);

/* ---- launching: cpu_run.c ------------------------------------------------------------------------------------------- */

struct kc_drv_device {
  kc__compiler compiler;
  kc__fibers fibers;
  char *arena; /* local arrays of the group that runs; mapped on first use */
};

kc_status kc__cpu_launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err);
/* Unmaps the arena. */
void kc__cpu_release(kc_drv_device *d);
/* Position i of a permutation of 0..n-1 chosen by key; i itself when key is 0. */
uint64_t kc__permute(uint64_t i, uint64_t n, uint64_t key);

/* Memory as the cpu driver names it: kc_mem is the address of one of these. */
typedef struct kc__cpu_memory {
  char *base;
  size_t bytes;
  bool owned, writable;
} kc__cpu_memory;
static inline kc__cpu_memory *kc__cpu_mem(kc_mem mem) {
  return (kc__cpu_memory *)(uintptr_t)mem;
}

#endif
