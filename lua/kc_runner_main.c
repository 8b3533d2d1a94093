/* kc_runner_main.c - the program kc-runner: the candidate and nothing else. It maps no MPFR, Arb or BLAS, so that a judged
 * library cannot be captured by one of ours, and no reference result ever lies in its memory. */
#include "lkc_program.h"

int main(int argc, char **argv) {
  return lkc_program("kc-runner", "runner", "kc.runner", argc, argv);
}
