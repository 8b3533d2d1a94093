/* library.c - a C function of a shared library, called with a signature that is known only at run time. */
#include "library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dynlib.h"

/* The C type that carries a format by value: floats where C has them, else the unsigned word that holds the code. */
static ffi_type *type_of(const kc_format *f) {
  static ffi_type *const signed_types[9] = {
      [1] = &ffi_type_sint8, [2] = &ffi_type_sint16, [4] = &ffi_type_sint32, [8] = &ffi_type_sint64};
  static ffi_type *const unsigned_types[9] = {
      [1] = &ffi_type_uint8, [2] = &ffi_type_uint16, [4] = &ffi_type_uint32, [8] = &ffi_type_uint64};
  if (f->kind == KC_FLOAT && f->storage >= 4) return f->storage == 8 ? &ffi_type_double : &ffi_type_float;
  return (f->kind == KC_INT ? signed_types : unsigned_types)[f->storage];
}

static kc_status describe_call(kc__library *lib, const kc_build *b, kc_text *err) {
  lib->result = b->result;
  lib->types = calloc((size_t)b->param_count + 1, sizeof *lib->types);
  if (!lib->types) return kc_fail(err, KC_ENOMEM, "no memory for a call of %s", b->entry);
  for (int i = 0; i < b->param_count; i++)
    lib->types[i] = b->params[i].buffer ? &ffi_type_pointer : type_of(b->params[i].format);
  ffi_type *result = b->result ? type_of(b->result) : &ffi_type_void;
  if (ffi_prep_cif(&lib->cif, FFI_DEFAULT_ABI, (unsigned)b->param_count, result, lib->types) != FFI_OK)
    return kc_fail(err, KC_EUNSUPPORTED, "libffi cannot call %s with these parameters", b->entry);
  return KC_OK;
}

kc_status kc__library_open(kc__library *lib, const kc_build *b, kc__string *log, kc_text *err) {
  *lib = (kc__library){0};
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

void kc__library_close(kc__library *lib) {
  kc__dynlib_close(lib->handle);
  free(lib->types);
  *lib = (kc__library){0};
}
