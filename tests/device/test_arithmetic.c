/* test_arithmetic.c - what kernels compute with the dialect's words, on every backend that is present: contraction,
 * denormals, narrow formats, mathematics, constants. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* x * x + y is 0 when rounded twice, 2^-24 when fused: x = 1 + 2^-12, x * x = 1 + 2^-11 + 2^-24. */
Test(arithmetic, contraction_happens_only_when_allowed) {
  static const char source[] = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) { x[2] = x[0] * x[0] + x[1]; }\n";
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("f32", 3);
    memcpy(kc_buffer_data(x), (float[]){0x1.001p0f, -0x1.002p0f, 9}, 12);
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = "x:f32[]"});
    LAUNCH(&r, k, LINE(1, 1), BUFFER(x));
    cr_expect_eq(((const float *)kc_buffer_cdata(x))[2], 0.0f, "%s contracts by default", r.v->name);
    r.v->unload(r.d, k);
    k = rig_kernel(&r, (recipe){.source = source, .signature = "x:f32[]", .options = {.contract = true}});
    LAUNCH(&r, k, LINE(1, 1), BUFFER(x));
    float got = ((const float *)kc_buffer_cdata(x))[2];
    cr_expect(got == 0.0f || got == 0x1p-24f, "%s: %a", r.v->name, (double)got);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
  }
}

Test(arithmetic, denormals_are_kept_unless_flushed) {
  static const char source[] = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) { x[1] = x[0] * 0.5f; }\n";
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("f32", 2);
    for (int flush = 0; flush < 2; flush++) {
      memcpy(kc_buffer_data(x), (float[]){0x1p-126f, 9}, 8);
      kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = "x:f32[]", .options = {.flush = flush}});
      kc_launch_record record = LAUNCH(&r, k, LINE(1, 1), BUFFER(x));
      cr_expect(!record.fp_changed, "%s", record.evidence);
      cr_expect_eq(((const float *)kc_buffer_cdata(x))[1], flush ? 0.0f : 0x1p-127f, "%s, flush %d", r.v->name, flush);
      r.v->unload(r.d, k);
    }
    kc_buffer_release(x);
  }
}

/* Decoders against the table of formats, over every code. */
static void check_decoder(rig *r, const char *format) {
  const kc_format *f = kc_format_find(format);
  char source[300], signature[64];
  int64_t n = (int64_t)1 << f->bits;
  snprintf(source, sizeof source,
           "KC_KERNEL void k(KC_GLOBAL const kc_u%d *x, KC_GLOBAL kc_f32 *y) { y[kc_gid(0)] = kc_%s_to_f32(x[kc_gid(0)]); }\n",
           f->bits, format);
  snprintf(signature, sizeof signature, "x:%s[] y:f32[]", format);
  kc_buffer *x = rig_buffer(format, n), *y = rig_buffer("f32", n);
  for (int64_t i = 0; i < n; i++) kc_store(f, kc_buffer_data(x), (size_t)i, (uint64_t)i);
  kc_drv_kernel *k = rig_kernel(r, (recipe){.source = source, .signature = signature});
  LAUNCH(r, k, LINE((uint32_t)(n / 64), 64), BUFFER(x), BUFFER(y));
  for (int64_t i = 0; i < n; i++) {
    double want = kc_decode(f, (uint64_t)i), got = (double)((const float *)kc_buffer_cdata(y))[i];
    cr_expect(isnan(want) ? isnan(got) : want == got && signbit(want) == signbit(got), "%s: code %llx is %a, got %a", format,
              (unsigned long long)i, want, got);
  }
  r->v->unload(r->d, k);
  kc_buffer_release(x);
  kc_buffer_release(y);
}

/* Encoders against the one of the host: the neighbourhood of every code, ties, limits, and bits at large. */
static void check_encoder(rig *r, const char *format, const char *suffix, bool saturate) {
  const kc_format *f = kc_format_find(format), *f32 = kc_format_find("f32");
  const kc_encoding e = {.rounding = KC_RNE, .saturate = saturate};
  char source[300], signature[64];
  enum { N = 1 << 16 };
  snprintf(
      source, sizeof source,
      "KC_KERNEL void k(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_u%d *y) { y[kc_gid(0)] = kc_f32_to_%s%s(x[kc_gid(0)]); }\n",
      f->bits, format, suffix);
  snprintf(signature, sizeof signature, "x:f32[] y:%s[]", format);
  kc_buffer *x = rig_buffer("f32", N), *y = rig_buffer(format, N);
  uint32_t *bits = kc_buffer_data(x);
  for (uint32_t i = 0; i < N; i++) {
    uint64_t code = i % ((uint32_t)1 << f->bits);
    double half = (kc_decode(f, code) + kc_decode(f, code ^ 1)) / 2;
    bits[i] = (uint32_t)kc_encode(f32, half, &(kc_encoding){.rounding = KC_RNE}) + (i >> 8) % 3 - 1;
    if (i % 4 == 3) bits[i] = i * 2654435761u;
  }
  memcpy(bits, (uint32_t[]){0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7f7fffffu, 0x7fc00000u, 0x00000001u, 0x007fffffu}, 32);
  kc_drv_kernel *k = rig_kernel(r, (recipe){.source = source, .signature = signature});
  LAUNCH(r, k, LINE(N / 64, 64), BUFFER(x), BUFFER(y));
  for (size_t i = 0; i < N; i++) {
    uint64_t want = kc_encode(f, kc_decode(f32, bits[i]), &e), got = kc_load(f, kc_buffer_cdata(y), i);
    cr_expect_eq(got, want, "%s%s: f32 bits %08x must be %llx, got %llx", format, suffix, bits[i], (unsigned long long)want,
                 (unsigned long long)got);
  }
  r->v->unload(r->d, k);
  kc_buffer_release(x);
  kc_buffer_release(y);
}

Test(arithmetic, narrow_formats_have_the_hosts_bits) {
  static const char *const formats[] = {"f16", "bf16", "e5m2", "e4m3fn", NULL};
  for (rig r = {0}; rig_next(&r);) {
    for (int i = 0; formats[i]; i++) {
      check_decoder(&r, formats[i]);
      check_encoder(&r, formats[i], "", false);
    }
    check_encoder(&r, "e5m2", "_sat", true);
    check_encoder(&r, "e4m3fn", "_sat", true);
  }
}

/* Words of mathematics at points whose result is exact on every sound implementation. */
Test(arithmetic, mathematics_by_name) {
  static const struct {
    const char *call;
    double want;
  } cases[] = {{"kc_exp(z)", 1},
               {"kc_exp2(3 * o)", 8},
               {"kc_expm1(z)", 0},
               {"kc_log(o)", 0},
               {"kc_log2(8 * o)", 3},
               {"kc_log10(o)", 0},
               {"kc_log1p(z)", 0},
               {"kc_sqrt(9 * o)", 3},
               {"kc_cbrt(z)", 0},
               {"kc_rsqrt(4 * o)", 0.5},
               {"kc_sin(z)", 0},
               {"kc_cos(z)", 1},
               {"kc_tan(z)", 0},
               {"kc_asin(z)", 0},
               {"kc_acos(o)", 0},
               {"kc_atan(z)", 0},
               {"kc_sinh(z)", 0},
               {"kc_cosh(z)", 1},
               {"kc_tanh(z)", 0},
               {"kc_asinh(z)", 0},
               {"kc_acosh(o)", 0},
               {"kc_atanh(z)", 0},
               {"kc_erf(z)", 0},
               {"kc_erfc(z)", 1},
               {"kc_tgamma(o)", 1},
               {"kc_lgamma(o)", 0},
               {"kc_floor(h)", -3},
               {"kc_ceil(h)", -2},
               {"kc_trunc(h)", -2},
               {"kc_rint(h)", -2},
               {"kc_round(h)", -3},
               {"kc_abs(h)", 2.5},
               {"kc_pow(2 * o, 3 * o)", 8},
               {"kc_fmod(7 * o, 4 * o)", 3},
               {"kc_remainder(7 * o, 4 * o)", -1},
               {"kc_hypot(3 * o, 4 * o)", 5},
               {"kc_atan2(z, o)", 0},
               {"kc_copysign(o, h)", -1},
               {"kc_fdim(o, h)", 3.5},
               {"kc_fmax(h, o)", 1},
               {"kc_fmin(h, o)", -2.5},
               {"kc_fma(h, h, o)", 7.25},
               {"kc_ldexp(o, 3)", 8},
               {"kc_isnan(z / z)", 1},
               {"kc_isnan(o)", 0},
               {"kc_isinf(o / z)", 1},
               {"kc_isinf(h)", 0},
               {"kc_isfinite(h)", 1},
               {"kc_isfinite(o / z)", 0},
               {"kc_signbit(h)", 1},
               {"kc_signbit(o)", 0},
               {"kc_max_i32(-3, 2)", 2},
               {"kc_min_i32(-3, 2)", -3},
               {"kc_abs_i32(-3)", 3},
               {"kc_nextafter(o, o)", 1}};
  static const char *const types[] = {"f32", "f64"};
  for (rig r = {0}; rig_next(&r);)
    for (int t = 0; t < 2; t++) {
      char source[8000], signature[64];
      int n = (int)(sizeof cases / sizeof *cases), at = 0;
      at += snprintf(source, sizeof source, "KC_KERNEL void k(KC_GLOBAL kc_f64 *y, kc_%s z, kc_%s o, kc_%s h) {\n", types[t],
                     types[t], types[t]);
      for (int i = 0; i < n; i++)
        at += snprintf(source + at, sizeof source - (size_t)at, "  y[%d] = (kc_f64)%s;\n", i, cases[i].call);
      snprintf(source + at, sizeof source - (size_t)at, "}\n");
      snprintf(signature, sizeof signature, "y:f64[] z:%s o:%s h:%s", types[t], types[t], types[t]);
      kc_buffer *y = rig_buffer("f64", n);
      const kc_format *f = kc_format_find(types[t]);
      const kc_encoding e = {.rounding = KC_RNE};
      kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = signature});
      LAUNCH(&r, k, LINE(1, 1), BUFFER(y), CODE(kc_encode(f, 0, &e)), CODE(kc_encode(f, 1, &e)), CODE(kc_encode(f, -2.5, &e)));
      for (int i = 0; i < n; i++)
        cr_expect_eq(((const double *)kc_buffer_cdata(y))[i], cases[i].want, "%s in %s on %s: %a", cases[i].call, types[t],
                     r.v->name, ((const double *)kc_buffer_cdata(y))[i]);
      r.v->unload(r.d, k);
      kc_buffer_release(y);
    }
}

Test(arithmetic, constants_have_their_bits) {
  static const char source[] =
      "KC_TABLE kc_f32 weights[3] = {0.25f, 0.5f, 1.0f};\n"
      "KC_KERNEL void k(KC_GLOBAL kc_u32 *u, KC_GLOBAL kc_u64 *w, KC_GLOBAL kc_f32 *f) {\n"
      "  u[0] = kc_bits_of_f32(KC_INFINITY_F32); u[1] = kc_bits_of_f32(KC_NAN_F32); u[2] = kc_bits_of_f32(KC_MAX_F32);\n"
      "  u[3] = kc_bits_of_f32(KC_MIN_F32); u[4] = kc_bits_of_f32(KC_EPSILON_F32);\n"
      "  w[0] = kc_bits_of_f64(KC_INFINITY_F64); w[1] = kc_bits_of_f64(KC_NAN_F64); w[2] = kc_bits_of_f64(KC_MAX_F64);\n"
      "  w[3] = kc_bits_of_f64(KC_MIN_F64); w[4] = kc_bits_of_f64(KC_EPSILON_F64);\n"
      "  for (kc_i32 i = 0; i < 3; i++) f[i] = weights[i];\n}\n";
  const double u_want[] = {HUGE_VAL, __builtin_nan(""), 0x1.fffffep127, 0x1p-126, 0x1p-23};
  const double w_want[] = {HUGE_VAL, __builtin_nan(""), 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-52};
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *u = rig_buffer("u32", 5), *w = rig_buffer("u64", 5), *f = rig_buffer("f32", 3);
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = "u:u32[] w:u64[] f:f32[]"});
    LAUNCH(&r, k, LINE(1, 1), BUFFER(u), BUFFER(w), BUFFER(f));
    const float *uf = kc_buffer_cdata(u), *ff = kc_buffer_cdata(f);
    const double *wf = kc_buffer_cdata(w);
    for (int i = 0; i < 5; i++) {
      cr_expect(isnan(u_want[i]) ? isnan((double)uf[i]) : (double)uf[i] == u_want[i], "f32 constant %d", i);
      cr_expect(isnan(w_want[i]) ? isnan(wf[i]) : wf[i] == w_want[i], "f64 constant %d", i);
    }
    cr_expect(ff[0] == 0.25f && ff[1] == 0.5f && ff[2] == 1.0f);
    r.v->unload(r.d, k);
    kc_buffer_release(u);
    kc_buffer_release(w);
    kc_buffer_release(f);
  }
}
