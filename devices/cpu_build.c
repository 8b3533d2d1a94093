/* cpu_build.c - from a kernel's text to a loaded module. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu.h"
#include "dialect.h"
#include "dynlib.h"

/* A directory of one build; inside the cache where there is one, so that a rename moves the result. */
typedef struct workplace {
  char directory[768], source[800], module[800];
} workplace;

static bool make_directory(workplace *w, const char *parent) {
  if (strlen(parent) > 700) return false;
  strcpy(stpcpy(w->directory, parent), "/build-XXXXXX");
  return mkdtemp(w->directory) != NULL;
}

static kc_status open_workplace(workplace *w, const char *cache_dir, kc_text *err) {
  const char *temporary = getenv("TMPDIR");
  if (!temporary || temporary[0] != '/') temporary = "/tmp";
  if (cache_dir) (void)mkdir(cache_dir, 0777); /* it may be there already */
  if (!(cache_dir && make_directory(w, cache_dir)) && !make_directory(w, temporary))
    return kc_fail(err, KC_EIO, "cannot create a directory in %.300s: %s", temporary, strerror(errno));
  strcpy(stpcpy(w->source, w->directory), "/kernel.c");
  strcpy(stpcpy(w->module, w->directory), "/kernel.so");
  return KC_OK;
}

/* A loaded module stays mapped after its file is gone. */
static void close_workplace(const workplace *w) {
  unlink(w->source);
  unlink(w->module);
  rmdir(w->directory);
}

static kc_status write_source(const workplace *w, const kc__string *text, kc_text *err) {
  FILE *file = fopen(w->source, "wbe");
  bool written = file && fwrite(text->s, 1, text->n, file) == text->n;
  if (file) written = fclose(file) == 0 && written;
  return written ? KC_OK : kc_fail(err, KC_EIO, "cannot write %s: %s", w->source, strerror(errno));
}

/* The line of the log that says what is wrong. */
static void first_error(kc_text *err, const kc__string *log) {
  static const char *const signs[] = {"error:", "undefined reference", NULL};
  for (const char *const *sign = signs; log->s && *sign; sign++) {
    const char *found = strstr(log->s, *sign), *start = found;
    if (!found) continue;
    while (start > log->s && start[-1] != '\n') start--;
    (void)kc_fail(err, KC_EBUILD, "%.*s", (int)strcspn(start, "\n"), start);
    return;
  }
}

static kc_status compile(const workplace *w, const kc__compiler *c, const char *const *flags, kc__string *log, kc_text *err) {
  const char *argv[KC__MAX_FLAGS + 8];
  int n = 0;
  argv[n++] = c->path;
  while (*flags) argv[n++] = *flags++;
  argv[n++] = "-o";
  argv[n++] = w->module;
  argv[n++] = w->source;
  argv[n++] = "-lm";
  argv[n] = NULL;
  kc_status status = kc__compiler_run(argv, log, err);
  if (status == KC_EBUILD) first_error(err, log);
  return status;
}

/* ---- loading ------------------------------------------------------------------------------------------------------- */

static kc_status load(kc_drv_kernel *k, const char *path, kc_text *err) {
  kc_text why;
  if (kc__dynlib_open(&k->module, path, &why) != KC_OK)
    return kc_fail(err, KC_EBUILD, "the module does not load: %.400s", why.s);
  k->item = (kc__item_fn *)kc__dynlib_symbol(k->module, "kc_cpu_item");
  k->group = (kc__group_fn *)kc__dynlib_symbol(k->module, "kc_cpu_group");
  k->call = (kc__call_fn *)kc__dynlib_symbol(k->module, "kc_cpu_call");
  if (k->dialect == KC_DIALECT_C ? k->call != NULL : k->item && k->group) return KC_OK;
  kc__dynlib_close(k->module);
  k->module = NULL;
  return kc_fail(err, KC_EBUILD, "the module lacks its entry points");
}

/* A cache that cannot be written costs time, not the result. */
static kc_status keep_and_load(kc_drv_kernel *k, const workplace *w, const kc__cache_entry *e, kc__string *log, kc_text *err) {
  kc_text why;
  if (!e) return load(k, w->module, err);
  if (kc__cache_store(e, w->module, &why) == KC_OK) return load(k, e->path, err);
  kc__addf(log, "not cached: %s\n", why.s);
  return load(k, w->module, err);
}

static kc_status make(kc_drv_kernel *k, const kc__compiler *c, const char *const *flags, const kc__string *source,
                      const kc__cache_entry *e, const char *cache_dir, kc__string *log, kc_text *err) {
  workplace w;
  kc_status status = open_workplace(&w, cache_dir, err);
  if (status != KC_OK) return status;
  status = write_source(&w, source, err);
  if (status == KC_OK) status = compile(&w, c, flags, log, err);
  if (status == KC_OK) status = keep_and_load(k, &w, e, log, err);
  close_workplace(&w);
  return status;
}

static kc_status build_from(kc_drv_kernel *k, const kc__compiler *c, const kc_build *b, const kc__string *source,
                            kc__string *log, kc_text *err) {
  const char *flags[KC__MAX_FLAGS];
  kc__cache_entry entry;
  bool cached = b->cache_dir && strlen(b->cache_dir) < 700;
  kc__cpu_flags(flags, b, c);
  if (cached) kc__cache_locate(&entry, b->cache_dir, c, flags, source);
  if (cached && kc__cache_valid(&entry) && load(k, entry.path, NULL) == KC_OK) return KC_OK;
  return make(k, c, flags, source, cached ? &entry : NULL, cached ? b->cache_dir : NULL, log, err);
}

kc_status kc__cpu_build(kc_drv_kernel *k, kc_drv_device *d, const kc_build *b, kc__string *log, kc_text *err) {
  kc__dialect_facts facts = {0};
  kc__string source = {0};
  kc_status status = b->dialect == KC_DIALECT_KC ? kc__dialect_check(&facts, b, log, err) : KC_OK;
  if (status == KC_OK) status = kc__compiler_find(&d->compiler, err);
  if (status == KC_OK) status = kc__cpu_source(&source, b, err);
  if (status == KC_OK) status = build_from(k, &d->compiler, b, &source, log, err);
  kc__string_clear(&source);
  k->fibers = facts.cooperates;
  return status;
}
