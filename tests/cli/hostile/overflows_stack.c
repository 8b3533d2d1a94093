#include <stdint.h>
static int deeper(int depth) {
  volatile char frame[65536];
  frame[0] = (char)depth;
  return deeper(depth + 1) + frame[0];
}
void relu(const float *x, float *y, int32_t n) {
  for (int32_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
  if (n > 0) deeper(0);
}
