/* kc_cpu_state.h - what a compiled kernel and the host that runs it share. Part of the prelude of the cpu device and included
 * by the host, so that the two cannot drift apart. Only built-in types: a kernel is compiled without any system header. */
#ifndef KC_CPU_STATE_H
#define KC_CPU_STATE_H

/* One local array: identified by the address of its description. */
struct kc_cpu_local {
  const char *name;
  unsigned long bytes;
};

/* The work-item that runs now, and how it reaches the host. */
struct kc_cpu_state {
  int lid[3], grp[3], lsize[3], ngrp[3];
  void (*barrier)(struct kc_cpu_state *s, int line);
  void *(*local)(struct kc_cpu_state *s, const struct kc_cpu_local *array);
  void (*left)(struct kc_cpu_state *s); /* called after every work-item of a group run as a loop */
};

#endif
