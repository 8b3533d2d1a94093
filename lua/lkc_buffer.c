/* lkc_buffer.c - buffers as userdata: elements by 1-based row-major index, everything else by method. */
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "lkc.h"

#define DEFAULT_GUARD 4096

static const kc_encoding nearest = {.rounding = KC_RNE};

kc_buffer *lkc_checkbuffer(lua_State *L, int arg) {
  lkc_buffer *u = luaL_checkudata(L, arg, LKC_BUFFER);
  if (!u->b) luaL_argerror(L, arg, "attempt to use a closed buffer");
  return u->b;
}

lkc_buffer *lkc_newbuffer(lua_State *L) {
  lkc_buffer *u = lua_newuserdatauv(L, sizeof *u, 0);
  u->b = NULL;
  luaL_setmetatable(L, LKC_BUFFER);
  return u;
}

kc_buffer *lkc_checkwritable(lua_State *L, int arg) {
  kc_buffer *b = lkc_checkbuffer(L, arg);
  if (!kc_buffer_writable(b)) luaL_argerror(L, arg, "the buffer is read-only");
  return b;
}

/* The 0-based position that the 1-based index at `arg` names. */
static size_t check_index(lua_State *L, int arg, const kc_buffer *b) {
  lua_Integer i = luaL_checkinteger(L, arg), n = kc_buffer_count(b);
  if (i < 1 || i > n) luaL_argerror(L, arg, lua_pushfstring(L, "index %I, expected 1..%I", i, n));
  return (size_t)i - 1;
}

static size_t guard_option(lua_State *L, int arg) {
  if (lua_isnoneornil(L, arg)) return DEFAULT_GUARD;
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_Integer guard = lkc_fieldinteger(L, arg, "guard", DEFAULT_GUARD);
  luaL_argcheck(L, guard >= 0, arg, "field 'guard': expected an integer >= 0");
  return (size_t)guard;
}

/*--- A new buffer of a format and shape in shared memory, painted with poison; `guard` bytes on each side (4096 when omitted)
--- are rounded up to a page. Element b[i] counts from 1 in row-major order; b[i] = x rounds to nearest; #b is the number of
--- elements. nil, message, code when memory is short.
---@param format string
---@param shape table list of integers
---@param options table|nil {guard=}
---@return userdata|nil buffer, string|nil message, string|nil code
function core.buffer(format, shape, options) end */
static int lkc_buffer_new(lua_State *L) {
  int64_t shape[KC_MAX_RANK];
  kc_text err = {""};
  const kc_format *f = lkc_checkformat(L, 1);
  int rank = lkc_checkshape(L, 2, shape);
  size_t guard = guard_option(L, 3);
  lkc_buffer *u = lkc_newbuffer(L);
  kc_status status = kc_buffer_create(&u->b, f, rank, shape, guard, &err);
  return status == KC_OK ? 1 : lkc_result(L, status, &err);
}

/*--- Maps a buffer that another process created. The buffer owns the descriptor when this succeeds.
---@param fd integer
---@param format string
---@param shape table list of integers
---@param options table|nil {guard=, writable=}
---@return userdata|nil buffer, string|nil message, string|nil code
function core.attach(fd, format, shape, options) end */
static int lkc_buffer_attach(lua_State *L) {
  int64_t shape[KC_MAX_RANK];
  kc_text err = {""};
  lua_Integer fd = luaL_checkinteger(L, 1);
  luaL_argcheck(L, fd >= 0 && fd <= INT32_MAX, 1, "expected a descriptor");
  const kc_format *f = lkc_checkformat(L, 2);
  int rank = lkc_checkshape(L, 3, shape);
  size_t guard = guard_option(L, 4);
  bool writable = !lua_isnoneornil(L, 4) && lkc_fieldboolean(L, 4, "writable", false);
  lkc_buffer *u = lkc_newbuffer(L);
  kc_status status = kc_buffer_attach(&u->b, (int)fd, f, rank, shape, guard, writable, &err);
  return status == KC_OK ? 1 : lkc_result(L, status, &err);
}

static int lkc_buffer_index(lua_State *L) {
  if (lua_type(L, 2) != LUA_TNUMBER) {
    luaL_checkudata(L, 1, LKC_BUFFER); /* methods of a closed buffer exist; they raise when called */
    luaL_getmetafield(L, 1, "methods");
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
  }
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  lkc_pushelement(L, kc_buffer_format(b), kc_load(kc_buffer_format(b), kc_buffer_cdata(b), check_index(L, 2, b)));
  return 1;
}

static int lkc_buffer_newindex(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  size_t i = check_index(L, 2, b);
  kc_store(kc_buffer_format(b), kc_buffer_data(b), i, lkc_checkelement(L, 3, kc_buffer_format(b), &nearest));
  return 0;
}

static int lkc_buffer_len(lua_State *L) {
  lua_pushinteger(L, kc_buffer_count(lkc_checkbuffer(L, 1)));
  return 1;
}

static int lkc_buffer_tostring(lua_State *L) {
  const kc_buffer *b = ((lkc_buffer *)luaL_checkudata(L, 1, LKC_BUFFER))->b;
  luaL_Buffer text;
  if (!b) return lua_pushliteral(L, "kc.buffer (closed)"), 1;
  luaL_buffinit(L, &text);
  luaL_addstring(&text, "kc.buffer ");
  luaL_addstring(&text, kc_buffer_format(b)->name);
  for (int i = 0; i < kc_buffer_rank(b); i++) {
    luaL_addchar(&text, i ? ',' : '[');
    lua_pushinteger(L, kc_buffer_shape(b)[i]);
    luaL_addvalue(&text);
  }
  if (kc_buffer_rank(b)) luaL_addchar(&text, ']');
  if (!kc_buffer_writable(b)) luaL_addstring(&text, " read-only");
  luaL_pushresult(&text);
  return 1;
}

/*--- Releases the memory. Idempotent; any other use afterwards raises.
---@param self userdata
function buffer.close(self) end */
static int lkc_buffer_close(lua_State *L) {
  lkc_buffer *u = luaL_checkudata(L, 1, LKC_BUFFER);
  kc_buffer *b = u->b;
  u->b = NULL;
  kc_buffer_release(b);
  return 0;
}

/*--- The code (bits) of element i.
--- > kc.buffer("f16", 1, { 1 }):code(1) == 0x3c00
--- true
---@param self userdata
---@param i integer
---@return integer
function buffer.code(self, i) end */
static int lkc_buffer_code(lua_State *L) {
  kc_buffer *b = lkc_checkbuffer(L, 1);
  lua_pushinteger(L, (lua_Integer)kc_load(kc_buffer_format(b), kc_buffer_cdata(b), check_index(L, 2, b)));
  return 1;
}

/*--- Stores a code as element i.
--- > b = kc.buffer("f16", 1)
--- > b:setcode(1, 0x7bff)
--- > b[1]
--- 65504.0
---@param self userdata
---@param i integer
---@param code integer
function buffer.setcode(self, i, code) end */
static int lkc_buffer_setcode(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  size_t i = check_index(L, 2, b);
  kc_store(kc_buffer_format(b), kc_buffer_data(b), i, lkc_checkcode(L, 3, kc_buffer_format(b)));
  return 0;
}

/*--- Name of the format.
--- > kc.buffer("f16", { 2, 3 }):format()
--- "f16"
---@param self userdata
---@return string
function buffer.format(self) end */
static int lkc_buffer_format(lua_State *L) {
  lua_pushstring(L, kc_buffer_format(lkc_checkbuffer(L, 1))->name);
  return 1;
}

/*--- Dimensions.
--- > kc.buffer("f16", { 2, 3 }):shape()
--- { 2, 3 }
---@param self userdata
---@return table list of integers
function buffer.shape(self) end */
static int lkc_buffer_shape(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  lua_createtable(L, kc_buffer_rank(b), 0);
  for (int i = 0; i < kc_buffer_rank(b); i++) {
    lua_pushinteger(L, kc_buffer_shape(b)[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/*--- Bytes of data, guards not counted.
--- > kc.buffer("f16", { 2, 3 }):bytes()
--- 12
---@param self userdata
---@return integer
function buffer.bytes(self) end */
static int lkc_buffer_bytes(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)kc_buffer_bytes(lkc_checkbuffer(L, 1)));
  return 1;
}

/*--- Bytes of each guard, a multiple of the page size.
---@param self userdata
---@return integer
function buffer.guardbytes(self) end */
static int lkc_buffer_guardbytes(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)kc_buffer_guard_bytes(lkc_checkbuffer(L, 1)));
  return 1;
}

/*--- The memfd; it stays the buffer's.
---@param self userdata
---@return integer
function buffer.fd(self) end */
static int lkc_buffer_fd(lua_State *L) {
  lua_pushinteger(L, kc_buffer_fd(lkc_checkbuffer(L, 1)));
  return 1;
}

/*--- False for a sealed buffer or one attached read-only.
---@param self userdata
---@return boolean
function buffer.writable(self) end */
static int lkc_buffer_writable(lua_State *L) {
  lua_pushboolean(L, kc_buffer_writable(lkc_checkbuffer(L, 1)));
  return 1;
}

/*--- Makes the contents final, here and for every process that maps them.
---@param self userdata
---@return boolean|nil ok, string|nil message, string|nil code
function buffer.seal(self) end */
static int lkc_buffer_seal(lua_State *L) {
  kc_text err = {""};
  kc_status status = kc_buffer_seal(lkc_checkbuffer(L, 1), &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_pushboolean(L, true);
  return 1;
}

static int check_poison(lua_State *L, int arg) {
  lua_Integer which = luaL_checkinteger(L, arg);
  luaL_argcheck(L, which == 0 || which == 1, arg, "expected poison 0 or 1");
  return (int)which;
}

/*--- Repaints the guards, and the data with poison 0 or 1.
---@param self userdata
---@param which integer
function buffer.poison(self, which) end */
static int lkc_buffer_poison(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  kc_buffer_poison(b, check_poison(L, 2));
  return 0;
}

/*--- How many elements still hold poison 0 or 1, and the index of the first.
---@param self userdata
---@param which integer
---@return integer count, integer|nil first
function buffer.unwritten(self, which) end */
static int lkc_buffer_unwritten(lua_State *L) {
  int64_t first, count = kc_buffer_unwritten(lkc_checkbuffer(L, 1), check_poison(L, 2), &first);
  lua_pushinteger(L, count);
  if (first < 0) return 1;
  lua_pushinteger(L, first + 1);
  return 2;
}

/*--- Where in the guards of this buffer an element with this code would be read, counted in elements as b[i] is (0 and below before the
---first, #b + 1 and more after the last); nil where no place of the guards holds it.
---@param self userdata
---@param code integer
---@return integer|nil place
function buffer.guardplace(self, code) end */
static int lkc_buffer_guardplace(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  int64_t place = kc_buffer_guard_place(b, (uint64_t)luaL_checkinteger(L, 2));
  if (place == 0) return 0;
  lua_pushinteger(L, place + 1);
  return 1;
}

/*--- How many elements of an integer buffer are not in lo..hi-1, and the index of the first.
---@param self userdata
---@param lo integer
---@param hi integer
---@return integer count, integer|nil first
function buffer.outside(self, lo, hi) end */
static int lkc_buffer_outside(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  luaL_argcheck(L, kc_buffer_format(b)->kind != KC_FLOAT, 1, "expected a buffer of an integer format");
  int64_t first, count = kc_buffer_outside(b, luaL_checkinteger(L, 2), luaL_checkinteger(L, 3), &first);
  lua_pushinteger(L, count);
  if (first < 0) return 1;
  lua_pushinteger(L, first + 1);
  return 2;
}

static void push_guard_text(lua_State *L, const kc_buffer *b, const kc_guard_report *r) {
  lua_Integer size = (lua_Integer)kc_buffer_bytes(b);
  lua_Integer away = r->after ? r->nearest - size + 1 : -r->nearest;
  char bytes[48];
  snprintf(bytes, sizeof bytes, "expected 0x%02x, found 0x%02x", r->expected, r->found);
  lua_pushfstring(L, "%I damaged byte%s, the nearest %I byte%s %s the data (%s)", (lua_Integer)r->count,
                  r->count == 1 ? "" : "s", away, away == 1 ? "" : "s", r->after ? "past the end of" : "before", bytes);
}

/*--- What damaged the guards: {after = boolean, offset = first damaged byte, nearest = the one nearest to the data, both relative to
--- the first data byte, count, expected, found, text}; nil when they are intact.
---@param self userdata
---@return table|nil report
function buffer.guards(self) end */
static int lkc_buffer_guards(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  kc_guard_report r;
  kc_buffer_guards(b, &r);
  if (!r.damaged) return lua_pushnil(L), 1;
  lua_createtable(L, 0, 7);
  lkc_setboolean(L, "after", r.after);
  lkc_setinteger(L, "offset", r.offset);
  lkc_setinteger(L, "nearest", r.nearest);
  lkc_setinteger(L, "count", r.count);
  lkc_setinteger(L, "expected", r.expected);
  lkc_setinteger(L, "found", r.found);
  push_guard_text(L, b, &r);
  lua_setfield(L, -2, "text");
  return 1;
}

/*--- The data bytes.
---@param self userdata
---@return string
function buffer.raw(self) end */
static int lkc_buffer_raw(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  lua_pushlstring(L, kc_buffer_cdata(b), kc_buffer_bytes(b));
  return 1;
}

/*--- Replaces all data bytes.
---@param self userdata
---@param bytes string
function buffer.setraw(self, bytes) end */
static int lkc_buffer_setraw(lua_State *L) {
  kc_buffer *b = lkc_checkwritable(L, 1);
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  if (size != kc_buffer_bytes(b))
    luaL_argerror(L, 2, lua_pushfstring(L, "expected %I bytes, got %I", (lua_Integer)kc_buffer_bytes(b), (lua_Integer)size));
  memcpy(kc_buffer_data(b), bytes, size);
  return 0;
}

/*--- A new writable buffer with the same contents and fresh guards.
--- > a = kc.buffer("i8", 1, { 7 })
--- > b = a:copy()
--- > a[1] = 8
--- > b[1]
--- 7
---@param self userdata
---@return userdata|nil buffer, string|nil message, string|nil code
function buffer.copy(self) end */
static int lkc_buffer_copy(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  kc_text err = {""};
  lkc_buffer *u = lkc_newbuffer(L);
  kc_status status =
      kc_buffer_create(&u->b, kc_buffer_format(b), kc_buffer_rank(b), kc_buffer_shape(b), kc_buffer_guard_bytes(b), &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  memcpy(kc_buffer_data(u->b), kc_buffer_cdata(b), kc_buffer_bytes(b));
  return 1;
}

/*--- SHA-256 of the data bytes, in hex.
---@param self userdata
---@return string
function buffer.digest(self) end */
static int lkc_buffer_digest(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  char hex[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data(kc_buffer_cdata(b), kc_buffer_bytes(b), hex);
  lua_pushstring(L, hex);
  return 1;
}

/*--- How many elements are of each class: {["+finite"] = 12, nan = 1, ...}; absent classes have no entry.
--- > kc.buffer("f32", 3, { 1, -0.0, math.huge }):classes()
--- { ["+finite"] = 1, ["+inf"] = 1, ["-0"] = 1 }
---@param self userdata
---@return table
function buffer.classes(self) end */
static int lkc_buffer_classes(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  const kc_format *f = kc_buffer_format(b);
  lua_Integer counts[7] = {0};
  for (int64_t i = 0; i < kc_buffer_count(b); i++)
    counts[__builtin_ctz(kc_classify(f, kc_load(f, kc_buffer_cdata(b), (size_t)i)))]++;
  lua_newtable(L);
  for (int i = 0; i < 7; i++)
    if (counts[i]) lkc_setinteger(L, kc_class_name((kc_class)(1 << i)), counts[i]);
  return 1;
}

/*--- Exponent of the largest power of two of which every element is a multiple; nil when an element is not finite or all are zero.
--- > kc.buffer("f32", 2, { 0.5, 3 }):quantum()
--- -1
--- @return integer|nil exponent
function buffer.quantum(self) end */
static int lkc_buffer_quantum(lua_State *L) {
  const kc_buffer *b = lkc_checkbuffer(L, 1);
  int exponent;
  if (!kc_quantum(kc_buffer_format(b), kc_buffer_cdata(b), (size_t)kc_buffer_count(b), &exponent)) return 0;
  lua_pushinteger(L, exponent);
  return 1;
}

void lkc_open_buffer(lua_State *L) {
  static const luaL_Reg functions[] = {{"buffer", lkc_buffer_new}, {"attach", lkc_buffer_attach}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"quantum", lkc_buffer_quantum},
                                     {"close", lkc_buffer_close},
                                     {"code", lkc_buffer_code},
                                     {"setcode", lkc_buffer_setcode},
                                     {"format", lkc_buffer_format},
                                     {"shape", lkc_buffer_shape},
                                     {"bytes", lkc_buffer_bytes},
                                     {"guardbytes", lkc_buffer_guardbytes},
                                     {"fd", lkc_buffer_fd},
                                     {"writable", lkc_buffer_writable},
                                     {"seal", lkc_buffer_seal},
                                     {"poison", lkc_buffer_poison},
                                     {"unwritten", lkc_buffer_unwritten},
                                     {"outside", lkc_buffer_outside},
                                     {"guardplace", lkc_buffer_guardplace},
                                     {"guards", lkc_buffer_guards},
                                     {"raw", lkc_buffer_raw},
                                     {"setraw", lkc_buffer_setraw},
                                     {"copy", lkc_buffer_copy},
                                     {"digest", lkc_buffer_digest},
                                     {"classes", lkc_buffer_classes},
                                     {NULL, NULL}};
  static const luaL_Reg metamethods[] = {{"__index", lkc_buffer_index},
                                         {"__newindex", lkc_buffer_newindex},
                                         {"__len", lkc_buffer_len},
                                         {"__tostring", lkc_buffer_tostring},
                                         {NULL, NULL}};
  lkc_newtype(L, LKC_BUFFER, methods, metamethods, lkc_buffer_close);
  luaL_setfuncs(L, functions, 0);
}
