#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
void relu(const float *x, float *y, int32_t n) {
  for (int32_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
  /* A grandchild in a session of its own, which names itself so that the test can look for it. */
  if (fork() == 0) {
    setsid();
    if (fork() == 0) execl("/bin/sh", "sh", "-c", "sleep 47.25", (char *)0);
    _exit(0);
  }
}
