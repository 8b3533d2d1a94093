/* lkc_state.h - how the programs and the library make a Lua state that knows kc. */
#ifndef LKC_STATE_H
#define LKC_STATE_H

#include "lkc.h"

/* What a state is told. Everything pointed to lives as long as the state. */
typedef struct lkc_setup {
  const kc_driver *const *drivers; /* kc's own; NULL-terminated */
  const char *extensions;          /* full paths of shared objects, separated by colons; NULL: none */
  const char *role;                /* core.role: "judge", "runner", "guest" (in somebody else's process) */
  const char *program;             /* path of kc; NULL: the running program */
} lkc_setup;

/* Teaches a state with the standard libraries: kc.core, the embedded stdlib, where kc.exact lies. Raises. */
void lkc_prepare(lua_State *L, const lkc_setup *setup);
/* A new state, prepared. On failure *error is set and the state may be NULL. */
lua_State *lkc_newstate(const lkc_setup *setup, const char **error);
/* A message handler: adds the traceback to errors that are texts. */
int lkc_traceback(lua_State *L);

#endif
