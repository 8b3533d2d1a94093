/* diff_error.h - the errors of one element, rounded up, and the tests that save computing them. Internal. */
#ifndef KC_DIFF_ERROR_H
#define KC_DIFF_ERROR_H

#include "diff.h"

/** What the errors of one pair of elements are measured in. */
typedef struct kc__diff_scale {
  const kc_format *f;    /* of the codes */
  const kc_format *ulps; /* NULL: distance of codes */
  bool wide;             /* doubles do not hold every value of f: 64-bit integers */
} kc__diff_scale;

/** The format that holds all values of a and b: one of the two, else the smallest that does; NULL when there is none. */
const kc_format *kc__diff_common(const kc_format *a, const kc_format *b);
/** The smallest double that is not below the exact error of two finite codes. */
double kc__diff_error(const kc__diff_scale *s, kc_diff_kind kind, uint64_t got, uint64_t ref);
/** Is that error above `limit`? x and y are the values of the codes as doubles; where they are exact most questions are answered from
 * them alone. */
bool kc__diff_exceeds(const kc__diff_scale *s, kc_diff_kind kind, uint64_t got, uint64_t ref, double x, double y, double limit);

#endif
