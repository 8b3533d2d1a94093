/* cpu_fiber.c - fibres on Boost.Context's raw interface (a switch costs 5.5 ns against 223 for ucontext). */
#include "cpu_fiber.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(start, end) 0
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KC__ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KC__ASAN 1
#endif
#endif
#ifdef KC__ASAN
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom_old, size_t *size_old);
void __asan_unpoison_memory_region(const volatile void *at, size_t size);
#else
#define __sanitizer_start_switch_fiber(save, bottom, size) ((void)(save))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)(save))
#define __asan_unpoison_memory_region(at, size) ((void)(at))
#endif

/* boost/context/detail/fcontext.hpp, which only C++ can include. A jump saves and restores MXCSR and the x87 control word. */
typedef struct transfer {
  void *from, *data;
} transfer;
transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*fn)(transfer));

enum { PAGE = 4096, STACK = 128 * 1024, SLOT = PAGE + STACK, CACHE_LINE = 64 };

/* Where a stack begins. Tops that all lie at the same place in a page would fight for the same few lines of the cache
 * (a barrier of 256 items: 79 ns an item; staggered: 67). */
static size_t stagger(int index) {
  return (size_t)(index % (PAGE / CACHE_LINE)) * CACHE_LINE;
}

/* Stacks grow down: the page below each one, and the one above the last, cannot be touched. */
static char *bottom_of(const kc__fibers *f, int index) {
  return f->stacks + (size_t)index * SLOT + PAGE;
}

static size_t region(int count) {
  return (size_t)count * SLOT + PAGE;
}

static bool open_stacks(kc__fibers *f, int count) {
  for (int i = 0; i < count; i++) {
    if (mprotect(bottom_of(f, i), STACK, PROT_READ | PROT_WRITE) != 0) return false;
    f->list[i].valgrind = VALGRIND_STACK_REGISTER(bottom_of(f, i), bottom_of(f, i) + STACK);
  }
  return true;
}

kc_status kc__fibers_reserve(kc__fibers *f, int count, kc_text *err) {
  if (count <= f->count) return KC_OK;
  kc__fibers_release(f);
  f->list = calloc((size_t)count, sizeof *f->list);
  void *stacks = mmap(NULL, region(count), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  f->stacks = stacks == MAP_FAILED ? NULL : stacks;
  f->count = count;
  if (f->list && f->stacks && open_stacks(f, count)) return KC_OK;
  kc__fibers_release(f);
  return kc_fail(err, KC_ENOMEM, "no memory for the stacks of %d work-items", count);
}

void kc__fibers_release(kc__fibers *f) {
  for (int i = 0; f->list && i < f->count; i++) VALGRIND_STACK_DEREGISTER(f->list[i].valgrind);
  /* A fibre left in the middle keeps its red zones, and munmap does not clear them: a library mapped there later would be
   * convicted for reading its own data. */
  if (f->stacks) __asan_unpoison_memory_region(f->stacks, region(f->count));
  if (f->stacks) munmap(f->stacks, region(f->count));
  free(f->list);
  *f = (kc__fibers){0};
}

/* Leaves the running fibre; comes back when it is resumed. A fibre that ended gives up its fake stack. */
static void leave(kc__fibers *f) {
  kc__fiber *self = &f->list[f->current];
  __sanitizer_start_switch_fiber(self->ended ? NULL : &self->shadow, f->host_bottom, f->host_size);
  transfer t = jump_fcontext(f->host, NULL);
  __sanitizer_finish_switch_fiber(self->shadow, &f->host_bottom, &f->host_size);
  f->host = t.from;
}

static void main_of_fiber(transfer t) {
  kc__fibers *f = t.data;
  __sanitizer_finish_switch_fiber(NULL, &f->host_bottom, &f->host_size);
  f->host = t.from;
  f->body(f->user, f->current);
  f->list[f->current].ended = true;
  leave(f);
  __builtin_trap(); /* an ended fibre is never resumed */
}

void kc__fibers_prepare(kc__fibers *f, int count, void (*body)(void *user, int index), void *user) {
  f->body = body;
  f->user = user;
  for (int i = 0; i < count; i++) {
    f->list[i].ended = false;
    f->list[i].shadow = NULL;
    f->list[i].context = make_fcontext(bottom_of(f, i) + STACK - stagger(i), STACK - stagger(i), main_of_fiber);
  }
}

bool kc__fiber_resume(kc__fibers *f, int index) {
  void *shadow = NULL;
  kc__fiber *fiber = &f->list[index];
  f->current = index;
  __sanitizer_start_switch_fiber(&shadow, bottom_of(f, index), STACK);
  transfer t = jump_fcontext(fiber->context, f);
  __sanitizer_finish_switch_fiber(shadow, NULL, NULL);
  fiber->context = t.from;
  return fiber->ended;
}

void kc__fiber_yield(kc__fibers *f) {
  leave(f);
}
