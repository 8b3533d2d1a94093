/* philox.c - Philox4x32-10, from Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#include "kc.h"

void kc_philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)UINT32_C(0xd2511f53) * c0, b = (uint64_t)UINT32_C(0xcd9e8d57) * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)b;
    c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)a;
    k0 += UINT32_C(0x9e3779b9); /* Weyl sequences: golden ratio and sqrt(3) - 1 */
    k1 += UINT32_C(0xbb67ae85);
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}
