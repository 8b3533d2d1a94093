/* drivers.c - the table of device backends: one row each. */
#include "drivers.h"

#include <stddef.h>

const kc_driver *const kc_drivers[] = {&kc_driver_cpu, &kc_driver_opencl, &kc_driver_cuda, &kc_driver_hip, NULL};
