/* kc_main.c - the program kc: supervisor, judge, scripts. Everything it does is written in stdlib/kc/cli.lua. */
#include <stdio.h>

#include "drivers.h"
#include "lkc_state.h"

int main(int argc, char **argv) {
  const char *error = NULL;
  kc_fpstate_set(kc_fpstate_default());
  lua_State *L = lkc_newstate(kc_drivers, "judge", &error);
  if (error) {
    fprintf(stderr, "kc: %s\n", error);
    return 4;
  }
  int code = lkc_runmain(L, "kc.cli", argc, argv);
  lua_close(L);
  return code;
}
