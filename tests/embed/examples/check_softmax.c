/* check_softmax.c - a unit test of a kernel that has no oracle in C: softmax, against kc's certified one, through a kc_embed.
 *
 *   cc check_softmax.c $(pkg-config --cflags --libs kc) -lm && ./a.out
 */
#include <kc/kc_embed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, COLUMNS = 64 };

/* What is tested: with the largest element subtracted, and without, which overflows. */
static void softmax(float *y, const float *x, int n, int stable) {
  float most = x[0], sum = 0.0f;
  for (int i = 1; i < n; i++)
    if (x[i] > most) most = x[i];
  for (int i = 0; i < n; i++) sum += y[i] = expf(stable ? x[i] - most : x[i]);
  for (int i = 0; i < n; i++) y[i] /= sum;
}

static void must(kc_status status, const kc_text *err) {
  if (status == KC_OK) return;
  fprintf(stderr, "%s: %s\n", kc_status_name(status), err->s);
  exit(2);
}

static kc_buffer *new_tensor(void) {
  kc_text err;
  kc_buffer *b;
  const int64_t shape[] = {ROWS, COLUMNS};
  must(kc_buffer_create(&b, kc_format_find("f32"), 2, shape, 4096, &err), &err);
  return b;
}

static int held(kc_embed *kc, const kc_buffer *x, int stable) {
  kc_text err;
  kc_decision d;
  kc_buffer *y = new_tensor();
  kc_input input = {"x", x};
  kc_tolerance within = {.kind = KC_TOL_REL, .value = 1e-5};
  for (int row = 0; row < ROWS; row++)
    softmax((float *)kc_buffer_data(y) + row * COLUMNS, (const float *)kc_buffer_cdata(x) + row * COLUMNS, COLUMNS, stable);
  must(kc_embed_decide(&d, kc, y, "kc.oracle.softmax('x', { axis = -1 })", &input, 1, &within, &err), &err);
  printf("%s: %lld elements right, %lld wrong, %lld of a wrong class\n", stable ? "stable" : "naive", (long long)d.value_yes,
         (long long)d.value_no, (long long)d.class_no);
  kc_buffer_release(y);
  return d.class_yes == d.count && d.value_yes == d.count;
}

int main(void) {
  kc_text err;
  kc_embed *kc;
  kc_buffer *x = new_tensor();
  kc_dist wide = {.kind = KC_DIST_UNIFORM, .a = 80, .b = 100};
  must(kc_embed_open(&kc, NULL, &err), &err);
  must(kc_fill(kc_buffer_format(x), kc_buffer_data(x), ROWS * COLUMNS, 0, 42, &wide, &err), &err);
  int right = held(kc, x, 1), wrong = held(kc, x, 0);
  kc_buffer_release(x);
  kc_embed_close(kc);
  return right && !wrong ? 0 : 1;
}
