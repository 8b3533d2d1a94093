/* dialect.h - rules of the portable dialect that no compiler of one device would enforce for the others. */
#ifndef KC_DEVICES_DIALECT_H
#define KC_DEVICES_DIALECT_H

#include "kc_driver.h"
#include "text.h"

/* What a driver may want to know of an accepted text. */
typedef struct kc__dialect_facts {
  bool cooperates; /* work-items of a group may meet: it mentions a barrier or a local array (or pastes words together) */
} kc__dialect_facts;

/* Checks b->source. KC_EBUILD: `log` lists what is wrong, one "FILE:LINE: text" a line, `err` the first of them. */
kc_status kc__dialect_check(kc__dialect_facts *facts, const kc_build *b, kc__string *log, kc_text *err);
/* Renames by macros, for a compiler that has functions of its own by any name, the functions that an accepted text defines: NAME
 * becomes kc__NAME in what follows. */
void kc__dialect_own_names(kc__string *out, const char *source);
/* The entry as the compiler has it then. */
void kc__dialect_own_entry(kc__string *out, const kc_build *b);
/* True for a C identifier that no device reserves. */
bool kc__dialect_name_ok(const char *name, size_t n);

#endif
