/* buffer.c - host memory in a memfd: guard | data | guard. The data begin on a page; the trailing guard begins with the byte after
 * the last data byte and reaches to the end of the file, so it is at least as long as the one before. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bits.h"
#include "integers.h"

struct kc_buffer {
  const kc_format *format;
  int references, rank, fd;
  bool writable;
  int64_t shape[KC_MAX_RANK];
  int64_t count;
  size_t bytes, guard, total;
  char *map; /* NULL until mapped */
};

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

/* Every byte of an element: a NaN or -max in the float formats, then a NaN or a huge number; -1 and a huge number as integers. */
static const uint8_t poisons[2] = {0xff, 0x7f};

static uint8_t poison_byte(int which) {
  return poisons[which & 1];
}

/* The canary `offset` bytes from the first data byte, a hash, so that neither a constant nor a shifted copy of a guard passes for one;
 * always odd, so never 0, the byte that an overrun most often writes. Mixed twice: the high byte of one product alone repeats itself
 * at Fibonacci distances, and three words of four would not tell their place. */
static uint8_t canary(int64_t offset) {
  uint64_t h = ((uint64_t)offset ^ UINT64_C(0x243f6a8885a308d3)) * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
  return (uint8_t)(h >> 56) | 1;
}

static bool round_to_page(size_t *size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), slack = (page - *size % page) % page;
  return !__builtin_add_overflow(*size, slack, size);
}

static kc_status count_elements(kc_buffer *b, kc_text *err) {
  b->count = 1;
  for (int i = 0; i < b->rank; i++) {
    if (b->shape[i] < 0)
      return kc_fail(err, KC_EINVAL, "dimension %d of the shape is %lld, expected >= 0", i + 1, (long long)b->shape[i]);
    if (b->shape[i] == 0) b->count = 0; /* wins over an overflow of the other dimensions */
  }
  for (int i = 0; b->count && i < b->rank; i++)
    if (__builtin_mul_overflow(b->count, b->shape[i], &b->count))
      return kc_fail(err, KC_EINVAL, "the product of the %d dimensions overflows at dimension %d", b->rank, i + 1);
  return KC_OK;
}

static kc_status lay_out(kc_buffer *b, kc_text *err) {
  kc_status status = count_elements(b, err);
  if (status != KC_OK) return status;
  size_t both = 0, data;
  bool fits = !__builtin_mul_overflow((size_t)b->count, b->format->storage, &b->bytes) && round_to_page(&b->guard) &&
              !__builtin_mul_overflow(b->guard, 2, &both);
  data = b->bytes;
  fits = fits && round_to_page(&data) && !__builtin_add_overflow(data, both, &b->total) && b->total <= INT64_MAX;
  if (!fits)
    return kc_fail(err, KC_ENOMEM, "%lld elements of %s and their guards exceed the address space", (long long)b->count,
                   b->format->name);
  /* Where memory is overcommitted, painting the poison would bring the killer of processes instead of an error. */
  if (b->total / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES))
    return kc_fail(err, KC_ENOMEM, "a buffer of %zu bytes exceeds the memory of this machine", b->total);
  if (b->total == 0) b->total = (size_t)sysconf(_SC_PAGESIZE); /* nothing cannot be mapped */
  return KC_OK;
}

/* A buffer with its layout, without memory yet. */
static kc_status new_buffer(kc_buffer **out, const kc_format *f, int rank, const int64_t *shape, size_t guard, kc_text *err) {
  if (!f) return kc_fail(err, KC_EINVAL, "a buffer needs a format");
  if (rank < 0 || rank > KC_MAX_RANK) return kc_fail(err, KC_EINVAL, "rank %d, expected 0..%d", rank, KC_MAX_RANK);
  kc_buffer *b = calloc(1, sizeof *b);
  if (!b) return kc_fail(err, KC_ENOMEM, "no memory for a buffer");
  b->format = f;
  b->references = 1;
  b->rank = rank;
  b->fd = -1;
  b->guard = guard;
  if (rank) memcpy(b->shape, shape, (size_t)rank * sizeof *shape);
  kc_status status = lay_out(b, err);
  if (status != KC_OK) {
    free(b);
    return status;
  }
  *out = b;
  return KC_OK;
}

static kc_status system_error(kc_text *err, const kc_buffer *b, const char *what) {
  kc_status status = errno == ENOMEM || errno == ENOSPC ? KC_ENOMEM : KC_EIO;
  return kc_fail(err, status, "%s a buffer of %zu bytes: %s", what, b->total, strerror(errno));
}

/* Maps the file; in place of an earlier mapping when there is one. Reading goes through a private mapping, which shows the file
 * as long as nobody writes to the mapping: a shared one counts as writable, so no process could seal the file any more. */
static bool map(kc_buffer *b, bool writable) {
  int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  int flags = (writable ? MAP_SHARED : MAP_PRIVATE) | (b->map ? MAP_FIXED : 0);
  void *at = mmap(b->map, b->total, protection, flags, b->fd, 0);
  if (at == MAP_FAILED) return false;
  b->map = at;
  b->writable = writable;
  return true;
}

static kc_status create_file(kc_buffer *b, kc_text *err) {
  b->fd = memfd_create("kc.buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (b->fd < 0) return system_error(err, b, "cannot create");
  if (ftruncate(b->fd, (off_t)b->total) != 0) return system_error(err, b, "cannot size");
  if (fcntl(b->fd, F_ADD_SEALS, SIZE_SEALS) != 0) return system_error(err, b, "cannot fix the size of");
  return map(b, true) ? KC_OK : system_error(err, b, "cannot map");
}

kc_status kc_buffer_create(kc_buffer **out, const kc_format *f, int rank, const int64_t *shape, size_t guard, kc_text *err) {
  kc_buffer *b;
  kc_status status = new_buffer(&b, f, rank, shape, guard, err);
  if (status != KC_OK) return status;
  status = create_file(b, err);
  if (status != KC_OK) {
    kc_buffer_release(b);
    return status;
  }
  kc_buffer_poison(b, 0);
  *out = b;
  return KC_OK;
}

/* Without the size seals the peer could truncate the file and turn a read here into SIGBUS. */
static kc_status check_file(const kc_buffer *b, int fd, bool writable, kc_text *err) {
  struct stat st;
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || fstat(fd, &st) != 0) return kc_fail(err, KC_EIO, "descriptor %d is not a memfd: %s", fd, strerror(errno));
  if ((seals & SIZE_SEALS) != SIZE_SEALS) return kc_fail(err, KC_EIO, "the size of descriptor %d is not sealed", fd);
  if ((uint64_t)st.st_size < b->total)
    return kc_fail(err, KC_EIO, "descriptor %d holds %lld bytes, the layout needs %zu", fd, (long long)st.st_size, b->total);
  if (writable && seals & F_SEAL_WRITE) return kc_fail(err, KC_EIO, "descriptor %d is sealed against writing", fd);
  return KC_OK;
}

kc_status kc_buffer_attach(kc_buffer **out, int fd, const kc_format *f, int rank, const int64_t *shape, size_t guard,
                           bool writable, kc_text *err) {
  kc_buffer *b;
  kc_status status = new_buffer(&b, f, rank, shape, guard, err);
  if (status != KC_OK) return status;
  status = check_file(b, fd, writable, err);
  if (status == KC_OK) {
    b->fd = fd;
    if (!map(b, writable)) status = system_error(err, b, "cannot map");
  }
  if (status != KC_OK) {
    b->fd = -1; /* stays the caller's */
    kc_buffer_release(b);
    return status;
  }
  *out = b;
  return KC_OK;
}

kc_buffer *kc_buffer_retain(kc_buffer *b) {
  b->references++;
  return b;
}

void kc_buffer_release(kc_buffer *b) {
  if (!b || --b->references > 0) return;
  if (b->map) munmap(b->map, b->total);
  if (b->fd >= 0) close(b->fd);
  free(b);
}

void *kc_buffer_data(kc_buffer *b) {
  return b->map + b->guard;
}
const void *kc_buffer_cdata(const kc_buffer *b) {
  return b->map + b->guard;
}
const kc_format *kc_buffer_format(const kc_buffer *b) {
  return b->format;
}
int kc_buffer_rank(const kc_buffer *b) {
  return b->rank;
}
const int64_t *kc_buffer_shape(const kc_buffer *b) {
  return b->shape;
}
int64_t kc_buffer_count(const kc_buffer *b) {
  return b->count;
}
size_t kc_buffer_bytes(const kc_buffer *b) {
  return b->bytes;
}
size_t kc_buffer_guard_bytes(const kc_buffer *b) {
  return b->guard;
}
int kc_buffer_fd(const kc_buffer *b) {
  return b->fd;
}
bool kc_buffer_writable(const kc_buffer *b) {
  return b->writable;
}

kc_status kc_buffer_seal(kc_buffer *b, kc_text *err) {
  if (!b->writable) return KC_OK;
  /* The seal is refused while a writable mapping exists, this one included. */
  if (!map(b, false)) return system_error(err, b, "cannot remap");
  if (fcntl(b->fd, F_ADD_SEALS, F_SEAL_WRITE) == 0) return KC_OK;
  kc_status status = errno == EBUSY ? kc_fail(err, KC_EIO, "cannot seal a buffer that is mapped for writing elsewhere")
                                    : system_error(err, b, "cannot seal");
  return map(b, true) ? status : system_error(err, b, "cannot remap");
}

/* A guard's extent, as offsets from the first data byte. */
static void guard_range(const kc_buffer *b, bool after, int64_t *begin, int64_t *end) {
  *begin = after ? (int64_t)b->bytes : -(int64_t)b->guard;
  *end = after ? (int64_t)(b->total - b->guard) : 0;
}

void kc_buffer_poison(kc_buffer *b, int which) {
  if (!b->writable) return;
  char *data = kc_buffer_data(b);
  for (int after = 0; after < 2; after++) {
    int64_t begin, end;
    guard_range(b, after, &begin, &end);
    for (int64_t i = begin; i < end; i++) data[i] = (char)canary(i);
  }
  memset(data, poison_byte(which), b->bytes);
}

int64_t kc_buffer_unwritten(const kc_buffer *b, int which, int64_t *first) {
  const char *data = kc_buffer_cdata(b);
  size_t size = b->format->storage;
  uint64_t poison = 0, word = 0;
  int64_t count = 0;
  memset(&poison, poison_byte(which), size);
  if (first) *first = -1;
  for (int64_t i = 0; i < b->count; i++) {
    memcpy(&word, data + (size_t)i * size, size);
    if (word != poison) continue;
    if (count++ == 0 && first) *first = i;
  }
  return count;
}

/* Whether the `size` bytes of a word are the canaries from `offset` on. */
static bool is_canary(const uint8_t *word, int64_t size, int64_t offset) {
  for (int64_t i = 0; i < size; i++)
    if (word[i] != canary(offset + i)) return false;
  return true;
}

int64_t kc_buffer_guard_place(const kc_buffer *b, uint64_t code) {
  uint8_t word[8] = {0};
  int64_t size = b->format->storage, guard = (int64_t)kc_buffer_guard_bytes(b) / size;
  kc_store(b->format, word, 0, code);
  for (int64_t i = 0; i < size; i++)
    if (!(word[i] & 1)) return 0; /* no canary is even: this settles most words without a search */
  for (int64_t away = 1; away <= guard; away++) {
    if (is_canary(word, size, -away * size)) return -away;
    if (is_canary(word, size, (b->count + away - 1) * size)) return b->count + away - 1;
  }
  return 0;
}

int64_t kc_buffer_outside(const kc_buffer *b, int64_t lo, int64_t hi, int64_t *first) {
  int64_t count = 0;
  if (first) *first = -1;
  for (int64_t i = 0; i < b->count; i++) {
    uint64_t code = kc_load(b->format, kc_buffer_cdata(b), (size_t)i);
    int64_t value = kc__index_value(b->format, code);
    bool too_large = b->format->kind == KC_UINT && code > INT64_MAX;
    if (!too_large && value >= lo && value < hi) continue;
    if (count++ == 0 && first) *first = i;
  }
  return count;
}

/* 1 for the bytes that touch the data. */
static int64_t distance(const kc_buffer *b, bool after, int64_t offset) {
  return after ? offset - (int64_t)b->bytes + 1 : -offset;
}

/* Enters one damaged byte; they arrive in ascending order. */
static void report_damage(const kc_buffer *b, kc_guard_report *r, bool after, int64_t offset, uint8_t found) {
  bool nearer = !r->damaged || distance(b, after, offset) < distance(b, r->after, r->nearest);
  if (!r->damaged) r->offset = offset;
  r->damaged = true;
  r->count++;
  if (!nearer) return;
  r->after = after;
  r->nearest = offset;
  r->expected = canary(offset);
  r->found = found;
}

void kc_buffer_guards(const kc_buffer *b, kc_guard_report *out) {
  const uint8_t *data = kc_buffer_cdata(b);
  *out = (kc_guard_report){0};
  for (int after = 0; after < 2; after++) {
    int64_t begin, end;
    guard_range(b, after, &begin, &end);
    for (int64_t i = begin; i < end; i++)
      if (data[i] != canary(i)) report_damage(b, out, after, i, data[i]);
  }
}
