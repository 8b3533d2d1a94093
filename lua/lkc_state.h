/* lkc_state.h - how the programs make and run their Lua state. */
#ifndef LKC_STATE_H
#define LKC_STATE_H

#include "lkc.h"

/* A state with kc.core (core.role = role) and the embedded stdlib. On failure *error is set and the state may be NULL. */
lua_State *lkc_newstate(const kc_driver *const *drivers, const char *role, const char **error);
/* Calls require(module).main{[0]=argv[0], ...}; returns its integer result as exit code, 4 after an error (printed). */
int lkc_runmain(lua_State *L, const char *module, int argc, char **argv);

#endif
