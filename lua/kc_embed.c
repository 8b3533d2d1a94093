/* kc_embed.c - the first half of kc_embed.h: a state, its Lua, what is added to it. Runs are in kc_embed_run.c. */
#include <stdlib.h>
#include <string.h>

#include "lkc_embedding.h"
#include "lkc_extension.h"

const char *kc_version(void) {
  return KC_VERSION;
}

static void *with_realloc(void *user, void *block, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size) return realloc(block, new_size);
  free(block);
  return NULL;
}

/* ---- calls into Lua: none may raise beyond here ---------------------------------------------------------------------------- */

kc_status lkc_call(kc_embed *e, int nargs, int nresults, kc_status status, kc_text *err) {
  lua_State *L = e->L;
  int rc = lua_pcall(L, nargs, nresults, 0); /* no traceback: an error text is one line */
  if (rc == LUA_OK) return KC_OK;
  const char *text = lua_tostring(L, -1);
  status = kc_fail(err, rc == LUA_ERRMEM ? KC_ENOMEM : status, "%s", text ? text : "an error that is no text");
  lua_pop(L, 1);
  return status;
}

void lkc_pushfield(lua_State *L, const char *module, const char *field) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, field);
  lua_remove(L, -2);
}

kc_status lkc_outcome(lua_State *L, int message, kc_text *err) {
  message = lua_absindex(L, message);
  const char *text = lua_tostring(L, message), *code = lua_tostring(L, message + 1);
  if (!code) return KC_OK;
  kc_status status = KC_ECANCELLED;
  while (status < KC_OK && strcmp(kc_status_name(status), code) != 0) status++;
  return kc_fail(err, status < KC_OK ? status : KC_EINTERNAL, "%s", text ? text : code);
}

/* ---- a state ---------------------------------------------------------------------------------------------------------------- */

static int prepare(lua_State *L) {
  kc_embed *e = lua_touserdata(L, 1);
  luaL_openlibs(L);
  lkc_prepare(L, &(lkc_setup){.drivers = kc_drivers, .role = "guest", .program = e->program});
  return 0;
}

static kc_embed *new_embed(const kc_embed_options *options) {
  kc_alloc_fn alloc = options->alloc ? options->alloc : with_realloc;
  kc_embed *e = alloc(options->alloc_user, NULL, 0, sizeof *e);
  if (!e) return NULL;
  *e = (kc_embed){.options = *options, .alloc = alloc};
  e->L = lua_newstate(alloc, options->alloc_user);
  if (e->L) return e;
  alloc(options->alloc_user, e, sizeof *e, 0);
  return NULL;
}

kc_status kc_embed_open(kc_embed **out, const kc_embed_options *options, kc_text *err) {
  *out = NULL;
  if (options && options->program && strlen(options->program) >= PATH_MAX)
    return kc_fail(err, KC_EINVAL, "field 'program': a path of %zu bytes", strlen(options->program));
  kc_embed *e = new_embed(options ? options : &(kc_embed_options){.alloc = NULL});
  if (!e) return kc_fail(err, KC_ENOMEM, "no memory for a Lua state");
  if (e->options.program)
    strcpy(e->program, e->options.program);
  else
    lkc_find_program(e->program);
  lua_pushcfunction(e->L, prepare);
  lua_pushlightuserdata(e->L, e);
  kc_status status = lkc_call(e, 1, 0, KC_EINTERNAL, err);
  if (status == KC_OK)
    *out = e;
  else
    kc_embed_close(e);
  return status;
}

void kc_embed_close(kc_embed *e) {
  if (!e) return;
  lua_close(e->L);
  e->alloc(e->options.alloc_user, e, sizeof *e, 0);
}

struct lua_State *kc_embed_lua(kc_embed *e) {
  return e->L;
}

const char *kc_embed_program(const kc_embed *e) {
  return e->program;
}

static int extend(lua_State *L) {
  lkc_extend(L, lua_touserdata(L, 1), NULL);
  return 0;
}

kc_status kc_embed_add(kc_embed *e, const kc_extension *extension, kc_text *err) {
  if (!lua_checkstack(e->L, 4)) return kc_fail(err, KC_ENOMEM, "no memory");
  lua_pushcfunction(e->L, extend);
  lua_pushlightuserdata(e->L, (void *)(uintptr_t)extension);
  return lkc_call(e, 1, 0, KC_EINVAL, err);
}

/* ---- Lua -------------------------------------------------------------------------------------------------------------------- */

static int evaluate(lua_State *L) {
  const char *code = lua_touserdata(L, 1);
  if (luaL_loadbufferx(L, code, strlen(code), "=eval", "t") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 1);
  if (lua_isboolean(L, -1)) lua_pushstring(L, lua_toboolean(L, -1) ? "true" : "false");
  return 1;
}

kc_status kc_embed_eval(kc_embed *e, const char *code, kc_text *out, kc_text *err) {
  if (out) out->s[0] = '\0';
  if (!lua_checkstack(e->L, 4)) return kc_fail(err, KC_ENOMEM, "no memory");
  lua_pushcfunction(e->L, evaluate);
  lua_pushlightuserdata(e->L, (void *)(uintptr_t)code);
  kc_status status = lkc_call(e, 1, 1, KC_EINVAL, err);
  if (status != KC_OK) return status;
  const char *text = lua_tostring(e->L, -1);
  if (text) kc_fail(out, KC_OK, "%s", text);
  lua_pop(e->L, 1);
  return KC_OK;
}

/* Calls kc.embed.repl; its three results stay on the stack. */
static int start_prompt(lua_State *L) {
  lkc_pushfield(L, "kc.embed", "repl");
  lua_call(L, 0, 3);
  return 3;
}

kc_status kc_embed_repl(kc_embed *e, kc_text *err) {
  lua_pushcfunction(e->L, start_prompt);
  kc_status status = lkc_call(e, 0, 3, KC_EINTERNAL, err);
  if (status != KC_OK) return status;
  status = lkc_outcome(e->L, -2, err);
  lua_pop(e->L, 3);
  return status;
}

int kc_luaopen(struct lua_State *L) {
  char program[PATH_MAX];
  luaL_checkversion(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "kc.core") == LUA_TNIL) {
    lkc_find_program(program);
    lkc_prepare(
        L, &(lkc_setup){.drivers = kc_drivers, .role = "guest", .program = program, .extensions = getenv("KC_EXTENSIONS")});
  }
  lua_getglobal(L, "require");
  lua_pushliteral(L, "kc");
  lua_call(L, 1, 1);
  return 1;
}
