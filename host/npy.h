/* npy.h - tensors in .npy files (NumPy's format, versions 1.0, 2.0 and 3.0). Part of the public C API, as kc.h.
 *
 * A file is untrusted: only regular files are opened, the header is parsed strictly, the size must be what the shape says, and a
 * file that shrinks while it is read gives an error, never SIGBUS. In memory everything is native endian.
 */
#ifndef KC_NPY_H
#define KC_NPY_H

#include "kc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a header says. A format that NumPy lacks is stored as integers or as raw bytes; `format` is then NULL for raw bytes until
 * kc_npy_reinterpret names it. NumPy's bool is u8. */
typedef struct kc_npy_info {
  const kc_format *format; /* NULL: raw bytes */
  int itemsize;            /* bytes of an element: 1, 2, 4, 8 */
  bool fortran;            /* the first index varies fastest in the file */
  bool swapped;            /* big-endian */
  int rank;
  int64_t shape[KC_MAX_RANK];
  int64_t count;   /* product of the shape */
  uint64_t offset; /* of the first element in the file */
} kc_npy_info;

/** An open file. */
typedef struct kc_npy kc_npy;

/** Opens `path` and parses its header; the caller closes. KC_EIO when the file cannot be read or is not a sound .npy file,
 * KC_EUNSUPPORTED when it holds elements that kc has no format for. */
KC_API KC_MUST_CHECK kc_status kc_npy_open(kc_npy **out, const char *path, kc_text *err);
/** The same of an open file, which `name` stands for in messages. Owns the descriptor, also when it fails. */
KC_API KC_MUST_CHECK kc_status kc_npy_fdopen(kc_npy **out, int fd, const char *name, kc_text *err);
/** A tensor that lies in an open file without a header of its own: row-major and little-endian, of format f, `offset` bytes from the
 * file's beginning. Owns the descriptor, also when it fails; KC_EIO when the file ends before the tensor does. */
KC_API KC_MUST_CHECK kc_status kc_npy_raw(kc_npy **out, int fd, const char *name, const kc_format *f, int rank,
                                          const int64_t *shape, uint64_t offset, kc_text *err);
/** NULL is allowed. */
KC_API void kc_npy_close(kc_npy *npy);
/** Header of the file; lives as long as it is open. */
KC_API const kc_npy_info *kc_npy_describe(const kc_npy *npy);
/** The path it was opened with. */
KC_API const char *kc_npy_path(const kc_npy *npy);
/** Takes the elements for codes of format f. KC_EUNSUPPORTED unless they are integers or raw bytes of its size. */
KC_API KC_MUST_CHECK kc_status kc_npy_reinterpret(kc_npy *npy, const kc_format *f, kc_text *err);
/** Reads elements first .. first + n - 1 in the order of the file. Several threads may read at once. */
KC_API KC_MUST_CHECK kc_status kc_npy_read(const kc_npy *npy, int64_t first, int64_t n, void *out, kc_text *err);
/** Reads the tensor into a new buffer, in row-major (C) order. The caller owns the reference. */
KC_API KC_MUST_CHECK kc_status kc_npy_load(kc_buffer **out, const kc_npy *npy, size_t guard, kc_text *err);
/** Reads the tensor into a writable buffer; KC_EUNSUPPORTED unless it has that buffer's shape and format. A format that NumPy lacks
 * is expected as unsigned integers or raw bytes of its size. */
KC_API KC_MUST_CHECK kc_status kc_npy_fill(kc_buffer *b, kc_npy *npy, kc_text *err);
/** The header that kc_npy_save puts before the data of a buffer; returns its length. */
KC_API size_t kc_npy_header(char out[512], const kc_buffer *b);
/** Writes a buffer as version 1.0, row-major; formats that NumPy lacks as unsigned integers of their storage size. Replaces a
 * regular file; a partly written one is removed. */
KC_API KC_MUST_CHECK kc_status kc_npy_save(const char *path, const kc_buffer *b, kc_text *err);

#ifdef __cplusplus
}
#endif
#endif
