/* source.h - what all compilers' texts have in common. */
#ifndef KC_DEVICES_SOURCE_H
#define KC_DEVICES_SOURCE_H

#include "kc_driver.h"
#include "text.h"

/* The embedded files of devices/prelude with these names, NULL-terminated, each under its own line numbers. */
void kc__source_prelude(kc__string *out, const char *const *files);
/* b->options.defines as #define lines. KC_EINVAL names what is not NAME=VALUE. */
kc_status kc__source_defines(kc__string *out, const char *list, kc_text *err);
/* Messages about what follows name `file`, from line 1. */
void kc__source_line(kc__string *out, const char *file);
/* The #line of what a compiler is to say about a call: "call of k as declared: (x f32[], n i32)". */
void kc__source_call(kc__string *out, const kc_build *b);
/* Checks a portable text; its complaints go to `log`, malloc'd, NULL when there are none. Any other dialect is fine. */
kc_status kc__source_check(const kc_build *b, char **log, kc_text *err);
/* True for a C identifier. */
bool kc__is_identifier(const char *s, size_t n);
/* Puts the line of a compiler's log that says what is wrong into `err`, which keeps its text when there is none. */
void kc__source_error(kc_text *err, const char *log);

#endif
