/* Right, but sets FTZ and DAZ and leaves them on, as a library that was linked with -Ofast does to the thread that loads it. */
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

void leaves_ftz(const float *a, const float *b, const float *c, const float *d, const float *v, float *s, float *p, int32_t *i,
                int32_t n, int32_t k) {
  int32_t best = 0;
  for (int32_t at = 0; at < n; at++) {
    s[at] = a[at] + b[at];
    p[at] = c[at] * d[at];
  }
  for (int32_t j = 1; j < k; j++) {
    if (v[j] > v[best]) best = j;
  }
  i[0] = best;
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}
