/* rig.h - what every device test needs: a device that is present, kernels from one-line signatures, launches. */
#ifndef KC_TESTS_RIG_H
#define KC_TESTS_RIG_H

#include "drivers.h"
#include "kc_driver.h"

/* An opened device. A zeroed rig begins the walk over all drivers. */
typedef struct rig {
  int row; /* of kc_drivers, counted from 1 */
  const kc_driver *v;
  kc_drv_device *d;
} rig;

/* Closes the current device and opens device 0 of the next driver that has one; prints a line for each that is skipped. */
bool rig_next(rig *r);
/* Only the driver called `name`. */
rig rig_open(const char *name);
void rig_close(rig *r);

/* A kernel to build. `signature`: "x:f32[] n:i32", brackets for a buffer. */
typedef struct recipe {
  const char *source, *file, *entry, *signature, *result, *cache;
  uint8_t dialect;
  bool map;
  kc_build_options options;
} recipe;

/* Builds; `log` (may be NULL) receives a malloc'd log or NULL. */
kc_status rig_build(rig *r, kc_drv_kernel **k, recipe c, char **log, kc_text *err);
/* Builds and fails the test with the log when it does not work. */
kc_drv_kernel *rig_kernel(rig *r, recipe c);

/* Arguments for rig_launch: a buffer or a scalar's code. */
typedef struct value {
  kc_buffer *buffer;
  uint64_t code;
} value;
#define BUFFER(b) ((value){.buffer = (b)})
#define CODE(c) ((value){.code = (uint64_t)(c)})

typedef struct geometry {
  uint32_t grid[3], group[3];
  uint64_t schedule;
} geometry;
#define LINE(groups, items) ((geometry){.grid = {(groups), 1, 1}, .group = {(items), 1, 1}})

/* Binds, launches, collects, unbinds. */
kc_status rig_run(rig *r, kc_drv_kernel *k, geometry g, const value *values, int count, kc_launch_record *record, kc_text *err);
/* Fails the test when the launch does not work. */
kc_launch_record rig_launch(rig *r, kc_drv_kernel *k, geometry g, const value *values, int count);
#define LAUNCH(r, k, g, ...)                                                                                                   \
  rig_launch(r, k, g, (const value[]){__VA_ARGS__}, (int)(sizeof((const value[]){__VA_ARGS__}) / sizeof(value)))

/* A one-dimensional buffer, painted with poison. */
kc_buffer *rig_buffer(const char *format, int64_t n);

#endif
