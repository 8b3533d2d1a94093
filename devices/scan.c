/* scan.c - the tokeniser behind the rules of the portable dialect. */
#include "scan.h"

#include <string.h>

kc__scanner kc__scan(const char *text) {
  return (kc__scanner){.p = text, .line = 1, .line_start = true};
}

bool kc__token_is(kc__token t, const char *word) {
  return strlen(word) == t.n && memcmp(t.s, word, t.n) == 0;
}

/* Locale-independent, so that a text means the same everywhere. */
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void newline(kc__scanner *s) {
  s->line++;
  s->directive = false;
  s->line_start = true;
}

static void skip_block_comment(kc__scanner *s) {
  for (s->p += 2; *s->p && !(s->p[0] == '*' && s->p[1] == '/'); s->p++)
    if (*s->p == '\n') s->line++;
  if (*s->p) s->p += 2;
}

/* A backslash continues the line, in comments too. */
static bool skip_continuation(kc__scanner *s) {
  size_t n = s->p[0] != '\\' ? 0 : s->p[1] == '\n' ? 2 : s->p[1] == '\r' && s->p[2] == '\n' ? 3 : 0;
  if (n) s->line++;
  s->p += n;
  return n != 0;
}

static void skip_line_comment(kc__scanner *s) {
  while (*s->p && *s->p != '\n')
    if (!skip_continuation(s)) s->p++;
}

static void skip_space(kc__scanner *s) {
  for (;;) {
    if (s->p[0] == '\n') {
      newline(s);
      s->p++;
    } else if (strchr(" \t\r\f\v", s->p[0]) && s->p[0]) {
      s->p++;
    } else if (s->p[0] == '/' && s->p[1] == '*') {
      skip_block_comment(s);
    } else if (s->p[0] == '/' && s->p[1] == '/') {
      skip_line_comment(s);
    } else if (!skip_continuation(s)) {
      return;
    }
  }
}

/* A string or character constant ends at its quote or, unterminated, at the end of the line. */
static void take_text(kc__scanner *s) {
  char quote = *s->p++;
  while (*s->p && *s->p != quote && *s->p != '\n') s->p += s->p[0] == '\\' && s->p[1] ? 2 : 1;
  if (*s->p == quote) s->p++;
}

static void take_number(kc__scanner *s) {
  while (is_word(*s->p) || *s->p == '.' || ((*s->p == '+' || *s->p == '-') && strchr("eEpP", s->p[-1]))) s->p++;
}

static kc__token_kind take(kc__scanner *s, bool line_start) {
  char c = *s->p;
  if (!c) return KC__END;
  if (is_digit(c) || (c == '.' && is_digit(s->p[1]))) return take_number(s), KC__NUMBER;
  if (is_word(c)) {
    while (is_word(*s->p)) s->p++;
    return KC__WORD;
  }
  if (c == '"' || c == '\'') return take_text(s), KC__TEXT;
  bool pasting = c == '#' && s->p[1] == '#';
  s->p += pasting ? 2 : 1;
  if (c != '#' || pasting || !line_start) return KC__PUNCT;
  s->directive = true;
  return KC__HASH;
}

kc__token kc__next(kc__scanner *s) {
  skip_space(s);
  kc__token t = {.s = s->p, .line = s->line};
  bool line_start = s->line_start;
  s->line_start = false;
  t.kind = take(s, line_start);
  t.n = (size_t)(s->p - t.s);
  t.directive = s->directive;
  return t;
}
