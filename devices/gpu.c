/* gpu.c - devices, memory, kernels and launches of CUDA and HIP. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "request.h"

struct kc_drv_device {
  const kc__gpu_vendor *vendor;
  kc__gpu_api api;
  kc__gpu_compiler compiler;
  kc__gpu_limits limits;
  int device, version;
  bool retained;
  void *context, *stream, *begun, *ended; /* events around a launch */
  size_t memory;
  char name[128], arch[64], target[64]; /* what it is, and what is compiled for it */
  kc_text lost;                         /* why it cannot be used any more */
};

struct kc_drv_kernel {
  void *module, *function;
  uint8_t *block; /* of `code` */
  kc_code code;
  int param_count;
  uint32_t group; /* most work-items of a group */
  kc_param *params;
};

typedef struct memory {
  uint64_t address;
  size_t bytes;
} memory;

static memory *named(kc_mem mem) {
  return (memory *)(uintptr_t)mem;
}

/* ---- failures ---------------------------------------------------------------------------------------------------------- */

static const char *name_of(const kc__gpu_api *api, int code) {
  const char *name = NULL;
  if (api->tell && api->tell(code, &name) != 0) name = NULL;
  if (api->spell) name = api->spell(code);
  return name ? name : "an unknown code";
}

static void tell(kc_text *err, const kc__gpu_vendor *v, const kc__gpu_api *api, const char *what, int code) {
  (void)kc_fail(err, KC_OK, "%s: %s: %s (%d)", v->name, what, name_of(api, code), code);
}

static bool is_among(const int *codes, int code) {
  for (; *codes; codes++)
    if (*codes == code) return true;
  return false;
}

/* Some failures leave a device that answers nothing more in this process. */
static kc_status failed(kc_drv_device *d, kc_text *err, const char *what, int code) {
  enum { OUT_OF_MEMORY = 2 };
  tell(err, d->vendor, &d->api, what, code);
  if (code == OUT_OF_MEMORY) return KC_ENOMEM;
  bool fault = is_among(d->vendor->faults, code);
  if (!fault && !is_among(d->vendor->losses, code)) return KC_ELAUNCH;
  d->lost = *err;
  return fault ? KC_EFAULT : KC_ENODEV;
}

/* A context belongs to a thread; whoever calls has it afterwards. */
static kc_status enter(kc_drv_device *d, kc_text *err) {
  if (d->lost.s[0])
    return kc_fail(err, KC_ENODEV, "the device was lost to an earlier failure, for as long as this process runs: %.400s",
                   d->lost.s);
  int code = d->api.enter(d->context);
  return code == 0 ? KC_OK : failed(d, err, "making the context current", code);
}

/* ---- devices ------------------------------------------------------------------------------------------------------------ */

static kc_status load_library(void **library, const kc__gpu_vendor *v, kc_text *err) {
  const char *asked = getenv(v->asked), *named_one[] = {asked, NULL};
  bool given = asked && asked[0], present = !v->nodes || given;
  for (const char *const *node = v->nodes; !present && *node; node++) present = access(*node, F_OK) == 0;
  if (!present) return kc_fail(err, KC_ENODEV, "no %s device: %s is not there", v->name, v->nodes[0]);
  kc_text why;
  if (kc__dynlib_first(library, given ? named_one : v->libraries, &why) == KC_OK) return KC_OK;
  return kc_fail(err, KC_ENODEV, "no %s runtime: %.400s", v->name, why.s);
}

static kc_status load_api(kc__gpu_api *api, const kc__gpu_vendor *v, int *count, kc_text *err) {
  void *library;
  kc_text why;
  *count = 0;
  *api = (kc__gpu_api){0};
  kc_status status = load_library(&library, v, err);
  if (status != KC_OK) return status;
  if (kc__dynlib_fill(library, api, v->symbols, v->symbol_count, &why) != KC_OK)
    return kc_fail(err, KC_ENODEV, "the %s runtime is too old: %.400s", v->name, why.s);
  int code = api->init(0);
  if (code == 0) code = api->count(count);
  if (code != 0) tell(err, v, api, "the runtime is there, no device is", code);
  if (code == 0 && *count < 1) (void)kc_fail(err, KC_ENODEV, "%s: the runtime is there, no device is", v->name);
  return code == 0 && *count > 0 ? KC_OK : KC_ENODEV;
}

int kc__gpu_probe(const kc__gpu_vendor *v, kc_text *why) {
  kc__gpu_api api;
  int count;
  return load_api(&api, v, &count, why) == KC_OK ? count : 0;
}

void kc__gpu_close(kc_drv_device *d) {
  if (d->retained && !d->lost.s[0]) (void)d->api.enter(d->context);
  if (d->begun) (void)d->api.end_event(d->begun);
  if (d->ended) (void)d->api.end_event(d->ended);
  if (d->stream) (void)d->api.end_stream(d->stream);
  if (d->retained) (void)d->api.release(d->device);
  free(d);
}

/* The stream waits for the default one and is waited for: a copy from pageable memory may return before its last part has arrived. */
static kc_status connect(kc_drv_device *d, int index, kc_text *err) {
  int code = d->api.device(&d->device, index);
  if (code == 0) code = d->api.retain(&d->context, d->device);
  d->retained = code == 0;
  if (code == 0) code = d->api.enter(d->context);
  if (code == 0) code = d->api.stream(&d->stream, 0);
  if (code == 0) code = d->api.event(&d->begun, 0);
  if (code == 0) code = d->api.event(&d->ended, 0);
  if (code == 0) code = d->api.memory(&d->memory, d->device);
  if (code == 0) code = d->api.version(&d->version);
  if (code == 0) code = d->api.name(d->name, (int)sizeof d->name - 1, d->device);
  if (code == 0) return KC_OK;
  tell(err, d->vendor, &d->api, "opening the device", code);
  return KC_ENODEV;
}

static kc_status learn(kc_drv_device *d, kc_text *err) {
  const kc__gpu_vendor *v = d->vendor;
  if (!v->learn(d->arch, sizeof d->arch, &d->limits, &d->api, d->device))
    return kc_fail(err, KC_ENODEV, "%s: '%s' does not tell its architecture", v->name, d->name);
  kc_status status = kc__gpu_find_compiler(&d->compiler, v, err);
  if (status != KC_OK) return status;
  if (kc__gpu_choose(d->target, sizeof d->target, &d->compiler, v, d->arch)) return KC_OK;
  return kc_fail(err, KC_ENODEV, "%s %s compiles for no '%s', which this device is; it knows %.300s", v->compiler,
                 d->compiler.version, d->arch, d->compiler.archs);
}

kc_status kc__gpu_open(kc_drv_device **out, const kc__gpu_vendor *v, int index, kc_text *err) {
  int count;
  kc_drv_device *d = calloc(1, sizeof *d);
  if (!d) return kc_fail(err, KC_ENOMEM, "no memory for a device");
  d->vendor = v;
  kc_status status = load_api(&d->api, v, &count, err);
  if (status == KC_OK && (index < 0 || index >= count))
    status = kc_fail(err, KC_ENODEV, "%s: device %d: the devices are 0 to %d", v->name, index, count - 1);
  if (status == KC_OK) status = connect(d, index, err);
  if (status == KC_OK) status = learn(d, err);
  if (status == KC_OK)
    *out = d;
  else
    kc__gpu_close(d);
  return status;
}

void kc__gpu_describe(kc_drv_device *d, kc_fingerprint *out) {
  const kc__gpu_vendor *v = d->vendor;
  *out = (kc_fingerprint){.denormals_kept = true, .contracts = false};
  snprintf(out->name, sizeof out->name, "%s", d->name);
  snprintf(out->arch, sizeof out->arch, "%s", d->arch);
  snprintf(out->driver, sizeof out->driver, "%s %d", v->name, d->version);
  snprintf(out->runtime, sizeof out->runtime, "%s", v->name);
  snprintf(out->compiler, sizeof out->compiler, "%s %s for %s", v->compiler, d->compiler.version, d->target);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

kc_status kc__gpu_alloc(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err) {
  kc_status status = enter(d, err);
  if (status != KC_OK) return status;
  if (bytes > d->memory) return kc_fail(err, KC_ENOMEM, "no memory for %zu bytes: the device has %zu", bytes, d->memory);
  memory *m = malloc(sizeof *m);
  if (!m) return kc_fail(err, KC_ENOMEM, "no memory for a name");
  m->bytes = bytes;
  int code = d->api.alloc(&m->address, bytes ? bytes : 1);
  if (code != 0) {
    free(m);
    return failed(d, err, "allocating memory", code);
  }
  *out = (kc_mem)(uintptr_t)m;
  return KC_OK;
}

void kc__gpu_free(kc_drv_device *d, kc_mem mem) {
  kc_text why;
  if (mem && enter(d, &why) == KC_OK) (void)d->api.free(named(mem)->address);
  free(named(mem));
}

kc_status kc__gpu_write(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err) {
  kc_status status = kc__check_extent("write", named(to)->bytes, offset, bytes, err);
  if (status == KC_OK) status = enter(d, err);
  if (status != KC_OK || bytes == 0) return status;
  int code = d->api.write(named(to)->address + offset, from, bytes);
  return code == 0 ? KC_OK : failed(d, err, "writing memory", code);
}

kc_status kc__gpu_read(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err) {
  kc_status status = kc__check_extent("read", named(from)->bytes, offset, bytes, err);
  if (status == KC_OK) status = enter(d, err);
  if (status != KC_OK || bytes == 0) return status;
  int code = d->api.read(to, named(from)->address + offset, bytes);
  return code == 0 ? KC_OK : failed(d, err, "reading memory", code);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

kc_status kc__gpu_archs(char **out, const kc__gpu_vendor *v, kc_text *err) {
  kc__gpu_compiler c;
  kc_status status = kc__gpu_find_compiler(&c, v, err);
  if (status != KC_OK) return status;
  *out = strdup(c.archs);
  return *out ? KC_OK : kc_fail(err, KC_ENOMEM, "no memory for names");
}

kc_status kc__gpu_compile(kc_code *out, const kc__gpu_vendor *v, const char *arch, const kc_build *b, char **log,
                          kc_text *err) {
  kc__gpu_compiler c;
  kc_status status = kc__check_build(b, err);
  if (status == KC_OK) status = kc__gpu_find_compiler(&c, v, err);
  return status == KC_OK ? kc__gpu_compile_with(out, &c, v, arch, b, log, err) : status;
}

void kc__gpu_unload(kc_drv_device *d, kc_drv_kernel *k) {
  kc_text why;
  if (!k) return;
  if (k->module && enter(d, &why) == KC_OK) (void)d->api.unload(k->module);
  free(k->block);
  free(k->params);
  free(k);
}

/* Code for the device itself, or text that its driver translates. */
static kc_status load_module(kc_drv_kernel *k, kc_drv_device *d, kc_text *err) {
  enum { MAX_THREADS_PER_BLOCK = 0 };
  bool own = strcmp(d->arch, d->target) == 0;
  int most = 0;
  int code = d->api.load(&k->module, own ? (const void *)k->code.binary : k->code.text);
  if (code == 0) code = d->api.function(&k->function, k->module, k->code.entry);
  if (code == 0) code = d->api.fact(&most, MAX_THREADS_PER_BLOCK, k->function);
  k->group = most > 0 ? (uint32_t)most : 0;
  if (code == 0) return KC_OK;
  kc_status status = failed(d, err, "loading the code", code);
  return status == KC_ELAUNCH ? KC_EBUILD : status;
}

kc_status kc__gpu_build(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err) {
  kc_status status = kc__check_build(b, err);
  if (status == KC_OK) status = enter(d, err);
  if (status != KC_OK) return status;
  kc_drv_kernel *k = calloc(1, sizeof *k);
  if (k) *k = (kc_drv_kernel){.params = kc__keep_params(b), .param_count = b->param_count};
  status = k && k->params ? kc__gpu_compile_with(&k->code, &d->compiler, d->vendor, d->target, b, log, err)
                          : kc_fail(err, KC_ENOMEM, "no memory for a kernel");
  if (status == KC_OK) {
    k->block = k->code.block;
    k->code.block = NULL;
    status = load_module(k, d, err);
  }
  if (status == KC_OK)
    *out = k;
  else
    kc__gpu_unload(d, k);
  return status;
}

kc_status kc__gpu_code(kc_code *out, kc_drv_device *d, kc_drv_kernel *k, kc_text *err) {
  (void)d;
  (void)err;
  *out = k->code;
  return KC_OK;
}

/* ---- launching ------------------------------------------------------------------------------------------------------------ */

static kc_status check_dimension(const char *what, int i, uint32_t size, uint32_t most, kc_text *err) {
  if (size <= most) return KC_OK;
  return kc_fail(err, KC_EUNSUPPORTED, "launch: %s size %d is %u; this device takes at most %u", what, i + 1, size, most);
}

static kc_status check_launch(bool *empty, const kc_drv_device *d, const kc_drv_kernel *k, const kc_launch *l, kc_text *err) {
  uint64_t items;
  *empty = false;
  if (l->schedule != 0) return kc_fail(err, KC_EUNSUPPORTED, "launch: a GPU runs in its own order; no schedule");
  kc_status status = kc__check_args(k->params, k->param_count, l, err);
  if (status == KC_OK) status = kc__check_geometry(l, &items, err);
  for (int i = 0; i < 3 && status == KC_OK; i++) {
    status = check_dimension("grid", i, l->grid[i], d->limits.grid[i], err);
    if (status == KC_OK) status = check_dimension("group", i, l->group[i], d->limits.block[i], err);
    *empty = *empty || l->grid[i] == 0;
  }
  if (status == KC_OK && items > k->group)
    return kc_fail(err, KC_EUNSUPPORTED, "launch: a group has %llu work-items; this kernel on this device takes at most %u",
                   (unsigned long long)items, k->group);
  return status;
}

/* A buffer's value is the address of its data: the guard before it lies below, the one behind it above. */
static void set_args(uint64_t values[KC__MAX_PARAMS], void *pointers[KC__MAX_PARAMS], const kc_drv_kernel *k,
                     const kc_launch *l) {
  for (int i = 0; i < l->arg_count; i++) {
    const kc_arg *a = &l->args[i];
    values[i] = a->buffer ? named(a->mem)->address + a->offset : 0;
    if (!a->buffer) kc_store(k->params[i].format, &values[i], 0, a->scalar);
    pointers[i] = &values[i];
  }
}

static kc_status run(kc_drv_device *d, const kc_drv_kernel *k, const kc_launch *l, void **arguments, kc_launch_record *record,
                     kc_text *err) {
  const kc__gpu_api *api = &d->api;
  float milliseconds = 0;
  int code = api->record(d->begun, d->stream);
  if (code == 0)
    code = api->launch(k->function, l->grid[0], l->grid[1], l->grid[2], l->group[0], l->group[1], l->group[2], 0, d->stream,
                       arguments, NULL);
  if (code == 0) code = api->record(d->ended, d->stream);
  if (code == 0) code = api->wait(d->stream);
  if (code == 0) code = api->elapsed(&milliseconds, d->begun, d->ended);
  record->seconds = (double)milliseconds * 1e-3;
  return code == 0 ? KC_OK : failed(d, err, "running the kernel", code);
}

kc_status kc__gpu_launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err) {
  uint64_t values[KC__MAX_PARAMS];
  void *pointers[KC__MAX_PARAMS];
  bool empty;
  kc_status status = check_launch(&empty, d, k, l, err);
  if (status != KC_OK || empty) return status;
  status = enter(d, err);
  if (status != KC_OK) return status;
  set_args(values, pointers, k, l);
  return run(d, k, l, pointers, record, err);
}

kc_status kc__gpu_sync(kc_drv_device *d, kc_text *err) {
  kc_status status = enter(d, err);
  if (status != KC_OK) return status;
  int code = d->api.wait(d->stream);
  return code == 0 ? KC_OK : failed(d, err, "waiting for the device", code);
}
