/* blas.c - OpenBLAS by dlopen. Nothing it returns is believed unchecked, see matmul_check.c. */
#include "blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "kc.h"

/* RTLD_LOCAL: its symbols capture nobody's calls. RTLD_NODELETE: unloading would stop threads that it started. The loader's state
 * is the one that its threads inherit. */
static void *load(const char *path) {
  kc_fpstate saved = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  kc_fpstate_set(saved);
  return library;
}

kc__dgemm_fn kc__blas_dgemm(void) {
  const char *path = getenv("KC_OPENBLAS");
  if (path && strcmp(path, "none") == 0) return NULL;
  void *library = load(path && *path ? path : "libopenblas.so.0");
  if (!library) return NULL;
  void *object = dlsym(library, "cblas_dgemm");
  kc__dgemm_fn function;
  memcpy(&function, &object, sizeof function); /* POSIX: such an object pointer holds a function pointer */
  dlclose(library);
  return function;
}
