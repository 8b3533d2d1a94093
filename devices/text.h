/* text.h - a growing text: logs, sources, keys. Running out of memory is remembered and asked for once, at the end. */
#ifndef KC_DEVICES_TEXT_H
#define KC_DEVICES_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised is empty. `s` is terminated once something was added; the owner frees it with kc__string_clear. */
typedef struct kc__string {
  char *s;
  size_t n, capacity;
  bool failed;
} kc__string;

void kc__add(kc__string *t, const char *bytes, size_t n);
void kc__addf(kc__string *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kc__string_clear(kc__string *t);

#endif
