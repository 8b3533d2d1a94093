/* diff_vector.h - loops over a block that compilers vectorise. Internal. */
#ifndef KC_DIFF_VECTOR_H
#define KC_DIFF_VECTOR_H

#include "diff.h"

/** What kc__diff_flag says of an element. */
enum { KC__DIFF_ABOVE = 1, KC__DIFF_ASK = 2 };

/** Values of n codes in memory layout: exact but for 64-bit integers, which are rounded to nearest. */
void kc__diff_decode(const kc_format *f, double *out, const char *in, int n);
/** False only when no |x - y| exceeds a, nor r |y|. */
bool kc__diff_any(const double *x, const double *y, int n, double a, double r);
/** The same for each element: above, not above (0), or to be asked elsewhere, because x - y is no exact double or is tiny. */
void kc__diff_flag(uint8_t *flags, const double *x, const double *y, int n, double a, double r);
/** A cheaper kc__diff_any on codes of finite numbers; true for formats that it does not know. */
bool kc__diff_reach(const kc_format *f, const char *got, const char *ref, int n, double a, double r);

#endif
