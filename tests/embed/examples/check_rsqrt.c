/* check_rsqrt.c - a unit test of a kernel of one's own with the numbers of kc.h alone: 1 / sqrt(x), against the certified oracle, within
 * 2 ulp of f32 (two roundings, half an ulp each, and the first one carried on). No process is started, no Lua runs.
 *
 *   cc check_rsqrt.c $(pkg-config --cflags --libs kc) -lm && ./a.out
 */
#include <kc/kc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096 };

/* What is tested: one that is right, and the trick of 1999, which is not. */
static void rsqrt(float *y, const float *x, int n) {
  for (int i = 0; i < n; i++) y[i] = 1.0f / sqrtf(x[i]);
}

static void rsqrt_fast(float *y, const float *x, int n) {
  for (int i = 0; i < n; i++) {
    int bits;
    float guess;
    memcpy(&bits, &x[i], sizeof bits);
    bits = 0x5f3759df - (bits >> 1);
    memcpy(&guess, &bits, sizeof guess);
    y[i] = guess * (1.5f - 0.5f * x[i] * guess * guess);
  }
}

static void must(kc_status status, const kc_text *err) {
  if (status == KC_OK) return;
  fprintf(stderr, "%s: %s\n", kc_status_name(status), err->s);
  exit(2);
}

static kc_buffer *new_tensor(void) {
  kc_text err;
  kc_buffer *b;
  const int64_t shape[] = {N};
  must(kc_buffer_create(&b, kc_format_find("f32"), 1, shape, 4096, &err), &err);
  return b;
}

/* Elements that are proven right, of N. */
static int64_t proven(void (*kernel)(float *, const float *, int), const kc_buffer *x) {
  kc_text err;
  kc_enclosure exact;
  kc_decision d;
  kc_guard_report guards;
  kc_oracle_params none = {0};
  kc_tolerance within = {.kind = KC_TOL_ULP, .value = 2.0};
  kc_buffer *y = new_tensor();
  kernel((float *)kc_buffer_data(y), (const float *)kc_buffer_cdata(x), N);
  kc_buffer_guards(y, &guards);
  must(kc_oracle_run(&exact, kc_oracle_find("rsqrt"), &x, &none, &err), &err);
  must(kc_decide(&d, y, &exact, &within, NULL, NULL, &err), &err);
  if (d.worst >= 0)
    printf("%lld of %lld within 2 ulp; worst %.3g ulp at x = %a\n", (long long)d.value_yes, (long long)d.count,
           2 * d.worst_ratio_hi, (double)((const float *)kc_buffer_cdata(x))[d.worst]);
  kc_enclosure_clear(&exact);
  kc_buffer_release(y);
  return guards.damaged ? -1 : d.value_yes;
}

int main(void) {
  kc_text err;
  kc_buffer *x = new_tensor();
  kc_dist any_exponent = {.kind = KC_DIST_LOG_UNIFORM, .a = -126, .b = 127, .c = 1};
  must(kc_fill(kc_buffer_format(x), kc_buffer_data(x), N, 0, 42, &any_exponent, &err), &err);
  int64_t right = proven(rsqrt, x), wrong = proven(rsqrt_fast, x);
  kc_buffer_release(x);
  return right == N && wrong < N ? 0 : 1;
}
