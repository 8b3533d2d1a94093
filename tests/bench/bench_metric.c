/* bench_metric.c - ulp comparison of two f32 buffers against merely reading them, with the same threads, alternating in one run. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "kc.h"
#include "parallel.h"

enum { N = 32 << 20, ROUNDS = 9, GRAIN = 1 << 16 };

typedef struct reading {
  const uint32_t *a, *b;
  uint64_t sums[KC__MAX_WORKERS];
} reading;

static void read_range(void *user, int worker, int64_t begin, int64_t end) {
  reading *r = user;
  uint32_t sum = 0;
  for (int64_t i = begin; i < end; i++) sum += r->a[i] + r->b[i];
  r->sums[worker] += sum;
}

/* b is a, with every element moved by 0 to `spread` - 1 numbers. */
static void prepare(const kc_buffer *a, kc_buffer *b, uint32_t spread) {
  const uint32_t *from = kc_buffer_cdata(a);
  uint32_t *to = kc_buffer_data(b);
  for (int64_t i = 0; i < N; i++) to[i] = from[i] + (spread ? (uint32_t)(i * 2654435761u >> 8) % spread : 0);
}

static void row(const char *name, const kc_buffer *a, const kc_buffer *b) {
  const kc_metric *ulp = kc_metric_find("ulp");
  reading r = {.a = kc_buffer_cdata(a), .b = kc_buffer_cdata(b)};
  double reads[ROUNDS], compares[ROUNDS];
  kc_summary s;
  for (int k = 0; k < ROUNDS; k++) {
    double t0 = now();
    kc__parallel_for(N, GRAIN, read_range, &r);
    double t1 = now();
    if (kc_metric_run(&s, ulp, a, b, NULL, NULL, NULL) != KC_OK) exit(1);
    reads[k] = t1 - t0;
    compares[k] = now() - t1;
  }
  double read = median(reads, ROUNDS), compared = median(compares, ROUNDS);
  printf("%-52s %10.3g %-6s %s  (%.2f ns an element, max %.0f)\n", name, read / compared, "of it", ">= 0.5", compared / N * 1e9,
         s.max);
}

int main(void) {
  const int64_t shape[1] = {N};
  kc_buffer *a, *b;
  kc_text err;
  kc_dist normal = {.kind = KC_DIST_UNIFORM, .a = 1, .b = 2};
  if (kc_buffer_create(&a, kc_format_find("f32"), 1, shape, 4096, &err) != KC_OK) return 1;
  if (kc_buffer_create(&b, kc_format_find("f32"), 1, shape, 4096, &err) != KC_OK) return 1;
  if (kc_fill(kc_buffer_format(a), kc_buffer_data(a), N, 0, 1, &normal, &err) != KC_OK) return 1;
  const struct {
    const char *name;
    uint32_t spread;
  } cases[] = {{"ulp / reading, equal buffers", 0},
               {"ulp / reading, 0 to 3 ulp apart", 4},
               {"ulp / reading, 0 to 2^20 ulp apart", 1 << 20}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    prepare(a, b, cases[i].spread);
    row(cases[i].name, a, b);
  }
  kc_buffer_release(a);
  kc_buffer_release(b);
  return 0;
}
