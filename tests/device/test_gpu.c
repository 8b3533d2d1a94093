/* test_gpu.c - the cuda and hip drivers on runtimes and compilers that are fakes: how the API is called, what faults do, what is asked
 * of the compiler. Nothing here says anything about a GPU. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "fake/fake_gpu.h"
#include "rig.h"

typedef struct vendor {
  const kc_driver *v;
  const char *asked, *runtime, *compiler_asked, *compiler, *arch, *options[4]; /* off: fast, contraction, flush */
  fake_gpu *state;
} vendor;

static vendor vendors[] = {
    {&kc_driver_cuda,
     "KC_CUDA",
     FAKE_LIBCUDA,
     "KC_NVRTC",
     FAKE_NVRTC,
     "sm_90",
     {"--prec-sqrt=true", "--fmad=false", "--ftz=false"},
     NULL},
    {&kc_driver_hip,
     "KC_HIP",
     FAKE_LIBAMDHIP,
     "KC_HIPRTC",
     FAKE_HIPRTC,
     "gfx90a:sramecc+:xnack-",
     {"-O3", "-ffp-contract=off", "-fno-gpu-flush-denormals-to-zero"},
     NULL},
};
enum { VENDORS = sizeof vendors / sizeof *vendors };

static void begin(void) {
  unsetenv("FAKE_RTC_EMULATE");
  setenv("KC_RTC", KC_RTC_PROGRAM, 1);
  setenv("KC_COMGR", FAKE_HIPRTC, 1);
  for (int i = 0; i < VENDORS; i++) {
    vendor *w = &vendors[i];
    setenv(w->asked, w->runtime, 1);
    setenv(w->compiler_asked, w->compiler, 1);
    void *library = dlopen(w->runtime, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library, "%s", dlerror());
    fake_gpu *(*state)(void) = (fake_gpu * (*)(void)) dlsym(library, "fake_gpu_state");
    w->state = state();
    w->state->largest_group = 256;
  }
}
TestSuite(gpu, .init = begin);

static rig open_on(const vendor *w, int index) {
  rig r = {.v = w->v};
  kc_text err;
  cr_assert_eq(kc_driver_open(&r.d, w->v, index, &err), KC_OK, "%s: %s", w->v->name, err.s);
  return r;
}

/* Whatever was made is gone, and nothing was called as it may not be. */
static void finish(const vendor *w, rig *r) {
  rig_close(r);
  const fake_gpu *s = w->state;
  cr_expect_eq(s->contexts | s->streams | s->events | s->modules | s->blocks, 0,
               "%s: left %d contexts, %d streams, %d events, %d modules, %d blocks", w->v->name, s->contexts, s->streams,
               s->events, s->modules, s->blocks);
  cr_expect_eq(s->misuses, 0, "%s: %d misuses of the API", w->v->name, s->misuses);
}

static const char axpy[] =
    "KC_KERNEL void axpy(KC_GLOBAL const kc_f32 *x, KC_GLOBAL kc_f32 *y, kc_f32 a, kc_i32 n) { y[0] = x[0] * a + n; }";
#define AXPY ((recipe){.source = axpy, .entry = "axpy", .signature = "x:f32[] y:f32[] a:f32 n:i32"})
#define ONE(name)                                                                                                              \
  ((recipe){.source = "KC_KERNEL void " name "(KC_GLOBAL kc_i32 *x) { x[0] = 1; }", .entry = name, .signature = "x:i32[]"})

Test(gpu, absence_has_a_reason) {
  for (int i = 0; i < VENDORS; i++) {
    const vendor *w = &vendors[i];
    kc_text why;
    cr_expect_eq(kc_driver_probe(w->v, &why), 2, "%s", why.s);
    w->state->failing = "init";
    w->state->code = 100;
    cr_expect_eq(kc_driver_probe(w->v, &why), 0);
    cr_expect(strstr(why.s, i ? "hipErrorNoDevice (100)" : "CUDA_ERROR_NO_DEVICE (100)"), "%s", why.s);
    w->state->devices = 0;
    cr_expect_eq(kc_driver_probe(w->v, &why), 0);
    cr_expect(strstr(why.s, "no device is"), "%s", why.s);
    setenv(w->asked, "/nowhere/lib.so", 1);
    cr_expect_eq(kc_driver_probe(w->v, &why), 0);
    cr_expect(strstr(why.s, "/nowhere/lib.so"), "%s", why.s);
    setenv(w->asked, w->compiler, 1);
    cr_expect_eq(kc_driver_probe(w->v, &why), 0);
    cr_expect(strstr(why.s, i ? "'hipInit' is missing" : "'cuInit' is missing"), "%s", why.s);
  }
}

Test(gpu, a_device_tells_what_it_is) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 1);
    kc_fingerprint f;
    kc_text err;
    r.v->describe(r.d, &f);
    cr_expect_str_eq(f.name, "Fake GPU 1");
    cr_expect_str_eq(f.arch, vendors[i].arch);
    cr_expect(strstr(f.compiler, "99.1 for ") && strstr(f.compiler, vendors[i].arch), "%s", f.compiler);
    cr_expect(strstr(f.driver, "12345"), "%s", f.driver);
    kc_drv_device *other;
    cr_expect_eq(kc_driver_open(&other, r.v, 2, &err), KC_ENODEV);
    finish(&vendors[i], &r);
  }
}

Test(gpu, a_device_that_cannot_be_opened_leaves_nothing) {
  static const char *const calls[] = {"count", "device", "retain", "enter", "stream", "event", "memory", "version", "name"};
  for (int i = 0; i < VENDORS; i++)
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
      rig none = {.v = vendors[i].v};
      kc_drv_device *d;
      kc_text err;
      vendors[i].state->failing = calls[c];
      vendors[i].state->code = 3;
      cr_expect_eq(kc_driver_open(&d, vendors[i].v, 0, &err), KC_ENODEV, "%s: %s", calls[c], err.s);
      cr_expect(err.s[0]);
      finish(&vendors[i], &none);
    }
}

Test(gpu, memory_is_the_devices_own) {
  for (int i = 0; i < VENDORS; i++) {
    rig a = open_on(&vendors[i], 0), b = open_on(&vendors[i], 1);
    kc_mem in_a, in_b;
    kc_text err;
    char got[8] = "";
    cr_assert_eq(a.v->alloc(&in_a, a.d, 8, &err), KC_OK);
    cr_assert_eq(b.v->alloc(&in_b, b.d, 8, &err), KC_OK);
    cr_expect_eq(a.v->write(a.d, in_a, 0, "of a...", 8, &err), KC_OK, "%s", err.s);
    cr_expect_eq(b.v->write(b.d, in_b, 0, "of b...", 8, &err), KC_OK, "%s", err.s);
    cr_expect_eq(a.v->read(a.d, got, in_a, 3, 1, &err), KC_OK, "%s", err.s);
    cr_expect_eq(got[0], 'a');
    cr_expect_eq(a.v->alloc(&in_a, a.d, (size_t)1 << 60, &err), KC_ENOMEM);
    cr_expect_eq(a.v->write(a.d, in_b, 8, "x", 1, &err), KC_EINVAL);
    cr_assert_eq(a.v->read(a.d, got, in_a, 0, 8, &err), KC_OK, "%s", err.s);
    b.v->free(b.d, in_b);
    rig_close(&b); /* b's context is gone, a's is not */
    cr_expect_eq(a.v->read(a.d, got, in_a, 0, 8, &err), KC_OK, "%s", err.s);
    a.v->free(a.d, in_a);
    finish(&vendors[i], &a);
  }
}

Test(gpu, a_kernel_runs_on_its_data) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_drv_kernel *k = rig_kernel(&r, AXPY);
    kc_buffer *x = rig_buffer("f32", 5), *y = rig_buffer("f32", 5);
    float *px = kc_buffer_data(x), *py = kc_buffer_data(y);
    for (int j = 0; j < 5; j++) {
      px[j] = (float)j;
      py[j] = 1.0f;
    }
    kc_launch_record record =
        LAUNCH(&r, k, ((geometry){.grid = {1, 2, 3}, .group = {4, 2, 1}}), BUFFER(x), BUFFER(y), CODE(0x40400000u), CODE(5));
    for (int j = 0; j < 5; j++) cr_expect_eq(py[j], (float)(3 * j + 1));
    cr_expect_eq(record.seconds, 1.5);
    cr_expect_eq(memcmp(vendors[i].state->grid, (unsigned[]){1, 2, 3}, sizeof vendors[i].state->grid), 0);
    cr_expect_eq(memcmp(vendors[i].state->block, (unsigned[]){4, 2, 1}, sizeof vendors[i].state->block), 0);
    cr_expect_not(vendors[i].state->loaded_text);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
    kc_buffer_release(y);
    finish(&vendors[i], &r);
  }
}

Test(gpu, arguments_keep_their_order_and_kind) {
  static const double want[] = {-7, 0xfedcba98, 1.5, -5000000000.0, 65535, -0.1};
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_buffer *out = rig_buffer("f64", 6);
    kc_drv_kernel *k =
        rig_kernel(&r, (recipe){.source = "KC_KERNEL void mix(kc_i8 a, KC_GLOBAL kc_f64 *out, kc_u64 b, kc_f32 c, kc_i64 d, "
                                          "kc_u16 e, kc_f64 f) { out[0] = f; }",
                                .entry = "mix",
                                .signature = "a:i8 out:f64[] b:u64 c:f32 d:i64 e:u16 f:f64"});
    uint64_t f_code;
    memcpy(&f_code, &want[5], 8);
    LAUNCH(&r, k, LINE(1, 1), CODE(-7 & 0xff), BUFFER(out), CODE(0xfedcba9876543210u), CODE(0x3fc00000u), CODE(-5000000000),
           CODE(65535), CODE(f_code));
    for (int j = 0; j < 6; j++) cr_expect_eq(((const double *)kc_buffer_cdata(out))[j], want[j], "argument %d", j);
    r.v->unload(r.d, k);
    kc_buffer_release(out);
    finish(&vendors[i], &r);
  }
}

Test(gpu, an_overrun_is_seen_in_the_guards) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_buffer *x = rig_buffer("i32", 4);
    kc_guard_report report;
    kc_drv_kernel *k = rig_kernel(&r, ONE("overrun"));
    LAUNCH(&r, k, LINE(1, 5), BUFFER(x));
    kc_buffer_guards(x, &report);
    cr_expect(report.damaged && report.after && report.offset >= 20 && report.offset < 24, "offset %d", (int)report.offset);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
    finish(&vendors[i], &r);
  }
}

Test(gpu, what_no_device_could_do_is_refused) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_buffer *x = rig_buffer("i32", 4);
    kc_launch_record record;
    kc_text err;
    kc_drv_kernel *k = rig_kernel(&r, ONE("trap"));
    value arg = BUFFER(x);
    static const geometry refused[] = {{{1, 1, 1}, {1, 1, 1}, 9}, {{1, 1, 1}, {257, 1, 1}, 0}, {{1, 65536, 1}, {1, 1, 1}, 0}};
    for (size_t g = 0; g < sizeof refused / sizeof *refused; g++)
      cr_expect_eq(rig_run(&r, k, refused[g], &arg, 1, &record, &err), KC_EUNSUPPORTED, "%zu: %s", g, err.s);
    cr_expect_eq(rig_run(&r, k, LINE(1, 0), &arg, 1, &record, &err), KC_EINVAL);
    cr_expect_eq(rig_run(&r, k, LINE(1, 1), NULL, 0, &record, &err), KC_EINVAL);
    cr_expect_eq(rig_run(&r, k, LINE(0, 1), &arg, 1, &record, &err), KC_OK, "%s", err.s);
    cr_expect_eq(vendors[i].state->block[0], 0, "something was launched");
    r.v->unload(r.d, k);
    kc_buffer_release(x);
    finish(&vendors[i], &r);
  }
}

Test(gpu, a_fault_costs_the_device_and_says_so) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_buffer *x = rig_buffer("i32", 4);
    kc_launch_record record;
    kc_text err;
    kc_mem m;
    kc_drv_kernel *k = rig_kernel(&r, ONE("trap")), *other;
    value arg = BUFFER(x);
    cr_expect_eq(rig_run(&r, k, LINE(1, 1), &arg, 1, &record, &err), KC_EFAULT, "%s", err.s);
    cr_expect(strstr(err.s, i ? "hipErrorIllegalAddress (700)" : "CUDA_ERROR_ILLEGAL_ADDRESS (700)"), "%s", err.s);
    cr_expect_eq(r.v->alloc(&m, r.d, 8, &err), KC_ENODEV);
    cr_expect(strstr(err.s, "lost") && strstr(err.s, "700"), "%s", err.s);
    cr_expect_eq(rig_build(&r, &other, AXPY, NULL, &err), KC_ENODEV);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
    rig_close(&r);
    cr_expect_eq(vendors[i].state->misuses, 0);
  }
}

/* A device may fail by itself: it is gone as well, and the kernel did nothing. */
Test(gpu, a_loss_is_not_the_kernels_fault) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_text err;
    kc_mem m;
    vendors[i].state->failing = "alloc";
    vendors[i].state->code = 214;
    cr_expect_eq(r.v->alloc(&m, r.d, 8, &err), KC_ENODEV, "%s", err.s);
    cr_expect_eq(r.v->alloc(&m, r.d, 8, &err), KC_ENODEV, "%s", err.s);
    cr_expect(strstr(err.s, "lost") && strstr(err.s, "214"), "%s", err.s);
    finish(&vendors[i], &r);
  }
}

Test(gpu, a_refusal_costs_nothing) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_buffer *x = rig_buffer("i32", 8);
    kc_launch_record record;
    kc_text err;
    kc_drv_kernel *k = rig_kernel(&r, ONE("overrun")), *none;
    value arg = BUFFER(x);
    static const char *const calls[] = {"launch", "record", "wait", "elapsed", "write", "read", "alloc", "enter"};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
      vendors[i].state->failing = calls[c];
      vendors[i].state->code = 701;
      cr_expect_eq(rig_run(&r, k, LINE(1, 1), &arg, 1, &record, &err), KC_ELAUNCH, "%s: %s", calls[c], err.s);
      cr_expect_eq(rig_run(&r, k, LINE(1, 1), &arg, 1, &record, &err), KC_OK, "after %s: %s", calls[c], err.s);
    }
    static const char *const loading[] = {"load", "function", "fact"};
    for (size_t c = 0; c < sizeof loading / sizeof *loading; c++) {
      vendors[i].state->failing = loading[c];
      vendors[i].state->code = 209;
      cr_expect_eq(rig_build(&r, &none, AXPY, NULL, &err), KC_EBUILD, "%s: %s", loading[c], err.s);
    }
    vendors[i].state->failing = "alloc";
    vendors[i].state->code = 2;
    cr_expect_eq(rig_run(&r, k, LINE(1, 1), &arg, 1, &record, &err), KC_ENOMEM, "%s", err.s);
    r.v->unload(r.d, k);
    kc_buffer_release(x);
    finish(&vendors[i], &r);
  }
}

/* ---- compiling ---- */

static kc_code compiled(const vendor *w, const char *arch, kc_build_options options) {
  kc_text err;
  kc_code code;
  char *log;
  options.defines = "";
  const kc_build b = {.dialect = KC_DIALECT_CUDA, .source = "", .file = "f.cu", .entry = "k", .options = options};
  cr_assert_eq(kc_driver_compile(&code, w->v, arch, &b, &log, &err), KC_OK, "%s", err.s);
  free(log);
  return code;
}

Test(gpu, every_option_of_a_build_reaches_the_compiler) {
  static const kc_build_options on[] = {{.fast_math = true}, {.contract = true}, {.flush = true}};
  static const char *const words[VENDORS][3] = {{"--use_fast_math", "--fmad=true", "--ftz=true"},
                                                {"-ffast-math", "-ffp-contract=fast", "-fgpu-flush-denormals-to-zero"}};
  for (int i = 0; i < VENDORS; i++) {
    char arch[16] = "";
    strncat(arch, vendors[i].arch, strcspn(vendors[i].arch, ":"));
    kc_code plain = compiled(&vendors[i], arch, (kc_build_options){0});
    cr_expect(strstr(plain.text, arch), "%s", plain.text);
    cr_expect_str_eq(plain.entry, "k");
    for (int o = 0; o < 3; o++) {
      kc_code code = compiled(&vendors[i], arch, on[o]);
      cr_expect(strstr(plain.text, vendors[i].options[o]), "off: %s in\n%s", vendors[i].options[o], plain.text);
      cr_expect(strstr(code.text, words[i][o]), "on: %s in\n%s", words[i][o], code.text);
      cr_expect_not(strstr(plain.text, words[i][o]), "%s", plain.text);
      kc_code_free(&code);
    }
    kc_code_free(&plain);
  }
}

Test(gpu, a_compiler_that_aborts_or_refuses_costs_a_kernel_only) {
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    kc_drv_kernel *k;
    kc_text err;
    char *log = NULL;
    recipe c = ONE("trap");
    c.source = "KC_KERNEL void trap(KC_GLOBAL kc_i32 *x) { x[0] = ABORT; }";
    cr_expect_eq(rig_build(&r, &k, c, NULL, &err), KC_EBUILD);
    cr_expect(strstr(err.s, "signal 6"), "%s", err.s);
    c.source = "KC_KERNEL void trap(KC_GLOBAL kc_i32 *x) { x[0] = ERROR; }";
    cr_expect_eq(rig_build(&r, &k, c, &log, &err), KC_EBUILD);
    cr_expect_str_eq(err.s, "some (odd) file.k:4: error: identifier \"ERROR\" is undefined");
    cr_expect(log && strstr(log, "some (odd) file.k(4)"), "%s", log ? log : "no log");
    free(log);
    c.dialect = KC_DIALECT_OPENCL;
    cr_expect_eq(rig_build(&r, &k, c, NULL, &err), KC_EUNSUPPORTED, "%s", err.s);
    r.v->unload(r.d, rig_kernel(&r, ONE("trap")));
    finish(&vendors[i], &r);
  }
}

Test(gpu, without_a_compiler_a_device_is_not_opened) {
  for (int i = 0; i < VENDORS; i++) {
    kc_drv_device *d;
    kc_text err;
    char *archs;
    setenv(vendors[i].compiler_asked, "/nowhere/lib.so", 1);
    cr_expect_eq(kc_driver_open(&d, vendors[i].v, 0, &err), KC_ENODEV);
    cr_expect(strstr(err.s, vendors[i].compiler_asked) && strstr(err.s, "/nowhere/lib.so"), "%s", err.s);
    cr_expect_eq(kc_driver_archs(&archs, vendors[i].v, &err), KC_ENODEV);
    setenv("KC_RTC", "/nowhere/kc-rtc", 1);
    cr_expect_eq(kc_driver_archs(&archs, vendors[i].v, &err), KC_ENODEV);
    cr_expect(strstr(err.s, "/nowhere/kc-rtc"), "%s", err.s);
    setenv("KC_RTC", KC_RTC_PROGRAM, 1);
  }
}

/* NVIDIA's driver compiles PTX for what the compiler does not know; nothing does so for AMD. */
Test(gpu, a_device_newer_than_the_compiler_gets_text) {
  vendor *w = &vendors[0];
  kc_drv_device *d;
  kc_text err;
  w->state->major = 8;
  w->state->minor = 9;
  rig r = open_on(w, 0);
  kc_drv_kernel *k = rig_kernel(&r, AXPY);
  kc_code code;
  cr_expect_eq(kc_driver_code(&code, r.v, r.d, k, &err), KC_OK);
  cr_expect_str_eq(code.arch, "sm_80");
  cr_expect(w->state->loaded_text);
  r.v->unload(r.d, k);
  finish(w, &r);
  w->state->major = 7;
  w->state->minor = 0;
  cr_expect_eq(kc_driver_open(&d, w->v, 0, &err), KC_ENODEV);
  cr_expect(strstr(err.s, "sm_70"), "%s", err.s);
}

static long size_of(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  fclose(f);
  return n;
}

Test(gpu, code_is_kept_under_everything_that_went_into_it) {
  char directory[] = "/tmp/kc-gpu-XXXXXX", count[64], command[64];
  cr_assert(mkdtemp(directory));
  snprintf(count, sizeof count, "%s/count", directory);
  setenv("FAKE_RTC_COUNT", count, 1);
  for (int i = 0; i < VENDORS; i++) {
    rig r = open_on(&vendors[i], 0);
    recipe c = AXPY;
    c.cache = directory;
    long before = size_of(count);
    for (int times = 0; times < 3; times++) r.v->unload(r.d, rig_kernel(&r, c));
    cr_expect_eq(size_of(count), before + 1);
    c.options.contract = true;
    r.v->unload(r.d, rig_kernel(&r, c));
    cr_expect_eq(size_of(count), before + 2);
    c.signature = "x:f32[] y:f32[] b:f32 n:i32";
    r.v->unload(r.d, rig_kernel(&r, c));
    cr_expect_eq(size_of(count), before + 3);
    finish(&vendors[i], &r);
  }
  snprintf(command, sizeof command, "rm -r '%s'", directory);
  cr_expect_eq(system(command), 0);
}

/* A torn or longer block is none, wherever it is torn. */
Test(gpu, a_container_is_whole_or_none) {
  kc__string block = {0};
  kc__container c;
  kc__container_write(&block, &(kc__container){{"k", 1}, {"\177E\0F", 4}, {"text", 4}});
  cr_assert(kc__container_read(&c, (const uint8_t *)block.s, block.n));
  cr_expect(c.name.n == 1 && c.code.n == 4 && c.text.n == 4 && memcmp(c.code.s, "\177E\0F", 4) == 0);
  cr_expect_str_eq(c.text.s, "text");
  for (size_t n = 0; n < block.n; n++) {
    uint8_t *part = malloc(n + 1); /* so that a sanitizer sees what is read behind it */
    memcpy(part, block.s, n);
    cr_expect_not(kc__container_read(&c, part, n), "%zu bytes of %zu", n, block.n);
    free(part);
  }
  cr_expect_eq((uintptr_t)(c.code.s - block.s) % 16, 0);
  static const char *const bad[] = {"kc-code 2 99999999999999999999 1 1", "kc-code 2 -1 0 0", "kc-code 1 0 0 0", ""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char head[100]; /* the head's 96 bytes, and three parts of nothing */
    memset(head, ' ', sizeof head);
    memcpy(head, bad[i], strlen(bad[i]));
    head[95] = '\n';
    memset(head + 96, 0, 3);
    cr_expect_not(kc__container_read(&c, (const uint8_t *)head, 99), "%s", bad[i]);
  }
  kc__string_clear(&block);
}

Test(gpu, drivers_without_code_say_so) {
  kc_code code;
  char *archs, *log;
  kc_text err;
  const kc_build b = {.source = "", .file = "f.k", .entry = "k", .options = {.defines = ""}};
  cr_expect_eq(kc_driver_archs(&archs, &kc_driver_cpu, &err), KC_EUNSUPPORTED);
  cr_expect_eq(kc_driver_compile(&code, &kc_driver_cpu, "sm_90", &b, &log, &err), KC_EUNSUPPORTED);
  cr_expect_eq(kc_driver_code(&code, &kc_driver_cpu, NULL, NULL, &err), KC_EUNSUPPORTED);
  cr_expect_eq(kc_driver_compile(&code, &kc_driver_cuda, "sm_10", &b, &log, &err), KC_EUNSUPPORTED);
  cr_expect(strstr(err.s, "sm_75 sm_80 sm_90"), "%s", err.s);
}
