/* kc_embed_run.c - the second half of kc_embed.h: runs and their results. What a run is lies in stdlib/kc/embed.lua; here its options
 * go into Lua and its cells come out. */
#include <string.h>

#include "lkc_embedding.h"

/* A userdata, kept in the registry under its address; its user value keeps the texts of the cells. */
struct kc_results {
  lua_State *L;
  int exit;
  size_t count, tally[KC_VERDICTS];
  kc_cell cells[];
};

static const char *const verdicts[] = {"held", "skipped", "undeclared", "unknown", "mistrusted", "violated", NULL};

const char *kc_verdict_name(kc_verdict v) {
  return (unsigned)v < KC_VERDICTS ? verdicts[v] : "?";
}

/* ---- callbacks ------------------------------------------------------------------------------------------------------------- */

static const kc_embed_options *options_of(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

static int on_log(lua_State *L) {
  const kc_embed_options *o = options_of(L);
  o->log(o->user, luaL_checkstring(L, 1));
  return 0;
}

static int on_progress(lua_State *L) {
  const kc_embed_options *o = options_of(L);
  o->progress(o->user, luaL_checkinteger(L, 1), luaL_checkinteger(L, 2));
  return 0;
}

static int on_cancel(lua_State *L) {
  const kc_embed_options *o = options_of(L);
  lua_pushboolean(L, o->cancel(o->user));
  return 1;
}

static void push_callback(lua_State *L, const kc_embed_options *o, bool given, const char *name, lua_CFunction f) {
  if (!given) return;
  lua_pushlightuserdata(L, (void *)(uintptr_t)o);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
}

static void push_callbacks(lua_State *L, const kc_embed_options *o) {
  lua_newtable(L);
  push_callback(L, o, o->log != NULL, "log", on_log);
  push_callback(L, o, o->progress != NULL, "progress", on_progress);
  push_callback(L, o, o->cancel != NULL, "cancel", on_cancel);
}

/* ---- options --------------------------------------------------------------------------------------------------------------- */

static void push_list(lua_State *L, const char *field, const char *const *list) {
  if (!list) return;
  lua_newtable(L);
  for (lua_Integer i = 0; list[i]; i++) {
    lua_pushstring(L, list[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, field);
}

static void push_text(lua_State *L, const char *field, const char *text) {
  if (text) lkc_setstring(L, field, text);
}

static void push_options(lua_State *L, const kc_run_options *o) {
  lua_newtable(L);
  push_list(L, "targets", o->targets);
  push_list(L, "devices", o->devices);
  push_list(L, "extensions", o->extensions);
  push_text(L, "filter", o->filter);
  push_text(L, "impl", o->impl);
  push_text(L, "trace", o->trace);
  push_text(L, "report", o->report);
  lkc_setinteger(L, "seed", o->seed);
  if (o->jobs != 0) lkc_setinteger(L, "jobs", o->jobs);
  if (o->timeout != 0) lkc_setnumber(L, "timeout", o->timeout);
  lkc_setboolean(L, "thorough", o->thorough);
  lkc_setboolean(L, "in_process", o->in_process);
}

/* ---- results --------------------------------------------------------------------------------------------------------------- */

/* The texts stay alive with the table at `index`. */
static kc_cell cell_at(lua_State *L, int index) {
  return (kc_cell){.contract = lkc_fieldstring(L, index, "contract", ""),
                   .path = lkc_fieldstring(L, index, "path", ""),
                   .implementation = lkc_fieldstring(L, index, "implementation", ""),
                   .role = lkc_fieldstring(L, index, "role", ""),
                   .device = lkc_fieldstring(L, index, "device", ""),
                   .verdict = (kc_verdict)lkc_fieldword(L, index, "verdict", verdicts),
                   .reason = lkc_fieldstring(L, index, "reason", ""),
                   .signature = lkc_fieldstring(L, index, "signature", ""),
                   .note = lkc_fieldstring(L, index, "note", ""),
                   .replay = lkc_fieldstring(L, index, "replay", ""),
                   .ratio = lkc_fieldnumber(L, index, "ratio", 0),
                   .judged = lkc_fieldinteger(L, index, "judged", 0),
                   .vacuous = lkc_fieldinteger(L, index, "vacuous", 0),
                   .seconds = lkc_fieldnumber(L, index, "seconds", 0),
                   .isolated = lkc_fieldboolean(L, index, "isolated", true)};
}

/* From the table {code=, results=} at `index`. */
static kc_results *results_of(lua_State *L, int index) {
  lkc_pushfield(L, "kc.embed", "cells");
  lua_getfield(L, index, "results");
  lua_call(L, 1, 1);
  int list = lua_gettop(L);
  size_t count = (size_t)luaL_len(L, list);
  kc_results *r = lua_newuserdatauv(L, sizeof *r + count * sizeof *r->cells, 1);
  *r = (kc_results){.L = L, .exit = (int)lkc_fieldinteger(L, index, "code", 0), .count = count};
  lua_pushvalue(L, list);
  lua_setiuservalue(L, -2, 1);
  for (size_t i = 0; i < count; i++) {
    lua_geti(L, list, (lua_Integer)i + 1);
    r->cells[i] = cell_at(L, lua_gettop(L));
    r->tally[r->cells[i].verdict]++;
    lua_pop(L, 1);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, r);
  return r;
}

/* ---- a run ----------------------------------------------------------------------------------------------------------------- */

typedef struct run {
  const kc_embed_options *callbacks;
  const kc_run_options *options;
  kc_results *results;
} run;

/* Leaves message and code of the outcome. */
static int execute(lua_State *L) {
  run *r = lua_touserdata(L, 1);
  lkc_pushfield(L, "kc.embed", "run");
  push_options(L, r->options);
  push_callbacks(L, r->callbacks);
  lua_call(L, 2, 3);
  if (lua_istable(L, 2)) r->results = results_of(L, 2);
  lua_settop(L, 4);
  return 2;
}

kc_status kc_embed_run(kc_results **out, kc_embed *e, const kc_run_options *options, kc_text *err) {
  static const kc_run_options defaults = {.targets = NULL};
  run r = {&e->options, options ? options : &defaults, NULL};
  *out = NULL;
  if (!lua_checkstack(e->L, 4)) return kc_fail(err, KC_ENOMEM, "no memory");
  lua_pushcfunction(e->L, execute);
  lua_pushlightuserdata(e->L, &r);
  kc_status status = lkc_call(e, 1, 2, KC_EINTERNAL, err);
  if (status != KC_OK) return status;
  status = lkc_outcome(e->L, -2, err);
  lua_pop(e->L, 2);
  *out = r.results;
  return status;
}

void kc_results_free(kc_results *r) {
  if (!r) return;
  lua_State *L = r->L;
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, r);
}

size_t kc_results_count(const kc_results *r) {
  return r->count;
}

const kc_cell *kc_results_at(const kc_results *r, size_t i) {
  return i < r->count ? &r->cells[i] : NULL;
}

size_t kc_results_tally(const kc_results *r, kc_verdict v) {
  return (unsigned)v < KC_VERDICTS ? r->tally[v] : 0;
}

int kc_results_exit(const kc_results *r) {
  return r->exit;
}
