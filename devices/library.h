/* library.h - calling a function of a shared library through libffi. */
#ifndef KC_DEVICES_LIBRARY_H
#define KC_DEVICES_LIBRARY_H

#include <ffi.h>

#include "kc_driver.h"
#include "text.h"

typedef struct kc__library {
  void *handle;
  void (*function)(void);
  ffi_cif cif;
  ffi_type **types;
  const kc_format *result;
  const kc_param *params; /* of a mapped function, the kernel's own */
  int count;              /* arguments of one call */
  bool map;
} kc__library;

/* Opens b->source (a full path) and finds b->entry; the real path goes to the log. `params` are b's and outlive the library. */
kc_status kc__library_open(kc__library *lib, const kc_build *b, const kc_param *params, kc__string *log, kc_text *err);
/* Calls once. values[i] points to the argument in its C type; `result` receives the code of what was returned. */
void kc__library_call(kc__library *lib, void *const *values, uint64_t *result);
/* Calls a mapped function n times. data[i] points to the buffer of parameter i, or to the scalar in its C type. */
void kc__library_map(kc__library *lib, void *const *data, size_t n);
void kc__library_close(kc__library *lib);

#endif
