/* driver.h - the host's side of a driver: the one place where a backend's answers are checked before anybody believes them, and
 * what the host does where a backend leaves an optional operation out. */
#ifndef KC_HOST_DRIVER_H
#define KC_HOST_DRIVER_H

#include "kc_driver.h"

/* Each wrapper calls the operation of the same name and turns what no driver may answer (a status that is not one, success
 * without a result) into KC_EINTERNAL; a failure without text gets one that names driver and operation. */
int kc__driver_probe(const kc_driver *v, kc_text *why);
kc_status kc__driver_open(kc_drv_device **out, const kc_driver *v, int index, kc_text *err);
kc_status kc__driver_build(kc_drv_kernel **out, const kc_driver *v, kc_drv_device *d, const kc_build *b, char **log,
                           kc_text *err);
/* Launches and waits for completion; the record is zeroed first. */
kc_status kc__driver_launch(const kc_driver *v, kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l,
                            kc_launch_record *record, kc_text *err);

/* A host buffer made visible to a device for one launch: guards and data, so that a kernel's overruns come back too. */
typedef struct kc__binding {
  kc_mem mem;
  kc_buffer *buffer;
  bool open, imported;
} kc__binding;

/* Imports the buffer where the driver can, else copies it over. The buffer must outlive the binding. */
kc_status kc__bind(kc__binding *out, const kc_driver *v, kc_drv_device *d, kc_buffer *b, kc_text *err);
/* Copies guards and data back unless they are the same memory; nothing for a read-only buffer. */
kc_status kc__bind_collect(const kc__binding *k, const kc_driver *v, kc_drv_device *d, kc_text *err);
/* Frees the device's side. Idempotent. */
void kc__unbind(kc__binding *k, const kc_driver *v, kc_drv_device *d);

#endif
