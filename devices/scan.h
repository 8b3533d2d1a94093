/* scan.h - splits C-like text into tokens with their lines; just enough for the rules of the portable dialect. */
#ifndef KC_DEVICES_SCAN_H
#define KC_DEVICES_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum kc__token_kind { KC__END, KC__WORD, KC__NUMBER, KC__TEXT, KC__HASH, KC__PUNCT } kc__token_kind;

/* `s` points into the scanned text. KC__HASH begins a directive; `directive` marks every token of one. KC__PUNCT is one
 * character, except for ## . */
typedef struct kc__token {
  kc__token_kind kind;
  const char *s;
  size_t n;
  int line;
  bool directive;
} kc__token;

typedef struct kc__scanner {
  const char *p;
  int line;
  bool directive, line_start;
} kc__scanner;

kc__scanner kc__scan(const char *text);
kc__token kc__next(kc__scanner *s);
bool kc__token_is(kc__token t, const char *word);

#endif
