/* lkc_place.h - where kc lies, found from where the running program or this library lies: an installation may be moved. */
#ifndef LKC_PLACE_H
#define LKC_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* Relative paths of an installation; CMake gives others where its folders are other ones. */
#ifndef KC_LIB_FROM_BIN
#define KC_LIB_FROM_BIN "../lib"
#endif
#ifndef KC_BIN_FROM_LIB
#define KC_BIN_FROM_LIB "../bin"
#endif
#ifndef KC_SHARE_FROM_BIN
#define KC_SHARE_FROM_BIN "../share/kc"
#endif

/* Path of the running program; false when the system does not tell. */
bool lkc_running_program(char out[PATH_MAX]);
/* Path of the program kc for a library in somebody else's process: KC_PROGRAM, else the one installed or built with this library, else
 * the first on PATH; where there is none, where it would be installed. */
void lkc_find_program(char out[PATH_MAX]);

#endif
