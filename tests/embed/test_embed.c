/* test_embed.c - kc_embed.h in a program: states, allocators, tensors of the program's own, runs, and what of the process is left alone. */
#define _GNU_SOURCE 1
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty.h"
#include "kc_embed.h"

static kc_embed *opened(const kc_embed_options *options) {
  kc_text err;
  kc_embed *e;
  cr_assert_eq(kc_embed_open(&e, options, &err), KC_OK, "%s", err.s);
  return e;
}

static kc_embed *with_program(kc_embed_options options) {
  options.program = PROGRAM;
  return opened(&options);
}

/* ---- states ---------------------------------------------------------------------------------------------------------------- */

Test(embed, evaluates_and_reports_errors) {
  kc_text out, err;
  kc_embed *e = opened(NULL);
  cr_expect_eq(kc_embed_eval(e, "return require('kc').f16(0.1).code", &out, &err), KC_OK, "%s", err.s);
  cr_expect_str_eq(out.s, "11878"); /* 0x2e66 */
  cr_expect_eq(kc_embed_eval(e, "error('no way')", &out, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "no way"), "%s", err.s);
  cr_expect_eq(kc_embed_eval(e, "return )", &out, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "unexpected symbol"), "%s", err.s);
  cr_expect_eq(kc_embed_eval(e, "return {}", &out, NULL), KC_OK);
  cr_expect_str_eq(out.s, "");
  cr_expect_str_eq(kc_version(), KC_VERSION);
  kc_embed_close(e);
  kc_embed_close(NULL);
}

typedef struct accounts {
  long held, calls, fail_at; /* bytes; allocations so far; the first that fails, 0: none */
} accounts;

static void *account(void *user, void *block, size_t old_size, size_t new_size) {
  accounts *a = user;
  size_t before = block ? old_size : 0;
  if (new_size > before && a->fail_at && ++a->calls >= a->fail_at) return NULL;
  a->held += (long)new_size - (long)before;
  if (new_size) return realloc(block, new_size);
  free(block);
  return NULL;
}

Test(embed, allocator_gets_everything_back) {
  kc_text err;
  accounts a = {0};
  kc_embed *e = opened(&(kc_embed_options){.alloc = account, .alloc_user = &a});
  cr_expect_gt(a.held, 20000);
  cr_expect_eq(kc_embed_eval(e, "return require('kc').buffer('f32', 1000)[1]", NULL, &err), KC_OK, "%s", err.s);
  kc_embed_close(e);
  cr_expect_eq(a.held, 0, "%ld bytes are left", a.held);
}

Test(embed, exhausted_memory_is_a_status) {
  int failures = 0;
  for (long fail_at = 1; fail_at < 100000; fail_at += 1 + fail_at / 8) {
    kc_text err;
    accounts a = {.fail_at = fail_at};
    kc_embed *e;
    kc_status status = kc_embed_open(&e, &(kc_embed_options){.alloc = account, .alloc_user = &a, .program = PROGRAM}, &err);
    if (status == KC_OK) {
      status = kc_embed_eval(e, "return require('kc').real('0.1') and 1", NULL, &err);
      kc_embed_close(e);
    }
    cr_assert(status == KC_OK || status == KC_ENOMEM || (status == KC_EINVAL && strstr(err.s, "memory")), "%ld: %d %s", fail_at,
              (int)status, err.s);
    cr_assert_eq(a.held, 0, "allocation %ld fails: %ld bytes are left", fail_at, a.held);
    failures += status != KC_OK;
  }
  cr_expect_gt(failures, 20);
}

/* ---- extensions of the program's own ------------------------------------------------------------------------------------------ */

/* What the oracle under test gives for every element. */
static struct {
  double lo, hi;
  uint8_t classes;
  int status;
  const char *text; /* of a failure; NULL: none is written */
} answer;

static kc_status count_first(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)p, (void)err;
  *out = kc_buffer_count(inputs[0]);
  return KC_OK;
}

static kc_status give_answer(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  (void)inputs, (void)p;
  if (answer.text) kc_fail(err, KC_OK, "%s", answer.text);
  for (int64_t i = 0; i < out->count; i++) {
    out->lo[i] = answer.lo;
    out->hi[i] = answer.hi;
    out->classes[i] = answer.classes;
  }
  return (kc_status)answer.status;
}

static double tenths(double got, double ref, const kc_format *f) {
  (void)f;
  return got < 0 ? -1 : 10 * (got - ref);
}

static const kc_oracle mine = {
    .name = "mine", .doc = "what the test says", .arity = 1, .parameters = "axis a", .count = count_first, .eval = give_answer};
static const kc_metric tenths_of = {.name = "tenths", .unit = "0.1", .doc = "in tenths", .value = tenths};

static kc_status add(kc_embed *e, const kc_driver *driver, const kc_oracle *oracle, const kc_metric *metric, kc_text *err) {
  const kc_driver *drivers[] = {driver, NULL};
  const kc_oracle *oracles[] = {oracle, NULL};
  const kc_metric *metrics[] = {metric, NULL};
  return kc_embed_add(e, &(kc_extension){KC_EXTENSION_ABI, drivers, oracles, metrics}, err);
}

Test(embed, drivers_of_the_program) {
  kc_text out, err;
  kc_embed *e = opened(NULL);
  faulty = (faulty_plan){0};
  cr_expect_eq(add(e, &kc_driver_faulty, NULL, NULL, &err), KC_OK, "%s", err.s);
  cr_expect_eq(add(e, &kc_driver_faulty, NULL, NULL, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "another of this name"), "%s", err.s);
  cr_expect_eq(add(e, &(kc_driver){.abi_size = 3}, NULL, NULL, &err), KC_EINVAL);
  const char *code =
      "local kc = require 'kc' local d = kc.device('faulty', { isolation = 'none' }) local f = d:fingerprint().name "
      "d:close() return f:sub(1, 3)";
  cr_expect_eq(kc_embed_eval(e, code, &out, &err), KC_OK, "%s", err.s);
  cr_expect_str_eq(out.s, "nnn");
  cr_expect_eq(faulty.devices, 0);
  kc_embed_close(e);
}

Test(embed, refuses_what_is_no_extension) {
  static const struct {
    kc_oracle oracle;
    const char *text;
  } oracles[] = {
      {{.name = "Mine"}, "oracle 'Mine': expected a name"},
      {{.name = NULL}, "oracle '(none)': expected a name"},
      {{.name = "relu"}, "oracle 'relu': another"},
      {{.name = "softmax"}, "oracle 'softmax': another"},
      {{.name = "mine"}, "doc is missing"},
      {{.name = "mine", .doc = "", .count = count_first}, "eval is missing"},
      {{.name = "mine", .doc = "", .count = count_first, .eval = give_answer}, "arity is 0"},
      {{.name = "mine", .doc = "", .arity = 9, .count = count_first, .eval = give_answer}, "arity is 9"},
      {{.name = "mine", .doc = "", .arity = 1, .parameters = "axis  axes", .count = count_first, .eval = give_answer},
       "unknown parameter 'axes'; known are a b axis"}};
  static const struct {
    kc_metric metric;
    const char *text;
  } metrics[] = {{{.name = "ulp"}, "metric 'ulp': another"},
                 {{.name = "tenths", .unit = "1", .doc = ""}, "value is missing"},
                 {{.name = "a b"}, "expected a name"}};
  kc_text err;
  kc_embed *e = opened(NULL);
  for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
    cr_expect_eq(add(e, NULL, &oracles[i].oracle, NULL, &err), KC_EINVAL);
    cr_expect(strstr(err.s, oracles[i].text), "%s", err.s);
  }
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
    cr_expect_eq(add(e, NULL, &mine, &metrics[i].metric, &err), KC_EINVAL);
    cr_expect(strstr(err.s, metrics[i].text), "%s", err.s);
  }
  cr_expect_eq(kc_embed_add(e, NULL, &err), KC_EINVAL);
  cr_expect_eq(kc_embed_add(e, &(kc_extension){.abi = 1}, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "another kc_extension.h"), "%s", err.s);
  cr_expect_eq(add(e, NULL, &mine, NULL, &err), KC_OK, "of a refused extension nothing is known: %s", err.s);
  kc_embed_close(e);
}

Test(embed, metrics_of_the_program) {
  kc_text out, err;
  kc_embed *e = opened(NULL);
  cr_expect_eq(add(e, NULL, NULL, &tenths_of, &err), KC_OK, "%s", err.s);
  const char *code =
      "local kc = require 'kc' local m = kc.metric('tenths', kc.buffer('f32', 2, { 2.5, 1 }), kc.buffer('f32', 2, { 1, 1 })) "
      "return m.max .. ' ' .. m.mean .. ' ' .. m.worst";
  cr_expect_eq(kc_embed_eval(e, code, &out, &err), KC_OK, "%s", err.s);
  cr_expect_str_eq(out.s, "15.0 7.5 1");
  code = "local kc = require 'kc' return kc.metric('tenths', kc.buffer('f32', 1, { -1 }), kc.buffer('f32', 1, { 1 })).max";
  cr_expect_eq(kc_embed_eval(e, code, &out, &err), KC_OK, "%s", err.s);
  cr_expect_str_eq(out.s, "inf", "a value that is no number >= 0 is seen");
  kc_embed_close(e);
}

Test(embed, prompt_needs_a_terminal) {
  kc_text err;
  kc_embed *e = opened(NULL);
  int null = memfd_create("input", 0);
  cr_assert(dup2(null, 0) == 0);
  cr_expect_eq(kc_embed_repl(e, &err), KC_EUNSUPPORTED);
  cr_expect(strstr(err.s, "terminal"), "%s", err.s);
  kc_embed_close(e);
}

/* ---- tensors ---------------------------------------------------------------------------------------------------------------- */

static kc_buffer *pair_of(float a, float b) {
  kc_text err;
  kc_buffer *x;
  const int64_t shape[] = {2};
  cr_assert_eq(kc_buffer_create(&x, kc_format_find("f32"), 1, shape, 0, &err), KC_OK, "%s", err.s);
  memcpy(kc_buffer_data(x), (float[]){a, b}, 2 * sizeof(float));
  return x;
}

static kc_status decide(kc_decision *d, kc_embed *e, const kc_buffer *y, const char *oracle, const kc_buffer *x, kc_text *err) {
  kc_input input = {"x", x};
  kc_tolerance exact = {.kind = KC_TOL_EXACT};
  return kc_embed_decide(d, e, y, oracle, &input, 1, &exact, err);
}

Test(embed, decides_a_tensor) {
  kc_text err;
  kc_decision d;
  kc_embed *e = with_program((kc_embed_options){.alloc = NULL});
  kc_buffer *x = pair_of(1, 4), *y = pair_of(1, 2), *z = pair_of(1, 3);
  cr_expect_eq(decide(&d, e, y, "kc.oracle.sqrt('x')", x, &err), KC_OK, "%s", err.s);
  cr_expect(d.count == 2 && d.value_yes == 2);
  cr_expect_eq(decide(&d, e, z, "kc.oracle.sqrt('x')", x, &err), KC_OK, "%s", err.s);
  cr_expect(d.value_yes == 1 && d.value_no == 1 && d.first_value_no == 1);
  cr_expect_eq(decide(&d, e, y, "function(t) return kc.exp2(t.x) / 2 end", y, &err), KC_OK, "%s", err.s);
  cr_expect(d.value_yes == 2, "2^1 / 2 = 1, 2^2 / 2 = 2: %d", (int)d.value_yes);
  kc_buffer_release(x);
  kc_buffer_release(y);
  kc_buffer_release(z);
  kc_embed_close(e);
}

Test(embed, refuses_what_is_no_oracle) {
  kc_text err;
  kc_decision d;
  kc_embed *e = with_program((kc_embed_options){.alloc = NULL});
  kc_buffer *x = pair_of(1, 4);
  cr_expect_eq(decide(&d, e, x, "kc.oracle.sqrtt('x')", x, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "did you mean 'sqrt'"), "%s", err.s);
  cr_expect_eq(decide(&d, e, x, "kc.oracle.sqrt('X')", x, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "names input 'X'"), "%s", err.s);
  cr_expect_eq(decide(&d, e, x, "3", x, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "expected an oracle"), "%s", err.s);
  cr_expect_eq(decide(&d, e, x, "kc.oracle.(", x, &err), KC_EINVAL);
  cr_expect(strncmp(err.s, "oracle: ", 8) == 0, "%s", err.s);
  kc_buffer_release(x);
  kc_embed_close(e);
}

Test(embed, oracles_of_the_program) {
  static const struct {
    double lo, hi;
    uint8_t classes;
    const char *wrong; /* NULL: an enclosure */
  } answers[] = {{1, 1, KC_PFIN, NULL},
                 {-1, 3, KC_PFIN, NULL}, /* loose bounds are bounds */
                 {NAN, NAN, KC_NAN, NULL},
                 {5, 1, 0, NULL}, /* nothing is declared */
                 {2, 1, KC_PFIN, "element 0: bounds 2 and 1 with classes 0x20"},
                 {NAN, 1, KC_PFIN, "are no enclosure"},
                 {-2, -1, KC_PFIN, "are no enclosure"},
                 {1, 2, KC_NFIN | KC_PFIN, "are no enclosure"},
                 {1, 2, KC_PZERO | KC_PFIN, "are no enclosure"}};
  kc_text err;
  kc_decision d;
  kc_embed *e = with_program((kc_embed_options){.alloc = NULL});
  kc_buffer *x = pair_of(1, 1);
  cr_expect_eq(add(e, NULL, &mine, NULL, &err), KC_OK, "%s", err.s);
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    answer.lo = answers[i].lo, answer.hi = answers[i].hi, answer.classes = answers[i].classes;
    kc_status status = decide(&d, e, x, "kc.oracle.mine('x', { axis = 0 })", x, &err);
    cr_expect_eq(status == KC_OK, answers[i].wrong == NULL, "%zu: %s", i, err.s);
    cr_expect(!answers[i].wrong || strstr(err.s, answers[i].wrong), "%s", err.s);
    if (i == 0) cr_expect_eq(d.value_yes, 2);
  }
  static const struct {
    int status;
    const char *text, *said;
  } failures[] = {{KC_EINVAL, "x is odd", "oracle mine: x is odd"},
                  {KC_EUNSUPPORTED, "not yet", "oracle mine: not yet"},
                  {KC_EIO, NULL, "oracle 'mine' failed and did not say why (io)"},
                  {7, NULL, "oracle 'mine' answered 7, which is no status"},
                  {-99, "odd", "answered -99"}};
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    answer.status = failures[i].status, answer.text = failures[i].text;
    cr_expect_eq(decide(&d, e, x, "kc.oracle.mine('x')", x, &err), KC_EINVAL);
    cr_expect(strstr(err.s, failures[i].said) && !strstr(err.s, "stdlib"), "%s", err.s);
  }
  answer.status = KC_OK, answer.text = NULL;
  cr_expect_eq(decide(&d, e, x, "kc.oracle.mine('x', { epsilon = 0 })", x, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "reads no parameter 'epsilon'"), "%s", err.s);
  cr_expect_eq(decide(&d, e, x, "kc.oracle.mine('x', 'x')", x, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "expected 1 input names, got 2"), "%s", err.s);
  kc_buffer_release(x);
  kc_embed_close(e);
}

/* ---- runs -------------------------------------------------------------------------------------------------------------------- */

typedef struct observer {
  int64_t done, of;
  int lines, stop_after; /* stop_after: cells, -1 never */
  char last[256];
} observer;

static void on_log(void *user, const char *line) {
  observer *o = user;
  o->lines++;
  strncpy(o->last, line, sizeof o->last - 1);
}

static void on_progress(void *user, int64_t done, int64_t of) {
  observer *o = user;
  o->done = done;
  o->of = of;
}

static bool on_cancel(void *user) {
  observer *o = user;
  return o->stop_after >= 0 && o->of > 0 && o->done >= o->stop_after;
}

static kc_embed *watched(observer *o) {
  *o = (observer){.stop_after = -1};
  return with_program((kc_embed_options){.log = on_log, .progress = on_progress, .cancel = on_cancel, .user = o});
}

static const char *const relu[] = {"contracts/C-EXC-01.relu.f32", NULL};

/* Runs with what this process prints going into a file, which must stay empty. */
static kc_status run_silently(kc_results **r, kc_embed *e, const kc_run_options *o, kc_text *err) {
  int said = memfd_create("said", 0), out = dup(1), errors = dup(2);
  dup2(said, 1);
  dup2(said, 2);
  kc_status status = kc_embed_run(r, e, o, err);
  dup2(out, 1);
  dup2(errors, 2);
  cr_expect_eq(lseek(said, 0, SEEK_END), 0, "something was printed");
  return close(said), close(out), close(errors), status;
}

Test(embed, run_gives_cells) {
  kc_text err;
  kc_results *r;
  observer o;
  kc_embed *e = watched(&o);
  kc_status status = run_silently(&r, e, &(kc_run_options){.targets = relu, .impl = "*_else_*", .seed = 3}, &err);
  cr_assert_eq(status, KC_OK, "%s", err.s);
  cr_assert_eq(kc_results_count(r), 2);
  const kc_cell *bad = kc_results_at(r, 0), *good = kc_results_at(r, 1);
  cr_expect_str_eq(bad->implementation, "greater_else_zero");
  cr_expect_str_eq(bad->contract, "C-EXC-01/relu.f32");
  cr_expect_str_eq(bad->device, "cpu");
  cr_expect_str_eq(bad->role, "bad");
  cr_expect_eq(bad->verdict, KC_VERDICT_VIOLATED);
  cr_expect(strstr(bad->signature, "NaN swallowed") && strstr(bad->reason, "inadmissible class"), "%s", bad->reason);
  cr_expect(strstr(bad->replay, "contract.lua:greater_else_zero:cpu:3:"), "%s", bad->replay);
  cr_expect_str_eq(good->implementation, "less_else_x");
  cr_expect_eq(good->verdict, KC_VERDICT_HELD);
  cr_expect_str_eq(good->reason, "");
  cr_expect(good->judged >= 4096 && good->ratio == 0);
  cr_expect_null(kc_results_at(r, 2));
  cr_expect(kc_results_tally(r, KC_VERDICT_HELD) == 1 && kc_results_tally(r, KC_VERDICT_VIOLATED) == 1);
  cr_expect_eq(kc_results_exit(r), 1);
  cr_expect(o.of == 2 && o.lines == 0);
  kc_results_free(r);
  kc_results_free(NULL);
  kc_embed_close(e);
}

/* ---- in this process --------------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

static int open_files(void) {
  int n = 0;
  DIR *directory = opendir("/proc/self/fd");
  cr_assert_not_null(directory);
  while (readdir(directory)) n++;
  closedir(directory);
  return n;
}

Test(embed, in_process_gives_the_same_verdicts) {
  static const char *const targets[] = {"contracts/C-EXC-01.relu.f32", "contracts/C-EXC-02.gather.clamp.f32",
                                        "contracts/C-PRC-02.exp.f32", NULL};
  kc_text err;
  kc_results *inside, *isolated;
  observer o;
  int before = open_files();
  kc_embed *e = watched(&o);
  const kc_run_options here = {.targets = targets, .in_process = true}, there = {.targets = targets};
  cr_assert_eq(run_silently(&inside, e, &here, &err), KC_OK, "%s", err.s);
  cr_expect(o.done == o.of && o.of == (int64_t)kc_results_count(inside));
  cr_assert_eq(run_silently(&isolated, e, &there, &err), KC_OK, "%s", err.s);
  cr_assert(kc_results_count(inside) == kc_results_count(isolated) && kc_results_count(inside) > 3);
  for (size_t i = 0; i < kc_results_count(inside); i++) {
    const kc_cell *a = kc_results_at(inside, i), *b = kc_results_at(isolated, i);
    cr_expect(a->verdict == b->verdict && same_text(a->reason, b->reason) && a->ratio == b->ratio, "%s", a->implementation);
    cr_expect(*a->replay && same_text(a->replay, b->replay), "the same bits: %s, %s", a->replay, b->replay);
    cr_expect(!a->isolated && b->isolated);
  }
  kc_results_free(inside);
  kc_results_free(isolated);
  kc_embed_close(e);
  cr_expect_eq(open_files(), before, "descriptors are left open");
}

/* A folder with the contract of tests/embed/scale, whose oracle is the extension's. */
static void write_contract(char *folder) {
  char command[512];
  cr_assert_not_null(mkdtemp(folder));
  snprintf(command, sizeof command,
           "cp tests/embed/scale/* %s && sed -i 's/function(x) return x.x + x.x end/kc.oracle.scaled(\"x\", { a = 2 })/' "
           "%s/contract.lua",
           folder, folder);
  cr_assert_eq(system(command), 0);
}

static void remove_folder(const char *folder) {
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  cr_expect_eq(system(command), 0);
}

Test(embed, in_process_with_what_the_program_adds) {
  char folder[] = "/tmp/kc_embed_XXXXXX";
  kc_text err;
  kc_results *r;
  observer o;
  struct sigaction before, after;
  sigaction(SIGSEGV, NULL, &before);
  kc_embed *e = watched(&o);
  write_contract(folder);
  const char *targets[] = {folder, NULL}, *devices[] = {"mine", "cpu", NULL};
  const kc_run_options here = {.targets = targets, .devices = devices, .impl = "*", .in_process = true};
  cr_expect_eq(run_silently(&r, e, &here, &err), KC_EINVAL, "neither the device nor the oracle is known");
  kc_results_free(r);
  cr_assert_eq(kc_embed_add(e, kc_extension_entry(), &err), KC_OK, "%s", err.s);
  cr_assert_eq(run_silently(&r, e, &here, &err), KC_OK, "%s %s", err.s, o.last);
  cr_assert_eq(kc_results_count(r), 6);
  for (size_t i = 0; i < 6; i++) {
    const kc_cell *c = kc_results_at(r, i);
    bool good = same_text(c->implementation, "twice");
    cr_expect_eq(c->verdict, good ? KC_VERDICT_HELD : KC_VERDICT_VIOLATED, "%s on %s: %s", c->implementation, c->device,
                 c->reason);
    cr_expect_str_eq(c->device, i < 3 ? "mine" : "cpu");
  }
  kc_results_free(r);
  const char *objects[] = {"/some.so", NULL};
  cr_expect_eq(run_silently(&r, e, &(kc_run_options){.targets = targets, .extensions = objects, .in_process = true}, &err),
               KC_EINVAL);
  cr_expect(strstr(err.s, "kc_embed_add") && !r, "%s", err.s);
  sigaction(SIGSEGV, NULL, &after);
  cr_expect(before.sa_handler == after.sa_handler, "handlers are left alone");
  kc_embed_close(e);
  remove_folder(folder);
}

static bool cancel_late(void *user) {
  return --*(int *)user < 0;
}

Test(embed, in_process_is_cancelled) {
  for (int patience = 0; patience < 400; patience += 1 + patience / 2) {
    kc_text err;
    kc_results *r;
    int left = patience;
    kc_embed *e = with_program((kc_embed_options){.cancel = cancel_late, .user = &left});
    kc_status status = run_silently(&r, e, &(kc_run_options){.targets = relu, .impl = "*", .in_process = true}, &err);
    cr_assert(status == KC_ECANCELLED || (status == KC_OK && left >= 0), "%d: %s", (int)status, err.s);
    cr_expect(status == KC_OK || kc_results_exit(r) == 130);
    cr_expect(patience > 0 || kc_results_count(r) == 0);
    kc_results_free(r);
    kc_embed_close(e);
  }
}

Test(embed, refusals_name_what_was_wrong) {
  static const struct {
    const char *target, *device;
    const char *filter, *text;
    kc_status status;
  } cases[] = {{"C-EXC-01/relux.f32", "cpu", NULL, "did you mean 'C-EXC-01/relu.f32'", KC_EINVAL},
               {"C-EXC-01/relu.f32", "gpu", NULL, "option '--device'", KC_EINVAL},
               {"C-EXC-01/relu.f32", "cpu", "none*", "nothing was selected", KC_OK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kc_text err;
    kc_results *r;
    observer o;
    kc_embed *e = watched(&o);
    const char *targets[] = {cases[i].target, NULL}, *devices[] = {cases[i].device, NULL};
    kc_status status =
        run_silently(&r, e, &(kc_run_options){.targets = targets, .devices = devices, .filter = cases[i].filter}, &err);
    cr_expect_eq(status, cases[i].status);
    cr_expect(strstr(o.last, cases[i].text), "%s", o.last);
    cr_expect(status == KC_OK || strstr(err.s, cases[i].text), "%s", err.s);
    cr_expect_eq(kc_results_count(r), 0);
    kc_results_free(r);
    kc_embed_close(e);
  }
}

Test(embed, absent_or_wrong_program) {
  static const char *const programs[] = {"/nowhere/kc", "/bin/true"}, *const texts[] = {"KC_PROGRAM", "before it was done"};
  for (int i = 0; i < 2; i++) {
    kc_text err;
    kc_results *r;
    kc_embed *e = opened(&(kc_embed_options){.program = programs[i]});
    cr_expect_str_eq(kc_embed_program(e), programs[i]);
    cr_expect_eq(kc_embed_run(&r, e, NULL, &err), KC_EIO);
    cr_expect(strstr(err.s, programs[i]) && strstr(err.s, texts[i]), "%s", err.s);
    cr_expect_null(r);
    kc_embed_close(e);
  }
}

/* Descendants of kc are gone when a run was cancelled; the program's own children, signals and adoptions are as they were. */
Test(embed, cancelled_run_leaves_the_process_alone) {
  kc_text err;
  kc_results *r;
  observer o;
  struct sigaction interrupt, terminate, pipe;
  int adopts = -1;
  kc_embed *e = watched(&o);
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  o.stop_after = 1;
  const char *targets[] = {"contracts/C-EXC-01.relu.f32", "contracts/C-EXC-01.max.f32", NULL};
  kc_status status = run_silently(&r, e, &(kc_run_options){.targets = targets, .jobs = 1}, &err);
  cr_expect_eq(status, KC_ECANCELLED, "%d: %s", (int)status, err.s);
  cr_assert_not_null(r);
  cr_expect(kc_results_count(r) >= 1, "what was judged before is there");
  cr_expect_eq(kc_results_exit(r), 130);
  kc_results_free(r);
  cr_expect_eq(kc_embed_eval(e, "local d = require('kc').device 'cpu' d:close()", NULL, &err), KC_OK, "%s", err.s);
  kc_embed_close(e);
  sigaction(SIGINT, NULL, &interrupt);
  sigaction(SIGTERM, NULL, &terminate);
  sigaction(SIGPIPE, NULL, &pipe);
  prctl(PR_GET_CHILD_SUBREAPER, &adopts);
  cr_expect(interrupt.sa_handler == SIG_DFL && terminate.sa_handler == SIG_DFL && pipe.sa_handler == SIG_DFL && adopts == 0);
  cr_expect_eq(waitpid(child, NULL, WNOHANG), 0, "the program's own child lives");
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  cr_expect(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no process of kc's is left");
}
