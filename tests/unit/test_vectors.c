/* test_vectors.c - conversions against exact results of an independent implementation, where they lie beside the checkout. A
 * program of its own, so that their absence is counted as a skip. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kc.h"

static const char *const modes[] = {"RNE", "RZ", "RU", "RD", "RNA"};

static FILE *open_vectors(void) {
  const char *root = getenv("KC_VECTORS");
  char path[4096];
  snprintf(path, sizeof path, "%s/formats/encode.txt", root && *root ? root : "../shared/vectors");
  return fopen(path, "r");
}

static int mode_of(const char *name) {
  for (int i = 0; i < 5; i++)
    if (strcmp(modes[i], name) == 0) return i;
  return -1;
}

Test(vectors, conversions) {
  FILE *in = open_vectors();
  if (!in) {
    fprintf(stderr, "skipped: formats/encode.txt is not beside the checkout; KC_VECTORS=DIR says where it is\n");
    cr_skip_test();
  }
  char line[256], format[16], rounding[8], saturate[8], x[64];
  unsigned long code;
  int count = 0;
  while (fgets(line, sizeof line, in)) {
    if (sscanf(line, "%15s %7s %7s %63s %lx", format, rounding, saturate, x, &code) != 5 || *line == '#') continue;
    int mode = mode_of(rounding);
    cr_assert(kc_format_find(format) && mode >= 0, "%s", line);
    kc_encoding e = {.rounding = (uint8_t)mode, .saturate = strcmp(saturate, "sat") == 0};
    uint64_t got = kc_encode(kc_format_find(format), strtod(x, NULL), &e);
    cr_expect_eq(got, code, "%s -> 0x%lx", line, (unsigned long)got);
    count++;
  }
  fclose(in);
  cr_expect_gt(count, 10000);
}
