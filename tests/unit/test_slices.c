/* test_slices.c - matrix products through dgemm give the bits that summing gives: with OpenBLAS, without any, with one that is right
 * and with one that is wrong in various ways.
 */
#include "fake_blas.h"
#include "matmul_rig.h"

#include <dlfcn.h>

#include "blas.h"

static void use_blas(const char *path) {
  setenv("KC_OPENBLAS", path, 1);
}

/* The state of the library at KC_FAKE_BLAS; the handle stays open. */
static fake_blas *fake(void) {
  void *library = dlopen(KC_FAKE_BLAS, RTLD_NOW | RTLD_LOCAL);
  cr_assert(library, "%s", dlerror());
  return dlsym(library, "kc_fake_blas");
}

static bool equal_bits(const kc_enclosure *a, const kc_enclosure *b) {
  size_t n = (size_t)a->count;
  return a->count == b->count && memcmp(a->lo, b->lo, n * sizeof *a->lo) == 0 && memcmp(a->hi, b->hi, n * sizeof *a->hi) == 0 &&
         memcmp(a->classes, b->classes, n) == 0;
}

/* The operands, and the enclosure that summing gives. */
static void start_sums(run *sums, const product *p, uint64_t key) {
  prepare(sums, p, key);
  use_blas("none");
  start(sums);
}

/* The library at `path` gives the same. */
static void compare_with(const run *sums, const char *path, const char *what) {
  run slices = *sums;
  use_blas(path);
  start(&slices);
  cr_expect(equal_bits(&slices.e, &sums->e), "%s: %s: not what summing gives", what, slices.label);
  finish(&slices);
}

static void compare(const product *p, uint64_t key, const char *path, const char *what) {
  run sums;
  start_sums(&sums, p, key);
  compare_with(&sums, path, what);
  finish(&sums);
  release(&sums);
}

static const kc_dist any_finite = {.kind = KC_DIST_FINITE_BITS}, any = {.kind = KC_DIST_BITS},
                     tiny = {.kind = KC_DIST_SUBNORMAL};

#define F(...) .formats = {__VA_ARGS__}

static const product products[] = {
    {F("f16", "f16"), .m = 257, .n = 300, .k = 40, .alpha = 1, .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("f32", "f32"), .m = 40, .n = 70, .k = 1030, .alpha = 1, .transpose_a = true, .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("f32", "bf16", "f64"), .m = 70, .n = 40, .k = 513, .alpha = 0.3, .beta = -7, .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("e4m3fn", "e5m2"), .m = 128, .n = 128, .k = 64, .alpha = -1, .transpose_b = true, .dist = any_finite},
    {F("bf16", "bf16"), .m = 70, .n = 70, .k = 300, .alpha = 1, .dist = any_finite}, /* nearly every row spreads too far */
    {F("f32", "f32"), .m = 70, .n = 70, .k = 300, .alpha = 1, .dist = tiny},
    {F("f64", "f64"), .m = 70, .n = 70, .k = 300, .alpha = 0x1p1000, .dist = tiny},
    {F("f16", "f16", "f16"), .m = 70, .n = 70, .k = 300, .alpha = 1, .beta = 1, .exceptional = 1e-3,
     .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("f16", "f32"), .m = 70, .n = 70, .k = 300, .alpha = -2, .magnitude = true, .exceptional = 1e-3,
     .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("e5m2", "e5m2"), .m = 128, .n = 128, .k = 64, .alpha = 1, .dist = any},
    {F("f64", "f64"), .m = 70, .n = 70, .k = 300, .alpha = 1, .dist = {.kind = KC_DIST_UNIFORM, .a = 1, .b = 2}}, /* 53 bits */
    {F("f64", "f64"), .m = 70, .n = 70, .k = 300, .alpha = 1, .dist = {.kind = KC_DIST_LOG_UNIFORM, .a = -3, .b = 3}},
    {F("f32", "f32"), .m = 256, .n = 257, .k = 17, .alpha = 1, .dist = {.kind = KC_DIST_LOG_UNIFORM, .a = -20, .b = 4}},
    {F("f32", "f32"), .m = 1100, .n = 1000, .k = 1, .alpha = 1, .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("f32", "f64"), .m = 3, .n = 5, .k = 70001, .alpha = 1, .dist = {.kind = KC_DIST_INTEGERS, .a = -1000000, .b = 1000000}},
    {F("f32", "f32"), .m = 1, .n = 1, .k = 1100000, .alpha = 1, .dist = {.kind = KC_DIST_NORMAL, .b = 1}},
    {F("f32", "f32", "f16"), .m = 70, .n = 70, .k = 300, .alpha = 1, .beta = (double)NAN,
     .dist = {.kind = KC_DIST_INTEGERS, .a = -1, .b = 1}},
};
enum { PRODUCTS = sizeof products / sizeof *products };

Test(slices, openblas) {
  use_blas("");
  if (!kc__blas_dgemm()) cr_skip_test("libopenblas.so.0 is not installed");
  for (size_t i = 0; i < PRODUCTS; i++) compare(&products[i], 2000 + i, "", "OpenBLAS");
}

Test(slices, a_library_that_is_right_is_used) {
  fake_blas *f = fake();
  for (size_t i = 0; i < PRODUCTS; i++) compare(&products[i], 3000 + i, KC_FAKE_BLAS, "right");
  cr_expect_gt(f->calls, (int)PRODUCTS, "%d calls", f->calls);
}

/* Every fault, at each call and at each third; each happened at least once. */
Test(slices, a_library_that_is_wrong_certifies_nothing) {
  fake_blas *f = fake();
  int happened[FAKE_FAULTS][4] = {{0}};
  for (size_t i = 0; i < 5; i++) {
    run sums;
    start_sums(&sums, &products[i], 4000 + i);
    for (int e = 2; e < 2 * FAKE_FAULTS; e++) {
      char what[40];
      f->faults = 0;
      f->fault = (fake_fault)(e / 2);
      f->every = e % 2 ? 3 : 1;
      snprintf(what, sizeof what, "fault %d, every %d", e / 2, f->every);
      compare_with(&sums, KC_FAKE_BLAS, what);
      happened[f->fault][f->every] += f->faults;
    }
    finish(&sums);
    release(&sums);
  }
  for (int e = 1; e < FAKE_FAULTS; e++) cr_expect(happened[e][1] && happened[e][3], "fault %d never happened", e);
}

Test(slices, a_library_that_is_not_there_is_done_without) {
  compare(&products[0], 5000, "/nonexistent.so", "absent");
  compare(&products[0], 5000, KC_NO_BLAS, "without cblas_dgemm");
}

/* The state of the processor that the caller has does not reach the result, and is not changed. */
Test(slices, rounding_and_flushing_of_the_caller) {
  kc_fpstate state = kc_fpstate_default(), saved = kc_fpstate_get();
  if (state.mxcsr == 0) cr_skip_test("no MXCSR on this processor");
  state.mxcsr |= 0x8040u | 0x4000u; /* flush to zero, denormals are zero, rounding up */
  for (size_t i = 1; i < 7; i++) {
    run strange, plain;
    use_blas("");
    prepare(&plain, &products[i], 6000 + i);
    strange = plain;
    start(&plain);
    kc_fpstate_set(state);
    start(&strange);
    kc_fpstate after = kc_fpstate_get();
    kc_fpstate_set(saved);
    cr_expect_eq(after.mxcsr, state.mxcsr);
    cr_expect(equal_bits(&plain.e, &strange.e), "%s: depends on the caller's state", plain.label);
    finish(&strange);
    finish(&plain);
    release(&plain);
  }
}
