/* driver.c - checks of device backends and host defaults for what they may leave out. */
#include "kc_driver.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Required operations by offset. Function pointers all have one size (POSIX), so that a null one can
 * be recognised without knowing its type. */
static const struct {
  const char *name;
  size_t offset;
} required[] = {
    {"probe", offsetof(kc_driver, probe)},       {"open", offsetof(kc_driver, open)},     {"close", offsetof(kc_driver, close)},
    {"describe", offsetof(kc_driver, describe)}, {"alloc", offsetof(kc_driver, alloc)},   {"free", offsetof(kc_driver, free)},
    {"write", offsetof(kc_driver, write)},       {"read", offsetof(kc_driver, read)},     {"build", offsetof(kc_driver, build)},
    {"unload", offsetof(kc_driver, unload)},     {"launch", offsetof(kc_driver, launch)}, {"sync", offsetof(kc_driver, sync)},
};

kc_status kc_driver_check(const kc_driver *driver, kc_text *err) {
  if (!driver) return kc_fail(err, KC_EINVAL, "driver: expected a kc_driver, got NULL");
  if (driver->abi_size != sizeof(kc_driver))
    return kc_fail(err, KC_EINVAL, "driver: abi_size is %zu, this host expects %zu", driver->abi_size, sizeof(kc_driver));
  if (!driver->name || !driver->name[0]) return kc_fail(err, KC_EINVAL, "driver: name is missing");
  for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
    void (*op)(void);
    memcpy(&op, (const char *)driver + required[i].offset, sizeof op);
    if (!op) return kc_fail(err, KC_EINVAL, "driver '%s': operation '%s' is missing", driver->name, required[i].name);
  }
  return KC_OK;
}

/* Believes a status only when it is one, and makes sure that a failure has a text. */
static kc_status checked(kc_status status, const kc_driver *v, const char *op, kc_text *err) {
  if (status == KC_OK) return KC_OK;
  if (status > KC_OK || status < KC_EINTERNAL)
    return kc_fail(err, KC_EINTERNAL, "driver '%s': %s answered %d, which is no status", v->name, op, (int)status);
  if (err && !err->s[0]) return kc_fail(err, status, "driver '%s': %s failed (%s)", v->name, op, kc_status_name(status));
  return status;
}

static kc_status no_result(const kc_driver *v, const char *op, kc_text *err) {
  return kc_fail(err, KC_EINTERNAL, "driver '%s': %s reported success without a result", v->name, op);
}

static void blank(kc_text *err) {
  if (err) err->s[0] = '\0';
}

int kc_driver_probe(const kc_driver *v, kc_text *why) {
  blank(why);
  int count = v->probe(why);
  if (count > 0) return count;
  if (why && !why->s[0]) (void)kc_fail(why, KC_ENODEV, "driver '%s' found no device", v->name);
  return 0;
}

kc_status kc_driver_open(kc_drv_device **out, const kc_driver *v, int index, kc_text *err) {
  blank(err);
  *out = NULL;
  kc_status status = checked(v->open(out, index, err), v, "open", err);
  if (status == KC_OK && !*out) return no_result(v, "open", err);
  if (status != KC_OK) *out = NULL;
  return status;
}

kc_status kc_driver_build(kc_drv_kernel **out, const kc_driver *v, kc_drv_device *d, const kc_build *b, char **log,
                          kc_text *err) {
  blank(err);
  *out = NULL;
  *log = NULL;
  kc_status status = checked(v->build(out, d, b, log, err), v, "build", err);
  if (status == KC_OK && !*out) return no_result(v, "build", err);
  if (status != KC_OK) *out = NULL;
  return status;
}

kc_status kc_driver_launch(const kc_driver *v, kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record,
                           kc_text *err) {
  blank(err);
  memset(record, 0, sizeof *record);
  kc_status status = checked(v->launch(d, k, l, record, err), v, "launch", err);
  if (status == KC_OK) status = checked(v->sync(d, err), v, "sync", err);
  record->evidence[sizeof record->evidence - 1] = '\0';
  return status;
}

/* ---- code ------------------------------------------------------------------------------------------------------------ */

static kc_status lacks(const kc_driver *v, const char *what, kc_text *err) {
  return kc_fail(err, KC_EUNSUPPORTED, "driver '%s' %s", v->name, what);
}

kc_status kc_driver_archs(char **out, const kc_driver *v, kc_text *err) {
  blank(err);
  *out = NULL;
  if (!v->archs) return lacks(v, "compiles for no architecture but its device's own", err);
  kc_status status = checked(v->archs(out, err), v, "archs", err);
  return status == KC_OK && !*out ? no_result(v, "archs", err) : status;
}

kc_status kc_driver_compile(kc_code *out, const kc_driver *v, const char *arch, const kc_build *b, char **log, kc_text *err) {
  blank(err);
  *out = (kc_code){0};
  *log = NULL;
  if (!v->compile) return lacks(v, "compiles for no architecture but its device's own", err);
  kc_status status = checked(v->compile(out, arch, b, log, err), v, "compile", err);
  return status == KC_OK && !out->block ? no_result(v, "compile", err) : status;
}

kc_status kc_driver_code(kc_code *out, const kc_driver *v, kc_drv_device *d, kc_drv_kernel *k, kc_text *err) {
  blank(err);
  *out = (kc_code){0};
  if (!v->code) return lacks(v, "does not show the code of its kernels", err);
  kc_status status = checked(v->code(out, d, k, err), v, "code", err);
  return status == KC_OK && !out->text ? no_result(v, "code", err) : status;
}

void kc_code_free(kc_code *code) {
  free(code->block);
  *code = (kc_code){0};
}

/* ---- buffers ------------------------------------------------------------------------------------------------------- */

static char *mapping(kc_buffer *b) {
  return (char *)(uintptr_t)kc_buffer_cdata(b) - kc_buffer_guard_bytes(b);
}

static size_t mapping_bytes(const kc_buffer *b) {
  return kc_buffer_bytes(b) + 2 * kc_buffer_guard_bytes(b);
}

static kc_status copy_over(kc_binding *k, const kc_driver *v, kc_drv_device *d, kc_text *err) {
  size_t bytes = mapping_bytes(k->buffer);
  kc_status status = checked(v->alloc(&k->mem, d, bytes, err), v, "alloc", err);
  if (status != KC_OK) return status;
  if (!k->mem) return no_result(v, "alloc", err);
  k->open = true;
  return checked(v->write(d, k->mem, 0, mapping(k->buffer), bytes, err), v, "write", err);
}

kc_status kc_bind(kc_binding *out, const kc_driver *v, kc_drv_device *d, kc_buffer *b, kc_text *err) {
  blank(err);
  *out = (kc_binding){.buffer = b, .imported = v->import != NULL};
  if (!v->import) return copy_over(out, v, d, err);
  kc_status status =
      checked(v->import(&out->mem, d, mapping(b), mapping_bytes(b), kc_buffer_writable(b), err), v, "import", err);
  if (status == KC_EUNSUPPORTED) { /* this memory only: copying still works */
    out->imported = false;
    return copy_over(out, v, d, err);
  }
  if (status != KC_OK) return status;
  if (!out->mem) return no_result(v, "import", err);
  out->open = true;
  return KC_OK;
}

kc_status kc_bind_collect(const kc_binding *k, const kc_driver *v, kc_drv_device *d, kc_text *err) {
  if (k->imported || !kc_buffer_writable(k->buffer)) return KC_OK;
  blank(err);
  return checked(v->read(d, mapping(k->buffer), k->mem, 0, mapping_bytes(k->buffer), err), v, "read", err);
}

void kc_unbind(kc_binding *k, const kc_driver *v, kc_drv_device *d) {
  if (k->open) v->free(d, k->mem);
  k->open = false;
}
