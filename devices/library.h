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
} kc__library;

/* Opens b->source (a full path) and finds b->entry; the real path goes to the log. */
kc_status kc__library_open(kc__library *lib, const kc_build *b, kc__string *log, kc_text *err);
/* Calls once. values[i] points to the argument in its C type; `result` receives the code of what was returned. */
void kc__library_call(kc__library *lib, void *const *values, uint64_t *result);
void kc__library_close(kc__library *lib);

#endif
