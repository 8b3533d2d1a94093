/* npy.c - opening, reading and writing .npy files. Reads go through pread: a mapping of a file that another process truncates
 * would turn a read into SIGBUS. */
#define _GNU_SOURCE
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy_header.h"

struct kc_npy {
  int fd;
  kc_npy_info info;
  char *path;
};

/* Elements that are handled at a time when a file is loaded. */
enum { PIECE = 1 << 16 };

static kc_status system_error(kc_text *err, const char *what, const char *path) {
  return kc_fail(err, KC_EIO, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* Reads exactly n bytes; fewer mean that the file shrank. */
static kc_status read_at(int fd, void *out, size_t n, uint64_t offset, const char *path, kc_text *err) {
  for (size_t done = 0; done < n;) {
    ssize_t got = pread(fd, (char *)out + done, n - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(err, "read", path);
    if (got == 0)
      return kc_fail(err, KC_EIO, "'%s' ends at byte %llu, expected %zu bytes more", path, (unsigned long long)(offset + done),
                     n - done);
    done += (size_t)got;
  }
  return KC_OK;
}

static const char *file_kind(mode_t mode) {
  return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/* O_NONBLOCK: a pipe must be refused, not waited for. */
static kc_status open_regular(int *fd, const char *path, int flags, struct stat *st, kc_text *err) {
  *fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (*fd < 0) return system_error(err, "open", path);
  kc_status status = KC_OK;
  if (fstat(*fd, st) != 0)
    status = system_error(err, "look at", path);
  else if (!S_ISREG(st->st_mode))
    status = kc_fail(err, KC_EIO, "'%s' is %s, expected a regular file", path, file_kind(st->st_mode));
  if (status != KC_OK) close(*fd);
  return status;
}

static uint64_t little(const unsigned char *p, int n) {
  uint64_t x = 0;
  while (n--) x = x << 8 | p[n];
  return x;
}

/* Magic, version and length: where the dictionary begins and how long it is. */
static kc_status read_prefix(const kc_npy *npy, uint64_t size, uint64_t *begin, uint64_t *length, kc_text *err) {
  unsigned char prefix[KC__NPY_MAGIC + 4] = {0};
  kc_status status = KC_OK;
  if (size >= KC__NPY_MAGIC + 2)
    status = read_at(npy->fd, prefix, size < sizeof prefix ? size : sizeof prefix, 0, npy->path, err);
  if (status != KC_OK) return status;
  if (memcmp(prefix, "\x93NUMPY", 6) != 0)
    return kc_fail(err, KC_EIO, "'%s' is not a .npy file: it does not begin with \\x93NUMPY", npy->path);
  int major = prefix[6], minor = prefix[7];
  if (major < 1 || major > 3 || minor != 0)
    return kc_fail(err, KC_EUNSUPPORTED, "'%s': version %d.%d of the format, expected 1.0, 2.0 or 3.0", npy->path, major,
                   minor);
  int width = major == 1 ? 2 : 4;
  *begin = (uint64_t)(KC__NPY_MAGIC + width);
  *length = little(prefix + KC__NPY_MAGIC, width);
  if (*begin > size || *length > size - *begin)
    return kc_fail(err, KC_EIO, "'%s': a header of %llu bytes in a file of %llu", npy->path, (unsigned long long)*length,
                   (unsigned long long)size);
  if (*length > KC__NPY_MAX_HEADER)
    return kc_fail(err, KC_EIO, "'%s': a header of %llu bytes, expected at most %d", npy->path, (unsigned long long)*length,
                   KC__NPY_MAX_HEADER);
  return KC_OK;
}

/* Puts the path before a message that lacks it. */
static kc_status name_file(kc_status status, const char *path, const kc_text *why, kc_text *err) {
  return status == KC_OK ? KC_OK : kc_fail(err, status, "'%.200s': %s", path, why->s);
}

static kc_status read_header(kc_npy *npy, uint64_t size, kc_text *err) {
  uint64_t begin = 0, length = 0;
  kc_text why = {""};
  kc_status status = read_prefix(npy, size, &begin, &length, err);
  if (status != KC_OK) return status;
  char *text = malloc(length + 1);
  if (!text) return kc_fail(err, KC_ENOMEM, "no memory for a header of %llu bytes", (unsigned long long)length);
  status = read_at(npy->fd, text, length, begin, npy->path, err);
  if (status == KC_OK) status = name_file(kc__npy_parse(&npy->info, text, length, &why), npy->path, &why, err);
  free(text);
  if (status != KC_OK) return status;
  npy->info.offset = begin + length;
  uint64_t data = size - npy->info.offset, wanted = (uint64_t)npy->info.count * (uint64_t)npy->info.itemsize;
  if (data == wanted) return KC_OK;
  return kc_fail(err, KC_EIO, "'%s' holds %llu bytes of data, its shape needs %llu", npy->path, (unsigned long long)data,
                 (unsigned long long)wanted);
}

/* A closed handle of this name, which owns fd; on failure fd is closed. */
static kc_status new_handle(kc_npy **out, int fd, const char *name, kc_text *err) {
  kc_npy *npy = calloc(1, sizeof *npy);
  if (npy) npy->fd = fd;
  if (npy && (npy->path = strdup(name))) {
    *out = npy;
    return KC_OK;
  }
  free(npy);
  close(fd);
  return kc_fail(err, KC_ENOMEM, "no memory to open '%s'", name);
}

/* Hands the handle out when all went well, else closes it. */
static kc_status settle(kc_npy **out, kc_npy *npy, kc_status status) {
  if (status == KC_OK)
    *out = npy;
  else
    kc_npy_close(npy);
  return status;
}

static kc_status size_of(const kc_npy *npy, uint64_t *size, kc_text *err) {
  struct stat st;
  if (fstat(npy->fd, &st) != 0) return system_error(err, "look at", npy->path);
  *size = (uint64_t)st.st_size;
  return KC_OK;
}

kc_status kc_npy_fdopen(kc_npy **out, int fd, const char *name, kc_text *err) {
  kc_npy *npy = NULL;
  uint64_t size;
  kc_status status = new_handle(&npy, fd, name, err);
  if (status != KC_OK) return status;
  status = size_of(npy, &size, err);
  if (status == KC_OK) status = read_header(npy, size, err);
  return settle(out, npy, status);
}

kc_status kc_npy_open(kc_npy **out, const char *path, kc_text *err) {
  struct stat st;
  int fd;
  kc_status status = open_regular(&fd, path, O_RDONLY, &st, err);
  return status == KC_OK ? kc_npy_fdopen(out, fd, path, err) : status;
}

static kc_status check_room(const kc_npy *npy, kc_text *err) {
  const kc_npy_info *i = &npy->info;
  uint64_t size, wanted = (uint64_t)i->count * (uint64_t)i->itemsize;
  kc_status status = size_of(npy, &size, err);
  if (status != KC_OK || (i->offset <= size && wanted <= size - i->offset)) return status;
  return kc_fail(err, KC_EIO, "'%s' has %llu bytes, its tensor needs %llu from byte %llu", npy->path, (unsigned long long)size,
                 (unsigned long long)wanted, (unsigned long long)i->offset);
}

kc_status kc_npy_raw(kc_npy **out, int fd, const char *name, const kc_format *f, int rank, const int64_t *shape,
                     uint64_t offset, kc_text *err) {
  kc_npy *npy = NULL;
  kc_status status = new_handle(&npy, fd, name, err);
  if (status != KC_OK) return status;
  npy->info = (kc_npy_info){.format = f, .itemsize = f->storage, .rank = rank, .offset = offset};
  memcpy(npy->info.shape, shape, (size_t)rank * sizeof *shape);
  status = kc__npy_count(&npy->info, err);
  if (status == KC_OK) status = check_room(npy, err);
  return settle(out, npy, status);
}

void kc_npy_close(kc_npy *npy) {
  if (!npy) return;
  if (npy->fd >= 0) close(npy->fd);
  free(npy->path);
  free(npy);
}

const kc_npy_info *kc_npy_describe(const kc_npy *npy) {
  return &npy->info;
}

const char *kc_npy_path(const kc_npy *npy) {
  return npy->path;
}

kc_status kc_npy_reinterpret(kc_npy *npy, const kc_format *f, kc_text *err) {
  const kc_format *is = npy->info.format;
  if ((is && is->kind == KC_FLOAT) || npy->info.itemsize != f->storage)
    return kc_fail(err, KC_EUNSUPPORTED, "'%s' holds %s of %d bytes; only integers or raw bytes of %d can be read as %s",
                   npy->path, is ? is->name : "raw elements", npy->info.itemsize, f->storage, f->name);
  npy->info.format = f;
  return KC_OK;
}

/* ---- elements --------------------------------------------------------------------------------------------------------- */

static void swap_bytes(void *data, int64_t n, int size) {
  if (size == 2) {
    for (uint16_t *p = data; n > 0; n--, p++) *p = __builtin_bswap16(*p);
  } else if (size == 4) {
    for (uint32_t *p = data; n > 0; n--, p++) *p = __builtin_bswap32(*p);
  } else if (size == 8) {
    for (uint64_t *p = data; n > 0; n--, p++) *p = __builtin_bswap64(*p);
  }
}

/* Refuses words with bits that no code of a narrow format has: dropping them would hide what the file holds. */
static kc_status check_codes(const kc_npy *npy, int64_t first, int64_t n, const void *data, kc_text *err) {
  const kc_format *f = npy->info.format;
  if (!f || f->bits == 8 * f->storage) return KC_OK;
  uint64_t code = ((UINT64_C(1) << f->bits) - 1) << f->shift, word = 0;
  for (int64_t i = 0; i < n; i++) {
    memcpy(&word, (const char *)data + (size_t)i * f->storage, f->storage);
    if (word & ~code)
      return kc_fail(err, KC_EIO, "'%s': element %lld of the file is 0x%llx, no code of %s", npy->path, (long long)(first + i),
                     (unsigned long long)word, f->name);
  }
  return KC_OK;
}

kc_status kc_npy_read(const kc_npy *npy, int64_t first, int64_t n, void *out, kc_text *err) {
  const kc_npy_info *i = &npy->info;
  if (first < 0 || n < 0 || n > i->count - first)
    return kc_fail(err, KC_EINVAL, "elements %lld .. of '%s', which has %lld", (long long)first, npy->path,
                   (long long)i->count);
  size_t size = (size_t)i->itemsize;
  kc_status status = read_at(npy->fd, out, (size_t)n * size, i->offset + (uint64_t)first * size, npy->path, err);
  if (status != KC_OK) return status;
  if (i->swapped) swap_bytes(out, n, i->itemsize);
  return check_codes(npy, first, n, out, err);
}

/* One line of a transposition: n consecutive elements to places `stride` apart. */
static inline void scatter(char *out, const char *in, int64_t n, int64_t stride, size_t size) {
  for (int64_t k = 0; k < n; k++) memcpy(out + (size_t)(k * stride) * size, in + (size_t)k * size, size);
}

static void scatter_line(char *out, const char *in, int64_t n, int64_t stride, int size) {
  switch (size) { /* a constant size, so that the copies become single moves */
  case 1:
    scatter(out, in, n, stride, 1);
    break;
  case 2:
    scatter(out, in, n, stride, 2);
    break;
  case 4:
    scatter(out, in, n, stride, 4);
    break;
  default:
    scatter(out, in, n, stride, 8);
  }
}

void kc__npy_transpose(void *out, const void *in, int size, int rank, const int64_t *shape, int64_t first, int64_t n) {
  if (rank < 2) {
    memcpy((char *)out + first * size, in, (size_t)(n * size));
    return;
  }
  int64_t stride[KC_MAX_RANK], at[KC_MAX_RANK], rest = first;
  stride[rank - 1] = 1;
  for (int d = rank - 2; d >= 0; d--) stride[d] = stride[d + 1] * shape[d + 1];
  for (int d = 0; d < rank; d++) {
    at[d] = rest % shape[d];
    rest /= shape[d];
  }
  for (int64_t done = 0; done < n;) {
    int64_t place = 0, line = shape[0] - at[0] < n - done ? shape[0] - at[0] : n - done;
    for (int d = 0; d < rank; d++) place += at[d] * stride[d];
    scatter_line((char *)out + place * size, (const char *)in + done * size, line, stride[0], size);
    done += line;
    at[0] = 0; /* a line ends at the end of the first dimension, or is the last */
    for (int d = 1; d < rank && ++at[d] == shape[d]; d++) at[d] = 0;
  }
}

static kc_status load_transposed(kc_buffer *b, const kc_npy *npy, kc_text *err) {
  const kc_npy_info *i = &npy->info;
  kc_status status = KC_OK;
  void *piece = malloc((size_t)PIECE * (size_t)i->itemsize);
  if (!piece) return kc_fail(err, KC_ENOMEM, "no memory to read '%s'", npy->path);
  for (int64_t first = 0; first < i->count && status == KC_OK; first += PIECE) {
    int64_t n = i->count - first < PIECE ? i->count - first : PIECE;
    status = kc_npy_read(npy, first, n, piece, err);
    if (status == KC_OK) kc__npy_transpose(kc_buffer_data(b), piece, i->itemsize, i->rank, i->shape, first, n);
  }
  free(piece);
  return status;
}

kc_status kc_npy_load(kc_buffer **out, const kc_npy *npy, size_t guard, kc_text *err) {
  const kc_npy_info *i = &npy->info;
  if (!i->format)
    return kc_fail(err, KC_EUNSUPPORTED, "'%s' holds raw elements of %d bytes; name the format they have", npy->path,
                   i->itemsize);
  kc_buffer *b;
  kc_status status = kc_buffer_create(&b, i->format, i->rank, i->shape, guard, err);
  if (status != KC_OK) return status;
  bool turned = i->fortran && i->rank > 1;
  status = turned ? load_transposed(b, npy, err) : kc_npy_read(npy, 0, i->count, kc_buffer_data(b), err);
  if (status == KC_OK)
    *out = b;
  else
    kc_buffer_release(b);
  return status;
}

/* "f32[2,3]" */
static const char *type_text(char text[160], const kc_format *f, int itemsize, int rank, const int64_t *shape) {
  int n = f ? snprintf(text, 160, "%s[", f->name) : snprintf(text, 160, "raw bytes of %d[", itemsize);
  for (int i = 0; i < rank && n < 130; i++) n += snprintf(text + n, 160 - (size_t)n, i ? ",%lld" : "%lld", (long long)shape[i]);
  snprintf(text + n, 160 - (size_t)n, "]");
  return text;
}

/* May the file's elements be codes of f? */
static bool fits(const kc_npy_info *i, const kc_format *f) {
  if (!kc__npy_lacks(f)) return i->format == f;
  return i->format == f || (i->itemsize == f->storage && (!i->format || i->format->kind == KC_UINT));
}

kc_status kc_npy_fill(kc_buffer *b, kc_npy *npy, kc_text *err) {
  kc_npy_info *i = &npy->info;
  const kc_format *f = kc_buffer_format(b);
  int rank = kc_buffer_rank(b);
  bool same = fits(i, f) && i->rank == rank;
  for (int d = 0; same && d < rank; d++) same = i->shape[d] == kc_buffer_shape(b)[d];
  if (!same) {
    char found[160], wanted[160];
    return kc_fail(err, KC_EUNSUPPORTED, "'%.120s' holds %s, expected %s%s", npy->path,
                   type_text(found, i->format, i->itemsize, i->rank, i->shape),
                   type_text(wanted, f, f->storage, rank, kc_buffer_shape(b)),
                   kc__npy_lacks(f) ? " as unsigned integers of its size" : "");
  }
  i->format = f;
  bool turned = i->fortran && i->rank > 1;
  return turned ? load_transposed(b, npy, err) : kc_npy_read(npy, 0, i->count, kc_buffer_data(b), err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

size_t kc_npy_header(char out[512], const kc_buffer *b) {
  return kc__npy_compose(out, kc_buffer_format(b), kc_buffer_rank(b), kc_buffer_shape(b));
}

static kc_status write_all(int fd, const void *data, size_t n, const char *path, kc_text *err) {
  for (size_t done = 0; done < n;) {
    ssize_t put = write(fd, (const char *)data + done, n - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error(err, "write", path);
    done += (size_t)put;
  }
  return KC_OK;
}

kc_status kc_npy_save(const char *path, const kc_buffer *b, kc_text *err) {
  char header[512];
  struct stat st;
  int fd;
  kc_status status = open_regular(&fd, path, O_WRONLY | O_CREAT, &st, err);
  if (status != KC_OK) return status;
  size_t n = kc_npy_header(header, b);
  if (ftruncate(fd, 0) != 0) status = system_error(err, "empty", path);
  if (status == KC_OK) status = write_all(fd, header, n, path, err);
  if (status == KC_OK) status = write_all(fd, kc_buffer_cdata(b), kc_buffer_bytes(b), path, err);
  if (close(fd) != 0 && status == KC_OK) status = system_error(err, "write", path);
  if (status != KC_OK) unlink(path);
  return status;
}
