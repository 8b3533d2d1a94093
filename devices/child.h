/* child.h - a program in a child process that cannot outlive its time: compilers hang and abort. */
#ifndef KC_DEVICES_CHILD_H
#define KC_DEVICES_CHILD_H

#include "kc.h"
#include "text.h"

/* Runs argv (argv[0] an absolute path) in a process group of its own, killed after a time limit; `out` receives stdout and stderr,
 * capped. KC_ENODEV when it does not start, KC_EBUILD when it ends otherwise than with exit status 0. */
kc_status kc__child_run(const char *const *argv, kc__string *out, kc_text *err);

#endif
