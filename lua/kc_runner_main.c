/* kc_runner_main.c - the program kc-runner: the candidate and nothing else. It maps no MPFR, Arb or BLAS, so that a judged
 * library cannot be captured by one of ours, and no reference result ever lies in its memory. */
#include <stdio.h>

#include "drivers.h"
#include "lkc_state.h"

int main(int argc, char **argv) {
  const char *error = NULL;
  kc_fpstate_set(kc_fpstate_default());
  lua_State *L = lkc_newstate(kc_drivers, "runner", &error);
  if (error) {
    fprintf(stderr, "kc-runner: %s\n", error);
    return 4;
  }
  int code = lkc_runmain(L, "kc.runner", argc, argv);
  lua_close(L);
  return code;
}
