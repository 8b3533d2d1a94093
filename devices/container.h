/* container.h - compiled code in one block of bytes, as the compiling child hands it over and the cache keeps it. */
#ifndef KC_DEVICES_CONTAINER_H
#define KC_DEVICES_CONTAINER_H

#include "kc.h"
#include "text.h"

typedef struct kc__part {
  const char *s;
  size_t n;
} kc__part;

/* All parts are terminated in memory; they point into the block that was read. */
typedef struct kc__container {
  kc__part name; /* of the kernel, as the code has it */
  kc__part code; /* what the device loads */
  kc__part text; /* the same for people: PTX, or the ISA disassembled; may be empty */
} kc__container;

void kc__container_write(kc__string *out, const kc__container *c);
/* False for bytes that are no container. */
bool kc__container_read(kc__container *c, const uint8_t *bytes, size_t n);

#endif
