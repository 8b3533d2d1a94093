/* make_normal_table.c - writes host/normal_table.h to standard output. Not part of the build; by hand, from the root:
 *   cc tests/unit/make_normal_table.c -o make_normal_table -lmpfr -lgmp && ./make_normal_table > host/normal_table.h */
#include <stdio.h>

#include "quantile.h"

int main(void) {
  printf("/* normal_table.h - the normal quantile, piecewise: row 16 k + cell holds the coefficients, constant first, of the "
         "quintic in\n"
         " * x = t / 2^32 for the tail probability 2^-(k+2) (1 + (cell + x) / 16), in units of 2^-48. Written by\n"
         " * tests/unit/make_normal_table.c; do not edit. */\n"
         "#ifndef KC_NORMAL_TABLE_H\n#define KC_NORMAL_TABLE_H\n\n#include <stdint.h>\n\n#define KC_NORMAL_UNIT %d\n\n"
         "/* clang-format off */\nstatic const int64_t kc__normal_table[64 * 16][6] = {\n",
         QUANTILE_UNIT);
  for (int k = 0; k < 64; k++)
    for (int cell = 0; cell < 16; cell++) {
      long long r[6];
      quantile_row(r, k, cell);
      printf("{%lld,%lld,%lld,%lld,%lld,%lld},\n", r[0], r[1], r[2], r[3], r[4], r[5]);
    }
  printf("};\n/* clang-format on */\n\n#endif\n");
  return 0;
}
