/* diff_vector.c - decoding a block and bounding its errors. Numbers >= 0 compare as their bits do, and integers vectorise; the highest
 * bit of a double is its sign. */
#include "diff_vector.h"

#include "integers.h"
#include "metric/metric.h"

/* Built for these too; the same bits come out. Without an fma instruction the library's is called. */
#define KC__VECTOR __attribute__((target_clones("avx2", "default")))
#define KC__FMA __attribute__((target_clones("fma", "default")))

KC__VECTOR static void widen_f32(double *restrict out, const float *restrict in, int n) {
  for (int k = 0; k < n; k++) out[k] = (double)in[k];
}

static bool is_f32(const kc_format *f) {
  return f->kind == KC_FLOAT && f->bits == 32;
}

void kc__diff_decode(const kc_format *f, double *out, const char *in, int n) {
  if (is_f32(f)) {
    widen_f32(out, (const float *)(const void *)in, n);
  } else if (f->kind == KC_FLOAT) {
    kc_decode_array(f, out, in, (size_t)n);
  } else {
    for (int k = 0; k < n; k++) {
      uint64_t code = kc_load(f, in, (size_t)k);
      out[k] = f->kind == KC_UINT ? (double)code : (double)kc__index_value(f, code);
    }
  }
}

static inline int64_t bits_of(double x) {
  return (int64_t)kc__bits_of(x);
}

/* All ones or zero. */
static inline int64_t mask(bool condition) {
  return -(int64_t)condition;
}

/* What is compared with: bits of the absolute limit, the relative one, and whether that one is finite. */
typedef struct limits {
  int64_t edge, relative;
  double r;
} limits;

static inline limits limits_of(double a, double r) {
  return (limits){bits_of(a), mask(r < KC__INF), r};
}

/* Masks of one element. With `rest` the part of x - y that was rounded off (Knuth), what remains are comparisons, and one fma, whose
 * sign is right. */
static inline __attribute__((always_inline)) void weigh(double x, double y, limits l, int64_t *above, int64_t *ask) {
  double s = x - y, t = s - x, rest = (x - (s - t)) - (y + t), unit = __builtin_fabs(y);
  int64_t h = bits_of(__builtin_fabs(s)), excess = bits_of(__builtin_fma(l.r, unit, -__builtin_fabs(s))) >> 63;
  int64_t inexact = mask(bits_of(__builtin_fabs(rest)) != 0), near = mask(h >= bits_of(l.r * unit * (1 - 0x1p-48)));
  int64_t unsure = l.relative & mask(h != 0) & ((inexact & near) | mask(h < bits_of(KC__RESIDUAL_SAFE)));
  *above = mask(h > l.edge) | (l.relative & mask(h != 0) & excess & ~unsure);
  *ask = unsure | (inexact & mask(h == l.edge));
}

KC__FMA bool kc__diff_any(const double *restrict x, const double *restrict y, int n, double a, double r) {
  int64_t hit = 0, above, ask;
  limits l = limits_of(a, r);
  for (int k = 0; k < n; k++) {
    weigh(x[k], y[k], l, &above, &ask);
    hit |= above | ask;
  }
  return hit != 0;
}

KC__FMA void kc__diff_flag(uint8_t *restrict flags, const double *restrict x, const double *restrict y, int n, double a,
                           double r) {
  int64_t above, ask;
  limits l = limits_of(a, r);
  for (int k = 0; k < n; k++) {
    weigh(x[k], y[k], l, &above, &ask);
    flags[k] = (uint8_t)((above & KC__DIFF_ABOVE) | (ask & KC__DIFF_ASK));
  }
}

/* A float a little below a limit, so that rounded errors of f32 that exceed the limit reach the float; never infinite. */
static float below(double limit) {
  double x = fmin(limit, (double)FLT_MAX) * (1 - 0x1p-20);
  float f = (float)x;
  return (double)f > x ? nextafterf(f, 0) : f;
}

static inline int32_t bits_of_f32(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

KC__VECTOR static bool reach_f32(const float *restrict x, const float *restrict y, int n, float a, float r) {
  int32_t hit = 0, edge = bits_of_f32(a);
  for (int k = 0; k < n; k++) {
    int32_t h = bits_of_f32(__builtin_fabsf(x[k] - y[k])), product = bits_of_f32(r * __builtin_fabsf(y[k]));
    hit |= -(int32_t)(h > 0) & (-(int32_t)(h >= edge) | -(int32_t)(h >= product));
  }
  return hit != 0;
}

bool kc__diff_reach(const kc_format *f, const char *got, const char *ref, int n, double a, double r) {
  if (!is_f32(f)) return true;
  return reach_f32((const float *)(const void *)got, (const float *)(const void *)ref, n, below(a), below(r));
}
