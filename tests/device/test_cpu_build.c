/* test_cpu_build.c - the cpu device's compiler and its cache; devices used by several threads. */
#define _GNU_SOURCE 1
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu.h"
#include "rig.h"

static const char trivial[] = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) { x[kc_gid(0)] = 42; }\n";

Test(cpu_build, fast_math_does_not_change_the_loading_thread) {
  rig r = rig_open("cpu");
  kc_drv_kernel *k = rig_kernel(&r, (recipe){.source = trivial, .signature = "x:i32[]", .options = {.fast_math = true}});
  cr_expect_eq(kc_fpstate_get().mxcsr, kc_fpstate_default().mxcsr);
  r.v->unload(r.d, k);
  rig_close(&r);
}

Test(cpu_build, a_missing_compiler_is_said_plainly) {
  static const char *const names[] = {"/nowhere/cc", "no-such-compiler", "/bin/false"};
  for (int i = 0; i < 3; i++) {
    setenv("KC_CC", names[i], 1);
    rig r = rig_open("cpu");
    kc_drv_kernel *k;
    kc_text err;
    cr_expect_eq(rig_build(&r, &k, (recipe){.source = trivial, .signature = "x:i32[]"}, NULL, &err), KC_ENODEV, "%s", names[i]);
    cr_expect(strncmp(err.s, "no C compiler: ", 15) == 0 && strstr(err.s, names[i]), "%s", err.s);
    rig_close(&r);
  }
}

/* A compiler that counts its calls. */
typedef struct counted {
  char directory[64], script[96], count[96], cache[96];
} counted;

static counted counting_compiler(void) {
  counted c;
  strcpy(c.directory, "/tmp/kc-test-XXXXXX");
  cr_assert(mkdtemp(c.directory));
  snprintf(c.script, sizeof c.script, "%s/cc", c.directory);
  snprintf(c.count, sizeof c.count, "%s/count", c.directory);
  snprintf(c.cache, sizeof c.cache, "%s/cache", c.directory);
  FILE *f = fopen(c.script, "w");
  fprintf(f, "#!/bin/sh\n[ \"$1\" = --version ] || echo x >> %s\nexec cc \"$@\"\n", c.count);
  fclose(f);
  chmod(c.script, 0755);
  setenv("KC_CC", c.script, 1);
  return c;
}

static int calls(const counted *c) {
  struct stat s;
  return stat(c->count, &s) == 0 ? (int)s.st_size / 2 : 0;
}

static void remove_all(const counted *c) {
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", c->directory);
  cr_expect_eq(system(command), 0);
}

/* Builds with the cache, runs, and says what came out. */
static int32_t build_and_run(rig *r, const counted *c, const char *source, kc_build_options options) {
  kc_buffer *x = rig_buffer("i32", 1);
  kc_drv_kernel *k = rig_kernel(r, (recipe){.source = source, .signature = "x:i32[]", .cache = c->cache, .options = options});
  LAUNCH(r, k, LINE(1, 1), BUFFER(x));
  int32_t result = *(const int32_t *)kc_buffer_cdata(x);
  r->v->unload(r->d, k);
  kc_buffer_release(x);
  return result;
}

Test(cpu_build, a_second_build_comes_from_the_cache) {
  counted c = counting_compiler();
  rig r = rig_open("cpu"), other = rig_open("cpu");
  cr_expect_eq(build_and_run(&r, &c, trivial, (kc_build_options){0}), 42);
  cr_expect_eq(calls(&c), 1);
  cr_expect_eq(build_and_run(&r, &c, trivial, (kc_build_options){0}), 42);
  cr_expect_eq(build_and_run(&other, &c, trivial, (kc_build_options){0}), 42);
  cr_expect_eq(calls(&c), 1);
  build_and_run(&r, &c, trivial, (kc_build_options){.fast_math = true});
  cr_expect_eq(calls(&c), 2, "other flags are another key");
  build_and_run(&r, &c, trivial, (kc_build_options){.defines = "N=1"});
  cr_expect_eq(calls(&c), 3, "other defines are another key");
  build_and_run(&r, &c, "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) { x[kc_gid(0)] = 43; }\n", (kc_build_options){0});
  cr_expect_eq(calls(&c), 4, "another text is another key");
  rig_close(&r);
  rig_close(&other);
  remove_all(&c);
}

static void spoil(const counted *c, const char *command) {
  char line[256];
  snprintf(line, sizeof line, "cd %s && for f in */*.so; do %s; done", c->cache, command);
  cr_assert_eq(system(line), 0);
}

Test(cpu_build, a_damaged_cache_file_is_built_again) {
  static const char *const damages[] = {": > $f", "truncate -s 5000 $f",
                                        "printf x | dd of=$f bs=1 seek=4200 conv=notrunc status=none", "echo junk >> $f",
                                        "rm $f && mkdir $f && rmdir $f"};
  counted c = counting_compiler();
  rig r = rig_open("cpu");
  cr_expect_eq(build_and_run(&r, &c, trivial, (kc_build_options){0}), 42);
  for (int i = 0; i < 5; i++) {
    spoil(&c, damages[i]);
    cr_expect_eq(build_and_run(&r, &c, trivial, (kc_build_options){0}), 42);
    cr_expect_eq(calls(&c), i + 2, "after: %s", damages[i]);
  }
  rig_close(&r);
  remove_all(&c);
}

Test(cpu_build, a_cache_that_cannot_be_written_costs_only_time) {
  counted c = counting_compiler();
  FILE *f = fopen(c.cache, "w"); /* a file where the directory should be */
  fclose(f);
  rig r = rig_open("cpu");
  cr_expect_eq(build_and_run(&r, &c, trivial, (kc_build_options){0}), 42);
  cr_expect_eq(build_and_run(&r, &c, trivial, (kc_build_options){0}), 42);
  cr_expect_eq(calls(&c), 2);
  rig_close(&r);
  remove_all(&c);
}

/* ---- threads ----------------------------------------------------------------------------------------------------------- */

static void *launch_often(void *result) {
  rig r = rig_open("cpu");
  kc_buffer *x = rig_buffer("i32", 256);
  kc_drv_kernel *k =
      rig_kernel(&r, (recipe){.source = "KC_KERNEL void k(KC_GLOBAL kc_i32 *x) {\n  KC_LOCAL_ARRAY(kc_i32, t, [64]);\n"
                                        "  t[kc_lid(0)] = kc_gid(0);\n  kc_barrier();\n"
                                        "  x[kc_gid(0)] = t[63 - kc_lid(0)];\n}",
                              .signature = "x:i32[]",
                              .cache = getenv("KC_TEST_CACHE")});
  bool right = true;
  for (int n = 0; n < 200; n++) {
    kc_launch_record record = LAUNCH(&r, k, LINE(4, 64), BUFFER(x));
    right = right && !record.evidence[0];
    for (int i = 0; i < 256; i++) right = right && ((const int32_t *)kc_buffer_cdata(x))[i] == i / 64 * 64 + 63 - i % 64;
  }
  *(bool *)result = right;
  r.v->unload(r.d, k);
  kc_buffer_release(x);
  rig_close(&r);
  return NULL;
}

Test(cpu_build, threads_launch_on_devices_of_their_own) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  bool right[THREADS] = {0};
  counted c = counting_compiler();
  setenv("KC_TEST_CACHE", c.cache, 1);
  for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&threads[i], NULL, launch_often, &right[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    cr_expect(right[i], "thread %d", i);
  }
  remove_all(&c);
}
