/* drivers.c - the table of device backends: one row each; and those that come in shared objects. */
#define _GNU_SOURCE 1
#include "drivers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const kc_driver *const kc_drivers[] = {&kc_driver_cpu, &kc_driver_opencl, &kc_driver_cuda, &kc_driver_hip, NULL};

void kc__driver_set_fill(kc__driver_set *s) {
  *s = (kc__driver_set){.count = 0};
  for (; kc_drivers[s->count]; s->count++) s->list[s->count] = kc_drivers[s->count];
}

kc_status kc__driver_set_add(kc__driver_set *s, const kc_driver *driver, kc_text *err) {
  kc_status status = kc_driver_check(driver, err);
  if (status != KC_OK) return status;
  if (s->count == KC__MAX_DRIVERS) return kc_fail(err, KC_EINVAL, "driver '%s': there are %d already", driver->name, s->count);
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->list[i]->name, driver->name) == 0)
      return kc_fail(err, KC_EINVAL, "driver '%s': another of this name is registered", driver->name);
  s->list[s->count++] = driver;
  return KC_OK;
}

static kc_status load(kc__driver_set *s, const char *path, kc_text *err) {
  void *library = strchr(path, '/') ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!strchr(path, '/')) return kc_fail(err, KC_EINVAL, "driver '%s': expected a full path", path);
  if (!library) return kc_fail(err, KC_ENODEV, "driver %s", dlerror());
  const kc_driver *(*entry)(void);
  *(void **)&entry = dlsym(library, "kc_driver_entry");
  if (!entry) return kc_fail(err, KC_ENODEV, "driver '%s': it exports no function kc_driver_entry", path);
  kc_text why;
  kc_status status = kc__driver_set_add(s, entry(), &why);
  return status == KC_OK ? KC_OK : kc_fail(err, status, "%s: %.400s", path, why.s);
}

kc_status kc__driver_set_load(kc__driver_set *s, const char *paths, kc_text *err) {
  char path[4096];
  for (const char *at = paths ? paths : ""; *at; at += *at == ':') {
    size_t n = strcspn(at, ":");
    if (n >= sizeof path) return kc_fail(err, KC_EINVAL, "KC_DRIVERS: a path of %zu bytes", n);
    memcpy(path, at, n);
    path[n] = '\0';
    kc_status status = n ? load(s, path, err) : KC_OK;
    if (status != KC_OK) return status;
    at += n;
  }
  return KC_OK;
}
