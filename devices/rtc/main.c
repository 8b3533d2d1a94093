/* main.c - kc-rtc VENDOR info | kc-rtc VENDOR compile SOURCE RESULT NAME ARCH [OPTION...]
 * info writes "library PATH SIZE MTIME", "version N" and "archs ..."; compile writes a container into RESULT and the compiler's log to
 * stdout. What fails says why on stderr. Started by kc's drivers, through kc__child_run. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache.h"
#include "rtc.h"
#include "rtc_symbols.h"

enum { MAX_OPTIONS = 32, USAGE = 64 };

static const kc__rtc_vendor *const vendors[] = {&kc__rtc_nvrtc, &kc__rtc_hiprtc, NULL};

static kc_status failed(kc_text *err, const kc__rtc_api *rtc, const char *what, int code) {
  return kc_fail(err, KC_EBUILD, "%s: %s", what, rtc->error(code));
}

kc_status kc__rtc_bytes(kc__string *out, const kc__rtc_api *rtc, void *program, int (*size)(void *, size_t *),
                        int (*bytes)(void *, char *), const char *what, kc_text *err) {
  size_t n = 0;
  int code = size(program, &n);
  char *block = code == 0 ? malloc(n + 1) : NULL;
  if (block) code = bytes(program, block);
  if (block && code == 0) kc__add(out, block, n);
  bool got = block && code == 0 && !out->failed;
  free(block);
  return got ? KC_OK : failed(err, rtc, what, code);
}

static kc_status open_vendor(kc__rtc_api *rtc, const kc__rtc_vendor *v, kc_text *err) {
  void *library;
  kc_text why;
  kc_status status = kc__rtc_find(&library, v->asked, v->patterns, err);
  if (status != KC_OK) return status;
  status = kc__dynlib_fill(library, rtc, v->symbols, v->count, &why);
  return status == KC_OK ? KC_OK : kc_fail(err, status, "%s is too old: %.400s", v->name, why.s);
}

/* ---- info --------------------------------------------------------------------------------------------------------------- */

/* The file that a function came from. */
static kc_status library_file(char **path, struct stat *facts, const kc__rtc_api *rtc, kc_text *err) {
  Dl_info from;
  void *function;
  memcpy(&function, &rtc->create, sizeof function);
  *path = dladdr(function, &from) ? realpath(from.dli_fname, NULL) : NULL;
  if (*path && stat(*path, facts) == 0) return KC_OK;
  free(*path);
  return kc_fail(err, KC_EIO, "the library's own file is not to be found");
}

static kc_status info(const kc__rtc_vendor *v, kc_text *err) {
  kc__rtc_api rtc = {0};
  kc__string archs = {0};
  struct stat facts;
  char *path = NULL;
  int major = 0, minor = 0;
  kc_status status = open_vendor(&rtc, v, err);
  if (status == KC_OK) status = library_file(&path, &facts, &rtc, err);
  if (status != KC_OK) return status;
  int code = rtc.version(&major, &minor);
  status = code == 0 ? v->archs(&archs, &rtc, err) : failed(err, &rtc, "version", code);
  if (status == KC_OK)
    printf("library %s %lld %lld\nversion %d.%d\narchs %s\n", path, (long long)facts.st_size, (long long)facts.st_mtime, major,
           minor, archs.s);
  kc__string_clear(&archs);
  free(path);
  return status;
}

/* ---- compile ------------------------------------------------------------------------------------------------------------- */

typedef struct job {
  const char *source, *result, *name, *arch;
  int count;
  const char *const *options;
} job;

static void write_log(const kc__rtc_api *rtc, void *program) {
  kc__string log = {0};
  kc_text why;
  if (kc__rtc_bytes(&log, rtc, program, rtc->log_size, rtc->log, "log", &why) == KC_OK && log.n > 0) fputs(log.s, stdout);
  fflush(stdout);
  kc__string_clear(&log);
}

static kc_status compile(const kc__rtc_api *rtc, void **program, const job *j, kc_text *err) {
  char arch[64];
  const char *options[MAX_OPTIONS + 1] = {arch};
  size_t n;
  char *source = (char *)kc__read_file(j->source, &n);
  source = source ? realloc(source, n + 1) : NULL;
  if (!source) return kc_fail(err, KC_EIO, "cannot read %s", j->source);
  source[n] = '\0';
  snprintf(arch, sizeof arch, "--gpu-architecture=%s", j->arch);
  for (int i = 0; i < j->count; i++) options[i + 1] = j->options[i];
  int code = rtc->create(program, source, "kernel", 0, NULL, NULL);
  if (code == 0) code = rtc->add_name(*program, j->name);
  if (code == 0) code = rtc->compile(*program, j->count + 1, options);
  free(source);
  if (*program) write_log(rtc, *program);
  return code == 0 ? KC_OK : failed(err, rtc, "the compiler", code);
}

static kc_status store(const job *j, const kc__container *c, kc_text *err) {
  kc__string bytes = {0};
  kc__container_write(&bytes, c);
  FILE *file = bytes.failed ? NULL : fopen(j->result, "wbe");
  bool written = file && fwrite(bytes.s, 1, bytes.n, file) == bytes.n;
  if (file) written = fclose(file) == 0 && written;
  kc__string_clear(&bytes);
  return written ? KC_OK : kc_fail(err, KC_EIO, "cannot write %s", j->result);
}

static kc_status deliver(const kc__rtc_vendor *v, const kc__rtc_api *rtc, void *program, const job *j, kc_text *err) {
  kc__string code = {0}, text = {0};
  const char *name;
  int lowered = rtc->lowered_name(program, j->name, &name);
  if (lowered != 0) return failed(err, rtc, j->name, lowered);
  kc_status status = kc__rtc_bytes(&code, rtc, program, rtc->code_size, rtc->code, "code", err);
  const kc__part binary = {code.s, code.n};
  if (status == KC_OK) status = v->text(&text, rtc, program, j->arch, &binary, err);
  /* PTX comes with its terminator. */
  const kc__part readable = {text.s, text.n && text.s[text.n - 1] == '\0' ? text.n - 1 : text.n};
  if (status == KC_OK) status = store(j, &(kc__container){{name, strlen(name)}, binary, readable}, err);
  kc__string_clear(&code);
  kc__string_clear(&text);
  return status;
}

static kc_status build(const kc__rtc_vendor *v, const job *j, kc_text *err) {
  kc__rtc_api rtc = {0};
  void *program = NULL;
  kc_status status = open_vendor(&rtc, v, err);
  if (status == KC_OK) status = compile(&rtc, &program, j, err);
  return status == KC_OK ? deliver(v, &rtc, program, j, err) : status;
}

/* ---- the command ----------------------------------------------------------------------------------------------------------- */

static const kc__rtc_vendor *find_vendor(const char *name) {
  for (const kc__rtc_vendor *const *v = vendors; *v; v++)
    if (strcmp((*v)->name, name) == 0) return *v;
  return NULL;
}

int main(int argc, char **argv) {
  kc_text err;
  const kc__rtc_vendor *v = argc >= 3 ? find_vendor(argv[1]) : NULL;
  bool wants_info = v && argc == 3 && strcmp(argv[2], "info") == 0;
  bool wants_code = v && argc >= 7 && argc - 7 < MAX_OPTIONS && strcmp(argv[2], "compile") == 0;
  if (!wants_info && !wants_code) {
    fputs("kc-rtc: started by kc, not by hand\n", stderr);
    return USAGE;
  }
  const char *const *words = (const char *const *)argv;
  const job j = {words[3], words[4], words[5], words[6], argc - 7, words + 7};
  kc_status status = wants_info ? info(v, &err) : build(v, &j, &err);
  if (status != KC_OK) fprintf(stderr, "%s\n", err.s);
  fflush(NULL);
  _Exit(status == KC_OK ? 0 : status == KC_ENODEV ? 3 : 1); /* their destructors may abort; nothing of ours is left to do */
}
