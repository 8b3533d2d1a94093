/* cpu_compiler.c - finding the system compiler. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"

static bool runnable(const char *path) {
  return path[0] == '/' && access(path, X_OK) == 0;
}

/* Looks a bare name up along PATH; a name with a slash stands for itself. False when nothing there can be run. */
static bool resolve(char *out, size_t size, const char *name) {
  kc_text path;
  const char *list = getenv("PATH");
  if (strchr(name, '/')) {
    char *real = realpath(name, NULL);
    bool fits = real && strlen(real) < size && runnable(real);
    if (fits) strcpy(out, real);
    free(real);
    return fits;
  }
  for (list = list ? list : "/usr/local/bin:/usr/bin:/bin"; *list;) {
    size_t n = strcspn(list, ":");
    (void)kc_fail(&path, KC_OK, "%.*s/%s", (int)n, list, name);
    if (runnable(path.s) && strlen(path.s) < size) {
      strcpy(out, path.s);
      return true;
    }
    list += n + (list[n] == ':');
  }
  return false;
}

kc_status kc__compiler_find(kc__compiler *c, kc_text *err) {
  if (c->path[0]) return KC_OK;
  const char *asked = getenv("KC_CC"), *name = asked && asked[0] ? asked : "cc";
  char path[sizeof c->path];
  if (!resolve(path, sizeof path, name))
    return kc_fail(err, KC_ENODEV, "no C compiler: '%.200s' (%s) is not a program that can be run; install one or set KC_CC",
                   name, asked && asked[0] ? "from KC_CC" : "looked for on PATH");
  const char *argv[] = {path, "--version", NULL};
  kc__string text = {0};
  kc_text why;
  kc_status status = kc__child_run(argv, &text, &why);
  size_t n = text.n ? strcspn(text.s, "\r\n") : 0;
  if (n >= sizeof c->version) n = sizeof c->version - 1;
  if (status == KC_OK && n > 0) memcpy(c->version, text.s, n);
  c->version[n] = '\0';
  kc__string_clear(&text);
  if (status != KC_OK) return kc_fail(err, KC_ENODEV, "no C compiler: %.400s", why.s);
  strcpy(c->path, path);
  return KC_OK;
}
