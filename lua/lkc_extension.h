/* lkc_extension.h - what a state has beside kc's own: see kc_extension.h. */
#ifndef LKC_EXTENSION_H
#define LKC_EXTENSION_H

#include <lua.h>

#include "kc_extension.h"

/* Gives a state its registry, with the backends of a NULL-terminated list. */
void lkc_open_extensions(lua_State *L, const kc_driver *const *built_in);
/* Adds all of an extension or nothing. `origin`: its file, NULL for the program's own. Raises. */
void lkc_extend(lua_State *L, const kc_extension *x, const char *origin);
/* Adds those of the shared objects in a list of full paths separated by colons (NULL: none); they stay loaded. Raises. */
void lkc_load_extensions(lua_State *L, const char *paths);

/* Backends, in the order in which they are listed; NULL-terminated. */
const kc_driver *const *lkc_drivers(lua_State *L);
/* The i-th oracle or metric, kc's own first; NULL past the end. */
const kc_oracle *lkc_oracle_at(lua_State *L, size_t i);
const kc_metric *lkc_metric_at(lua_State *L, size_t i);
/* That of a name, or NULL. */
const kc_oracle *lkc_oracle_find(lua_State *L, const char *name);
const kc_metric *lkc_metric_find(lua_State *L, const char *name);

#endif
