/* find.c - where runtime compilers are installed. */
#define _GNU_SOURCE 1
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "rtc.h"

/* "$NAME/rest" with the variable's value; false where it is not set. */
static bool expand(kc__string *out, const char *pattern) {
  if (pattern[0] != '$') {
    kc__addf(out, "%s", pattern);
    return !out->failed;
  }
  size_t n = strcspn(pattern, "/");
  char name[64] = "";
  if (n - 1 >= sizeof name) return false;
  memcpy(name, pattern + 1, n - 1);
  const char *value = getenv(name);
  if (!value || value[0] != '/') return false;
  kc__addf(out, "%s%s", value, pattern + n);
  return !out->failed;
}

/* Names end in versions: libnvrtc.so.9 comes before libnvrtc.so.13. */
static int by_version(const void *a, const void *b) {
  return strverscmp(*(char *const *)b, *(char *const *)a);
}

static kc_status open_matching(void **library, const char *pattern, kc_text *err) {
  glob_t found = {0};
  kc_status status = KC_ENODEV;
  if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_version);
    for (size_t i = 0; i < found.gl_pathc && status != KC_OK; i++) status = kc__dynlib_open(library, found.gl_pathv[i], err);
  }
  globfree(&found);
  return status;
}

kc_status kc__rtc_find(void **library, const char *asked, const char *const *patterns, kc_text *err) {
  const char *named = getenv(asked);
  kc_text why;
  if (named && named[0]) {
    if (kc__dynlib_open(library, named, &why) == KC_OK) return KC_OK;
    return kc_fail(err, KC_ENODEV, "%s names a library that does not load: %.400s", asked, why.s);
  }
  kc_status status = KC_ENODEV;
  const char *bare = "";
  for (; *patterns && status != KC_OK; patterns++) {
    kc__string path = {0};
    if (!expand(&path, *patterns)) continue;
    if (strchr(path.s, '/'))
      status = open_matching(library, path.s, &why);
    else
      status = kc__dynlib_open(library, bare = path.s[0] ? *patterns : bare, &why);
    kc__string_clear(&path);
  }
  if (status == KC_OK) return KC_OK;
  return kc_fail(err, KC_ENODEV, "no %s on the loader's path or in the places where it is installed (%s names another)", bare,
                 asked);
}
