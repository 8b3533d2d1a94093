/* integers.h - codes of integer formats as values. Internal. */
#ifndef KC_INTEGERS_H
#define KC_INTEGERS_H

#include "kc.h"

/* The value of an integer code, exactly; u64 beyond INT64_MAX maps to -1, which is no index. */
static inline int64_t kc__index_value(const kc_format *f, uint64_t code) {
  if (f->kind == KC_UINT) return code > INT64_MAX ? -1 : (int64_t)code;
  return (int64_t)(code << (64 - f->bits)) >> (64 - f->bits);
}

#endif
