#include <signal.h>
#include <stdint.h>
void relu(const float *x, float *y, int32_t n) {
  for (int32_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
  raise(SIGSTOP);
}
