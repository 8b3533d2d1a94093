/* test_cpu.c - what only the cpu device does: schedules, evidence, host functions, libraries. */
#define _GNU_SOURCE 1
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "rig.h"

/* ---- schedules ------------------------------------------------------------------------------------------------------- */

Test(cpu, permutations_are_permutations) {
  for (uint64_t n = 1; n < 200; n += n < 20 ? 1 : 37)
    for (uint64_t key = 0; key < 20; key++) {
      bool seen[200] = {0};
      for (uint64_t i = 0; i < n; i++) {
        uint64_t at = kc__permute(i, n, key);
        cr_assert(at < n && !seen[at], "n %d key %d: %d twice or outside", (int)n, (int)key, (int)at);
        cr_assert(key != 0 || at == i);
        seen[at] = true;
      }
    }
  cr_expect_lt(kc__permute(123456789, UINT64_MAX, 5), UINT64_MAX);
}

Test(cpu, both_orders_of_two_are_found) {
  int turned = 0;
  for (uint64_t key = 1; key <= 100; key++) turned += kc__permute(0, 2, key) == 1;
  cr_expect(turned > 20 && turned < 80, "%d of 100 keys turn two items round", turned);
}

/* Work-items draw numbers, before and after a barrier when there is one: the numbers are the order in which they ran. */
static const char order_plain[] = "KC_KERNEL void k(KC_GLOBAL kc_i32 *next, KC_GLOBAL kc_i32 *a, KC_GLOBAL kc_i32 *b) {\n"
                                  "  a[kc_gid(0)] = kc_atomic_add_i32_global(next, 1);\n  b[kc_gid(0)] = 0;\n}\n";
static const char order_barrier[] = "KC_KERNEL void k(KC_GLOBAL kc_i32 *next, KC_GLOBAL kc_i32 *a, KC_GLOBAL kc_i32 *b) {\n"
                                    "  a[kc_gid(0)] = kc_atomic_add_i32_global(next, 1);\n  kc_barrier();\n"
                                    "  b[kc_gid(0)] = kc_atomic_add_i32_global(next, 1);\n}\n";

enum { GROUPS = 3, ITEMS = 16, ALL = GROUPS * ITEMS };

typedef struct order {
  int32_t a[ALL], b[ALL];
} order;

static order order_of(rig *r, const char *source, uint64_t schedule) {
  order o;
  kc_buffer *next = rig_buffer("i32", 1), *a = rig_buffer("i32", ALL), *b = rig_buffer("i32", ALL);
  memset(kc_buffer_data(next), 0, 4);
  kc_drv_kernel *k = rig_kernel(r, (recipe){.source = source, .signature = "next:i32[] a:i32[] b:i32[]"});
  geometry g = LINE(GROUPS, ITEMS);
  g.schedule = schedule;
  LAUNCH(r, k, g, BUFFER(next), BUFFER(a), BUFFER(b));
  memcpy(o.a, kc_buffer_cdata(a), sizeof o.a);
  memcpy(o.b, kc_buffer_cdata(b), sizeof o.b);
  r->v->unload(r->d, k);
  kc_buffer_release(next);
  kc_buffer_release(a);
  kc_buffer_release(b);
  return o;
}

Test(cpu, schedules_are_seeded_and_replayable) {
  rig r = rig_open("cpu");
  const char *const sources[] = {order_plain, order_barrier};
  for (int s = 0; s < 2; s++) {
    order natural = order_of(&r, sources[s], 0), one = order_of(&r, sources[s], 1), again = order_of(&r, sources[s], 1),
          two = order_of(&r, sources[s], 2);
    int per_group = s == 0 ? ITEMS : 2 * ITEMS;
    for (int i = 0; i < ALL; i++) cr_expect_eq(natural.a[i], i / ITEMS * per_group + i % ITEMS, "natural order, item %d", i);
    cr_expect_eq(memcmp(&one, &again, sizeof one), 0, "the same seed must give the same order");
    cr_expect_neq(memcmp(&one, &natural, sizeof one), 0);
    cr_expect_neq(memcmp(&one, &two, sizeof one), 0);
    for (int g = 0; s == 1 && g < GROUPS; g++)
      for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
          cr_assert_lt(one.a[g * ITEMS + i], one.b[g * ITEMS + j], "an item passed the barrier early");
  }
  rig_close(&r);
}

/* The order within a group, as ranks: it must not be the same in every group of a launch. */
Test(cpu, groups_have_orders_of_their_own) {
  rig r = rig_open("cpu");
  order o = order_of(&r, order_plain, 1);
  int different = 0;
  for (int g = 1; g < GROUPS; g++)
    for (int i = 0; i < ITEMS; i++) different += o.a[i] % ITEMS != o.a[g * ITEMS + i] % ITEMS;
  cr_expect_gt(different, 0);
  rig_close(&r);
}

Test(cpu, data_cannot_begin_beyond_its_memory) {
  rig r = rig_open("cpu");
  kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) {}", .signature = "x:i32[]"});
  kc_mem m;
  kc_text err;
  kc_launch_record record;
  cr_assert_eq(r.v->alloc(&m, r.d, 64, &err), KC_OK);
  kc_arg arg = {.buffer = true, .mem = m, .offset = 64};
  kc_launch l = {.args = &arg, .arg_count = 1, .grid = {1, 1, 1}, .group = {1, 1, 1}};
  cr_expect_eq(kc_driver_launch(r.v, r.d, k, &l, &record, &err), KC_OK);
  arg.offset = 65;
  cr_expect_eq(kc_driver_launch(r.v, r.d, k, &l, &record, &err), KC_EINVAL);
  r.v->free(r.d, m);
  r.v->unload(r.d, k);
  rig_close(&r);
}

Test(cpu, seeds_reorder_groups_too) {
  rig r = rig_open("cpu");
  int moved = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) moved += order_of(&r, order_plain, seed).a[0] >= ITEMS;
  cr_expect(moved > 2, "group 0 came first under %d of 12 seeds", 12 - moved);
  rig_close(&r);
}

/* ---- evidence -------------------------------------------------------------------------------------------------------- */

static kc_launch_record judge(rig *r, const char *source, int n, const char *defines, geometry g) {
  kc_buffer *x = rig_buffer("f32", n);
  memset(kc_buffer_data(x), 0, kc_buffer_bytes(x));
  kc_drv_kernel *k = rig_kernel(r, (recipe){.source = source, .signature = "x:f32[]", .options = {.defines = defines}});
  kc_launch_record record = LAUNCH(r, k, g, BUFFER(x));
  r->v->unload(r->d, k);
  kc_buffer_release(x);
  return record;
}

Test(cpu, a_barrier_reached_by_part_of_a_group_is_evidence) {
  rig r = rig_open("cpu");
  kc_launch_record record = judge(
      &r,
      "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  if (kc_lid(0) < 3) {\n    kc_barrier();\n  }\n  x[kc_gid(0)] = 1.0f;\n}\n",
      16, "", LINE(2, 8));
  cr_expect(record.divergent_barrier);
  cr_expect_str_eq(record.evidence, "divergent barrier: line 3 was reached by 3 of 8 work-items of group (0,0,0)");
  record = judge(&r,
                 "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  if (kc_lid(0) < 3)\n    kc_barrier();\n  else\n    kc_barrier();\n"
                 "  x[kc_gid(0)] = 1.0f;\n}\n",
                 16, "", LINE(2, 8));
  cr_expect(record.divergent_barrier && strstr(record.evidence, "line 3") && strstr(record.evidence, "line 5"), "%s",
            record.evidence);
  rig_close(&r);
}

Test(cpu, items_that_left_after_the_last_common_barrier_are_fine) {
  rig r = rig_open("cpu");
  kc_launch_record record = judge(&r,
                                  "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  kc_barrier();\n  if (kc_lid(0) == 0) return;\n"
                                  "  x[kc_gid(0)] = 1.0f;\n}\n",
                                  16, "", LINE(2, 8));
  cr_expect(!record.divergent_barrier, "%s", record.evidence);
  rig_close(&r);
}

/* A define smuggles in what the dialect itself has no word for. 0x9fc0: FTZ and DAZ on; 0x3f80: rounding down. */
static const char flips_plain[] =
    "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) { if (kc_gid(0) == 5) SET(MODE); x[kc_gid(0)] = 1.0f; }\n";
static const char flips_fiber[] = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  if (kc_gid(0) == 5) SET(MODE);\n  kc_barrier();\n"
                                  "  x[kc_gid(0)] = 1.0f;\n}\n";

Test(cpu, changes_of_the_floating_point_state_are_noticed_and_undone) {
  rig r = rig_open("cpu");
  const kc_fpstate before = kc_fpstate_get();
  const struct {
    const char *source, *mode, *text;
  } cases[] = {{flips_plain, "SET=__builtin_ia32_ldmxcsr MODE=0x9fc0", "group (1,0,0) item (1,0,0)"},
               {flips_fiber, "SET=__builtin_ia32_ldmxcsr MODE=0x9fc0", "barrier at line 3"},
               {flips_plain, "SET=__builtin_ia32_ldmxcsr MODE=0x3f80", "floating-point state changed by a work-item"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kc_launch_record record = judge(&r, cases[i].source, 8, cases[i].mode, LINE(2, 4));
    cr_expect(record.fp_changed && strstr(record.evidence, cases[i].text), "case %zu: '%s'", i, record.evidence);
    cr_expect_neq(record.after.mxcsr, record.before.mxcsr);
    kc_fpstate after = kc_fpstate_get();
    cr_expect_eq(after.mxcsr, before.mxcsr);
    cr_expect_eq(after.x87, before.x87);
  }
  rig_close(&r);
}

Test(cpu, the_callers_state_neither_reaches_the_kernel_nor_is_lost) {
  rig r = rig_open("cpu");
  kc_fpstate odd = kc_fpstate_default(), now;
  odd.mxcsr |= 0x8040;
  kc_buffer *x = rig_buffer("f32", 2);
  memcpy(kc_buffer_data(x), (uint32_t[]){0x00800000u, 0}, 8);
  kc_drv_kernel *k = rig_kernel(
      &r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) { x[1] = x[0] * 0.5f; }", .signature = "x:f32[]"});
  kc_fpstate_set(odd);
  kc_launch_record record = LAUNCH(&r, k, LINE(1, 1), BUFFER(x));
  now = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  cr_expect_eq(now.mxcsr, odd.mxcsr);
  cr_expect(!record.fp_changed);
  cr_expect_eq(((const uint32_t *)kc_buffer_cdata(x))[1], 0x00400000u, "the kernel ran with the caller's FTZ");
  r.v->unload(r.d, k);
  kc_buffer_release(x);
  rig_close(&r);
}

Test(cpu, damage_around_local_arrays_is_evidence) {
  static const char source[] = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  KC_LOCAL_ARRAY(kc_f32, tile, [8]);\n"
                               "  if (kc_gid(0) == 4) tile[AT] = 1.0f;\n  x[kc_gid(0)] = tile[kc_lid(0)];\n}\n";
  static const struct {
    const char *at, *text;
  } cases[] = {{"AT=7", NULL}, {"AT=8", "'tile' (32 bytes): byte 3"}, {"AT=-1", "'tile' (32 bytes): byte -"}};
  rig r = rig_open("cpu");
  for (int i = 0; i < 3; i++) {
    kc_launch_record record = judge(&r, source, 8, cases[i].at, LINE(2, 4));
    cr_expect_eq(record.local_damaged, cases[i].text != NULL, "%s", cases[i].at);
    /* 1.0f is 00 00 80 3f: a byte may equal its canary, so only the array and the neighbourhood are certain */
    if (cases[i].text)
      cr_expect(strstr(record.evidence, cases[i].text) && strstr(record.evidence, "group (1,0,0)"), "%s", record.evidence);
  }
  rig_close(&r);
}

Test(cpu, local_arrays_start_poisoned_in_every_group) {
  rig r = rig_open("cpu");
  kc_buffer *x = rig_buffer("f32", 8);
  kc_drv_kernel *k =
      rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) {\n  KC_LOCAL_ARRAY(kc_f32, t, [4]);\n"
                                        "  x[kc_gid(0)] = t[kc_lid(0)];\n  t[kc_lid(0)] = 1.0f;\n}",
                              .signature = "x:f32[]"});
  LAUNCH(&r, k, LINE(2, 4), BUFFER(x));
  for (int i = 0; i < 8; i++) cr_expect(isnan(((const float *)kc_buffer_cdata(x))[i]), "item %d", i);
  r.v->unload(r.d, k);
  kc_buffer_release(x);
  rig_close(&r);
}

Test(cpu, too_much_local_memory_is_refused) {
  rig r = rig_open("cpu");
  kc_drv_kernel *k;
  kc_text err;
  kc_launch_record record;
  cr_expect_eq(rig_build(&r, &k,
                         (recipe){.source = "KC_KERNEL void k(void) {\n  KC_LOCAL_ARRAY(kc_f64, t, [4097]);\n  t[0] = 1;\n}"},
                         NULL, &err),
               KC_EBUILD);
  cr_expect(strstr(err.s, "test.k:2:") && strstr(err.s, "32768"), "%s", err.s);
  k = rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(void) {\n  KC_LOCAL_ARRAY(kc_f64, t, [3000]);\n"
                                        "  KC_LOCAL_ARRAY(kc_f64, u, [3000]);\n  t[0] = u[0] = 1;\n}"});
  cr_expect_eq(rig_run(&r, k, LINE(1, 1), NULL, 0, &record, &err), KC_EUNSUPPORTED);
  cr_expect(strstr(err.s, "48000"), "%s", err.s);
  r.v->unload(r.d, k);
  rig_close(&r);
}

Test(cpu, a_full_group_runs_on_fibres) {
  rig r = rig_open("cpu");
  kc_buffer *x = rig_buffer("i32", 4096);
  kc_drv_kernel *k =
      rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) {\n  KC_LOCAL_ARRAY(kc_i32, t, [1024]);\n"
                                        "  t[kc_lid(0)] = kc_gid(0);\n  kc_barrier();\n"
                                        "  x[kc_gid(0)] = t[1023 - kc_lid(0)];\n}",
                              .signature = "x:i32[]"});
  LAUNCH(&r, k, LINE(4, 1024), BUFFER(x));
  for (int i = 0; i < 4096; i++) cr_assert_eq(((const int32_t *)kc_buffer_cdata(x))[i], i / 1024 * 1024 + 1023 - i % 1024);
  r.v->unload(r.d, k);
  kc_buffer_release(x);
  rig_close(&r);
}

/* ---- host functions and libraries ------------------------------------------------------------------------------------- */

Test(cpu, a_host_function_is_called_once) {
  rig r = rig_open("cpu");
  kc_buffer *x = rig_buffer("f32", 4);
  memcpy(kc_buffer_data(x), (float[]){1, 2, 3, 4}, 16);
  kc_drv_kernel *k = rig_kernel(
      &r, (recipe){.dialect = KC_DIALECT_C,
                   .source = "#include <stdint.h>\n#include <math.h>\n"
                             "double k(float *x, int32_t n, int64_t big) {\n  double s = 0;\n"
                             "  for (int i = 0; i < n; i++) s += x[i]++;\n  return s + sqrt(4.0) + (double)big;\n}\n",
                   .signature = "x:f32[] n:i32 big:i64",
                   .result = "f64"});
  kc_launch_record record = LAUNCH(&r, k, LINE(7, 3), BUFFER(x), CODE(4), CODE(1000));
  cr_expect_eq(kc_decode(kc_format_find("f64"), record.result), 1012.0);
  cr_expect_eq(((const float *)kc_buffer_cdata(x))[3], 5.0f);
  r.v->unload(r.d, k);
  kc_buffer_release(x);
  rig_close(&r);
}

Test(cpu, results_of_every_width) {
  static const struct {
    const char *type, *format;
    uint64_t code;
  } cases[] = {{"signed char", "i8", 0x85},   {"unsigned char", "u8", 0x85},          {"short", "i16", 0x8765},
               {"int", "i32", 0x87654321u},   {"unsigned", "u32", 0x87654321u},       {"long", "i64", 0x8765432112345678u},
               {"float", "f32", 0x40490fdbu}, {"double", "f64", 0x400921fb54442d18u}, {"unsigned short", "f16", 0x3c01}};
  rig r = rig_open("cpu");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char source[200], signature[32];
    snprintf(source, sizeof source, "%s k(%s x) { return x; }\n", cases[i].type, cases[i].type);
    snprintf(signature, sizeof signature, "x:%s", cases[i].format);
    kc_drv_kernel *k =
        rig_kernel(&r, (recipe){.dialect = KC_DIALECT_C, .source = source, .signature = signature, .result = cases[i].format});
    cr_expect_eq(LAUNCH(&r, k, LINE(1, 1), CODE(cases[i].code)).result, cases[i].code, "%s", cases[i].type);
    r.v->unload(r.d, k);
  }
  rig_close(&r);
}

Test(cpu, a_host_function_that_flips_the_state_is_noticed) {
  rig r = rig_open("cpu");
  kc_drv_kernel *k =
      rig_kernel(&r, (recipe){.dialect = KC_DIALECT_C,
                              .source = "#include <xmmintrin.h>\nvoid k(void) { _mm_setcsr(_mm_getcsr() | 0x8000); }\n"});
  kc_launch_record record = rig_launch(&r, k, LINE(1, 1), NULL, 0);
  cr_expect(record.fp_changed && strstr(record.evidence, "by the function"), "%s", record.evidence);
  cr_expect_eq(kc_fpstate_get().mxcsr, kc_fpstate_default().mxcsr);
  r.v->unload(r.d, k);
  rig_close(&r);
}

static const char *libm_path(void) {
  Dl_info info;
  double (*f)(double) = cos;
  void *address;
  memcpy(&address, &f, sizeof address);
  cr_assert(dladdr(address, &info) != 0);
  return info.dli_fname;
}

Test(cpu, a_function_of_a_library_is_called_by_its_c_signature) {
  rig r = rig_open("cpu");
  char *log = NULL, *real = realpath(libm_path(), NULL);
  kc_drv_kernel *k;
  kc_text err;
  const double x = 3.0, y = 4.0;
  uint64_t xc, yc;
  memcpy(&xc, &x, 8);
  memcpy(&yc, &y, 8);
  recipe c = {.dialect = KC_DIALECT_LIBRARY, .source = real, .entry = "hypot", .signature = "x:f64 y:f64", .result = "f64"};
  cr_assert_eq(rig_build(&r, &k, c, &log, &err), KC_OK, "%s", err.s);
  cr_expect(log && strstr(log, real), "%s", log ? log : "no log");
  cr_expect_eq(kc_decode(kc_format_find("f64"), LAUNCH(&r, k, LINE(1, 1), CODE(xc), CODE(yc)).result), 5.0);
  r.v->unload(r.d, k);
  c = (recipe){.dialect = KC_DIALECT_LIBRARY, .source = real, .entry = "frexpf", .signature = "x:f32 e:i32[]", .result = "f32"};
  kc_buffer *e = rig_buffer("i32", 1);
  k = rig_kernel(&r, c);
  cr_expect_eq(LAUNCH(&r, k, LINE(1, 1), CODE(0x41000000u), BUFFER(e)).result, 0x3f000000u);
  cr_expect_eq(*(const int32_t *)kc_buffer_cdata(e), 4);
  r.v->unload(r.d, k);
  kc_buffer_release(e);
  free(log);
  free(real);
  rig_close(&r);
}

Test(cpu, libraries_are_named_by_full_path_and_symbol) {
  static const struct {
    const char *path, *symbol, *text;
  } cases[] = {{"libm.so.6", "cos", "full path"},
               {"/nowhere/libx.so", "cos", "does not exist"},
               {"/etc/passwd", "cos", "does not load"}};
  rig r = rig_open("cpu");
  kc_drv_kernel *k;
  kc_text err;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    recipe c = {.dialect = KC_DIALECT_LIBRARY, .source = cases[i].path, .entry = cases[i].symbol};
    cr_expect_eq(rig_build(&r, &k, c, NULL, &err), KC_EBUILD);
    cr_expect(strstr(err.s, cases[i].text), "%s", err.s);
  }
  recipe c = {.dialect = KC_DIALECT_LIBRARY, .source = libm_path(), .entry = "no_such_symbol"};
  cr_expect_eq(rig_build(&r, &k, c, NULL, &err), KC_EBUILD);
  cr_expect(strstr(err.s, "no_such_symbol"), "%s", err.s);
  rig_close(&r);
}

static void fill_f32(kc_buffer *b, float first) {
  for (int i = 0; i < kc_buffer_count(b); i++) ((float *)kc_buffer_data(b))[i] = first + (float)i;
}

/* One buffer of arguments with the direct loop; two with a scalar between them, which goes through libffi. */
Test(cpu, a_function_of_a_library_is_mapped_over_elements) {
  rig r = rig_open("cpu");
  kc_buffer *x = rig_buffer("f32", 5), *z = rig_buffer("f32", 5), *y = rig_buffer("f32", 5);
  float *got = kc_buffer_data(y);
  fill_f32(x, -2);
  fill_f32(z, 10);
  recipe c = {
      .dialect = KC_DIALECT_LIBRARY, .map = true, .source = libm_path(), .entry = "fabsf", .signature = "x:f32[] y:f32[]"};
  kc_drv_kernel *k = rig_kernel(&r, c);
  LAUNCH(&r, k, LINE(5, 1), BUFFER(x), BUFFER(y));
  for (int i = 0; i < 5; i++)
    cr_expect_eq(got[i], i < 2 ? (float)(2 - i) : (float)(i - 2), "element %d: %g", i, (double)got[i]);
  r.v->unload(r.d, k);
  c.entry = "fdimf", c.signature = "x:f32[] z:f32[] y:f32[]";
  k = rig_kernel(&r, c);
  LAUNCH(&r, k, LINE(4, 1), BUFFER(z), BUFFER(x), BUFFER(y));
  for (int i = 0; i < 5; i++) cr_expect_eq(got[i], i < 4 ? 12.0f : 2.0f, "element %d: %g", i, (double)got[i]);
  r.v->unload(r.d, k);
  c.entry = "fmaf", c.signature = "x:f32[] s:f32 z:f32[] y:f32[]";
  k = rig_kernel(&r, c);
  LAUNCH(&r, k, LINE(5, 1), BUFFER(x), CODE(0x40000000u), BUFFER(z), BUFFER(y));
  for (int i = 0; i < 5; i++) cr_expect_eq(got[i], (float)(2 * (i - 2) + 10 + i), "element %d: %g", i, (double)got[i]);
  r.v->unload(r.d, k);
  kc_buffer_release(x);
  kc_buffer_release(z);
  kc_buffer_release(y);
  rig_close(&r);
}

Test(cpu, what_cannot_be_mapped_is_refused) {
  static const struct {
    const char *signature, *result, *text;
  } cases[] = {{"", NULL, "as last parameter"},
               {"x:f32[] y:f32", NULL, "as last parameter"},
               {"x:f32[] y:f32[]", "f64", "returns f64"},
               {"a:f32[] b:f32[] c:f32[] d:f32[] e:f32[] f:f32[] g:f32[] h:f32[] i:f32[] y:f32[]", NULL, "at most 8"}};
  rig r = rig_open("cpu");
  kc_drv_kernel *k;
  kc_text err;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    recipe c = {.dialect = KC_DIALECT_LIBRARY,
                .map = true,
                .source = libm_path(),
                .entry = "fabsf",
                .signature = cases[i].signature,
                .result = cases[i].result};
    cr_expect_neq(rig_build(&r, &k, c, NULL, &err), KC_OK);
    cr_expect(strstr(err.s, cases[i].text), "%s", err.s);
  }
  rig_close(&r);
}
