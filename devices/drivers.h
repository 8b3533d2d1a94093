/* drivers.h - the table of device backends. */
#ifndef KC_DRIVERS_H
#define KC_DRIVERS_H

#include "kc_driver.h"

/* NULL-terminated, in the order in which `kc devices` lists them. */
extern const kc_driver *const kc_drivers[];

#endif
