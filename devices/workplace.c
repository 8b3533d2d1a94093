/* workplace.c - the directory of one build. */
#define _GNU_SOURCE 1
#include "workplace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_directory(kc__workplace *w, const char *parent) {
  if (strlen(parent) > 700) return false;
  strcpy(stpcpy(w->directory, parent), "/build-XXXXXX");
  return mkdtemp(w->directory) != NULL;
}

kc_status kc__workplace_open(kc__workplace *w, const char *cache_dir, const char *source, const char *result, kc_text *err) {
  const char *temporary = getenv("TMPDIR");
  if (!temporary || temporary[0] != '/') temporary = "/tmp";
  if (cache_dir) (void)mkdir(cache_dir, 0777); /* it may be there already */
  if (!(cache_dir && make_directory(w, cache_dir)) && !make_directory(w, temporary))
    return kc_fail(err, KC_EIO, "cannot create a directory in %.300s: %s", temporary, strerror(errno));
  snprintf(w->source, sizeof w->source, "%s/%s", w->directory, source);
  snprintf(w->result, sizeof w->result, "%s/%s", w->directory, result);
  return KC_OK;
}

kc_status kc__workplace_write(const kc__workplace *w, const kc__string *text, kc_text *err) {
  FILE *file = fopen(w->source, "wbe");
  bool written = file && fwrite(text->s, 1, text->n, file) == text->n;
  if (file) written = fclose(file) == 0 && written;
  return written ? KC_OK : kc_fail(err, KC_EIO, "cannot write %s: %s", w->source, strerror(errno));
}

void kc__workplace_close(const kc__workplace *w) {
  unlink(w->source);
  unlink(w->result);
  rmdir(w->directory);
}
