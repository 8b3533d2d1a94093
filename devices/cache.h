/* cache.h - compiled code kept under the digest of everything that went into it. A missing or damaged file only costs time. */
#ifndef KC_DEVICES_CACHE_H
#define KC_DEVICES_CACHE_H

#include "kc.h"
#include "text.h"

/* Where the code with this key lies; an empty path: nowhere. */
typedef struct kc__cache_entry {
  char directory[768], path[896];
} kc__cache_entry;

/* The key is made of the NULL-terminated words (compiler, version, options) and the source. Without a directory, or with one of too
 * long a name, nothing is kept. */
void kc__cache_locate(kc__cache_entry *e, const char *cache_dir, const char *suffix, const char *const *words,
                      const kc__string *source);
/* What was stored, malloc'd, or NULL. */
uint8_t *kc__cache_read(const kc__cache_entry *e, size_t *size);
/* Whether something sound is there. */
bool kc__cache_valid(const kc__cache_entry *e);
/* Stores with a digest at the end; atomic. KC_OK without doing anything for an entry that lies nowhere. */
kc_status kc__cache_store(const kc__cache_entry *e, const uint8_t *bytes, size_t n, kc_text *err);
/* As kc__cache_store, what the file holds. */
kc_status kc__cache_store_file(const kc__cache_entry *e, const char *path, kc_text *err);
/* A whole regular file, malloc'd; NULL when it cannot be read or is empty. */
uint8_t *kc__read_file(const char *path, size_t *size);

#endif
