/* lkc_metric.c - metrics over buffers as Lua sees them. */
#include <string.h>

#include "lkc.h"
#include "lkc_extension.h"

/*--- The metrics: {name, unit, doc}.
--- @return table rows
function core.metrics() end */
static int list_metrics(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; lkc_metric_at(L, i); i++) {
    const kc_metric *m = lkc_metric_at(L, i);
    lua_newtable(L);
    lkc_setstring(L, "name", m->name);
    lkc_setstring(L, "unit", m->unit);
    lkc_setstring(L, "doc", m->doc);
    lua_seti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static const char *metric_name(lua_State *L, size_t i) {
  const kc_metric *m = lkc_metric_at(L, i);
  return m ? m->name : NULL;
}

static const kc_metric *check_metric(lua_State *L, int arg) {
  const kc_metric *m = lkc_metric_find(L, luaL_checkstring(L, arg));
  if (!m) lkc_unknown(L, arg, "metric", metric_name);
  return m;
}

/* Field `as`: another format's name, or NULL. */
static const kc_format *read_as(lua_State *L) {
  const char *name = lkc_fieldstring(L, 4, "as", NULL);
  if (!name) return NULL;
  lua_pushstring(L, name);
  const kc_format *f = lkc_checkformat(L, lua_gettop(L));
  lua_pop(L, 1);
  return f;
}

/* Field `denominator`: an f64 buffer with as many elements as the reference, or NULL. */
static const double *read_denominator(lua_State *L, const kc_buffer *reference) {
  if (lua_getfield(L, 4, "denominator") == LUA_TNIL) {
    lua_pop(L, 1);
    return NULL;
  }
  const kc_buffer *b = lkc_checkbuffer(L, -1);
  if (strcmp(kc_buffer_format(b)->name, "f64") != 0 || kc_buffer_count(b) != kc_buffer_count(reference))
    luaL_error(L, "field 'denominator': expected an f64 buffer with as many elements as the reference");
  lua_pop(L, 1); /* the table holds it */
  return kc_buffer_cdata(b);
}

static void push_summary(lua_State *L, const kc_summary *s) {
  static const char *const quantiles[] = {"median", "p90", "p99", "p999", "p100"};
  lua_newtable(L);
  lkc_setinteger(L, "count", s->count);
  lkc_setinteger(L, "finite", s->finite);
  lkc_setinteger(L, "class_mismatches", s->class_mismatches);
  lkc_setinteger(L, "bit_differences", s->bit_differences);
  if (s->worst >= 0) lkc_setinteger(L, "worst", s->worst + 1);
  if (s->first_mismatch >= 0) lkc_setinteger(L, "first_mismatch", s->first_mismatch + 1);
  lkc_setnumber(L, "max", s->max);
  lkc_setnumber(L, "mean", s->mean);
  for (int i = 0; i < 5; i++) lkc_setnumber(L, quantiles[i], s->quantile[i]);
  lua_newtable(L);
  for (int i = 0; i < 66; i++) {
    lua_pushinteger(L, s->histogram[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "histogram");
}

/*--- Compares a buffer with a reference of the same format and shape. Elements where either side is not finite count as class matches
--- or mismatches and stay out of the statistics. Positions count from 1 and are absent when there is none.
--- @param name string a metric of core.metrics()
--- @param got userdata buffer
--- @param reference userdata buffer
--- @param options table|nil {as = format whose ulps measure, denominator = f64 buffer}
--- @return table|nil summary {count, finite, class_mismatches, bit_differences, worst, first_mismatch, max, mean, median, p90, p99, p999,
---   p100, histogram = {66 counts: zero, then (2^(k-34), 2^(k-33)]}}
--- @return string|nil message
--- @return string|nil code
function core.metric(name, got, reference, options) end */
static int run_metric(lua_State *L) {
  const kc_metric *m = check_metric(L, 1);
  const kc_buffer *got = lkc_checkbuffer(L, 2), *reference = lkc_checkbuffer(L, 3);
  lua_settop(L, 4);
  if (lua_isnil(L, 4)) {
    lua_newtable(L);
    lua_replace(L, 4);
  }
  luaL_checktype(L, 4, LUA_TTABLE);
  const kc_format *as = read_as(L);
  const double *denominator = read_denominator(L, reference);
  kc_summary s;
  kc_text err;
  kc_status status = kc_metric_run(&s, m, got, reference, as, denominator, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  push_summary(L, &s);
  return 1;
}

static const luaL_Reg functions[] = {{"metrics", list_metrics}, {"metric", run_metric}, {NULL, NULL}};

void lkc_open_metric(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
