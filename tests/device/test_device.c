/* test_device.c - the suite that every backend must pass, run on each one that is present. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

Test(device, every_row_of_the_table_is_complete) {
  kc_text err;
  for (int i = 0; kc_drivers[i]; i++) cr_expect_eq(kc_driver_check(kc_drivers[i], &err), KC_OK, "row %d: %s", i, err.s);
}

/* One line for each backend that this machine lacks, and how many they are: a suite that skips must not look like one that passes. */
Test(device, what_is_skipped_is_said) {
  int present = 0, absent = 0;
  for (int i = 0; kc_drivers[i]; i++) {
    kc_text why;
    if (kc_driver_probe(kc_drivers[i], &why) > 0) {
      present++;
      continue;
    }
    absent++;
    cr_expect(why.s[0], "%s is absent without a reason", kc_drivers[i]->name);
    fprintf(stderr, "skipped: the suite of devices on %s: %s\n", kc_drivers[i]->name, why.s);
  }
  fprintf(stderr, "the suite of devices runs on %d backends and is skipped on %d\n", present, absent);
  cr_expect(present > 0);
}

Test(device, fingerprint_names_the_device) {
  for (rig r = {0}; rig_next(&r);) {
    kc_fingerprint f;
    r.v->describe(r.d, &f);
    cr_expect(f.name[0] && f.driver[0] && f.arch[0], "%s: name '%s' driver '%s' arch '%s'", r.v->name, f.name, f.driver,
              f.arch);
  }
}

Test(device, opening_what_is_not_there_fails) {
  for (rig r = {0}; rig_next(&r);) {
    kc_drv_device *other;
    kc_text err;
    cr_expect_eq(kc_driver_open(&other, r.v, 9999, &err), KC_ENODEV, "%s", r.v->name);
    cr_expect(err.s[0]);
  }
}

Test(device, memory_moves_both_ways_and_has_an_end) {
  for (rig r = {0}; rig_next(&r);) {
    kc_mem m;
    kc_text err;
    char in[100], out[100] = {0};
    for (int i = 0; i < 100; i++) in[i] = (char)(i * 7 + 3);
    cr_assert_eq(r.v->alloc(&m, r.d, 100, &err), KC_OK);
    cr_expect_eq(r.v->write(r.d, m, 0, in, 100, &err), KC_OK);
    cr_expect_eq(r.v->write(r.d, m, 40, in, 10, &err), KC_OK);
    cr_expect_eq(r.v->read(r.d, out, m, 10, 90, &err), KC_OK);
    cr_expect_eq(memcmp(out, in + 10, 30), 0);
    cr_expect_eq(memcmp(out + 30, in, 10), 0);
    cr_expect_eq(memcmp(out + 40, in + 50, 50), 0);
    cr_expect_eq(r.v->write(r.d, m, 96, in, 5, &err), KC_EINVAL);
    cr_expect_eq(r.v->read(r.d, out, m, 101, 0, &err), KC_EINVAL);
    cr_expect_eq(r.v->read(r.d, out, m, SIZE_MAX, 8, &err), KC_EINVAL);
    cr_expect_eq(r.v->read(r.d, out, m, 100, 0, &err), KC_OK);
    r.v->free(r.d, m);
    cr_expect_eq(r.v->alloc(&m, r.d, (size_t)1 << 60, &err), KC_ENOMEM, "%s", r.v->name);
  }
}

/* The words of the dialect that carry each format in memory. */
static const struct {
  const char *format, *type;
} carriers[] = {{"f64", "kc_f64"}, {"f32", "kc_f32"},   {"tf32", "kc_f32"},    {"hf32", "kc_f32"}, {"bf16", "kc_u16"},
                {"f16", "kc_u16"}, {"e4m3fn", "kc_u8"}, {"e4m3fnuz", "kc_u8"}, {"e5m2", "kc_u8"},  {"e5m2fnuz", "kc_u8"},
                {"e3m2", "kc_u8"}, {"e2m3", "kc_u8"},   {"e2m1", "kc_u8"},     {"e8m0", "kc_u8"},  {"i8", "kc_i8"},
                {"i16", "kc_i16"}, {"i32", "kc_i32"},   {"i64", "kc_i64"},     {"u8", "kc_u8"},    {"u16", "kc_u16"},
                {"u32", "kc_u32"}, {"u64", "kc_u64"}};

Test(device, every_format_is_carried) {
  size_t n = sizeof carriers / sizeof *carriers;
  cr_assert_null(kc_format_at(n), "a format without a row here");
  for (rig r = {0}; rig_next(&r);)
    for (size_t i = 0; i < n; i++) {
      char source[400], signature[64];
      const kc_format *f = kc_format_find(carriers[i].format);
      snprintf(source, sizeof source,
               "KC_KERNEL void k(KC_GLOBAL const %s *x, KC_GLOBAL %s *y, %s s) {\n"
               "  kc_i32 i = kc_gid(0);\n  y[i] = i < 4 ? x[i] : s;\n}\n",
               carriers[i].type, carriers[i].type, carriers[i].type);
      snprintf(signature, sizeof signature, "x:%s[] y:%s[] s:%s", f->name, f->name, f->name);
      kc_buffer *x = rig_buffer(f->name, 4), *y = rig_buffer(f->name, 5);
      uint64_t mask = f->bits == 64 ? UINT64_MAX : ((uint64_t)1 << f->bits) - 1;
      for (size_t j = 0; j < 4; j++) kc_store(f, kc_buffer_data(x), j, f->max_code >> j & mask);
      kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = signature});
      LAUNCH(&r, k, LINE(5, 1), BUFFER(x), BUFFER(y), CODE(f->max_code));
      for (size_t j = 0; j < 5; j++)
        cr_expect_eq(kc_load(f, kc_buffer_cdata(y), j), (j < 4 ? f->max_code >> j : f->max_code) & mask,
                     "%s on %s, element %zu", f->name, r.v->name, j);
      r.v->unload(r.d, k);
      kc_buffer_release(x);
      kc_buffer_release(y);
    }
}

Test(device, arguments_keep_their_order_and_kind) {
  static const char source[] =
      "KC_KERNEL void k(kc_i8 a, KC_GLOBAL kc_f64 *out, kc_u64 b, kc_f32 c, kc_i64 d, kc_u16 e, kc_f64 f) {\n"
      "  out[0] = a; out[1] = (kc_f64)(b >> 32); out[2] = c; out[3] = (kc_f64)d; out[4] = e; out[5] = f;\n}\n";
  static const double want[] = {-7, 0xfedcba98, 1.5, -5000000000.0, 65535, -0.1};
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *out = rig_buffer("f64", 6);
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = "a:i8 out:f64[] b:u64 c:f32 d:i64 e:u16 f:f64"});
    double f = -0.1;
    uint64_t f_code;
    memcpy(&f_code, &f, 8);
    LAUNCH(&r, k, LINE(1, 1), CODE(-7 & 0xff), BUFFER(out), CODE(0xfedcba9876543210u), CODE(0x3fc00000u), CODE(-5000000000),
           CODE(65535), CODE(f_code));
    for (int i = 0; i < 6; i++)
      cr_expect_eq(((const double *)kc_buffer_cdata(out))[i], want[i], "%s: argument %d arrived as %a", r.v->name, i,
                   ((const double *)kc_buffer_cdata(out))[i]);
    r.v->unload(r.d, k);
    kc_buffer_release(out);
  }
}

/* Every work-item writes where it believes to be; the loops here know where it must be. */
static void check_geometry(rig *r, geometry g) {
  static const char source[] =
      "KC_KERNEL void k(KC_GLOBAL kc_i32 *out) {\n"
      "  kc_i32 at = (kc_gid(2) * kc_gsize(1) + kc_gid(1)) * kc_gsize(0) + kc_gid(0);\n"
      "  for (kc_i32 d = 0; d < 3; d++) {\n"
      "    out[at * 12 + d] = kc_gid(d); out[at * 12 + 3 + d] = kc_lid(d);\n"
      "    out[at * 12 + 6 + d] = kc_grp(d); out[at * 12 + 9 + d] = kc_lsize(d) * 1000 + kc_ngrp(d);\n  }\n}\n";
  uint32_t n[3], p[3];
  for (int d = 0; d < 3; d++) n[d] = g.grid[d] * g.group[d];
  kc_buffer *out = rig_buffer("i32", (int64_t)n[0] * n[1] * n[2] * 12);
  kc_drv_kernel *k = rig_kernel(r, (recipe){.source = source, .signature = "out:i32[]"});
  LAUNCH(r, k, g, BUFFER(out));
  const int32_t *at = kc_buffer_cdata(out);
  for (p[2] = 0; p[2] < n[2]; p[2]++)
    for (p[1] = 0; p[1] < n[1]; p[1]++)
      for (p[0] = 0; p[0] < n[0]; p[0]++, at += 12)
        for (int d = 0; d < 3; d++) {
          cr_expect_eq(at[d], (int32_t)p[d]);
          cr_expect_eq(at[3 + d], (int32_t)(p[d] % g.group[d]));
          cr_expect_eq(at[6 + d], (int32_t)(p[d] / g.group[d]));
          cr_expect_eq(at[9 + d], (int32_t)(g.group[d] * 1000 + g.grid[d]));
        }
  r->v->unload(r->d, k);
  kc_buffer_release(out);
}

Test(device, geometry_in_one_to_three_dimensions) {
  for (rig r = {0}; rig_next(&r);) {
    check_geometry(&r, LINE(5, 1));
    check_geometry(&r, LINE(3, 4));
    check_geometry(&r, (geometry){.grid = {2, 3, 1}, .group = {4, 2, 1}});
    check_geometry(&r, (geometry){.grid = {2, 1, 3}, .group = {2, 3, 4}});
  }
}

Test(device, nothing_runs_in_an_empty_grid) {
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *out = rig_buffer("i32", 4);
    kc_drv_kernel *k = rig_kernel(
        &r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) { x[kc_gid(0)] = 1; }", .signature = "x:i32[]"});
    LAUNCH(&r, k, LINE(0, 4), BUFFER(out));
    LAUNCH(&r, k, ((geometry){.grid = {1, 0, 1}, .group = {4, 1, 1}}), BUFFER(out));
    cr_expect_eq(kc_buffer_unwritten(out, 0, NULL), 4);
    r.v->unload(r.d, k);
    kc_buffer_release(out);
  }
}

Test(device, an_empty_buffer_can_be_passed) {
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *empty = rig_buffer("f32", 0);
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x, kc_i32 n) {\n"
                                                         "  if (kc_gid(0) < n) x[kc_gid(0)] = 1.0f;\n}",
                                               .signature = "x:f32[] n:i32"});
    LAUNCH(&r, k, LINE(1, 8), BUFFER(empty), CODE(0));
    r.v->unload(r.d, k);
    kc_buffer_release(empty);
  }
}

Test(device, functions_may_be_called_as_a_device_calls_its_own) {
  static const char source[] = "KC_FN kc_f32 exp(kc_f32 x) { return x + 1.0f; }\n"
                               "KC_FN kc_f32 clamp(kc_f32 x, kc_f32 low, kc_f32 high) { return exp(x) + low + high; }\n"
                               "KC_FN kc_i32 get_global_id(kc_i32 i) { return i; }\n"
                               "KC_KERNEL void dot(KC_GLOBAL kc_f32 *x) {\n  kc_i32 max = get_global_id(kc_gid(0));\n"
                               "  x[max] = clamp(x[max], 10.0f, 100.0f) + kc_exp(0.0f);\n}\n";
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("f32", 2);
    float *data = kc_buffer_data(x);
    data[0] = 1, data[1] = 2;
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .entry = "dot", .signature = "x:f32[]"});
    LAUNCH(&r, k, LINE(1, 2), BUFFER(x));
    data = kc_buffer_data(x);
    cr_expect(data[0] == 113 && data[1] == 114, "%s: %g and %g", r.v->name, (double)data[0], (double)data[1]);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
  }
}

/* What the kernel below does to eight numbers. */
static void turned_and_scaled(int32_t x[8], int32_t factor) {
  int32_t seen[8];
  memcpy(seen, x, sizeof seen);
  for (int i = 0; i < 8; i++) x[i] = seen[7 - i] * factor + 1;
}

/* Each on each buffer in turn; one is unloaded while the others go on. */
Test(device, kernels_of_one_device_do_not_disturb_each_other) {
  enum { KERNELS = 3, ROUNDS = 4 };
  static const char source[] = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x, kc_i32 n) {\n"
                               "  KC_LOCAL_ARRAY(kc_i32, seen, [8]);\n  kc_i32 i = kc_lid(0);\n  seen[i] = x[kc_gid(0)];\n"
                               "  kc_barrier();\n  x[kc_gid(0)] = seen[7 - i] * FACTOR + n;\n}\n";
  static const char *const defines[KERNELS] = {"FACTOR=2", "FACTOR=3", "FACTOR=5"};
  static const int32_t factors[KERNELS] = {2, 3, 5};
  for (rig r = {0}; rig_next(&r);) {
    kc_drv_kernel *k[KERNELS];
    kc_buffer *x[KERNELS];
    int32_t expected[KERNELS][8];
    for (int i = 0; i < KERNELS; i++) {
      k[i] = rig_kernel(&r, (recipe){.source = source, .signature = "x:i32[] n:i32", .options = {.defines = defines[i]}});
      x[i] = rig_buffer("i32", 8);
      for (int j = 0; j < 8; j++) ((int32_t *)kc_buffer_data(x[i]))[j] = expected[i][j] = i + j;
    }
    for (int round = 0; round < ROUNDS; round++) {
      int left = round < 2 ? KERNELS : KERNELS - 1;
      if (round == 2) r.v->unload(r.d, k[KERNELS - 1]);
      for (int i = 0; i < KERNELS; i++) {
        LAUNCH(&r, k[(i + round) % left], LINE(1, 8), BUFFER(x[i]), CODE(1));
        turned_and_scaled(expected[i], factors[(i + round) % left]);
      }
    }
    for (int i = 0; i < KERNELS; i++) {
      cr_expect_eq(memcmp(kc_buffer_data(x[i]), expected[i], sizeof expected[i]), 0, "%s: buffer %d", r.v->name, i);
      if (i < KERNELS - 1) r.v->unload(r.d, k[i]);
      kc_buffer_release(x[i]);
    }
  }
}

Test(device, groups_share_local_arrays_and_meet_at_barriers) {
  static const char source[] =
      "KC_FN kc_i32 other(kc_i32 i) { return kc_lsize(0) - 1 - i; }\n"
      "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) {\n"
      "  KC_LOCAL_ARRAY(kc_i32, tile, [64]);\n  KC_LOCAL_ARRAY(kc_i32, sums, [2][64]);\n"
      "  kc_i32 i = kc_lid(0), n = kc_lsize(0);\n"
      "  tile[i] = x[kc_gid(0)];\n  sums[0][i] = tile[i];\n  kc_barrier();\n"
      "  for (kc_i32 step = 1, from = 0; step < n; step *= 2, from = 1 - from) {\n"
      "    sums[1 - from][i] = sums[from][i] + (i >= step ? sums[from][i - step] : 0);\n    kc_barrier();\n"
      "    if (step * 2 >= n) x[kc_gid(0)] = sums[1 - from][i] * 1000 + tile[other(i)];\n  }\n}\n";
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("i32", 192);
    int32_t *data = kc_buffer_data(x);
    for (int i = 0; i < 192; i++) data[i] = i % 7;
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = "x:i32[]"});
    kc_launch_record record = LAUNCH(&r, k, LINE(3, 64), BUFFER(x));
    cr_expect(!record.divergent_barrier && !record.local_damaged && !record.fp_changed, "%s", record.evidence);
    data = kc_buffer_data(x);
    for (int g = 0; g < 3; g++)
      for (int i = 0, sum = 0; i < 64; i++) {
        sum += (g * 64 + i) % 7;
        cr_expect_eq(data[g * 64 + i], sum * 1000 + (g * 64 + 63 - i) % 7, "%s: group %d item %d", r.v->name, g, i);
      }
    r.v->unload(r.d, k);
    kc_buffer_release(x);
  }
}

Test(device, atomics_lose_nothing) {
  static const char source[] =
      "KC_KERNEL void k(KC_GLOBAL kc_i32 *x, KC_GLOBAL kc_u32 *u, KC_GLOBAL kc_f32 *f) {\n"
      "  KC_LOCAL_ARRAY(kc_i32, count, [1]);\n"
      "  kc_i32 g = kc_gid(0);\n  if (kc_lid(0) == 0) count[0] = 0;\n  kc_barrier();\n"
      "  kc_atomic_add_i32_local(&count[0], 2);\n  kc_barrier();\n"
      "  if (kc_lid(0) == 0) kc_atomic_add_i32_global(&x[0], count[0]);\n"
      "  kc_atomic_max_i32_global(&x[1], g - 100);\n  kc_atomic_min_i32_global(&x[2], g - 100);\n"
      "  kc_atomic_sub_i32_global(&x[3], 1);\n"
      "  kc_atomic_or_u32_global(&u[0], 1u << (g & 31));\n  kc_atomic_and_u32_global(&u[1], ~(1u << (g & 15)));\n"
      "  kc_atomic_xor_u32_global(&u[2], 3u);\n  kc_atomic_max_u32_global(&u[3], 0x80000000u + (kc_u32)g);\n"
      "  kc_atomic_cas_i32_global(&x[4], g, g + 1);\n  kc_atomic_add_f32_global(&f[0], 0.5f);\n"
      "  if (g == 5) { x[5] = kc_atomic_exch_i32_global(&x[6], 77); }\n}\n";
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("i32", 7), *u = rig_buffer("u32", 4), *f = rig_buffer("f32", 1);
    memcpy(kc_buffer_data(x), (int32_t[]){0, -1000, 1000, 500, 0, 0, 33}, 28);
    memcpy(kc_buffer_data(u), (uint32_t[]){0, 0xffffffffu, 0, 5}, 16);
    memcpy(kc_buffer_data(f), (float[]){0}, 4);
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = source, .signature = "x:i32[] u:u32[] f:f32[]"});
    LAUNCH(&r, k, LINE(4, 64), BUFFER(x), BUFFER(u), BUFFER(f));
    const int32_t *i = kc_buffer_cdata(x);
    const uint32_t *w = kc_buffer_cdata(u);
    cr_expect_eq(i[0], 512);
    cr_expect_eq(i[1], 155);
    cr_expect_eq(i[2], -100);
    cr_expect_eq(i[3], 500 - 256);
    cr_expect(i[4] >= 1 && i[4] <= 256, "cas left %d", i[4]);
    cr_expect_eq(i[5], 33);
    cr_expect_eq(i[6], 77);
    cr_expect_eq(w[0], 0xffffffffu);
    cr_expect_eq(w[1], 0xffff0000u);
    cr_expect_eq(w[2], 0u);
    cr_expect_eq(w[3], 0x800000ffu);
    cr_expect_eq(*(const float *)kc_buffer_cdata(f), 128.0f);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
    kc_buffer_release(u);
    kc_buffer_release(f);
  }
}

Test(device, overruns_are_seen_in_the_guards) {
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("i32", 8);
    kc_guard_report report;
    kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x, kc_i32 at) { x[at] = 5; }",
                                               .signature = "x:i32[] at:i32"});
    LAUNCH(&r, k, LINE(1, 1), BUFFER(x), CODE(7));
    kc_buffer_guards(x, &report);
    cr_expect(!report.damaged);
    LAUNCH(&r, k, LINE(1, 1), BUFFER(x), CODE(9));
    kc_buffer_guards(x, &report);
    cr_expect(report.damaged && report.after && report.offset >= 36 && report.offset < 40, "%s: offset %d", r.v->name,
              (int)report.offset);
    kc_buffer_poison(x, 0);
    LAUNCH(&r, k, LINE(1, 1), BUFFER(x), CODE(-2 & 0xffffffff));
    kc_buffer_guards(x, &report);
    cr_expect(report.damaged && !report.after && report.offset >= -8 && report.offset < -4, "%s: offset %d", r.v->name,
              (int)report.offset);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
  }
}

Test(device, misuse_of_a_launch_is_refused) {
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("i32", 4);
    kc_launch_record record;
    kc_text err;
    kc_drv_kernel *k = rig_kernel(
        &r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x, kc_i32 n) { x[0] = n; }", .signature = "x:i32[] n:i32"});
    value both[] = {BUFFER(x), CODE(1)}, turned[] = {CODE(1), BUFFER(x)};
    cr_expect_eq(rig_run(&r, k, LINE(1, 1), both, 1, &record, &err), KC_EINVAL);
    cr_expect(strstr(err.s, "2"), "%s", err.s);
    cr_expect_eq(rig_run(&r, k, LINE(1, 1), turned, 2, &record, &err), KC_EINVAL);
    cr_expect_eq(rig_run(&r, k, LINE(1, 0), both, 2, &record, &err), KC_EINVAL);
    cr_expect_eq(rig_run(&r, k, LINE(0x10000u, 0x10000u), both, 2, &record, &err), KC_EINVAL);
    cr_expect_neq(rig_run(&r, k, LINE(1, 0x8000u), both, 2, &record, &err), KC_OK);
    cr_expect_eq(kc_buffer_unwritten(x, 0, NULL), 4);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
  }
}

Test(device, build_errors_name_the_authors_line) {
  for (rig r = {0}; rig_next(&r);) {
    kc_drv_kernel *k;
    kc_text err;
    char *log;
    recipe c = {.source = "/* 1 */\nKC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  x[0] = 1.0f;\n  x[1] = nowhere;\n}\n",
                .file = "dir/some \"file\".k",
                .signature = "x:f32[]"};
    cr_expect_eq(rig_build(&r, &k, c, &log, &err), KC_EBUILD);
    cr_expect(strstr(err.s, "file") && strstr(err.s, ":4:") && strstr(err.s, "nowhere"), "%s: %s", r.v->name, err.s);
    cr_expect(log && strstr(log, "nowhere"), "%s: no log", r.v->name);
    free(log);
  }
}

Test(device, a_build_that_names_what_is_not_there_fails) {
  static const char source[] =
      "KC_FN kc_i32 two(void) { return 2; }\nKC_KERNEL void first(KC_GLOBAL kc_i32 *x) { x[0] = two(); }\n"
      "KC_KERNEL void second(void) {}\n";
  static const struct {
    const char *entry, *signature, *text;
  } cases[] = {{"third", "", "first, second"},
               {"two", "", "first, second"},
               {"first", "x:i32[] n:i32", "test.k:2: kernel 'first' has 1 parameters, 2 were named"},
               {"second", "n:i32", "test.k:3: kernel 'second' has 0 parameters, 1 were named"}};
  for (rig r = {0}; rig_next(&r);)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      kc_drv_kernel *k;
      kc_text err;
      cr_expect_eq(
          rig_build(&r, &k, (recipe){.source = source, .entry = cases[i].entry, .signature = cases[i].signature}, NULL, &err),
          KC_EBUILD);
      cr_expect(strstr(err.s, cases[i].text), "%s: %s", r.v->name, err.s);
    }
}

Test(device, defines_reach_the_text_and_are_checked) {
  static const char source[] = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) { x[0] = N; x[1] = (kc_i32)(T)2.5f; }\n";
  static const char *const refused[] = {"N", "=1", "1N=2", "N=2.5", "N=a+b", "kc_gid=1", "KC_FN=1", "half=1", "N=", "N=-"};
  for (rig r = {0}; rig_next(&r);) {
    kc_buffer *x = rig_buffer("i32", 2);
    kc_drv_kernel *k =
        rig_kernel(&r, (recipe){.source = source, .signature = "x:i32[]", .options = {.defines = " N=-0x12  T=kc_i32 "}});
    LAUNCH(&r, k, LINE(1, 1), BUFFER(x));
    cr_expect_eq(((const int32_t *)kc_buffer_cdata(x))[0], -0x12);
    cr_expect_eq(((const int32_t *)kc_buffer_cdata(x))[1], 2);
    r.v->unload(r.d, k);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
      kc_text err;
      recipe c = {.source = source, .signature = "x:i32[]", .options = {.defines = refused[i]}};
      cr_expect_eq(rig_build(&r, &k, c, NULL, &err), KC_EINVAL, "defines '%s': %s", refused[i], err.s);
    }
    kc_buffer_release(x);
  }
}
