/* container.c - compiled code in one block of bytes: a line with the lengths, then the parts, each ended by a zero byte. */
#include "container.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD "kc-code 1 %" PRIu64 " %" PRIu64 " %" PRIu64 "\n"
enum { HEAD_LIMIT = 96 };

void kc__container_write(kc__string *out, const kc__container *c) {
  const kc__part *parts[] = {&c->name, &c->code, &c->text};
  kc__addf(out, HEAD, (uint64_t)c->name.n, (uint64_t)c->code.n, (uint64_t)c->text.n);
  for (int i = 0; i < 3; i++) {
    kc__add(out, parts[i]->s, parts[i]->n);
    kc__add(out, "", 1);
  }
}

/* The next part; false when its end is not where its length says. */
static bool take(kc__part *part, uint64_t length, const char **at, size_t *left) {
  if (length >= *left || (*at)[length] != '\0') return false;
  *part = (kc__part){.s = *at, .n = (size_t)length};
  *at += length + 1;
  *left -= (size_t)length + 1;
  return true;
}

bool kc__container_read(kc__container *c, const uint8_t *bytes, size_t n) {
  char head[HEAD_LIMIT] = "";
  uint64_t name, code, text;
  const char *end = memchr(bytes, '\n', n < sizeof head ? n : sizeof head - 1);
  if (!end) return false;
  size_t length = (size_t)(end - (const char *)bytes) + 1, left = n - length;
  memcpy(head, bytes, length);
  if (sscanf(head, HEAD, &name, &code, &text) != 3) return false;
  const char *at = end + 1;
  return take(&c->name, name, &at, &left) && take(&c->code, code, &at, &left) && take(&c->text, text, &at, &left) && left == 0;
}
