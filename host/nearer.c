/* nearer.c - which of two results is proven nearer the exact value, element by element. */
#include <math.h>
#include <string.h>

#include "directed.h"
#include "kc.h"

/* NaN, either infinity, or 0: a number. */
static uint8_t exceptional(double y) {
  return isnan(y) ? KC_NAN : isinf(y) ? (y > 0 ? KC_PINF : KC_NINF) : 0;
}

/* Bounds of |y - exact|. */
static kc__bounds distance(double y, double lo, double hi) {
  kc__bounds d = {0, 0};
  if (y < lo) d.lo = kc__sub_down(lo, y);
  if (y > hi) d.lo = kc__sub_down(y, hi);
  d.hi = fmax(kc__sub_up(y, lo), kc__sub_up(hi, y));
  return d;
}

/* 0: a, 1: b, 2: not decided. */
static int which(double a, double b, double lo, double hi, uint8_t classes) {
  const uint8_t exceptions = KC_NAN | KC_PINF | KC_NINF;
  uint8_t in_a = exceptional(a), in_b = exceptional(b), exact = classes & exceptions;
  if (exact && classes != exact) return 2; /* a number or not: nobody knows */
  if (exact & (exact - 1)) return 2;
  if (in_a != in_b) return in_a == exact ? 0 : in_b == exact ? 1 : 2;
  if (in_a || exact) return 2;
  kc__bounds of_a = distance(a, lo, hi), of_b = distance(b, lo, hi);
  return of_a.hi < of_b.lo ? 0 : of_b.hi < of_a.lo ? 1 : 2;
}

kc_status kc_nearer(kc_nearness *out, const kc_buffer *a, const kc_buffer *b, const kc_enclosure *e, kc_text *err) {
  const kc_format *f = kc_buffer_format(a);
  int64_t n = kc_buffer_count(a);
  *out = (kc_nearness){.first = -1};
  if (kc_buffer_format(b) != f || kc_buffer_count(b) != n || e->count != n)
    return kc_fail(err, KC_EINVAL,
                   "nearer: expected two buffers of one format and an enclosure of as many elements, got %s, %s: "
                   "%lld, %lld and %lld elements",
                   f->name, kc_buffer_format(b)->name, (long long)n, (long long)kc_buffer_count(b), (long long)e->count);
  for (int64_t i = 0; i < n; i++) {
    uint64_t code_a = kc_load(f, kc_buffer_cdata(a), (size_t)i), code_b = kc_load(f, kc_buffer_cdata(b), (size_t)i);
    if (code_a == code_b) continue;
    double x = kc_decode(f, code_a), y = kc_decode(f, code_b);
    out->different++;
    if (isnan(x) && isnan(y)) {
      out->payloads++;
      continue;
    }
    if (out->first < 0) out->first = i;
    out->nearer[which(x, y, e->lo[i], e->hi[i], e->classes[i])]++;
  }
  return KC_OK;
}
