/* cpu_run.c - runs the work-items of a launch: as a loop where they cannot meet, else on fibres with real barriers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"

enum {
  MAX_ITEMS = 1024,  /* work-items of a group: what every GPU offers */
  MAX_LOCAL = 32768, /* bytes of local arrays of a group: what OpenCL 1.2 promises */
  MAX_ARRAYS = 32,
  LOCAL_GUARD = 256,
  ARRAY_SLOT = MAX_LOCAL + 2 * LOCAL_GUARD, /* the prelude refuses larger arrays, so the arena holds any MAX_ARRAYS of them */
  POISON = 0xff                             /* a NaN in every floating format */
};

typedef struct run {
  struct kc_cpu_state state; /* first: the kernel hands its address back to the functions in it */
  kc_drv_device *d;
  kc_drv_kernel *k;
  kc_launch_record *record;
  kc_fpstate demanded;
  uint64_t schedule, group_number;
  int items;
  int order[MAX_ITEMS];
  int line[MAX_ITEMS]; /* of the barrier at which an item waits */
  void *args[KC__MAX_PARAMS];
  void *values[KC__MAX_PARAMS]; /* of a library's call: where each argument lies */
  uint64_t storage[KC__MAX_PARAMS];
  const struct kc_cpu_local *arrays[MAX_ARRAYS]; /* those that the running group has reached */
  int array_count;
  size_t local_bytes, most_local_bytes;
  bool too_many_arrays;
} run;

static run *run_of(struct kc_cpu_state *s) {
  return (run *)s;
}

/* ---- evidence ------------------------------------------------------------------------------------------------------- */

/* Raises a flag of the record; the first time, with a text. */
__attribute__((format(printf, 3, 4))) static void note(run *r, bool *flag, const char *format, ...) {
  char *text = r->record->evidence;
  size_t n = strlen(text), room = sizeof r->record->evidence - n;
  if (*flag) return;
  *flag = true;
  if (n > 0 && room > 3) {
    memcpy(text + n, "; ", 3);
    n += 2;
    room -= 2;
  }
  va_list args;
  va_start(args, format);
  vsnprintf(text + n, room, format, args);
  va_end(args);
}

/* Called where the state still is what the candidate left: inside its fibre, or after its call. */
static void check_fpstate(run *r, const char *where, int line) {
  kc_fpstate now = kc_fpstate_get();
  if (now.mxcsr == r->demanded.mxcsr && now.x87 == r->demanded.x87) return;
  if (!r->record->fp_changed) {
    kc_text what;
    const int *g = r->state.grp, *i = r->state.lid;
    kc_fpstate_describe(&what, r->demanded, now);
    r->record->after = now;
    if (line > 0)
      note(r, &r->record->fp_changed,
           "floating-point state changed before the barrier at line %d: %.80s, group (%d,%d,%d) item (%d,%d,%d)", line, what.s,
           g[0], g[1], g[2], i[0], i[1], i[2]);
    else
      note(r, &r->record->fp_changed, "floating-point state changed by %s: %.80s, group (%d,%d,%d) item (%d,%d,%d)", where,
           what.s, g[0], g[1], g[2], i[0], i[1], i[2]);
  }
  kc_fpstate_set(r->demanded);
}

/* ---- local arrays --------------------------------------------------------------------------------------------------- */

static uint8_t canary(size_t offset) {
  return (uint8_t)(0xa5 ^ (offset * 31));
}

static char *array_slot(const run *r, int i) {
  return r->d->arena + (size_t)i * ARRAY_SLOT;
}

static char *array_data(const run *r, int i) {
  return array_slot(r, i) + LOCAL_GUARD;
}

static void paint_array(const run *r, int i) {
  char *slot = array_slot(r, i);
  size_t bytes = r->arrays[i]->bytes;
  for (size_t n = 0; n < LOCAL_GUARD; n++) slot[n] = slot[LOCAL_GUARD + bytes + n] = (char)canary(n);
  memset(slot + LOCAL_GUARD, POISON, bytes);
}

/* The group's memory of one local array; the first item to come by makes it. */
static void *local_array(struct kc_cpu_state *s, const struct kc_cpu_local *array) {
  run *r = run_of(s);
  for (int i = 0; i < r->array_count; i++)
    if (r->arrays[i] == array) return array_data(r, i);
  if (r->array_count == MAX_ARRAYS) {
    r->too_many_arrays = true;
    return array_data(r, MAX_ARRAYS - 1);
  }
  r->arrays[r->array_count] = array;
  r->local_bytes += array->bytes;
  paint_array(r, r->array_count);
  return array_data(r, r->array_count++);
}

static void check_array(run *r, int i) {
  const char *slot = array_slot(r, i);
  long bytes = (long)r->arrays[i]->bytes;
  const int *g = r->state.grp;
  for (long n = 0; n < LOCAL_GUARD; n++) {
    bool before = (uint8_t)slot[n] != canary((size_t)n);
    bool after = (uint8_t)slot[LOCAL_GUARD + bytes + n] != canary((size_t)n);
    if (before || after)
      note(r, &r->record->local_damaged, "local array '%s' (%ld bytes): byte %ld was overwritten, group (%d,%d,%d)",
           r->arrays[i]->name, bytes, before ? n - LOCAL_GUARD : bytes + n, g[0], g[1], g[2]);
  }
}

static void end_group(run *r) {
  for (int i = 0; i < r->array_count; i++) check_array(r, i);
  if (r->local_bytes > r->most_local_bytes) r->most_local_bytes = r->local_bytes;
  r->array_count = 0;
  r->local_bytes = 0;
}

void kc__cpu_release(kc_drv_device *d) {
  if (d->arena) munmap(d->arena, (size_t)MAX_ARRAYS * ARRAY_SLOT);
  d->arena = NULL;
}

static kc_status reserve_arena(kc_drv_device *d, kc_text *err) {
  if (d->arena) return KC_OK;
  void *p = mmap(NULL, (size_t)MAX_ARRAYS * ARRAY_SLOT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return kc_fail(err, KC_ENOMEM, "no memory for local arrays");
  d->arena = p;
  return KC_OK;
}

/* ---- schedules ------------------------------------------------------------------------------------------------------- */

/* The finaliser of splitmix64. Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A Feistel network permutes a power of four that covers n; what falls outside goes round again, which ends because i itself,
 * inside, lies on the cycle. No memory, whatever the size of the grid. */
uint64_t kc__permute(uint64_t i, uint64_t n, uint64_t key) {
  int half = 1;
  if (key == 0) return i;
  while (half < 32 && n > (uint64_t)1 << (2 * half)) half++;
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = i >> half, right = i & mask;
    for (uint64_t round = 1; round <= 6; round++) {
      uint64_t next = left ^ (mix(key ^ mix(round << 32 ^ right)) & mask);
      left = right;
      right = next;
    }
    i = left << half | right;
  } while (i >= n);
  return i;
}

/* Another order in every group and after every barrier; keys are never 0, which would mean the natural order. */
static void order_items(run *r, uint64_t phase) {
  uint64_t key = r->schedule ? mix(r->schedule ^ mix(r->group_number ^ mix(phase))) | 1 : 0;
  for (int i = 0; i < r->items; i++) r->order[i] = (int)kc__permute((uint64_t)i, (uint64_t)r->items, key);
}

/* ---- work-items ------------------------------------------------------------------------------------------------------ */

static void enter_item(run *r, int index) {
  const int *size = r->state.lsize;
  r->state.lid[0] = index % size[0];
  r->state.lid[1] = index / size[0] % size[1];
  r->state.lid[2] = index / size[0] / size[1];
}

static void item_left(struct kc_cpu_state *s) {
  check_fpstate(run_of(s), "a work-item", 0);
}

static void barrier(struct kc_cpu_state *s, int line) {
  run *r = run_of(s);
  check_fpstate(r, "", line);
  r->line[r->d->fibers.current] = line;
  kc__fiber_yield(&r->d->fibers);
}

static void item_body(void *user, int index) {
  run *r = user;
  r->k->item(&r->state, r->args);
  r->line[index] = 0;
  item_left(&r->state);
}

/* What one round between barriers showed: items that wait, that ended, and two barriers at which they wait. */
typedef struct round {
  int waiting, ended, first_line, other_line;
} round;

static round resume_all(run *r, uint64_t phase) {
  round seen = {0};
  order_items(r, phase);
  for (int i = 0; i < r->items; i++) {
    int index = r->order[i];
    if (r->d->fibers.list[index].ended) continue;
    enter_item(r, index);
    if (kc__fiber_resume(&r->d->fibers, index)) {
      seen.ended++;
      continue;
    }
    seen.waiting++;
    if (!seen.first_line) seen.first_line = r->line[index];
    if (r->line[index] != seen.first_line) seen.other_line = r->line[index];
  }
  return seen;
}

static void check_barrier(run *r, round seen) {
  const int *g = r->state.grp;
  bool *flag = &r->record->divergent_barrier;
  if (seen.waiting && seen.ended)
    note(r, flag, "divergent barrier: line %d was reached by %d of %d work-items of group (%d,%d,%d)", seen.first_line,
         seen.waiting, seen.waiting + seen.ended, g[0], g[1], g[2]);
  else if (seen.other_line)
    note(r, flag, "divergent barrier: group (%d,%d,%d) waits at line %d and at line %d", g[0], g[1], g[2], seen.first_line,
         seen.other_line);
}

/* After a divergent barrier those that wait go on, so that the launch ends and the evidence is heard. */
static void run_group_on_fibers(run *r) {
  uint64_t phase = 0;
  round seen;
  kc__fibers_prepare(&r->d->fibers, r->items, item_body, r);
  do {
    seen = resume_all(r, phase++);
    check_barrier(r, seen);
  } while (seen.waiting > 0);
}

static void run_group(run *r) {
  if (r->k->fibers) {
    run_group_on_fibers(r);
  } else {
    if (r->schedule) order_items(r, 0);
    r->k->group(&r->state, r->args, r->schedule ? r->order : NULL);
  }
  end_group(r);
}

static void run_grid(run *r) {
  const int *n = r->state.ngrp;
  uint64_t plane = (uint64_t)n[0] * (uint64_t)n[1], groups = plane * (uint64_t)n[2];
  uint64_t key = r->schedule ? mix(r->schedule) | 1 : 0;
  for (uint64_t i = 0; i < groups; i++) {
    r->group_number = kc__permute(i, groups, key);
    r->state.grp[0] = (int)(r->group_number % (uint64_t)n[0]);
    r->state.grp[1] = (int)(r->group_number / (uint64_t)n[0] % (uint64_t)n[1]);
    r->state.grp[2] = (int)(r->group_number / plane);
    run_group(r);
  }
}

/* ---- launches -------------------------------------------------------------------------------------------------------- */

static kc_status take_args(run *r, const kc_launch *l, kc_text *err) {
  const kc_drv_kernel *k = r->k;
  kc_status status = kc__check_args(k->params, k->param_count, l, err);
  if (status != KC_OK) return status;
  for (int i = 0; i < l->arg_count; i++) {
    const kc_arg *a = &l->args[i];
    if (!a->buffer) {
      kc_store(k->params[i].format, &r->storage[i], 0, a->scalar);
      r->args[i] = &r->storage[i];
    } else {
      const kc__cpu_memory *m = kc__cpu_mem(a->mem);
      if (!m || a->offset > m->bytes) return kc_fail(err, KC_EINVAL, "launch: argument %d: offset beyond the memory", i + 1);
      r->args[i] = m->base + a->offset;
      memcpy(&r->storage[i], &r->args[i], sizeof(void *));
    }
    r->values[i] = &r->storage[i];
  }
  return KC_OK;
}

static kc_status take_geometry(run *r, const kc_launch *l, kc_text *err) {
  uint64_t items;
  kc_status status = kc__check_geometry(l, &items, err);
  if (status != KC_OK) return status;
  for (int d = 0; d < 3; d++) {
    r->state.lsize[d] = (int)l->group[d];
    r->state.ngrp[d] = (int)l->grid[d];
  }
  if (items > MAX_ITEMS) return kc_fail(err, KC_EUNSUPPORTED, "launch: a group has at most %d work-items", MAX_ITEMS);
  r->items = (int)items;
  return KC_OK;
}

static kc_status ready(run *r, const kc_launch *l, kc_text *err) {
  kc_status status = take_args(r, l, err);
  if (status != KC_OK || (r->k->dialect != KC_DIALECT_KC && !r->k->library.map)) return status;
  status = take_geometry(r, l, err);
  if (status == KC_OK && r->k->fibers) status = kc__fibers_reserve(&r->d->fibers, r->items, err);
  if (status == KC_OK && r->k->fibers) status = reserve_arena(r->d, err);
  return status;
}

/* A host function is called once, whatever the grid: it has one work-item, so every schedule is the natural one. A mapped one is
 * called in order. */
static void run_host_function(run *r) {
  uint64_t word = 0;
  if (r->k->dialect == KC_DIALECT_LIBRARY && r->k->library.map) {
    kc__library_map(&r->k->library, r->args, (size_t)r->state.ngrp[0] * (size_t)r->state.lsize[0]);
  } else if (r->k->dialect == KC_DIALECT_LIBRARY) {
    kc__library_call(&r->k->library, r->values, &r->record->result);
  } else {
    r->k->call(r->args, &word);
    r->record->result = r->k->result ? kc_load(r->k->result, &word, 0) : 0;
  }
  check_fpstate(r, "the function", 0);
}

/* The launching thread's state is put aside, the demanded one holds while the candidate runs. */
static void run_timed(run *r) {
  kc_fpstate mine = kc_fpstate_get();
  kc_fpstate_set(r->demanded);
  double start = kc__seconds();
  if (r->k->dialect == KC_DIALECT_KC)
    run_grid(r);
  else
    run_host_function(r);
  r->record->seconds = kc__seconds() - start;
  kc_fpstate_set(mine);
}

kc_status kc__cpu_launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err) {
  enum { FTZ = 0x8000, DAZ = 0x0040 }; /* bits of MXCSR */
  run r = {.d = d,
           .k = k,
           .record = record,
           .demanded = kc_fpstate_default(),
           .schedule = l->schedule,
           .state = {.barrier = barrier, .local = local_array, .left = item_left}};
  if (k->flush) r.demanded.mxcsr |= FTZ | DAZ;
  *record = (kc_launch_record){.before = r.demanded, .after = r.demanded};
  kc_status status = ready(&r, l, err);
  if (status != KC_OK) return status;
  run_timed(&r);
  if (r.too_many_arrays || r.most_local_bytes > MAX_LOCAL)
    return kc_fail(err, KC_EUNSUPPORTED, "launch: a group has at most %d bytes in %d local arrays, this one takes %zu",
                   MAX_LOCAL, MAX_ARRAYS, r.most_local_bytes);
  return KC_OK;
}
