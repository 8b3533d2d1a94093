/* lkc_place.c - where kc lies. */
#define _GNU_SOURCE
#include "lkc_place.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lkc_running_program(char out[PATH_MAX]) {
  ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
  if (n > 0) out[n] = '\0';
  return n > 0;
}

static const char anchor = 0; /* lies in the object asked about */

/* Folder of the object that this code is in: libkc.so, or a program that it is linked into. */
static bool own_folder(char out[PATH_MAX]) {
  Dl_info info;
  bool known = dladdr(&anchor, &info) && info.dli_fname && strchr(info.dli_fname, '/') && realpath(info.dli_fname, out);
  if (!known && !lkc_running_program(out)) return false;
  *strrchr(out, '/') = '\0';
  return true;
}

/* Writes folder/tail as it really is; false when no program is there. */
static bool is_program(char out[PATH_MAX], const char *folder, size_t n, const char *tail) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, tail);
  return length > 0 && length < PATH_MAX && access(path, X_OK) == 0 && realpath(path, out);
}

static bool on_path(char out[PATH_MAX]) {
  const char *at = getenv("PATH");
  for (; at && *at; at += *at == ':') {
    size_t n = strcspn(at, ":");
    if (n && is_program(out, at, n, "kc")) return true;
    at += n;
  }
  return false;
}

void lkc_find_program(char out[PATH_MAX]) {
  static const char *const tails[] = {KC_BIN_FROM_LIB "/kc", "kc"}; /* installed; in a build folder */
  char folder[PATH_MAX];
  const char *asked = getenv("KC_PROGRAM");
  if (asked && asked[0]) {
    snprintf(out, PATH_MAX, "%s", asked);
    return;
  }
  bool known = own_folder(folder);
  for (size_t i = 0; known && i < sizeof tails / sizeof *tails; i++)
    if (is_program(out, folder, strlen(folder), tails[i])) return;
  if (on_path(out)) return;
  snprintf(out, PATH_MAX, "%.4000s/%s", known ? folder : ".", tails[0]);
}
