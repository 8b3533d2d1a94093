/* lkc_device.h - what devices, kernels and launches share. */
#ifndef LKC_DEVICE_H
#define LKC_DEVICE_H

#include "lkc.h"

#define LKC_DEVICE "kc.device"
#define LKC_KERNEL "kc.kernel"

typedef struct lkc_kernel lkc_kernel;

typedef struct lkc_device {
  const kc_driver *driver;
  kc_drv_device *d; /* NULL: closed */
  int index;
  lkc_kernel *kernels; /* open ones, doubly linked */
} lkc_device;

struct lkc_kernel {
  lkc_device *device;
  kc_drv_kernel *k; /* NULL: closed */
  lkc_kernel *next, *previous;
  char *log;    /* of the build, until it is a Lua string */
  kc_code code; /* of a compilation without a device, likewise */
  int param_count;
  const kc_format *result;
  kc_param params[]; /* names belong to the table in user value 2 */
};

/* Raise for another value, and for one that is closed. */
lkc_device *lkc_checkdevice(lua_State *L, int arg);
lkc_kernel *lkc_checkkernel(lua_State *L, int arg);
/* Launches with the arguments in the list at index 3 and the geometry in the table at 4; pushes what device.launch gives. */
int lkc_launch(lua_State *L, lkc_device *device, lkc_kernel *kernel);

#endif
