/* container.c - compiled code in one block of bytes: a head of fixed length with the lengths, then the parts, the code first, each
 * ended by a zero byte. The code so begins at a multiple of 16 in memory that malloc gave: loaders read it as the ELF file it is. */
#include "container.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LENGTHS "kc-code 2 %" PRIu64 " %" PRIu64 " %" PRIu64
enum { HEAD = 96 };

void kc__container_write(kc__string *out, const kc__container *c) {
  const kc__part *parts[] = {&c->code, &c->name, &c->text};
  char head[HEAD + 1] = "";
  int n = snprintf(head, sizeof head, LENGTHS, (uint64_t)c->code.n, (uint64_t)c->name.n, (uint64_t)c->text.n);
  memset(head + n, ' ', (size_t)(HEAD - n));
  head[HEAD - 1] = '\n';
  kc__add(out, head, HEAD);
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
  char head[HEAD + 1] = "";
  uint64_t code, name, text;
  if (n < HEAD || bytes[HEAD - 1] != '\n') return false;
  memcpy(head, bytes, HEAD);
  if (sscanf(head, LENGTHS, &code, &name, &text) != 3) return false;
  const char *at = (const char *)bytes + HEAD;
  size_t left = n - HEAD;
  return take(&c->code, code, &at, &left) && take(&c->name, name, &at, &left) && take(&c->text, text, &at, &left) && left == 0;
}
