/* drivers.h - the table of device backends. */
#ifndef KC_DRIVERS_H
#define KC_DRIVERS_H

#include "kc_driver.h"

/* One for each backend; each stands at the end of its file. */
extern const kc_driver kc_driver_cpu, kc_driver_opencl, kc_driver_cuda, kc_driver_hip;

/* NULL-terminated, in the order in which `kc devices` lists them. */
extern const kc_driver *const kc_drivers[];

enum { KC__MAX_DRIVERS = 31 };

/* The backends of one process or state: `list` is NULL-terminated. */
typedef struct kc__driver_set {
  const kc_driver *list[KC__MAX_DRIVERS + 1];
  int count;
} kc__driver_set;

/* Those built in. */
void kc__driver_set_fill(kc__driver_set *s);
/* One more, checked; its name must be new. */
kc_status kc__driver_set_add(kc__driver_set *s, const kc_driver *driver, kc_text *err);
/* Those of the shared objects in a list of full paths separated by colons (NULL: none); they stay loaded. */
kc_status kc__driver_set_load(kc__driver_set *s, const char *paths, kc_text *err);

#endif
