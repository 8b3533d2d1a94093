/* library.c - a C function of a shared library, called with a signature that is known only at run time. */
#include "library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dynlib.h"

enum { MAX_MAPPED = 8 };

/* The C type that carries a format by value: floats where C has them, else the unsigned word that holds the code. */
static ffi_type *type_of(const kc_format *f) {
  static ffi_type *const signed_types[9] = {
      [1] = &ffi_type_sint8, [2] = &ffi_type_sint16, [4] = &ffi_type_sint32, [8] = &ffi_type_sint64};
  static ffi_type *const unsigned_types[9] = {
      [1] = &ffi_type_uint8, [2] = &ffi_type_uint16, [4] = &ffi_type_uint32, [8] = &ffi_type_uint64};
  if (f->kind == KC_FLOAT && f->storage >= 4) return f->storage == 8 ? &ffi_type_double : &ffi_type_float;
  return (f->kind == KC_INT ? signed_types : unsigned_types)[f->storage];
}

/* The results of a mapped function go into the last parameter, which is none of its arguments. */
static kc_status describe_map(kc__library *lib, const kc_build *b, kc_text *err) {
  const kc_param *last = b->param_count > 0 ? &b->params[b->param_count - 1] : NULL;
  if (!last || !last->buffer)
    return kc_fail(err, KC_EINVAL, "mapping %s: expected a buffer for the results as last parameter", b->entry);
  if (b->result && b->result != last->format)
    return kc_fail(err, KC_EINVAL, "mapping %s: it returns %s, but the results are to be %s", b->entry, b->result->name,
                   last->format->name);
  lib->result = last->format;
  lib->count = b->param_count - 1;
  if (lib->count > MAX_MAPPED)
    return kc_fail(err, KC_EUNSUPPORTED, "mapping %s: at most %d arguments, got %d", b->entry, MAX_MAPPED, lib->count);
  return KC_OK;
}

static kc_status describe_call(kc__library *lib, const kc_build *b, kc_text *err) {
  lib->types = calloc((size_t)b->param_count + 1, sizeof *lib->types);
  if (!lib->types) return kc_fail(err, KC_ENOMEM, "no memory for a call of %s", b->entry);
  lib->result = b->result;
  lib->map = b->map;
  lib->count = b->param_count;
  kc_status status = b->map ? describe_map(lib, b, err) : KC_OK;
  if (status != KC_OK) return status;
  for (int i = 0; i < lib->count; i++)
    lib->types[i] = b->params[i].buffer && !b->map ? &ffi_type_pointer : type_of(b->params[i].format);
  ffi_type *result = lib->result ? type_of(lib->result) : &ffi_type_void;
  if (ffi_prep_cif(&lib->cif, FFI_DEFAULT_ABI, (unsigned)lib->count, result, lib->types) != FFI_OK)
    return kc_fail(err, KC_EUNSUPPORTED, "libffi cannot call %s with these parameters", b->entry);
  return KC_OK;
}

kc_status kc__library_open(kc__library *lib, const kc_build *b, const kc_param *params, kc__string *log, kc_text *err) {
  *lib = (kc__library){.params = params};
  if (b->source[0] != '/')
    return kc_fail(err, KC_EBUILD, "library '%s': expected a full path, so that it is known which file is judged", b->source);
  char *real = realpath(b->source, NULL);
  if (!real) return kc_fail(err, KC_EBUILD, "library '%s' does not exist or cannot be read", b->source);
  kc__addf(log, "library %s\nrealpath %s\n", b->source, real);
  kc_text why;
  kc_status status = kc__dynlib_open(&lib->handle, real, &why);
  free(real);
  if (status != KC_OK) return kc_fail(err, KC_EBUILD, "library '%s' does not load: %.300s", b->source, why.s);
  lib->function = kc__dynlib_symbol(lib->handle, b->entry);
  if (!lib->function) return kc_fail(err, KC_EBUILD, "library '%s' has no symbol '%s'", b->source, b->entry);
  return describe_call(lib, b, err);
}

/* libffi widens integer results to a whole register; the low bytes are the value on a little-endian machine. */
void kc__library_call(kc__library *lib, void *const *values, uint64_t *result) {
  union {
    ffi_arg widened;
    double d;
    float f;
    uint64_t u;
  } value = {.u = 0};
  ffi_call(&lib->cif, lib->function, &value, (void **)(uintptr_t)values);
  *result = lib->result ? kc_load(lib->result, &value, 0) : 0;
}

/* ---- mapping: the common signatures without libffi, which costs several times what a function does --------------------- */

#define MAP_ONE(T)                                                                                                             \
  static void map_##T(void (*function)(void), void *const *data, size_t n) {                                                   \
    T (*f)(T) = (T(*)(T))function;                                                                                             \
    const T *x = data[0];                                                                                                      \
    T *y = data[1];                                                                                                            \
    for (size_t i = 0; i < n; i++) y[i] = f(x[i]);                                                                             \
  }
#define MAP_TWO(T)                                                                                                             \
  static void map2_##T(void (*function)(void), void *const *data, size_t n) {                                                  \
    T (*f)(T, T) = (T(*)(T, T))function;                                                                                       \
    const T *x = data[0], *z = data[1];                                                                                        \
    T *y = data[2];                                                                                                            \
    for (size_t i = 0; i < n; i++) y[i] = f(x[i], z[i]);                                                                       \
  }
MAP_ONE(float)
MAP_ONE(double)
MAP_TWO(float)
MAP_TWO(double)

static bool all_are(const kc__library *lib, ffi_type *type) {
  for (int i = 0; i < lib->count; i++)
    if (!lib->params[i].buffer || lib->types[i] != type) return false;
  return type_of(lib->result) == type;
}

/* Any other signature: the arguments' addresses move along their buffers. */
static void map_any(kc__library *lib, void *const *data, size_t n) {
  void *values[MAX_MAPPED];
  for (size_t i = 0; i < n; i++) {
    uint64_t code;
    for (int a = 0; a < lib->count; a++)
      values[a] = (char *)data[a] + (lib->params[a].buffer ? i * lib->params[a].format->storage : 0);
    kc__library_call(lib, values, &code);
    kc_store(lib->result, data[lib->count], i, code);
  }
}

void kc__library_map(kc__library *lib, void *const *data, size_t n) {
  if (lib->count == 1 && all_are(lib, &ffi_type_float)) {
    map_float(lib->function, data, n);
  } else if (lib->count == 1 && all_are(lib, &ffi_type_double)) {
    map_double(lib->function, data, n);
  } else if (lib->count == 2 && all_are(lib, &ffi_type_float)) {
    map2_float(lib->function, data, n);
  } else if (lib->count == 2 && all_are(lib, &ffi_type_double)) {
    map2_double(lib->function, data, n);
  } else {
    map_any(lib, data, n);
  }
}

void kc__library_close(kc__library *lib) {
  kc__dynlib_close(lib->handle);
  free(lib->types);
  *lib = (kc__library){0};
}
