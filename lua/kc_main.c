/* kc_main.c - the program kc: supervisor, judge, scripts. Everything it does is written in stdlib/kc/cli.lua. */
#include "lkc_program.h"

int main(int argc, char **argv) {
  return lkc_program("kc", "judge", "kc.cli", argc, argv);
}
