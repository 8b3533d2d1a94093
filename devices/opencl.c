/* opencl.c - the opencl driver: any device that an installable client driver offers. Memory is cl_mem; a kernel's buffer argument is
 * a sub-buffer that begins with the data, so that the guard before it lies outside and the one behind it inside. */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers.h"
#include "request.h"

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

struct kc_drv_kernel {
  kc__cl program, kernel;
  int param_count;
  size_t group; /* most work-items that a group of this kernel may have */
  kc_param *params;
};

typedef struct memory {
  kc__cl buffer;
  size_t bytes;
} memory;

static memory *named(kc_mem mem) {
  return (memory *)(uintptr_t)mem;
}

/* ---- devices --------------------------------------------------------------------------------------------------------- */

typedef struct found {
  kc__cl platform[MAX_DEVICES], device[MAX_DEVICES];
  int count;
  int32_t code; /* of the last thing that failed */
} found;

/* Every device of every platform, in the loader's order. */
static void enumerate(found *f, const kc__cl_api *cl) {
  kc__cl platforms[MAX_PLATFORMS];
  uint32_t n = 0, devices;
  *f = (found){.code = cl->platforms(MAX_PLATFORMS, platforms, &n)};
  if (f->code != KC__CL_SUCCESS) return;
  for (uint32_t p = 0; p < n && p < MAX_PLATFORMS && f->count < MAX_DEVICES; p++) {
    uint32_t room = (uint32_t)(MAX_DEVICES - f->count);
    f->code = cl->devices(platforms[p], KC__CL_DEVICE_TYPE_ALL, room, f->device + f->count, &devices);
    if (f->code != KC__CL_SUCCESS) continue;
    if (devices > room) devices = room;
    for (uint32_t i = 0; i < devices; i++) f->platform[f->count++] = platforms[p];
  }
}

static int probe(kc_text *why) {
  kc__cl_api cl;
  found f;
  if (kc__cl_load(&cl, why) != KC_OK) return 0;
  enumerate(&f, &cl);
  if (f.count == 0) kc__cl_fail(why, "the loader is there, no device is", f.code);
  return f.count;
}

void kc__cl_device_text(const kc_drv_device *d, uint32_t what, char *out, size_t size) {
  char text[2048] = "";
  if (d->cl.device_info(d->device, what, sizeof text - 1, text, NULL) != KC__CL_SUCCESS) text[0] = '\0';
  snprintf(out, size, "%s", text);
}

static size_t size_fact(const kc_drv_device *d, uint32_t what) {
  size_t value = 0;
  return d->cl.device_info(d->device, what, sizeof value, &value, NULL) == KC__CL_SUCCESS ? value : 0;
}

static uint64_t fp_config(const kc_drv_device *d) {
  uint64_t bits = 0;
  (void)d->cl.device_info(d->device, KC__CL_DEVICE_SINGLE_FP_CONFIG, sizeof bits, &bits, NULL);
  return bits;
}

static void learn(kc_drv_device *d) {
  uint32_t bits = 0;
  uint64_t bytes = 0;
  (void)d->cl.device_info(d->device, KC__CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
  (void)d->cl.device_info(d->device, KC__CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes, NULL);
  (void)d->cl.device_info(d->device, KC__CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof d->extents, d->extents, NULL);
  d->alignment = bits >= 8 ? bits / 8 : 1;
  d->largest_memory = (size_t)bytes;
  d->largest_group = size_fact(d, KC__CL_DEVICE_MAX_WORK_GROUP_SIZE);
  d->rounds_divide = (fp_config(d) & KC__CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

static void close_device(kc_drv_device *d) {
  if (d->queue) d->cl.release_queue(d->queue);
  if (d->context) d->cl.release_context(d->context);
  free(d);
}

static kc_status connect(kc_drv_device *d, kc_text *err) {
  int32_t code;
  d->context = d->cl.create_context(NULL, 1, &d->device, NULL, NULL, &code);
  if (d->context) d->queue = d->cl.create_queue(d->context, d->device, 0, &code);
  if (d->queue) return KC_OK;
  kc__cl_fail(err, "clCreateContext or clCreateCommandQueue", code);
  return KC_ENODEV;
}

static kc_status open_device(kc_drv_device **out, int index, kc_text *err) {
  found f;
  kc_drv_device *d = calloc(1, sizeof *d);
  if (!d) return kc_fail(err, KC_ENOMEM, "no memory for a device");
  kc_status status = kc__cl_load(&d->cl, err);
  if (status == KC_OK) {
    enumerate(&f, &d->cl);
    if (index < 0 || index >= f.count)
      status = kc_fail(err, KC_ENODEV, "opencl:%d: the devices are opencl:0 to opencl:%d", index, f.count - 1);
  }
  if (status == KC_OK) {
    d->platform = f.platform[index];
    d->device = f.device[index];
    status = connect(d, err);
  }
  if (status != KC_OK) {
    close_device(d);
    return status;
  }
  learn(d);
  *out = d;
  return KC_OK;
}

static const char *type_name(const kc_drv_device *d) {
  static const char *const names[] = {"device", "CPU", "GPU", "accelerator"};
  uint64_t type = 0;
  (void)d->cl.device_info(d->device, KC__CL_DEVICE_TYPE, sizeof type, &type, NULL);
  return names[type & 2 ? 1 : type & 4 ? 2 : type & 8 ? 3 : 0];
}

/* Extensions by their names, and what of the floating-point capabilities a kernel may ask for. */
static void write_features(const kc_drv_device *d, char *out, size_t size) {
  kc__cl_device_text(d, KC__CL_DEVICE_EXTENSIONS, out, size);
  size_t n = strlen(out);
  snprintf(out + n, size - n, "%s", d->rounds_divide ? " CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT" : "");
}

static void describe(kc_drv_device *d, kc_fingerprint *out) {
  char platform[96] = "", version[64];
  *out = (kc_fingerprint){.denormals_kept = (fp_config(d) & KC__CL_FP_DENORM) != 0, .contracts = false};
  (void)d->cl.platform_info(d->platform, KC__CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
  kc__cl_device_text(d, KC__CL_DRIVER_VERSION, version, sizeof version);
  snprintf(out->driver, sizeof out->driver, "%.95s %.31s", platform, version);
  snprintf(out->arch, sizeof out->arch, "OpenCL %s", type_name(d));
  kc__cl_device_text(d, KC__CL_DEVICE_NAME, out->name, sizeof out->name);
  kc__cl_device_text(d, KC__CL_DEVICE_VERSION, out->runtime, sizeof out->runtime);
  kc__cl_device_text(d, KC__CL_DEVICE_OPENCL_C_VERSION, out->compiler, sizeof out->compiler);
  write_features(d, out->features, sizeof out->features);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

static kc_status failed(kc_text *err, const char *what, int32_t code) {
  bool memory_is_out =
      code == KC__CL_MEM_OBJECT_ALLOCATION_FAILURE || code == KC__CL_OUT_OF_HOST_MEMORY || code == KC__CL_INVALID_BUFFER_SIZE;
  kc__cl_fail(err, what, code);
  return memory_is_out ? KC_ENOMEM : KC_ELAUNCH;
}

static kc_status alloc(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err) {
  int32_t code;
  if (bytes > d->largest_memory)
    return kc_fail(err, KC_ENOMEM, "no memory for %zu bytes: the device gives at most %zu at once", bytes, d->largest_memory);
  memory *m = malloc(sizeof *m);
  if (!m) return kc_fail(err, KC_ENOMEM, "no memory for a name");
  m->bytes = bytes;
  m->buffer = d->cl.create_buffer(d->context, KC__CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &code);
  if (!m->buffer) {
    free(m);
    return failed(err, "clCreateBuffer", code);
  }
  *out = (kc_mem)(uintptr_t)m;
  return KC_OK;
}

static void free_memory(kc_drv_device *d, kc_mem mem) {
  memory *m = named(mem);
  if (m) d->cl.release_memory(m->buffer);
  free(m);
}

static size_t size_of(const memory *m) {
  return m ? m->bytes : 0;
}

static kc_status write_memory(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err) {
  kc_status status = kc__check_extent("write", size_of(named(to)), offset, bytes, err);
  if (status != KC_OK || bytes == 0) return status;
  int32_t code = d->cl.write(d->queue, named(to)->buffer, 1, offset, bytes, from, 0, NULL, NULL);
  return code == KC__CL_SUCCESS ? KC_OK : failed(err, "clEnqueueWriteBuffer", code);
}

static kc_status read_memory(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err) {
  kc_status status = kc__check_extent("read", size_of(named(from)), offset, bytes, err);
  if (status != KC_OK || bytes == 0) return status;
  int32_t code = d->cl.read(d->queue, named(from)->buffer, 1, offset, bytes, to, 0, NULL, NULL);
  return code == KC__CL_SUCCESS ? KC_OK : failed(err, "clEnqueueReadBuffer", code);
}

/* ---- kernels --------------------------------------------------------------------------------------------------------- */

static void unload(kc_drv_device *d, kc_drv_kernel *k) {
  if (!k) return;
  if (k->kernel) d->cl.release_kernel(k->kernel);
  if (k->program) d->cl.release_program(k->program);
  free(k->params);
  free(k);
}

static kc_status build(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err) {
  kc_status status = kc__check_build(b, err);
  if (status != KC_OK) return status;
  if (b->dialect != KC_DIALECT_KC && b->dialect != KC_DIALECT_OPENCL)
    return kc_fail(err, KC_EUNSUPPORTED, "%s: the opencl device takes the dialects kc and opencl", b->file);
  kc_drv_kernel *k = calloc(1, sizeof *k);
  if (k) *k = (kc_drv_kernel){.params = kc__keep_params(b), .param_count = b->param_count, .group = d->largest_group};
  status = k && k->params ? kc__cl_build(&k->program, &k->kernel, d, b, log, err)
                          : kc_fail(err, KC_ENOMEM, "no memory for a kernel");
  if (status != KC_OK) {
    unload(d, k);
    return status;
  }
  (void)d->cl.kernel_group_info(k->kernel, d->device, KC__CL_KERNEL_WORK_GROUP_SIZE, sizeof k->group, &k->group, NULL);
  *out = k;
  return KC_OK;
}

/* ---- launching ------------------------------------------------------------------------------------------------------- */

typedef struct extent {
  size_t global[3], local[3];
  bool empty;
} extent;

static kc_status check_launch(extent *e, const kc_drv_device *d, const kc_drv_kernel *k, const kc_launch *l, kc_text *err) {
  uint64_t items;
  *e = (extent){.empty = false};
  if (l->schedule != 0) return kc_fail(err, KC_EUNSUPPORTED, "launch: an OpenCL device runs in its own order; no schedule");
  kc_status status = kc__check_args(k->params, k->param_count, l, err);
  if (status == KC_OK) status = kc__check_geometry(l, &items, err);
  if (status != KC_OK) return status;
  for (int i = 0; i < 3; i++) {
    if (l->group[i] > d->extents[i])
      return kc_fail(err, KC_EUNSUPPORTED, "launch: group size %d is %u; this device takes at most %zu", i + 1, l->group[i],
                     d->extents[i]);
    e->local[i] = l->group[i];
    e->global[i] = (size_t)l->grid[i] * l->group[i];
    e->empty = e->empty || l->grid[i] == 0;
  }
  if (items > k->group)
    return kc_fail(err, KC_EUNSUPPORTED, "launch: a group has %llu work-items; this kernel on this device takes at most %zu",
                   (unsigned long long)items, k->group);
  return KC_OK;
}

/* The same memory twice is the same sub-buffer twice: two that overlap have no defined contents. */
static kc_status view(kc__cl views[KC__MAX_PARAMS], bool own[KC__MAX_PARAMS], const kc_drv_device *d, const kc_launch *l, int i,
                      kc_text *err) {
  const kc_arg *a = &l->args[i];
  const memory *m = named(a->mem);
  int32_t code;
  for (int j = 0; j < i; j++)
    if (l->args[j].buffer && l->args[j].mem == a->mem && l->args[j].offset == a->offset) {
      views[i] = views[j];
      return KC_OK;
    }
  if (a->offset % d->alignment != 0 || a->offset >= m->bytes)
    return kc_fail(err, KC_EUNSUPPORTED, "launch: argument %d begins at byte %llu of %zu; the device wants a multiple of %zu",
                   i + 1, (unsigned long long)a->offset, m->bytes, d->alignment);
  const kc__cl_region region = {.origin = a->offset, .size = m->bytes - a->offset};
  views[i] = d->cl.create_sub_buffer(m->buffer, KC__CL_MEM_READ_WRITE, KC__CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  own[i] = views[i] != NULL;
  return views[i] ? KC_OK : failed(err, "clCreateSubBuffer", code);
}

static kc_status set_args(kc__cl views[KC__MAX_PARAMS], bool own[KC__MAX_PARAMS], const kc_drv_device *d,
                          const kc_drv_kernel *k, const kc_launch *l, kc_text *err) {
  for (int i = 0; i < l->arg_count; i++) {
    const kc_arg *a = &l->args[i];
    kc_status status = a->buffer ? view(views, own, d, l, i, err) : KC_OK;
    if (status != KC_OK) return status;
    uint64_t scalar = 0;
    kc_store(k->params[i].format, &scalar, 0, a->scalar);
    int32_t code = a->buffer ? d->cl.set_arg(k->kernel, (uint32_t)i, sizeof views[i], &views[i])
                             : d->cl.set_arg(k->kernel, (uint32_t)i, k->params[i].format->storage, &scalar);
    if (code != KC__CL_SUCCESS) return failed(err, "clSetKernelArg", code);
  }
  return KC_OK;
}

static kc_status run(const kc_drv_device *d, const kc_drv_kernel *k, const extent *e, kc_launch_record *record, kc_text *err) {
  double started = kc__seconds();
  int32_t code = d->cl.launch(d->queue, k->kernel, 3, NULL, e->global, e->local, 0, NULL, NULL);
  if (code == KC__CL_SUCCESS) code = d->cl.finish(d->queue);
  record->seconds = kc__seconds() - started;
  return code == KC__CL_SUCCESS ? KC_OK : failed(err, "clEnqueueNDRangeKernel", code);
}

static kc_status launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err) {
  kc__cl views[KC__MAX_PARAMS];
  bool own[KC__MAX_PARAMS] = {false};
  extent e;
  kc_status status = check_launch(&e, d, k, l, err);
  if (status != KC_OK || e.empty) return status;
  status = set_args(views, own, d, k, l, err);
  if (status == KC_OK) status = run(d, k, &e, record, err);
  for (int i = 0; i < l->arg_count; i++)
    if (own[i]) d->cl.release_memory(views[i]);
  return status;
}

static kc_status sync(kc_drv_device *d, kc_text *err) {
  int32_t code = d->cl.finish(d->queue);
  return code == KC__CL_SUCCESS ? KC_OK : failed(err, "clFinish", code);
}

const kc_driver kc_driver_opencl = {.abi_size = sizeof(kc_driver),
                                    .name = "opencl",
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
