/* text.c - a growing text. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(kc__string *t, size_t more) {
  if (t->failed || t->capacity - t->n > more) return !t->failed;
  size_t capacity = (t->n + more + 1) * 2;
  char *s = realloc(t->s, capacity);
  t->failed = !s;
  if (!s) return false;
  t->s = s;
  t->capacity = capacity;
  return true;
}

void kc__add(kc__string *t, const char *bytes, size_t n) {
  if (!reserve(t, n)) return;
  if (n > 0) memcpy(t->s + t->n, bytes, n);
  t->n += n;
  t->s[t->n] = '\0';
}

void kc__addf(kc__string *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n >= 0 && reserve(t, (size_t)n)) {
    vsnprintf(t->s + t->n, (size_t)n + 1, format, again);
    t->n += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

void kc__string_clear(kc__string *t) {
  free(t->s);
  *t = (kc__string){0};
}
