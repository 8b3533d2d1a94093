/* lkc.h - shared by everything that includes lua.h: module kc.core, module kc.exact and the programs.
 *
 * One file per userdata type, lkc_TYPE.c, which exports lkc_open_TYPE(L): it finds the module table on top of the stack, adds
 * its functions and leaves the stack as it was. Misuse raises; failures of the environment return nil, message, code.
 * Documentation: a comment block that begins with three dashes after the star holds LuaCATS lines and ends with the synopsis
 * `function core.name(args) end`; the same text feeds help() and the type stubs.
 */
#ifndef LKC_H
#define LKC_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "kc.h"
#include "kc_driver.h"

/* ---- From lkc_aux.c ---------------------------------------------------------------------------------------------- */

/* Pushes nil, the text and the status name; returns 3. The one place that maps a kc_status into Lua's failure convention. */
int lkc_fail(lua_State *L, kc_status status, const kc_text *err);
/* Raises when the status says misuse (KC_EINVAL) or a broken invariant, else returns lkc_fail's values. */
int lkc_result(lua_State *L, kc_status status, const kc_text *err);
/* Registers metatable `name`: methods in __index, metamethods, locked __metatable. `close` serves __gc and __close. */
void lkc_newtype(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *metamethods, lua_CFunction close);
/* A format by name at `arg`; raises with the nearest name. */
const kc_format *lkc_checkformat(lua_State *L, int arg);
/* A non-negative integer that fits size_t. */
size_t lkc_checksize(lua_State *L, int arg);
/* A shape: list of at most KC_MAX_RANK integers >= 0; returns the rank. */
int lkc_checkshape(lua_State *L, int arg, int64_t shape[KC_MAX_RANK]);
/* Nearest of a NULL-terminated list of names by edit distance, or NULL when none is near. */
const char *lkc_nearest(const char *word, const char *const *names);
/* Raises for argument `arg`: no WHAT is called as the argument is; did you mean ... The names are name_at(L, 0), ..., ended by NULL. */
int lkc_unknown(lua_State *L, int arg, const char *what, const char *(*name_at)(lua_State *L, size_t i));
/* Field access on the table at `index`: raises naming the field when the type is wrong; *_or take a default for nil. */
const char *lkc_fieldstring(lua_State *L, int index, const char *field, const char *fallback);
lua_Integer lkc_fieldinteger(lua_State *L, int index, const char *field, lua_Integer fallback);
lua_Number lkc_fieldnumber(lua_State *L, int index, const char *field, lua_Number fallback);
bool lkc_fieldboolean(lua_State *L, int index, const char *field, bool fallback);
/* Position of the field's word in a NULL-terminated list; absent means the first, another word raises with the nearest. */
uint8_t lkc_fieldword(lua_State *L, int index, const char *field, const char *const *words);
/* Parameters of an oracle: a or alpha (1), b or beta (0), epsilon, axis (the last when absent), ddof, tie, nan, outside, transpose_a,
 * transpose_b, magnitude. */
kc_oracle_params lkc_oracleparams(lua_State *L, int index);
/* Sets field of the table on top. */
void lkc_setinteger(lua_State *L, const char *field, lua_Integer value);
void lkc_setnumber(lua_State *L, const char *field, lua_Number value);
void lkc_setstring(lua_State *L, const char *field, const char *value);
void lkc_setboolean(lua_State *L, const char *field, bool value);

/* ---- From lkc_format.c -------------------------------------------------------------------------------------------- */

/* The code at `arg`; raises when it is wider than the format. */
uint64_t lkc_checkcode(lua_State *L, int arg, const kc_format *f);
/* The code of the number at `arg`, rounded once from the Lua integer or float; raises for NaN where the format has none. */
uint64_t lkc_checkelement(lua_State *L, int arg, const kc_format *f, const kc_encoding *e);
/* Pushes the value of a code: a Lua integer for integer formats (u64 from 2^63 on a float), else a float. */
void lkc_pushelement(lua_State *L, const kc_format *f, uint64_t code);

/* ---- From lkc_buffer.c -------------------------------------------------------------------------------------------- */

#define LKC_BUFFER "kc.buffer"
typedef struct lkc_buffer {
  kc_buffer *b; /* NULL: closed */
} lkc_buffer;
/* The open buffer at `arg`; raises on another type or "attempt to use a closed buffer". */
kc_buffer *lkc_checkbuffer(lua_State *L, int arg);
/* The same, writable. */
kc_buffer *lkc_checkwritable(lua_State *L, int arg);
/* Pushes a closed buffer userdata; the caller then fills in ->b, so that nothing leaks when the allocation raises. */
lkc_buffer *lkc_newbuffer(lua_State *L);

/* ---- From lkc_enclosure.c ----------------------------------------------------------------------------------------- */

#define LKC_ENCLOSURE "kc.enclosure"
typedef struct lkc_enclosure {
  kc_enclosure e;
  const kc_format *format; /* format the oracle was told the output has; NULL when it does not matter */
  bool open;
  kc_refine_fn refine; /* may be NULL */
  void *user;          /* handed to refine */
  void (*drop)(void *user);
} lkc_enclosure;
lkc_enclosure *lkc_checkenclosure(lua_State *L, int arg);
/* Pushes a closed enclosure userdata with one user value for what must stay alive (a table of input buffers). */
lkc_enclosure *lkc_newenclosure(lua_State *L);

/* ---- From lkc_open.c ---------------------------------------------------------------------------------------------- */

int luaopen_kc_core(lua_State *L);
/* The path of the program kc, which core.exe gives. */
void lkc_setprogram(lua_State *L, const char *path);
void lkc_pushprogram(lua_State *L);
/* Whether the process is somebody else's: then its signals, its children and what it adopts are left alone. */
void lkc_setguest(lua_State *L, bool guest);
bool lkc_isguest(lua_State *L);

/* ---- Openers, one per file ---------------------------------------------------------------------------------------- */

void lkc_open_format(lua_State *L);
void lkc_open_buffer(lua_State *L);
void lkc_open_fill(lua_State *L);
void lkc_open_enclosure(lua_State *L);
void lkc_open_metric(lua_State *L);
void lkc_open_npy(lua_State *L);
void lkc_open_device(lua_State *L);
void lkc_open_process(lua_State *L);
void lkc_open_channel(lua_State *L);
void lkc_open_crash(lua_State *L);
void lkc_open_system(lua_State *L);
void lkc_open_directory(lua_State *L);
void lkc_open_extension(lua_State *L);

#endif
