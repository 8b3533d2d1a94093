/* bench_matmul.c - certified matrix products against mpfr_dot at 53 bits for the same dots, alternating in one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "exact.h"

enum { M = 256, N = 256, K = 1024, ROUNDS = 7, SAMPLED = 512 };

static kc_buffer *operand(const char *format, int64_t rows, int64_t columns, uint64_t key) {
  const int64_t shape[2] = {rows, columns};
  const kc_dist normal = {.kind = KC_DIST_NORMAL, .b = 1};
  kc_buffer *b;
  kc_text err;
  if (kc_buffer_create(&b, kc_format_find(format), 2, shape, 4096, &err) != KC_OK) exit(1);
  if (kc_fill(kc_buffer_format(b), kc_buffer_data(b), (size_t)(rows * columns), 0, key, &normal, &err) != KC_OK) exit(1);
  return b;
}

/* Seconds for all elements; fills e. */
static double certified(const kc_buffer *const *in, kc_enclosure *e) {
  const kc_tensor_oracle *o = kc_tensor_oracle_find("matmul");
  void *state;
  int64_t count;
  double started = now();
  if (o->open(&state, &count, in, 2, &(kc_oracle_params){.a = 1}, NULL) != KC_OK) exit(1);
  if (!e->lo && kc_enclosure_create(e, count) != KC_OK) exit(1);
  if (o->eval(state, e, NULL) != KC_OK) exit(1);
  o->close(state);
  return now() - started;
}

/* Row i of A, or column i of B, as pointers to numbers of the format's precision. */
static void convert(mpfr_t *x, const kc_buffer *b, int64_t first, int64_t step) {
  const kc_format *f = kc_buffer_format(b);
  for (int k = 0; k < K; k++)
    mpfr_set_d(x[k], kc_decode(f, kc_load(f, kc_buffer_cdata(b), (size_t)(first + k * step))), MPFR_RNDN);
}

/* Seconds of mpfr_dot for SAMPLED elements; the conversions are not counted. Each result must lie within the bounds. */
static double by_mpfr(const kc_buffer *const *in, const kc_enclosure *e) {
  static mpfr_t x[K], y[K];
  static mpfr_ptr px[K], py[K];
  mpfr_t r;
  double seconds = 0;
  for (int k = 0; k < K; k++) {
    mpfr_inits2(kc_buffer_format(in[0])->frac_bits + 1, x[k], y[k], (mpfr_ptr)0);
    px[k] = x[k];
    py[k] = y[k];
  }
  mpfr_init2(r, 53);
  for (int s = 0; s < SAMPLED; s++) {
    int64_t i = s * 7 % M, j = s * 13 % N;
    convert(x, in[0], i * K, 1);
    convert(y, in[1], j, N);
    double started = now();
    mpfr_dot(r, px, py, K, MPFR_RNDN);
    seconds += now() - started;
    if (mpfr_cmp_d(r, e->lo[i * N + j]) < 0 || mpfr_cmp_d(r, e->hi[i * N + j]) > 0) printf("element %d differs\n", s);
  }
  mpfr_clear(r);
  for (int k = 0; k < K; k++) mpfr_clears(x[k], y[k], (mpfr_ptr)0);
  return seconds;
}

static void row(const char *format) {
  const kc_buffer *in[2] = {operand(format, M, K, 1), operand(format, K, N, 2)};
  kc_enclosure e = {0};
  double ours[ROUNDS], theirs[ROUNDS];
  char name[80];
  certified(in, &e); /* loads OpenBLAS */
  for (int i = 0; i < ROUNDS; i++) {
    ours[i] = certified(in, &e) / ((double)M * N * K);
    theirs[i] = by_mpfr(in, &e) / ((double)SAMPLED * K);
  }
  double our = median(ours, ROUNDS), their = median(theirs, ROUNDS);
  snprintf(name, sizeof name, "mpfr_dot / certified matmul of %s", format);
  printf("%-52s %10.3g %-6s %s  (%.3f ns a term against %.1f on one core)\n", name, their / our, "times", ">= 100", our * 1e9,
         their * 1e9);
  kc_enclosure_clear(&e);
  for (int o = 0; o < 2; o++) kc_buffer_release((kc_buffer *)(uintptr_t)in[o]);
}

int main(int argc, char **argv) {
  static const char *const formats[] = {"e4m3fn", "bf16", "f16", "f32", "f64"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (argc < 2 || strcmp(argv[1], formats[i]) == 0) row(formats[i]);
  }
  return 0;
}
