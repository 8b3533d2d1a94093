/* npy_header.h - the header of a .npy file as text. Internal. */
#ifndef KC_NPY_HEADER_H
#define KC_NPY_HEADER_H

#include "npy.h"

/** Bytes before the length field: magic and version. */
enum { KC__NPY_MAGIC = 8, KC__NPY_MAX_HEADER = 1 << 20 };

/** Parses the Python dictionary in text[0..n); fills everything but `offset`. The message does not name the file. */
KC_MUST_CHECK kc_status kc__npy_parse(kc_npy_info *out, const char *text, size_t n, kc_text *err);
/** Writes magic, length and dictionary of a row-major tensor; the length of what was written, a multiple of 64. */
size_t kc__npy_compose(char out[512], const kc_format *f, int rank, const int64_t *shape);
/** Does NumPy lack this format? Then it is stored as unsigned integers. */
bool kc__npy_lacks(const kc_format *f);
/** Product of the shape, checked; sets `count`. */
KC_MUST_CHECK kc_status kc__npy_count(kc_npy_info *info, kc_text *err);
/** Copies elements first .. first + n - 1 of a tensor, given first index fastest (Fortran), to their places in row-major `out`. */
void kc__npy_transpose(void *out, const void *in, int size, int rank, const int64_t *shape, int64_t first, int64_t n);

#endif
