/* workplace.h - the directory of one build: a source goes in, a result comes out. */
#ifndef KC_DEVICES_WORKPLACE_H
#define KC_DEVICES_WORKPLACE_H

#include "kc.h"
#include "text.h"

typedef struct kc__workplace {
  char directory[768], source[800], result[800];
} kc__workplace;

/* Creates it in `cache_dir` where that can be written, else in $TMPDIR or /tmp. The names are those of the two files. */
kc_status kc__workplace_open(kc__workplace *w, const char *cache_dir, const char *source, const char *result, kc_text *err);
/* Writes the source. */
kc_status kc__workplace_write(const kc__workplace *w, const kc__string *text, kc_text *err);
/* Removes all of it. A module that was loaded stays mapped. */
void kc__workplace_close(const kc__workplace *w);

#endif
