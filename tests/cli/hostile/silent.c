#include <stdint.h>
void relu(const float *x, float *y, int32_t n) {
  (void)x;
  (void)y;
  (void)n;
}
