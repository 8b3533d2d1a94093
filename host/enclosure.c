/* enclosure.c - memory of enclosures. */
#include <stdlib.h>
#include <string.h>

#include "kc.h"

kc_status kc_enclosure_create(kc_enclosure *e, int64_t count) {
  memset(e, 0, sizeof *e);
  if (count < 0) return KC_EINVAL;
  size_t n = count > 0 ? (size_t)count : 1; /* calloc(0) may give NULL, which would read as exhaustion */
  e->lo = calloc(n, sizeof *e->lo);
  e->hi = calloc(n, sizeof *e->hi);
  e->classes = calloc(n, 1);
  if (!e->lo || !e->hi || !e->classes) {
    kc_enclosure_clear(e);
    return KC_ENOMEM;
  }
  e->count = count;
  return KC_OK;
}

void kc_enclosure_clear(kc_enclosure *e) {
  free(e->lo);
  free(e->hi);
  free(e->classes);
  free(e->set_offsets);
  free(e->set_items);
  memset(e, 0, sizeof *e);
}
