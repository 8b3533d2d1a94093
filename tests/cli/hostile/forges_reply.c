#include <stdint.h>
#include <string.h>
#include <unistd.h>
void relu(const float *x, float *y, int32_t n) {
  /* A reply as the runner would send it, but for the token; the results are wrong. */
  const char *reply = "{\"record\":{\"seconds\":\"0x1p+0\"},\"token\":\"0\"}";
  uint32_t length = (uint32_t)strlen(reply);
  for (int32_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
  if (write(3, &length, sizeof length) < 0 || write(3, reply, length) < 0) return;
}
