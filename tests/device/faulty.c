/* faulty.c - a backend that fails or lies at a chosen call. Its one kernel adds 1 to every byte of the
 * first argument's data. */
#include "faulty.h"

#include <stdlib.h>
#include <string.h>

faulty_plan faulty;

struct kc_drv_device {
  int unused;
};
struct kc_drv_kernel {
  size_t bytes;
};

typedef struct memory {
  size_t bytes;
  unsigned char data[];
} memory;

/* True when this call has to go wrong; *status is what it then answers. */
static bool wrong(faulty_call call, kc_status *status, kc_text *err) {
  static const kc_status answers[] = {KC_ELAUNCH, KC_ENOMEM, KC_OK, (kc_status)77, KC_OK};
  if (faulty.call != call) return false;
  *status = answers[faulty.manner];
  if (faulty.manner == FAULT_SPOKEN) (void)kc_fail(err, *status, "the fault that was ordered");
  return true;
}

static int probe(kc_text *why) {
  kc_status status;
  return wrong(FAULT_PROBE, &status, why) ? (faulty.manner == FAULT_NONSENSE ? -5 : 0) : 1;
}

static kc_status open_device(kc_drv_device **out, int index, kc_text *err) {
  kc_status status;
  (void)index;
  if (wrong(FAULT_OPEN, &status, err)) return status;
  *out = calloc(1, sizeof **out);
  faulty.devices++;
  return KC_OK;
}

static void close_device(kc_drv_device *d) {
  free(d);
  faulty.devices--;
}

static void describe(kc_drv_device *d, kc_fingerprint *out) {
  (void)d;
  memset(out->name, 'n', sizeof out->name); /* no end of text */
}

static kc_status alloc(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err) {
  kc_status status;
  (void)d;
  if (wrong(FAULT_ALLOC, &status, err)) return status;
  memory *m = calloc(1, sizeof *m + bytes);
  m->bytes = bytes;
  *out = (kc_mem)(uintptr_t)m;
  faulty.memories++;
  return KC_OK;
}

static void free_memory(kc_drv_device *d, kc_mem mem) {
  (void)d;
  free((memory *)(uintptr_t)mem);
  faulty.memories--;
}

static kc_status write_memory(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err) {
  kc_status status;
  (void)d;
  if (wrong(FAULT_WRITE, &status, err)) return status;
  memcpy(((memory *)(uintptr_t)to)->data + offset, from, bytes);
  return KC_OK;
}

static kc_status read_memory(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err) {
  kc_status status;
  (void)d;
  if (wrong(FAULT_READ, &status, err)) return status;
  memcpy(to, ((memory *)(uintptr_t)from)->data + offset, bytes);
  return KC_OK;
}

static kc_status build(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err) {
  kc_status status;
  (void)d;
  (void)b;
  *log = strdup("log of the build");
  if (wrong(FAULT_BUILD, &status, err)) return status;
  *out = calloc(1, sizeof **out);
  faulty.kernels++;
  return KC_OK;
}

static void unload(kc_drv_device *d, kc_drv_kernel *k) {
  (void)d;
  free(k);
  faulty.kernels--;
}

static kc_status launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err) {
  kc_status status;
  (void)d;
  (void)k;
  if (wrong(FAULT_LAUNCH, &status, err) && faulty.manner != FAULT_LOUD) return status;
  memory *m = (memory *)(uintptr_t)l->args[0].mem;
  for (size_t i = (size_t)l->args[0].offset; i < m->bytes - (size_t)l->args[0].offset; i++) m->data[i]++;
  if (faulty.manner == FAULT_LOUD) {
    record->fp_changed = record->divergent_barrier = true;
    memset(record->evidence, 'e', sizeof record->evidence);
  }
  return KC_OK;
}

static kc_status sync(kc_drv_device *d, kc_text *err) {
  kc_status status;
  (void)d;
  return wrong(FAULT_SYNC, &status, err) ? status : KC_OK;
}

const kc_driver kc_driver_faulty = {.abi_size = sizeof(kc_driver),
                                    .name = "faulty",
                                    .probe = probe,
                                    .open = open_device,
                                    .close = close_device,
                                    .describe = describe,
                                    .alloc = alloc,
                                    .free = free_memory,
                                    .import = NULL,
                                    .write = write_memory,
                                    .read = read_memory,
                                    .build = build,
                                    .unload = unload,
                                    .launch = launch,
                                    .sync = sync,
                                    .archs = NULL,
                                    .compile = NULL,
                                    .code = NULL};
