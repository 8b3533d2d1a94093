/* cpu.h - the cpu backend: the host compiles a kernel with the system compiler and runs it in its own process. */
#ifndef KC_CPU_H
#define KC_CPU_H

#include "kc_driver.h"

extern const kc_driver kc_driver_cpu;

#endif
