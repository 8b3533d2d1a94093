/* cpu.c - the operations of the cpu driver. */
#include "cpu.h"

#include <stdlib.h>

struct kc_drv_device {
  int unused;
};

static int probe(kc_text *why) {
  why->s[0] = '\0';
  return 1;
}

static kc_status open_device(kc_drv_device **out, int index, kc_text *err) {
  if (index != 0) return kc_fail(err, KC_ENODEV, "cpu:%d: there is one cpu device, cpu:0", index);
  *out = calloc(1, sizeof **out);
  return *out ? KC_OK : KC_ENOMEM;
}

static void close_device(kc_drv_device *d) {
  free(d);
}

const kc_driver kc_driver_cpu = {
    .abi_size = sizeof(kc_driver), .name = "cpu", .probe = probe, .open = open_device, .close = close_device};
