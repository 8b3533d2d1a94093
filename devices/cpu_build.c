/* cpu_build.c - from a kernel's text to a loaded module. */
#include <string.h>

#include "cache.h"
#include "child.h"
#include "cpu.h"
#include "dialect.h"
#include "dynlib.h"
#include "source.h"
#include "workplace.h"

static kc_status compile(const kc__workplace *w, const kc__compiler *c, const char *const *flags, kc__string *log,
                         kc_text *err) {
  const char *argv[KC__MAX_FLAGS + 8];
  int n = 0;
  argv[n++] = c->path;
  while (*flags) argv[n++] = *flags++;
  argv[n++] = "-o";
  argv[n++] = w->result;
  argv[n++] = w->source;
  argv[n++] = "-lm";
  argv[n] = NULL;
  kc_status status = kc__child_run(argv, log, err);
  if (status == KC_EBUILD) kc__source_error(err, log->s);
  return status;
}

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
static kc_status keep_and_load(kc_drv_kernel *k, const kc__workplace *w, const kc__cache_entry *e, kc__string *log,
                               kc_text *err) {
  kc_text why;
  kc_status status = load(k, w->result, err);
  if (status == KC_OK && kc__cache_store_file(e, w->result, &why) != KC_OK) kc__addf(log, "not cached: %s\n", why.s);
  return status;
}

static kc_status make(kc_drv_kernel *k, const kc__compiler *c, const kc_build *b, const char *const *flags,
                      const kc__string *source, const kc__cache_entry *e, kc__string *log, kc_text *err) {
  kc__workplace w;
  kc_status status = kc__workplace_open(&w, b->cache_dir, "kernel.c", "kernel.so", err);
  if (status != KC_OK) return status;
  status = kc__workplace_write(&w, source, err);
  if (status == KC_OK) status = compile(&w, c, flags, log, err);
  if (status == KC_OK) status = keep_and_load(k, &w, e, log, err);
  kc__workplace_close(&w);
  return status;
}

static kc_status build_from(kc_drv_kernel *k, const kc__compiler *c, const kc_build *b, const kc__string *source,
                            kc__string *log, kc_text *err) {
  const char *words[KC__MAX_FLAGS + 2] = {c->path, c->version};
  kc__cache_entry entry;
  kc__cpu_flags(words + 2, b, c);
  kc__cache_locate(&entry, b->cache_dir, ".so", words, source);
  if (kc__cache_valid(&entry) && load(k, entry.path, NULL) == KC_OK) return KC_OK;
  return make(k, c, b, words + 2, source, &entry, log, err);
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
