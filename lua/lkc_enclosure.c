/* lkc_enclosure.c - enclosures, the exact oracles of tier 1, and decisions as Lua sees them. */
#include <math.h>
#include <string.h>

#include "lkc.h"
#include "lkc_extension.h"

#define CLASSES 7

lkc_enclosure *lkc_checkenclosure(lua_State *L, int arg) {
  lkc_enclosure *e = luaL_checkudata(L, arg, LKC_ENCLOSURE);
  if (!e->open) luaL_argerror(L, arg, "attempt to use a closed enclosure");
  return e;
}

lkc_enclosure *lkc_newenclosure(lua_State *L) {
  lkc_enclosure *e = lua_newuserdatauv(L, sizeof *e, 1);
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, LKC_ENCLOSURE);
  return e;
}

/*--- Frees the enclosure and what refines it; again is harmless.
function enclosure.close(self) end */
static int enclosure_close(lua_State *L) {
  lkc_enclosure *e = luaL_checkudata(L, 1, LKC_ENCLOSURE);
  if (!e->open) return 0;
  e->open = false;
  if (e->drop) e->drop(e->user);
  kc_enclosure_clear(&e->e);
  return 0;
}

static void push_classes(lua_State *L, uint8_t classes) {
  lua_newtable(L);
  for (int bit = 0, n = 0; bit < CLASSES; bit++) {
    if (!(classes >> bit & 1)) continue;
    lua_pushstring(L, kc_class_name((kc_class)(1 << bit)));
    lua_seti(L, -2, ++n);
  }
}

/*--- What is known of element i: bounds of the exact value, and the names of the classes that it may have.
--- @param i integer from 1, row-major
--- @return number lo
--- @return number hi
--- @return table classes
function enclosure.at(self, i) end */
static int enclosure_at(lua_State *L) {
  const lkc_enclosure *e = lkc_checkenclosure(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i >= 1 && i <= e->e.count, 2, "element out of range");
  lua_pushnumber(L, e->e.lo[i - 1]);
  lua_pushnumber(L, e->e.hi[i - 1]);
  push_classes(L, e->e.classes[i - 1]);
  return 3;
}

/*--- Upper bounds of the magnitudes as a buffer of f64: the worst case of a formula. Where the value may be NaN or infinite: +inf.
--- @param shape table|nil list of sizes; one dimension when absent
--- @return userdata|nil buffer
--- @return string|nil message
--- @return string|nil code
function enclosure.upper(self, shape) end */
static int enclosure_upper(lua_State *L) {
  const kc_enclosure *e = &lkc_checkenclosure(L, 1)->e;
  int64_t shape[KC_MAX_RANK] = {e->count}, count = 1;
  int rank = lua_isnoneornil(L, 2) ? 1 : lkc_checkshape(L, 2, shape);
  for (int d = 0; d < rank; d++) count *= shape[d];
  luaL_argcheck(L, count == e->count, 2, "the shape does not fit the enclosure");
  lkc_buffer *b = lkc_newbuffer(L);
  kc_text err;
  kc_status status = kc_buffer_create(&b->b, kc_format_find("f64"), rank, shape, 0, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  double *out = kc_buffer_data(b->b);
  for (int64_t i = 0; i < count; i++) {
    bool open = !e->classes[i] || (e->classes[i] & (KC_NAN | KC_NINF | KC_PINF));
    double lo = fabs(e->lo[i]), hi = fabs(e->hi[i]);
    out[i] = open ? (double)INFINITY : lo > hi ? lo : hi;
  }
  return 1;
}

static int enclosure_len(lua_State *L) {
  lua_pushinteger(L, lkc_checkenclosure(L, 1)->e.count);
  return 1;
}

static int enclosure_tostring(lua_State *L) {
  const lkc_enclosure *e = luaL_checkudata(L, 1, LKC_ENCLOSURE);
  if (!e->open)
    lua_pushliteral(L, "enclosure (closed)");
  else
    lua_pushfstring(L, "enclosure (%I elements)", (LUAI_UACINT)e->e.count);
  return 1;
}

/* ---- enclosures given by hand ------------------------------------------------------------------------------------------------ */

static uint8_t class_of_name(lua_State *L, const char *name) {
  for (int bit = 0; bit < CLASSES; bit++)
    if (strcmp(name, kc_class_name((kc_class)(1 << bit))) == 0) return (uint8_t)(1 << bit);
  return (uint8_t)luaL_error(L, "unknown class '%s'", name);
}

static double number_at(lua_State *L, int list, lua_Integer i) {
  lua_geti(L, list, i);
  double x = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return x;
}

/* The classes of element i: names separated by spaces. */
static uint8_t classes_at(lua_State *L, int list, lua_Integer i) {
  lua_geti(L, list, i);
  char text[64];
  uint8_t classes = 0;
  if (strlen(luaL_checkstring(L, -1)) >= sizeof text) luaL_error(L, "element %d: too many classes", (int)i);
  strcpy(text, lua_tostring(L, -1));
  for (char *rest, *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
    classes |= class_of_name(L, name);
  lua_pop(L, 1);
  return classes;
}

/*--- An enclosure given by hand.
--- @param lo table list of lower bounds
--- @param hi table list of upper bounds
--- @param classes table list of class names, several separated by spaces
--- @return userdata enclosure
function core.enclosure(lo, hi, classes) end */
static int enclosure_by_hand(lua_State *L) {
  for (int i = 1; i <= 3; i++) luaL_checktype(L, i, LUA_TTABLE);
  lua_Integer n = luaL_len(L, 1);
  if (luaL_len(L, 2) != n || luaL_len(L, 3) != n) return luaL_error(L, "the three lists differ in length");
  lkc_enclosure *e = lkc_newenclosure(L);
  kc_text err;
  kc_status status = kc_enclosure_create(&e->e, n);
  if (status != KC_OK) return lkc_fail(L, kc_fail(&err, status, "no memory for %lld elements", (long long)n), &err);
  e->open = true;
  for (lua_Integer i = 0; i < n; i++) {
    e->e.lo[i] = number_at(L, 1, i + 1);
    e->e.hi[i] = number_at(L, 2, i + 1);
    e->e.classes[i] = classes_at(L, 3, i + 1);
  }
  return 1;
}

/* ---- oracles --------------------------------------------------------------------------------------------------------------- */

/*--- Oracles that binary64 and comparisons of codes settle, and those of extensions: {name, doc, arity, index, parameters = words}.
--- @return table rows
function core.oracles() end */
static int list_oracles(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; lkc_oracle_at(L, i); i++) {
    const kc_oracle *o = lkc_oracle_at(L, i);
    lua_newtable(L);
    lkc_setstring(L, "name", o->name);
    lkc_setstring(L, "doc", o->doc);
    lkc_setinteger(L, "arity", o->arity);
    lkc_setboolean(L, "index", o->index);
    lkc_setstring(L, "parameters", o->parameters ? o->parameters : "");
    lua_seti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static const char *oracle_name(lua_State *L, size_t i) {
  const kc_oracle *o = lkc_oracle_at(L, i);
  return o ? o->name : NULL;
}

static const kc_oracle *check_oracle(lua_State *L, int arg) {
  const kc_oracle *o = lkc_oracle_find(L, luaL_checkstring(L, arg));
  if (!o) lkc_unknown(L, arg, "oracle", oracle_name);
  return o;
}

/*--- Evaluates an oracle of core.oracles().
--- @param name string
--- @param inputs table list of buffers
--- @param params table|nil {a=, b= (limits of clamp), axis= (from 0, negative from the end; the last when absent), tie = "first"|"last"|"any"|"undeclared", nan = "propagate"|"ignore"|"undeclared",
---   outside = "undeclared"|"clamp"|"zero"|"wrap"|"fill" (with a)|"anything"|"drop"}
--- @return userdata|nil enclosure
--- @return string|nil message
--- @return string|nil code
function core.oracle(name, inputs, params) end */
static int run_oracle(lua_State *L) {
  const kc_oracle *o = check_oracle(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  if (lua_isnil(L, 3)) {
    lua_newtable(L);
    lua_replace(L, 3);
  }
  luaL_checktype(L, 3, LUA_TTABLE);
  const kc_buffer *inputs[KC_MAX_ORACLE_INPUTS];
  int n = (int)luaL_len(L, 2);
  if (n != o->arity) return luaL_error(L, "oracle %s: expected %d inputs, got %d", o->name, o->arity, n);
  for (int i = 0; i < n; i++) {
    lua_geti(L, 2, i + 1);
    inputs[i] = lkc_checkbuffer(L, -1);
    lua_pop(L, 1); /* the list still holds it */
  }
  kc_oracle_params params = lkc_oracleparams(L, 3);
  lkc_enclosure *e = lkc_newenclosure(L);
  kc_text err;
  kc_status status = kc_oracle_run(&e->e, o, inputs, &params, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  e->open = true;
  return 1;
}

/* ---- decisions -------------------------------------------------------------------------------------------------------------- */

static void set_index(lua_State *L, const char *field, int64_t index) {
  if (index >= 0) lkc_setinteger(L, field, index + 1);
}

static void push_confusion(lua_State *L, const kc_decision *d) {
  lua_newtable(L);
  for (int i = 0; i < CLASSES; i++) {
    lua_newtable(L);
    bool any = false;
    for (int j = 0; j < CLASSES; j++) {
      if (!d->confusion[i][j]) continue;
      lkc_setinteger(L, kc_class_name((kc_class)(1 << j)), d->confusion[i][j]);
      any = true;
    }
    if (any)
      lua_setfield(L, -2, kc_class_name((kc_class)(1 << i)));
    else
      lua_pop(L, 1);
  }
}

static void push_histogram(lua_State *L, const int64_t *histogram, int bins) {
  lua_createtable(L, bins, 0);
  for (int i = 0; i < bins; i++) {
    lua_pushinteger(L, histogram[i]);
    lua_seti(L, -2, i + 1);
  }
}

static void push_decision(lua_State *L, const kc_decision *d) {
  const struct {
    const char *name;
    int64_t n;
  } counts[] = {{"count", d->count},
                {"class_yes", d->class_yes},
                {"class_no", d->class_no},
                {"class_unknown", d->class_unknown},
                {"undeclared", d->undeclared},
                {"anything", d->anything},
                {"value_yes", d->value_yes},
                {"value_no", d->value_no},
                {"value_unknown", d->value_unknown},
                {"vacuous", d->vacuous},
                {"exact", d->exact},
                {"zeros", d->zeros},
                {"refined", d->refined}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) lkc_setinteger(L, counts[i].name, counts[i].n);
  set_index(L, "first_class_no", d->first_class_no);
  set_index(L, "first_value_no", d->first_value_no);
  set_index(L, "worst", d->worst);
  lkc_setnumber(L, "worst_ratio_lo", d->worst_ratio_lo);
  lkc_setnumber(L, "worst_ratio_hi", d->worst_ratio_hi);
  lkc_setnumber(L, "worst_lo", d->worst_lo);
  lkc_setnumber(L, "worst_hi", d->worst_hi);
  lkc_setnumber(L, "worst_error", d->worst_error);
  lkc_setnumber(L, "worst_allowed", d->worst_allowed);
  lkc_setnumber(L, "worst_scaled", d->worst_scaled);
  push_confusion(L, d);
  lua_setfield(L, -2, "confusion");
  push_histogram(L, d->histogram, (int)(sizeof d->histogram / sizeof *d->histogram));
  lua_setfield(L, -2, "histogram");
}

/* The buffer in a field, of format f64 and as long as y; NULL when absent. */
static const double *read_doubles(lua_State *L, int table, const char *field, const kc_buffer *y) {
  if (lua_getfield(L, table, field) == LUA_TNIL) {
    lua_pop(L, 1);
    return NULL;
  }
  const kc_buffer *allowed = lkc_checkbuffer(L, -1);
  if (strcmp(kc_buffer_format(allowed)->name, "f64") != 0 || kc_buffer_count(allowed) != kc_buffer_count(y))
    luaL_error(L, "field '%s': expected an f64 buffer with as many elements as the output", field);
  lua_pop(L, 1); /* the table holds it */
  return kc_buffer_cdata(allowed);
}

/*--- Decides every element of a buffer against an enclosure: class first, then value (spec/verdicts.md). Elements that
--- cannot be decided are refined where the enclosure can. Positions count from 1 and are absent when there is none.
--- @param y userdata buffer
--- @param enclosure userdata
--- @param tolerance table {kind = "exact"|"ulp"|"abs"|"rel"|"given", value = number, denormals = "preserve"|"flush",
---   either_zero = boolean: a zero of the other sign may stand for a number that is near enough, allowed = f64 buffer for "given", scale = f64 buffer|nil: what errors are measured in beside the tolerance}
--- @return table|nil decision {count, class_yes, class_no, class_unknown, value_yes, value_no, value_unknown, vacuous, exact, zeros, refined,
---   first_class_no, first_value_no, worst, worst_ratio_lo, worst_ratio_hi, worst_lo, worst_hi, worst_error, worst_allowed,
---   worst_scaled (largest error / scale), confusion = {expected = {found = n}},
---   histogram = {66 counts of error / allowed: zero, then (2^(k-34), 2^(k-33)]}}
--- @return string|nil message
--- @return string|nil code
function core.decide(y, enclosure, tolerance) end */
static int decide(lua_State *L) {
  static const char *const kinds[] = {"exact", "ulp", "abs", "rel", "given", NULL};
  static const char *const denormals[] = {"preserve", "flush", NULL};
  const kc_buffer *y = lkc_checkbuffer(L, 1);
  lkc_enclosure *e = lkc_checkenclosure(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  kc_tolerance t = {.kind = lkc_fieldword(L, 3, "kind", kinds),
                    .denormals = lkc_fieldword(L, 3, "denormals", denormals),
                    .either_zero = lkc_fieldboolean(L, 3, "either_zero", false),
                    .value = lkc_fieldnumber(L, 3, "value", 0),
                    .allowed = read_doubles(L, 3, "allowed", y),
                    .scale = read_doubles(L, 3, "scale", y)};
  if (t.kind == KC_TOL_GIVEN && !t.allowed) return luaL_error(L, "field 'allowed': needed for the kind 'given'");
  kc_decision d;
  kc_text err;
  kc_status status = kc_decide(&d, y, &e->e, &t, e->refine, e->user, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  push_decision(L, &d);
  return 1;
}

/*--- Which of two results is proven nearer the exact values: counts over the elements whose bits differ.
--- @param a userdata buffer
--- @param b userdata buffer of the same format and as many elements
--- @param enclosure userdata of the exact values
--- @return table counts {different, payloads = NaN in both, a, b, undecided, first = position or nil}
function core.nearer(a, b, enclosure) end */
static int nearer(lua_State *L) {
  const kc_buffer *a = lkc_checkbuffer(L, 1), *b = lkc_checkbuffer(L, 2);
  const lkc_enclosure *e = lkc_checkenclosure(L, 3);
  kc_nearness n;
  kc_text err;
  kc_status status = kc_nearer(&n, a, b, &e->e, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_createtable(L, 0, 6);
  lkc_setinteger(L, "different", n.different);
  lkc_setinteger(L, "payloads", n.payloads);
  lkc_setinteger(L, "a", n.nearer[0]);
  lkc_setinteger(L, "b", n.nearer[1]);
  lkc_setinteger(L, "undecided", n.nearer[2]);
  set_index(L, "first", n.first);
  return 1;
}

static const luaL_Reg methods[] = {{"at", enclosure_at}, {"upper", enclosure_upper}, {"close", enclosure_close}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__len", enclosure_len}, {"__tostring", enclosure_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"enclosure", enclosure_by_hand},
                                     {"oracles", list_oracles},
                                     {"oracle", run_oracle},
                                     {"decide", decide},
                                     {"nearer", nearer},
                                     {NULL, NULL}};

void lkc_open_enclosure(lua_State *L) {
  lkc_newtype(L, LKC_ENCLOSURE, methods, metamethods, enclosure_close);
  luaL_setfuncs(L, functions, 0);
}
