/* gpu_compile.c - from a kernel's text to code for a GPU: by a runtime compiler, in a child that may die, kept under everything that
 * went into it. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "child.h"
#include "container.h"
#include "dialect.h"
#include "gpu.h"
#include "source.h"
#include "workplace.h"

enum { MAX_WORDS = 24 };

/* ---- the compiler ---------------------------------------------------------------------------------------------------------- */

/* KC_RTC, or what lies in lib/kc of an installation (kc), or beside the running program (kc-runner, a build folder). */
static kc_status find_program(char *out, size_t size, kc_text *err) {
  static const char *const tails[] = {KC_LIB_FROM_BIN "/kc/kc-rtc", "kc-rtc"};
  const char *asked = getenv("KC_RTC");
  char here[768] = "";
  ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
  char *slash = n > 0 ? strrchr(here, '/') : NULL;
  if (slash) *slash = '\0';
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    int length = asked && asked[0] ? snprintf(out, size, "%s", asked) : snprintf(out, size, "%.740s/%s", here, tails[i]);
    if (length > 0 && (size_t)length < size && access(out, X_OK) == 0) return KC_OK;
  }
  return kc_fail(err, KC_ENODEV, "'%.300s', which runs the compiler, is not there; KC_RTC names another", out);
}

/* The rest of the line that begins with `word`. */
static bool line_of(char *out, size_t size, const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != '\0')) {
    size_t length = strcspn(line, "\n");
    if (length <= n || strncmp(line, word, n) != 0 || line[n] != ' ' || length - n - 1 >= size) continue;
    memcpy(out, line + n + 1, length - n - 1);
    out[length - n - 1] = '\0';
    return true;
  }
  return false;
}

static bool read_info(kc__gpu_compiler *c, const char *text) {
  bool complete = line_of(c->identity, sizeof c->identity, text, "library") &&
                  line_of(c->version, sizeof c->version, text, "version") && line_of(c->archs, sizeof c->archs, text, "archs");
  size_t n = strcspn(c->identity, " ");
  if (!complete || n >= sizeof c->library) return false;
  memcpy(c->library, c->identity, n);
  c->library[n] = '\0';
  return true;
}

kc_status kc__gpu_find_compiler(kc__gpu_compiler *c, const kc__gpu_vendor *v, kc_text *err) {
  *c = (kc__gpu_compiler){.archs = ""};
  kc__string said = {0};
  kc_text why;
  kc_status status = find_program(c->program, sizeof c->program, err);
  if (status != KC_OK) return status;
  const char *argv[] = {c->program, v->compiler, "info", NULL};
  status = kc__child_run(argv, &said, &why);
  const char *text = said.n ? said.s : "";
  if (status != KC_OK)
    status = kc_fail(err, KC_ENODEV, "no %s: %.*s", v->compiler, (int)strcspn(text, "\n"), text[0] ? text : why.s);
  else if (!read_info(c, text))
    status = kc_fail(err, KC_ENODEV, "%s says nothing of itself", v->compiler);
  kc__string_clear(&said);
  return status;
}

static bool is_listed(const char *list, const char *word, size_t n) {
  for (; *list; list += strcspn(list, " "), list += strspn(list, " "))
    if (strcspn(list, " ") == n && strncmp(list, word, n) == 0) return true;
  return false;
}

/* "sm_90" as a number; 0 for anything else. */
static long number_of(const char *arch) {
  return strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, NULL, 10) : 0;
}

/* Features may follow an architecture: gfx90a:sramecc+:xnack-. A driver that translates takes the text for the next lower one. */
bool kc__gpu_choose(char *out, size_t size, const kc__gpu_compiler *c, const kc__gpu_vendor *v, const char *arch) {
  size_t n = strcspn(arch, ":");
  if (is_listed(c->archs, arch, n)) {
    snprintf(out, size, "%s", arch);
    return true;
  }
  long best = 0, wanted = number_of(arch);
  for (const char *at = c->archs; v->translates && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
    long known = number_of(at);
    if (known <= wanted && known > best) best = known;
  }
  if (best > 0) snprintf(out, size, "sm_%ld", best);
  return best > 0;
}

/* ---- text ------------------------------------------------------------------------------------------------------------------- */

static const char *const prelude[] = {"kc_signature.h", "kc_cuda.h", "kc_common.h", NULL};
static const char *const bare[] = {"kc_signature.h", NULL};

/* Any bytes can be passed; whether they are what the text expects, the compiler is asked. */
static void add_signature(kc__string *out, const kc_build *b) {
  kc__source_call(out, b);
  kc__addf(out,
           "static_assert(int(kc_signature::count<decltype(%s)>::parameters) == %d, \"the text has another number of "
           "parameters\");\n",
           b->entry, b->param_count);
  for (int i = 0; i < b->param_count; i++) {
    const kc_param *p = &b->params[i];
    kc__source_call(out, b);
    kc__addf(out,
             "static_assert(int(kc_signature::fits<decltype(%s), %d, %d, %d, %d, %d>::yes), \"parameter %d is declared as %s "
             "%s%s, the text has another type\");\n",
             b->entry, i, p->buffer, p->format->storage, p->format->kind == KC_FLOAT && p->format->storage >= 4,
             b->dialect != KC_DIALECT_KC, i + 1, p->name ? p->name : "?", p->format->name, p->buffer ? "[]" : "");
  }
}

static kc_status write_source(kc__string *out, const kc_build *b, kc_text *err) {
  if (!kc__is_identifier(b->entry, strlen(b->entry)))
    return kc_fail(err, KC_EINVAL, "entry: expected an identifier, got '%.100s'", b->entry);
  kc__source_prelude(out, b->dialect == KC_DIALECT_KC ? prelude : bare);
  if (b->dialect == KC_DIALECT_KC) kc__dialect_own_names(out, b->source);
  kc_status status = kc__source_defines(out, b->options.defines, err);
  if (status != KC_OK) return status;
  kc__source_line(out, b->file);
  kc__add(out, b->source, strlen(b->source));
  add_signature(out, b);
  return out->failed ? kc_fail(err, KC_ENOMEM, "no memory for the source of %s", b->file) : KC_OK;
}

/* ---- options ---------------------------------------------------------------------------------------------------------------- */

/* The vendor's own headers, for texts in its own language: beside the library's directory. */
static void add_headers(kc__string *out, const kc__gpu_compiler *c, const kc__gpu_vendor *v) {
  char path[900];
  int n = (int)(strrchr(c->library, '/') - c->library);
  snprintf(path, sizeof path, "%.*s/../include/%s", n, c->library, v->headers);
  if (access(path, R_OK) == 0 && !strchr(path, ' ')) kc__addf(out, " -I%.*s/../include", n, c->library);
}

static void write_options(kc__string *out, const kc__gpu_compiler *c, const kc__gpu_vendor *v, const kc_build *b) {
  const kc__gpu_options *o = &v->options;
  kc__addf(out, "%s %s %s %s", o->always, o->fast[b->options.fast_math], o->contract[b->options.contract],
           o->flush[b->options.flush]);
  if (b->dialect == KC_DIALECT_CUDA) add_headers(out, c, v);
}

/* ---- compiling -------------------------------------------------------------------------------------------------------------- */

typedef struct job {
  const kc__gpu_compiler *compiler;
  const kc__gpu_vendor *vendor;
  const kc_build *build;
  const char *arch;
  kc__string source, entry, options;
} job;

/* Splits the options in place. */
static kc_status run(const kc__workplace *w, job *j, char **log, kc_text *err) {
  const char *argv[MAX_WORDS] = {
      j->compiler->program, j->vendor->compiler, "compile", w->source, w->result, j->entry.s, j->arch};
  int n = 7;
  char *rest = j->options.s;
  kc__string said = {0};
  for (char *word = strtok_r(rest, " ", &rest); word && n < MAX_WORDS - 1; word = strtok_r(NULL, " ", &rest)) argv[n++] = word;
  kc_status status = kc__child_run(argv, &said, err);
  *log = said.n ? said.s : NULL;
  if (!*log) kc__string_clear(&said);
  if (status != KC_OK) kc__source_error(err, *log);
  return status;
}

static uint8_t *compile(size_t *size, job *j, char **log, kc_text *err) {
  kc__workplace w;
  kc_status status = kc__workplace_open(&w, j->build->cache_dir, "kernel.cu", "kernel.code", err);
  if (status != KC_OK) return NULL;
  status = kc__workplace_write(&w, &j->source, err);
  if (status == KC_OK) status = run(&w, j, log, err);
  uint8_t *block = status == KC_OK ? kc__read_file(w.result, size) : NULL;
  if (status == KC_OK && !block) (void)kc_fail(err, KC_EBUILD, "%s left no code", j->vendor->compiler);
  kc__workplace_close(&w);
  return block;
}

static bool unpack(kc_code *out, uint8_t *block, size_t n, const job *j) {
  kc__container c;
  if (!block || !kc__container_read(&c, block, n)) return false;
  *out = (kc_code){.language = j->vendor->language,
                   .arch = j->arch,
                   .entry = c.name.s,
                   .binary = (const uint8_t *)c.code.s,
                   .binary_size = c.code.n,
                   .text = c.text.s,
                   .text_size = c.text.n,
                   .block = block};
  return true;
}

static kc_status make(kc_code *out, job *j, char **log, kc_text *err) {
  kc__cache_entry entry;
  size_t n;
  kc_text why;
  const kc__gpu_compiler *c = j->compiler;
  const char *words[] = {j->vendor->compiler, c->identity, c->version, j->arch, j->build->entry, j->options.s, NULL};
  kc__cache_locate(&entry, j->build->cache_dir, ".code", words, &j->source);
  uint8_t *block = kc__cache_read(&entry, &n);
  if (unpack(out, block, n, j)) return KC_OK;
  free(block);
  block = compile(&n, j, log, err);
  if (!block) return KC_EBUILD;
  if (unpack(out, block, n, j)) {
    (void)kc__cache_store(&entry, block, n, &why); /* what cannot be kept costs time only */
    return KC_OK;
  }
  free(block);
  return kc_fail(err, KC_EBUILD, "%s left no sound code", j->vendor->compiler);
}

kc_status kc__gpu_compile_with(kc_code *out, const kc__gpu_compiler *c, const kc__gpu_vendor *v, const char *arch,
                               const kc_build *b, char **log, kc_text *err) {
  job j = {.compiler = c, .vendor = v, .build = b, .arch = arch};
  if (b->dialect != KC_DIALECT_KC && b->dialect != KC_DIALECT_CUDA)
    return kc_fail(err, KC_EUNSUPPORTED, "%s: this device takes the dialects kc and cuda", b->file);
  if (!is_listed(c->archs, arch, strcspn(arch, ":")))
    return kc_fail(err, KC_EUNSUPPORTED, "%s %s compiles for no '%.40s'; it knows %.300s", v->compiler, c->version, arch,
                   c->archs);
  kc_status status = kc__source_check(b, log, err);
  if (status == KC_OK) status = write_source(&j.source, b, err);
  if (status == KC_OK) write_options(&j.options, c, v, b);
  if (status == KC_OK) kc__dialect_own_entry(&j.entry, b);
  if (status == KC_OK && (j.options.failed || j.entry.failed)) status = kc_fail(err, KC_ENOMEM, "no memory for options");
  if (status == KC_OK) status = make(out, &j, log, err);
  kc__string_clear(&j.source);
  kc__string_clear(&j.entry);
  kc__string_clear(&j.options);
  return status;
}
