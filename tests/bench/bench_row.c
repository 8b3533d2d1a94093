/* bench_row.c - certified row functions against a plain softmax in doubles, alternating in one run: how many times slower. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "exact.h"

enum { COUNT = 1 << 20, ROUNDS = 5 };

/* The stable algorithm: maximum, exponentials and their sum, division. */
static void plain_row(double *out, const float *x, int64_t n) {
  double most = -(double)INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) most = (double)x[i] > most ? (double)x[i] : most;
  for (int64_t i = 0; i < n; i++) sum += out[i] = exp((double)x[i] - most);
  for (int64_t i = 0; i < n; i++) out[i] /= sum;
}

static double plain(double *out, const kc_buffer *x, int64_t n) {
  const float *data = kc_buffer_cdata(x);
  double begin = now();
  for (int64_t i = 0; i < COUNT; i += n) plain_row(out + i, data + i, n);
  return now() - begin;
}

/* Opening and closing included, the enclosure's memory not. */
static double certified(const kc_tensor_oracle *o, const kc_buffer *x) {
  const kc_buffer *inputs[2] = {x, x};
  kc_oracle_params p = {.axis = -1, .epsilon = 1e-5};
  kc_enclosure e;
  kc_text err;
  void *state;
  int64_t count;
  double begin = now();
  if (o->open(&state, &count, inputs, o->least, &p, &err) != KC_OK || kc_enclosure_create(&e, count) != KC_OK) exit(1);
  if (o->eval(state, &e, &err) != KC_OK) exit(1);
  o->close(state);
  double spent = now() - begin;
  kc_enclosure_clear(&e);
  return spent;
}

static void row(const char *name, const kc_buffer *x, double *out, const char *target) {
  int64_t n = kc_buffer_shape(x)[1];
  double plains[ROUNDS], ours[ROUNDS];
  for (int k = 0; k < ROUNDS; k++) {
    plains[k] = plain(out, x, n);
    ours[k] = certified(kc_tensor_oracle_find(name), x);
  }
  double base = median(plains, ROUNDS), spent = median(ours, ROUNDS);
  printf("%-12s %6lld rows of %-8lld / plain softmax %8.3g times %-6s (%.0f and %.1f ns an element)\n", name,
         (long long)(COUNT / n), (long long)n, spent / base, target, spent / COUNT * 1e9, base / COUNT * 1e9);
}

int main(void) {
  static const char *const names[] = {"softmax", "log_softmax", "logsumexp", "sum", "dot", "cumsum", "variance", "layernorm"};
  const kc_dist normal = {.kind = KC_DIST_NORMAL, .a = 0, .b = 1};
  double *out = malloc(COUNT * sizeof *out);
  kc_text err;
  if (!out) return 1;
  for (int64_t n = 1024; n <= COUNT; n *= 1024) {
    kc_buffer *x;
    if (kc_buffer_create(&x, kc_format_find("f32"), 2, (int64_t[]){COUNT / n, n}, 4096, &err) != KC_OK) return 1;
    if (kc_fill(kc_buffer_format(x), kc_buffer_data(x), COUNT, 0, 1, &normal, &err) != KC_OK) return 1;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) row(names[k], x, out, k ? "" : "< 100");
    kc_buffer_release(x);
  }
  free(out);
  return 0;
}
