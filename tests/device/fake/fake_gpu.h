/* fake_gpu.h - what a test sees and sets of a GPU runtime that is none: fake_gpu.c as libcuda or libamdhip64. */
#ifndef KC_TESTS_FAKE_GPU_H
#define KC_TESTS_FAKE_GPU_H

#include <stddef.h>

typedef struct fake_gpu {
  const char *failing; /* the next call of this name (without its prefix) fails ... */
  int code;            /* ... with this code */
  int devices, major, minor, largest_group;
  int contexts, streams, events, modules, blocks; /* alive now */
  int misuses;                                    /* calls without the right context, of something unknown, ... */
  int dead;                                       /* the code that every call answers after a fault */
  int loaded_text;                                /* the last module was text */
  unsigned grid[3], block[3];                     /* of the last launch */
} fake_gpu;

/* The one of this library. */
fake_gpu *fake_gpu_state(void);

#endif
