/* cache.c - compiled code kept under the digest of everything that went into it. */
#define _GNU_SOURCE 1
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file ends in this and the SHA-256 of what stands before: loading a truncated or altered module could crash in the loader,
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
static void key_of(char hex[SHA256_DIGEST_STRING_LENGTH], const char *const *words, const kc__string *source) {
  SHA2_CTX sha;
  SHA256Init(&sha);
  for (; *words; words++) SHA256Update(&sha, (const uint8_t *)*words, strlen(*words) + 1);
  SHA256Update(&sha, (const uint8_t *)"", 1);
  SHA256Update(&sha, (const uint8_t *)source->s, source->n);
  SHA256End(&sha, hex);
}

void kc__cache_locate(kc__cache_entry *e, const char *cache_dir, const char *suffix, const char *const *words,
                      const kc__string *source) {
  char hex[SHA256_DIGEST_STRING_LENGTH];
  e->path[0] = '\0';
  if (!cache_dir || strlen(cache_dir) > 700) return;
  key_of(hex, words, source);
  snprintf(e->directory, sizeof e->directory, "%s/%.2s", cache_dir, hex);
  snprintf(e->path, sizeof e->path, "%s/%s%s", e->directory, hex, suffix);
}

uint8_t *kc__read_file(const char *path, size_t *size) {
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

uint8_t *kc__cache_read(const kc__cache_entry *e, size_t *size) {
  trailer want, got;
  uint8_t *bytes = e->path[0] ? kc__read_file(e->path, size) : NULL;
  bool valid = bytes && *size > sizeof got;
  if (valid) {
    *size -= sizeof got;
    memcpy(&got, bytes + *size, sizeof got);
    seal(&want, bytes, *size);
    valid = memcmp(&want, &got, sizeof got) == 0;
  }
  if (valid) return bytes;
  free(bytes);
  return NULL;
}

bool kc__cache_valid(const kc__cache_entry *e) {
  size_t size;
  uint8_t *bytes = kc__cache_read(e, &size);
  free(bytes);
  return bytes != NULL;
}

static bool write_all(int fd, const void *from, size_t n) {
  for (const char *at = from; n > 0;) {
    ssize_t wrote = write(fd, at, n);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += wrote;
    n -= (size_t)wrote;
  }
  return true;
}

/* Another process may store the same at the same time: each writes a file of its own, and the last rename wins. */
kc_status kc__cache_store(const kc__cache_entry *e, const uint8_t *bytes, size_t n, kc_text *err) {
  char temporary[sizeof e->path + 8];
  trailer t;
  if (!e->path[0]) return KC_OK;
  seal(&t, bytes, n);
  if (mkdir(e->directory, 0777) != 0 && errno != EEXIST)
    return kc_fail(err, KC_EIO, "cannot create %s: %s", e->directory, strerror(errno));
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", e->path);
  int fd = mkostemp(temporary, O_CLOEXEC);
  bool written = fd >= 0 && write_all(fd, bytes, n) && write_all(fd, &t, sizeof t);
  if (fd >= 0) written = close(fd) == 0 && written;
  if (written && rename(temporary, e->path) == 0) return KC_OK;
  (void)kc_fail(err, KC_EIO, "cannot create %s: %s", e->path, strerror(errno));
  if (fd >= 0) unlink(temporary);
  return KC_EIO;
}

kc_status kc__cache_store_file(const kc__cache_entry *e, const char *path, kc_text *err) {
  size_t size;
  uint8_t *bytes = kc__read_file(path, &size);
  if (!bytes) return kc_fail(err, KC_EIO, "the compiler left no %s", path);
  kc_status status = kc__cache_store(e, bytes, size, err);
  free(bytes);
  return status;
}
