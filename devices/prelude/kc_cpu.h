/* kc_cpu.h - the portable dialect on the cpu device. */
