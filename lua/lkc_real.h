/* lkc_real.h - what module kc.exact opens beside its oracles. */
#ifndef LKC_REAL_H
#define LKC_REAL_H

#include "lkc.h"

int luaopen_kc_exact(lua_State *L);
/* Adds real, const, ratio and the functions on reals to the module on top of the stack. */
void lkc_open_real(lua_State *L);
/* Adds graph. */
void lkc_open_expression(lua_State *L);

#endif
