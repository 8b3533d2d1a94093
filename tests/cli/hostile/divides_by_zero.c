#include <stdint.h>
void relu(const float *x, float *y, int32_t n) {
  for (int32_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
  volatile int32_t zero = 0;
  if (n > 0) y[0] = (float)(n / zero);
}
