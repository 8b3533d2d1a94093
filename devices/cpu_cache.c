/* cpu_cache.c - compiled modules kept under the digest of everything that went into them. */
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu.h"

/* A module ends in this and the SHA-256 of what stands before: loading a truncated or altered file could crash in the loader,
 * so it is read first. ELF ignores bytes behind its sections. */
static const char mark[8] = {'k', 'c', 'm', 'o', 'd', 'u', 'l', 'e'};
typedef struct trailer {
  char mark[sizeof mark];
  char digest[SHA256_DIGEST_STRING_LENGTH];
} trailer;

static void seal(trailer *t, const uint8_t *bytes, size_t n) {
  memcpy(t->mark, mark, sizeof mark);
  SHA256Data(bytes, n, t->digest);
}

/* Every part with its terminator or length, so that no two lists of parts run together alike. */
static void key_of(char hex[SHA256_DIGEST_STRING_LENGTH], const kc__compiler *c, const char *const *flags,
                   const kc__string *source) {
  SHA2_CTX sha;
  SHA256Init(&sha);
  SHA256Update(&sha, (const uint8_t *)c->path, strlen(c->path) + 1);
  SHA256Update(&sha, (const uint8_t *)c->version, strlen(c->version) + 1);
  for (; *flags; flags++) SHA256Update(&sha, (const uint8_t *)*flags, strlen(*flags) + 1);
  SHA256Update(&sha, (const uint8_t *)"", 1);
  SHA256Update(&sha, (const uint8_t *)source->s, source->n);
  SHA256End(&sha, hex);
}

void kc__cache_locate(kc__cache_entry *e, const char *cache_dir, const kc__compiler *c, const char *const *flags,
                      const kc__string *source) {
  char hex[SHA256_DIGEST_STRING_LENGTH];
  key_of(hex, c, flags, source);
  snprintf(e->directory, sizeof e->directory, "%s/%.2s", cache_dir, hex);
  snprintf(e->path, sizeof e->path, "%s/%s.so", e->directory, hex);
}

/* The whole file, or NULL. The caller frees it. */
static uint8_t *read_file(const char *path, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat s;
  bool usable = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0;
  uint8_t *bytes = usable ? malloc((size_t)s.st_size) : NULL;
  size_t n = 0;
  while (bytes && n < (size_t)s.st_size) {
    ssize_t got = read(fd, bytes + n, (size_t)s.st_size - n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    n += (size_t)got;
  }
  if (fd >= 0) close(fd);
  *size = n;
  return bytes;
}

bool kc__cache_valid(const kc__cache_entry *e) {
  size_t size;
  uint8_t *bytes = read_file(e->path, &size);
  trailer want, got;
  bool valid = bytes && size > sizeof got;
  if (valid) {
    memcpy(&got, bytes + size - sizeof got, sizeof got);
    seal(&want, bytes, size - sizeof got);
    valid = memcmp(&want, &got, sizeof got) == 0;
  }
  free(bytes);
  return valid;
}

static kc_status append(const char *path, const trailer *t, kc_text *err) {
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  bool written = fd >= 0 && write(fd, t, sizeof *t) == (ssize_t)sizeof *t;
  if (fd >= 0) close(fd);
  return written ? KC_OK : kc_fail(err, KC_EIO, "cannot write %s: %s", path, strerror(errno));
}

kc_status kc__cache_store(const kc__cache_entry *e, const char *module, kc_text *err) {
  size_t size;
  trailer t;
  uint8_t *bytes = read_file(module, &size);
  if (!bytes) return kc_fail(err, KC_EIO, "the compiler left no %s", module);
  seal(&t, bytes, size);
  free(bytes);
  kc_status status = append(module, &t, err);
  if (status != KC_OK) return status;
  if (mkdir(e->directory, 0777) != 0 && errno != EEXIST)
    return kc_fail(err, KC_EIO, "cannot create %s: %s", e->directory, strerror(errno));
  if (rename(module, e->path) != 0) return kc_fail(err, KC_EIO, "cannot create %s: %s", e->path, strerror(errno));
  return KC_OK;
}
