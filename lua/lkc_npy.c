/* lkc_npy.c - .npy files as buffers, and the comparison of two of them. */
#include <math.h>

#include "diff.h"
#include "lkc.h"

#define LKC_NPY "kc.npy"
#define DEFAULT_GUARD 4096

/* An open file; a userdata, so that nothing leaks when something raises. */
static kc_npy **new_file(lua_State *L) {
  kc_npy **file = lua_newuserdatauv(L, sizeof *file, 0);
  *file = NULL;
  luaL_setmetatable(L, LKC_NPY);
  return file;
}

static int close_file(lua_State *L) {
  kc_npy **file = luaL_checkudata(L, 1, LKC_NPY);
  kc_npy_close(*file);
  *file = NULL;
  return 0;
}

static int file_tostring(lua_State *L) {
  const kc_npy *const *file = luaL_checkudata(L, 1, LKC_NPY);
  if (*file)
    lua_pushfstring(L, "kc.npy '%s'", kc_npy_path(*file));
  else
    lua_pushliteral(L, "kc.npy (closed)");
  return 1;
}

/* Argument `arg` is an optional table; afterwards it is one. */
static void check_options(lua_State *L, int arg) {
  lua_settop(L, arg);
  if (lua_isnil(L, arg)) {
    lua_newtable(L);
    lua_replace(L, arg);
  }
  luaL_checktype(L, arg, LUA_TTABLE);
}

/* A field that names a format, or NULL. */
static const kc_format *format_field(lua_State *L, int index, const char *field) {
  const char *name = lkc_fieldstring(L, index, field, NULL);
  if (!name) return NULL;
  lua_pushstring(L, name);
  const kc_format *f = lkc_checkformat(L, lua_gettop(L));
  lua_pop(L, 1);
  return f;
}

static void push_indices(lua_State *L, int rank, const int64_t *list) {
  lua_createtable(L, rank, 0);
  for (int i = 0; i < rank; i++) {
    lua_pushinteger(L, list[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

static void push_info(lua_State *L, const kc_npy *file) {
  const kc_npy_info *i = kc_npy_describe(file);
  lua_newtable(L);
  if (i->format) lkc_setstring(L, "format", i->format->name);
  lkc_setinteger(L, "itemsize", i->itemsize);
  lkc_setinteger(L, "count", i->count);
  lkc_setboolean(L, "fortran", i->fortran);
  lkc_setboolean(L, "bigendian", i->swapped);
  push_indices(L, i->rank, i->shape);
  lua_setfield(L, -2, "shape");
}

/*--- Header of a .npy file.
--- @param path string
--- @return table|nil info {format = name (nil: raw bytes), itemsize =, count =, fortran = boolean, bigendian = boolean, shape = list}
--- @return string|nil message
--- @return string|nil code
function core.npyinfo(path) end */
static int npy_info(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  kc_text err = {""};
  kc_npy **file = new_file(L);
  kc_status status = kc_npy_open(file, path, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  push_info(L, *file);
  return 1;
}

/*--- Reads a .npy file into a new buffer: row-major, native byte order.
--- @param path string
--- @param options table|nil {format = takes integers or raw bytes for codes of this format}
--- @return userdata|nil buffer
--- @return string|nil message
--- @return string|nil code
function core.npyread(path, options) end */
static int npy_read(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  check_options(L, 2);
  const kc_format *f = format_field(L, 2, "format");
  kc_text err = {""};
  kc_npy **file = new_file(L);
  lkc_buffer *u = lkc_newbuffer(L);
  kc_status status = kc_npy_open(file, path, &err);
  if (status == KC_OK && f) status = kc_npy_reinterpret(*file, f, &err);
  if (status == KC_OK) status = kc_npy_load(&u->b, *file, DEFAULT_GUARD, &err);
  kc_npy_close(*file);
  *file = NULL;
  return status == KC_OK ? 1 : lkc_result(L, status, &err);
}

/* The rank of the optional layout's shape, and its offset; -1 without a layout. */
static int check_layout(lua_State *L, int arg, int64_t shape[KC_MAX_RANK], uint64_t *offset) {
  lua_settop(L, arg);
  if (lua_isnil(L, arg)) return -1;
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_Integer at = lkc_fieldinteger(L, arg, "offset", 0);
  luaL_argcheck(L, at >= 0, arg, "field 'offset': expected an integer >= 0");
  *offset = (uint64_t)at;
  lua_getfield(L, arg, "shape");
  return lkc_checkshape(L, arg + 1, shape);
}

/*--- Fills a buffer from an open file, which holds a tensor of just its format and shape: a .npy file, or with a layout the little-endian
--- elements at a place in it. Formats that NumPy lacks are expected as unsigned integers or raw bytes of their size.
--- @param buffer userdata writable
--- @param fd integer closed by this call
--- @param name string the file in messages
--- @param layout table|nil {offset = bytes, shape = what the file says of itself}
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function core.npyfill(buffer, fd, name, layout) end */
static int npy_fill(lua_State *L) {
  int64_t shape[KC_MAX_RANK];
  uint64_t offset = 0;
  kc_text err = {""};
  kc_buffer *b = lkc_checkwritable(L, 1);
  int fd = (int)luaL_checkinteger(L, 2);
  const char *name = luaL_checkstring(L, 3);
  int rank = check_layout(L, 4, shape, &offset);
  kc_npy **file = new_file(L);
  kc_status status = rank < 0 ? kc_npy_fdopen(file, fd, name, &err)
                              : kc_npy_raw(file, fd, name, kc_buffer_format(b), rank, shape, offset, &err);
  if (status == KC_OK) status = kc_npy_fill(b, *file, &err);
  kc_npy_close(*file);
  *file = NULL;
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/*--- Writes a buffer as a .npy file, row-major; formats that NumPy lacks as unsigned integers of their size.
--- @param path string a new or regular file
--- @param buffer userdata
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function core.npywrite(path, buffer) end */
static int npy_write(lua_State *L) {
  kc_text err = {""};
  kc_status status = kc_npy_save(luaL_checkstring(L, 1), lkc_checkbuffer(L, 2), &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/* ---- comparison --------------------------------------------------------------------------------------------------------- */

/* Sets field of the table on top to {code =, value =}, in the format of the file. */
static void set_number(lua_State *L, const char *field, const kc_format *common, uint64_t code, const kc_npy *file) {
  static const kc_encoding nearest = {.rounding = KC_RNE};
  const kc_format *f = kc_npy_describe(file)->format;
  if (f != common) code = kc_encode(f, kc_decode(common, code), &nearest);
  lua_newtable(L);
  lkc_setinteger(L, "code", (lua_Integer)code);
  lkc_setstring(L, "class", kc_class_name(kc_classify(f, code)));
  lkc_pushelement(L, f, code);
  lua_setfield(L, -2, "value");
  lua_setfield(L, -2, field);
}

/* Sets field of the table on top, unless there is no such element. */
static void set_element(lua_State *L, const char *field, const kc_diff_element *e, const kc_format *common,
                        kc_npy *const files[2]) {
  if (e->at < 0) return;
  lua_newtable(L);
  push_indices(L, kc_npy_describe(files[0])->rank, e->index);
  lua_setfield(L, -2, "index");
  lkc_setnumber(L, "error", e->error);
  set_number(L, "got", common, e->got, files[0]);
  set_number(L, "reference", common, e->ref, files[1]);
  lua_setfield(L, -2, field);
}

static void push_classes(lua_State *L, const kc_diff_summary *s) {
  lua_newtable(L);
  for (int i = 0; i < 49; i++) {
    if (s->classes[i / 7][i % 7] == 0) continue;
    lua_newtable(L);
    lkc_setstring(L, "got", kc_class_name((kc_class)(1 << i / 7)));
    lkc_setstring(L, "reference", kc_class_name((kc_class)(1 << i % 7)));
    lkc_setinteger(L, "count", s->classes[i / 7][i % 7]);
    lua_rawseti(L, -2, luaL_len(L, -2) + 1);
  }
}

static void push_numbers(lua_State *L, const kc_diff_summary *s) {
  static const char *const quantiles[] = {"median", "p90", "p99", "p999"};
  lkc_setinteger(L, "count", s->count);
  lkc_setinteger(L, "equal", s->equal);
  lkc_setinteger(L, "different", s->different);
  lkc_setinteger(L, "nan_payloads", s->nan_payloads);
  lkc_setinteger(L, "finite", s->finite);
  lkc_setinteger(L, "class_differences", s->class_differences);
  lkc_setinteger(L, "beyond", s->beyond);
  for (int i = 0; i < 4; i++) lkc_setnumber(L, quantiles[i], s->quantile[i]);
  lua_createtable(L, 66, 0);
  for (int i = 0; i < 66; i++) {
    lua_pushinteger(L, s->histogram[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "histogram");
}

static void push_diff(lua_State *L, const kc_diff_summary *s, kc_npy *const files[2]) {
  static const char *const kinds[KC_DIFF_KINDS] = {"ulp", "abs", "rel"};
  lua_newtable(L);
  push_numbers(L, s);
  lkc_setstring(L, "format", s->format->name);
  if (s->ulps_of) lkc_setstring(L, "ulps_of", s->ulps_of->name);
  push_info(L, files[0]);
  lua_setfield(L, -2, "got");
  push_info(L, files[1]);
  lua_setfield(L, -2, "reference");
  push_classes(L, s);
  lua_setfield(L, -2, "classes");
  set_element(L, "first", &s->first, s->format, files);
  set_element(L, "first_class", &s->first_class, s->format, files);
  lua_newtable(L);
  for (int k = 0; k < KC_DIFF_KINDS; k++) set_element(L, kinds[k], &s->worst[k], s->format, files);
  lua_setfield(L, -2, "worst");
}

static double limit_field(lua_State *L, const char *field) {
  double limit = lkc_fieldnumber(L, 3, field, (double)INFINITY);
  if (!(limit >= 0)) luaL_error(L, "field '%s': expected a number >= 0", field);
  return limit;
}

/*--- Compares two .npy files of one shape, element by element and exactly; they are read in pieces, whatever their size. NaNs equal each
--- other unless `bits`, -0 and +0 differ. Errors are the smallest doubles that are not below the exact ones, so each is the smallest
--- tolerance that accepts. Indices count from 0, as NumPy's do.
--- @param got string path
--- @param reference string path
--- @param options table|nil {format = of files of integers or raw bytes of its size, as = format whose ulps are counted, bits =
---   boolean, ulp =, abs =, rel = tolerances}
--- @return table|nil summary {count, equal, different, nan_payloads, finite, class_differences, beyond, median, p90, p99, p999, histogram
---   (as core.metric's), format, ulps_of, got, reference = core.npyinfo's, classes = {{got, reference, count}}, first, first_class,
---   worst = {ulp, abs, rel}}; an element is {index, error, got = {code, class, value}, reference =}
--- @return string|nil message
--- @return string|nil code
function core.npydiff(got, reference, options) end */
static int npy_diff(lua_State *L) {
  const char *paths[2] = {luaL_checkstring(L, 1), luaL_checkstring(L, 2)};
  check_options(L, 3);
  const kc_format *f = format_field(L, 3, "format");
  kc_diff_options o = {.as = format_field(L, 3, "as"), .bits = lkc_fieldboolean(L, 3, "bits", false)};
  o.limit[KC_DIFF_ULP] = limit_field(L, "ulp");
  o.limit[KC_DIFF_ABS] = limit_field(L, "abs");
  o.limit[KC_DIFF_REL] = limit_field(L, "rel");
  kc_diff_summary s;
  kc_text err = {""};
  kc_npy *files[2];
  for (int i = 0; i < 2; i++) {
    kc_npy **file = new_file(L);
    kc_status opened = kc_npy_open(file, paths[i], &err);
    if (opened != KC_OK) return lkc_result(L, opened, &err);
    if (f) (void)!kc_npy_reinterpret(*file, f, NULL); /* only where it fits */
    files[i] = *file;
  }
  kc_status status = kc_diff_run(&s, files[0], files[1], &o, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  push_diff(L, &s, files);
  return 1;
}

static const luaL_Reg functions[] = {{"npyinfo", npy_info},   {"npyread", npy_read}, {"npyfill", npy_fill},
                                     {"npywrite", npy_write}, {"npydiff", npy_diff}, {NULL, NULL}};

void lkc_open_npy(lua_State *L) {
  static const luaL_Reg metamethods[] = {{"__tostring", file_tostring}, {NULL, NULL}};
  lkc_newtype(L, LKC_NPY, NULL, metamethods, close_file);
  luaL_setfuncs(L, functions, 0);
}
