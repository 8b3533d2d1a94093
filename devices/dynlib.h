/* dynlib.h - shared libraries by dlopen, symbols by table. */
#ifndef KC_DEVICES_DYNLIB_H
#define KC_DEVICES_DYNLIB_H

#include "kc.h"

/* One function pointer of a table to fill: its name and its place in the table's struct. A missing optional one is NULL. */
typedef struct kc__symbol {
  const char *name;
  size_t offset;
  bool optional;
} kc__symbol;

/* Opens with RTLD_NOW | RTLD_LOCAL and puts the floating-point state back: a library linked with fast-math start files flips
 * FTZ and DAZ for the thread that loads it. */
kc_status kc__dynlib_open(void **out, const char *path, kc_text *err);
/* The first of the NULL-terminated names that opens; the text of the last failure otherwise. */
kc_status kc__dynlib_first(void **out, const char *const *names, kc_text *err);
/* A symbol as a function pointer, or NULL. */
void (*kc__dynlib_symbol(void *library, const char *name))(void);
/* Fills `table`; KC_ENODEV names the first required symbol that is missing. */
kc_status kc__dynlib_fill(void *library, void *table, const kc__symbol *symbols, size_t count, kc_text *err);
/* NULL is allowed. The floating-point state survives this too. */
void kc__dynlib_close(void *library);

#endif
