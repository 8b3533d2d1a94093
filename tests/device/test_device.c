/* test_device.c - the suite that every backend must pass, run on each one that is present. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

Test(device, every_row_of_the_table_is_complete) {
  kc_text err;
  for (int i = 0; kc_drivers[i]; i++) cr_expect_eq(kc_driver_check(kc_drivers[i], &err), KC_OK, "row %d: %s", i, err.s);
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
    cr_expect_eq(kc__driver_open(&other, r.v, 9999, &err), KC_ENODEV, "%s", r.v->name);
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

/* x * x + y is 0 when rounded twice, 2^-24 when fused: x = 1 + 2^-12, x * x = 1 + 2^-11 + 2^-24. */
Test(device, contraction_happens_only_when_allowed) {
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

Test(device, denormals_are_kept_unless_flushed) {
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

Test(device, narrow_formats_have_the_hosts_bits) {
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
Test(device, mathematics_by_name) {
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

Test(device, constants_have_their_bits) {
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
