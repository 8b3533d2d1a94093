/* test_vectors.c - conversions against exact results of an independent implementation, where they lie beside the checkout. A
 * plain program, so that their absence is counted as a skip (77). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kc.h"

enum { SKIPPED = 77, LEAST = 10000 };

static FILE *open_vectors(void) {
  const char *root = getenv("KC_VECTORS");
  char path[4096];
  snprintf(path, sizeof path, "%s/formats/encode.txt", root && *root ? root : "../shared/vectors");
  return fopen(path, "r");
}

static int mode_of(const char *name) {
  static const char *const modes[] = {"RNE", "RZ", "RU", "RD", "RNA"};
  for (int i = 0; i < 5; i++)
    if (strcmp(modes[i], name) == 0) return i;
  return -1;
}

/* 1 when the line holds, 0 when it does not, -1 for a comment. */
static int check(const char *line) {
  char format[16], rounding[8], saturate[8], x[64];
  unsigned long code;
  if (*line == '#' || sscanf(line, "%15s %7s %7s %63s %lx", format, rounding, saturate, x, &code) != 5) return -1;
  const kc_format *f = kc_format_find(format);
  int mode = mode_of(rounding);
  if (!f || mode < 0) return 0;
  kc_encoding e = {.rounding = (uint8_t)mode, .saturate = strcmp(saturate, "sat") == 0};
  uint64_t got = kc_encode(f, strtod(x, NULL), &e);
  if (got != code) printf("got 0x%lx for: %s", (unsigned long)got, line);
  return got == code;
}

int main(void) {
  FILE *in = open_vectors();
  if (!in) {
    puts("skipped: formats/encode.txt is not beside the checkout; KC_VECTORS=DIR says where it is");
    return SKIPPED;
  }
  char line[256];
  int held = 0, failed = 0;
  while (fgets(line, sizeof line, in)) {
    int answer = check(line);
    held += answer == 1;
    failed += answer == 0;
  }
  fclose(in);
  printf("%d vectors hold, %d do not\n", held, failed);
  return failed == 0 && held > LEAST ? 0 : 1;
}
