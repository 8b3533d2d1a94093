/* dynlib.c - shared libraries by dlopen. */
#include "dynlib.h"

#include <dlfcn.h>
#include <string.h>

kc_status kc__dynlib_open(void **out, const char *path, kc_text *err) {
  kc_fpstate before = kc_fpstate_get();
  *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *why = *out ? NULL : dlerror();
  kc_fpstate_set(before);
  return *out ? KC_OK : kc_fail(err, KC_EIO, "%s", why ? why : path);
}

kc_status kc__dynlib_first(void **out, const char *const *names, kc_text *err) {
  kc_status status = kc_fail(err, KC_EINVAL, "no library was named");
  for (; *names && status != KC_OK; names++) status = kc__dynlib_open(out, *names, err);
  return status;
}

void (*kc__dynlib_symbol(void *library, const char *name))(void) {
  /* POSIX: an object pointer from dlsym holds a function pointer; copying bytes says so without a cast that C lacks. */
  void *object = dlsym(library, name);
  void (*function)(void);
  memcpy(&function, &object, sizeof function);
  return function;
}

kc_status kc__dynlib_fill(void *library, void *table, const kc__symbol *symbols, size_t count, kc_text *err) {
  for (size_t i = 0; i < count; i++) {
    void (*function)(void) = kc__dynlib_symbol(library, symbols[i].name);
    if (!function && !symbols[i].optional) return kc_fail(err, KC_ENODEV, "symbol '%s' is missing", symbols[i].name);
    memcpy((char *)table + symbols[i].offset, &function, sizeof function);
  }
  return KC_OK;
}

void kc__dynlib_close(void *library) {
  if (!library) return;
  kc_fpstate before = kc_fpstate_get();
  dlclose(library);
  kc_fpstate_set(before);
}
