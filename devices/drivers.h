/* drivers.h - the table of device backends. */
#ifndef KC_DRIVERS_H
#define KC_DRIVERS_H

#include "kc_driver.h"

/* One for each backend; each stands at the end of its file. */
extern const kc_driver kc_driver_cpu, kc_driver_opencl, kc_driver_cuda, kc_driver_hip;

/* NULL-terminated, in the order in which `kc devices` lists them. */
extern const kc_driver *const kc_drivers[];

#endif
