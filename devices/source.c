/* source.c - what all compilers' texts have in common: the prelude, the definitions, the author's lines; and reading their logs. */
#include "source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dialect.h"

/* Generated from devices/prelude by embed.lua. */
struct kc_embedded {
  const char *name;
  const char *text;
  size_t size;
};
extern const struct kc_embedded kc__prelude[];

/* Messages name the author's file and line: every part stands under a #line of its own. */
void kc__source_line(kc__string *out, const char *file) {
  kc__addf(out, "\n#line 1 \"");
  for (; *file; file++) {
    if (*file == '"' || *file == '\\') kc__addf(out, "\\");
    kc__add(out, *file == '\n' ? " " : file, 1);
  }
  kc__addf(out, "\"\n");
}

void kc__source_prelude(kc__string *out, const char *const *files) {
  for (const char *const *name = files; *name; name++)
    for (const struct kc_embedded *e = kc__prelude; e->name; e++)
      if (strcmp(e->name, *name) == 0) {
        kc__source_line(out, e->name);
        kc__add(out, e->text, e->size);
      }
}

void kc__source_call(kc__string *out, const kc_build *b) {
  kc__string text = {0};
  kc__addf(&text, "call of %s as declared: (", b->entry);
  for (int i = 0; i < b->param_count; i++) {
    const kc_param *p = &b->params[i];
    kc__addf(&text, "%s%s %s%s", i ? ", " : "", p->name ? p->name : "?", p->format->name, p->buffer ? "[]" : "");
  }
  kc__addf(&text, ")");
  if (text.failed)
    out->failed = true;
  else
    kc__source_line(out, text.s);
  kc__string_clear(&text);
}

kc_status kc__source_check(const kc_build *b, char **log, kc_text *err) {
  kc__dialect_facts facts;
  kc__string complaints = {0};
  if (b->dialect != KC_DIALECT_KC) return KC_OK;
  kc_status status = kc__dialect_check(&facts, b, &complaints, err);
  *log = complaints.n ? complaints.s : NULL;
  if (!*log) kc__string_clear(&complaints);
  return status;
}

/* ---- defines ------------------------------------------------------------------------------------------------------- */

static bool is_number(const char *s, size_t n) {
  size_t i = n > 0 && s[0] == '-';
  if (i == n) return false;
  if (n - i > 2 && s[i] == '0' && (s[i + 1] == 'x' || s[i + 1] == 'X'))
    return strspn(s + i + 2, "0123456789abcdefABCDEF") >= n - i - 2;
  return strspn(s + i, "0123456789") >= n - i;
}

bool kc__is_identifier(const char *s, size_t n) {
  static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return n > 0 && strspn(s, letters) >= n && !(s[0] >= '0' && s[0] <= '9');
}

/* A name of the dialect itself cannot be redefined. */
static bool may_define(const char *s, size_t n) {
  bool ours = n >= 3 && (memcmp(s, "kc_", 3) == 0 || memcmp(s, "KC_", 3) == 0);
  return kc__is_identifier(s, n) && !ours && kc__dialect_name_ok(s, n);
}

static kc_status add_define(kc__string *out, const char *s, size_t n, kc_text *err) {
  const char *equals = memchr(s, '=', n);
  size_t name = equals ? (size_t)(equals - s) : n, value = equals ? n - name - 1 : 0;
  if (!equals || !may_define(s, name))
    return kc_fail(err, KC_EINVAL, "defines: expected NAME=VALUE with a name that is free, got '%.*s'", (int)n, s);
  if (!is_number(equals + 1, value) && !kc__is_identifier(equals + 1, value))
    return kc_fail(err, KC_EINVAL, "defines: the value of %.*s must be an integer or an identifier, got '%.*s'", (int)name, s,
                   (int)value, equals + 1);
  kc__addf(out, "#define %.*s %.*s\n", (int)name, s, (int)value, equals + 1);
  return KC_OK;
}

kc_status kc__source_defines(kc__string *out, const char *list, kc_text *err) {
  kc_status status = KC_OK;
  kc__addf(out, "\n");
  while (list && status == KC_OK && *(list += strspn(list, " \t\n"))) {
    size_t n = strcspn(list, " \t\n");
    status = add_define(out, list, n, err);
    list += n;
  }
  return status;
}

/* ---- logs ---------------------------------------------------------------------------------------------------------- */

/* "file(4): error" as CUDA's compilers write it becomes "file:4: error". */
static void add_place(kc_text *err, const char *line, size_t n) {
  const char *end = memchr(line, '(', n);
  size_t digits = 0;
  for (; end; end = memchr(end + 1, '(', n - (size_t)(end + 1 - line))) { /* a file's name may have parentheses */
    digits = strspn(end + 1, "0123456789");
    if (digits > 0 && strncmp(end + 1 + digits, "): ", 3) == 0) break;
  }
  if (end)
    (void)kc_fail(err, KC_EBUILD, "%.*s:%.*s:%.*s", (int)(end - line), line, (int)digits, end + 1,
                  (int)(n - (size_t)(end - line) - digits - 3), end + digits + 3);
  else
    (void)kc_fail(err, KC_EBUILD, "%.*s", (int)n, line);
}

void kc__source_error(kc_text *err, const char *log) {
  static const char *const signs[] = {"error:", "error :", "undefined reference", NULL};
  for (const char *const *sign = signs; log && *sign; sign++) {
    const char *found = strstr(log, *sign), *start = found;
    if (!found) continue;
    while (start > log && start[-1] != '\n') start--;
    add_place(err, start, strcspn(start, "\n"));
    return;
  }
}
