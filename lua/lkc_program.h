/* lkc_program.h - what the programs kc and kc-runner share. */
#ifndef LKC_PROGRAM_H
#define LKC_PROGRAM_H

/* Opens a state of this role with all backends, calls require(module).main{[0]=argv[0], ...} and gives its integer result as exit code;
 * 4 after an error (printed). */
int lkc_program(const char *name, const char *role, const char *module, int argc, char **argv);

#endif
