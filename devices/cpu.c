/* cpu.c - the operations of the cpu driver. */
#define _GNU_SOURCE 1
#include "cpu.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drivers.h"
#include "dynlib.h"

/* ---- the device ------------------------------------------------------------------------------------------------------ */

static int probe(kc_text *why) {
  if (why) why->s[0] = '\0';
  return 1;
}

static kc_status open_device(kc_drv_device **out, int index, kc_text *err) {
  if (index != 0) return kc_fail(err, KC_ENODEV, "cpu:%d: there is one cpu device, cpu:0", index);
  *out = calloc(1, sizeof **out);
  return *out ? KC_OK : kc_fail(err, KC_ENOMEM, "no memory for a device");
}

static void close_device(kc_drv_device *d) {
  kc__fibers_release(&d->fibers);
  kc__cpu_release(d);
  free(d);
}

/* The value of a "name : value" line of /proc/cpuinfo, or "". */
static void cpu_name(char *out, size_t size) {
  static const char key[] = "model name";
  char line[512];
  FILE *file = fopen("/proc/cpuinfo", "re");
  out[0] = '\0';
  while (file && !out[0] && fgets(line, sizeof line, file)) {
    const char *value = strncmp(line, key, sizeof key - 1) == 0 ? strchr(line, ':') : NULL;
    if (value) snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
  }
  if (file) fclose(file);
}

/* Half of the smallest normal number is a subnormal one, unless the state flushes it. */
static bool keeps_denormals(void) {
  kc_fpstate mine = kc_fpstate_get();
  volatile float smallest = 0x1p-126f, half = 0.5f;
  kc_fpstate_set(kc_fpstate_default());
  volatile float product = smallest * half;
  bool kept = product > 0.0f;
  kc_fpstate_set(mine);
  return kept;
}

static void describe(kc_drv_device *d, kc_fingerprint *out) {
  kc_text why;
  *out = (kc_fingerprint){
      .arch = "x86-64", .driver = "kc cpu " KC_VERSION, .denormals_kept = keeps_denormals(), .contracts = false};
  cpu_name(out->name, sizeof out->name);
  snprintf(out->runtime, sizeof out->runtime, "glibc %s", gnu_get_libc_version());
  if (kc__compiler_find(&d->compiler, &why) == KC_OK) snprintf(out->compiler, sizeof out->compiler, "%s", d->compiler.version);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

static void unmap(const kc__cpu_memory *m) {
  if (m->owned) munmap(m->base, m->bytes ? m->bytes : 1);
}

static kc_status name_memory(kc_mem *out, kc__cpu_memory m, kc_text *err) {
  kc__cpu_memory *named = malloc(sizeof *named);
  if (!named) {
    unmap(&m);
    return kc_fail(err, KC_ENOMEM, "no memory for a name");
  }
  *named = m;
  *out = (kc_mem)(uintptr_t)named;
  return KC_OK;
}

static kc_status alloc(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err) {
  (void)d;
  void *base = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return kc_fail(err, KC_ENOMEM, "no memory for %zu bytes", bytes);
  return name_memory(out, (kc__cpu_memory){.base = base, .bytes = bytes, .owned = true, .writable = true}, err);
}

static kc_status import(kc_mem *out, kc_drv_device *d, void *host, size_t bytes, bool writable, kc_text *err) {
  (void)d;
  if (!host) return kc_fail(err, KC_EINVAL, "import: no memory was given");
  return name_memory(out, (kc__cpu_memory){.base = host, .bytes = bytes, .owned = false, .writable = writable}, err);
}

static void free_memory(kc_drv_device *d, kc_mem mem) {
  kc__cpu_memory *m = kc__cpu_mem(mem);
  (void)d;
  if (m) unmap(m);
  free(m);
}

static size_t size_of(const kc__cpu_memory *m) {
  return m ? m->bytes : 0;
}

static kc_status write_memory(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err) {
  const kc__cpu_memory *m = kc__cpu_mem(to);
  (void)d;
  kc_status status = kc__check_extent("write", size_of(m), offset, bytes, err);
  if (status != KC_OK || bytes == 0) return status;
  if (!m->writable) return kc_fail(err, KC_EINVAL, "write: the memory was imported read-only");
  memcpy(m->base + offset, from, bytes);
  return KC_OK;
}

static kc_status read_memory(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err) {
  const kc__cpu_memory *m = kc__cpu_mem(from);
  (void)d;
  kc_status status = kc__check_extent("read", size_of(m), offset, bytes, err);
  if (status == KC_OK && bytes > 0) memcpy(to, m->base + offset, bytes);
  return status;
}

/* ---- kernels --------------------------------------------------------------------------------------------------------- */

static void unload(kc_drv_device *d, kc_drv_kernel *k) {
  (void)d;
  if (!k) return;
  if (k->dialect == KC_DIALECT_LIBRARY) kc__library_close(&k->library);
  kc__dynlib_close(k->module);
  free(k->params);
  free(k);
}

static kc_drv_kernel *new_kernel(const kc_build *b) {
  kc_drv_kernel *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  *k = (kc_drv_kernel){.dialect = b->dialect,
                       .flush = b->options.flush,
                       .params = kc__keep_params(b),
                       .param_count = b->param_count,
                       .result = b->result};
  if (k->params) return k;
  free(k);
  return NULL;
}

static kc_status build(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err) {
  kc__string text = {0};
  kc_status status = kc__check_build(b, err);
  if (status != KC_OK) return status;
  if (b->dialect == KC_DIALECT_CUDA || b->dialect == KC_DIALECT_OPENCL)
    return kc_fail(err, KC_EUNSUPPORTED, "%s: the cpu device takes the dialects kc, c and library", b->file);
  kc_drv_kernel *k = new_kernel(b);
  if (!k) return kc_fail(err, KC_ENOMEM, "no memory for a kernel");
  status = b->dialect == KC_DIALECT_LIBRARY ? kc__library_open(&k->library, b, k->params, &text, err)
                                            : kc__cpu_build(k, d, b, &text, err);
  if (log && !text.failed && text.n > 0)
    *log = text.s;
  else
    kc__string_clear(&text);
  if (status != KC_OK)
    unload(d, k);
  else
    *out = k;
  return status;
}

static kc_status sync(kc_drv_device *d, kc_text *err) {
  (void)d;
  (void)err;
  return KC_OK; /* a launch returns when it is done */
}

const kc_driver kc_driver_cpu = {.abi_size = sizeof(kc_driver),
                                 .name = "cpu",
                                 .probe = probe,
                                 .open = open_device,
                                 .close = close_device,
                                 .describe = describe,
                                 .alloc = alloc,
                                 .free = free_memory,
                                 .import = import,
                                 .write = write_memory,
                                 .read = read_memory,
                                 .build = build,
                                 .unload = unload,
                                 .launch = kc__cpu_launch,
                                 .sync = sync,
                                 .archs = NULL,
                                 .compile = NULL,
                                 .code = NULL};
