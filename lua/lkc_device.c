/* lkc_device.c - devices and kernels as userdata; launches are in lkc_launch.c. A device knows its open kernels, so that closing it closes
 * them; a kernel keeps its device alive. */
#define _GNU_SOURCE 1
#include "lkc_device.h"

#include <stdlib.h>
#include <string.h>

#include "lkc_extension.h"

enum { MAX_PARAMS = 64 };

lkc_device *lkc_checkdevice(lua_State *L, int arg) {
  lkc_device *device = luaL_checkudata(L, arg, LKC_DEVICE);
  if (!device->d) luaL_error(L, "attempt to use a closed device");
  return device;
}

lkc_kernel *lkc_checkkernel(lua_State *L, int arg) {
  lkc_kernel *kernel = luaL_checkudata(L, arg, LKC_KERNEL);
  if (!kernel->k) luaL_error(L, "attempt to use a closed kernel");
  return kernel;
}

/* ---- closing ------------------------------------------------------------------------------------------------------- */

static void close_kernel(lkc_kernel *kernel) {
  free(kernel->log);
  kernel->log = NULL;
  kc_code_free(&kernel->code);
  if (!kernel->k) return;
  lkc_device *device = kernel->device;
  device->driver->unload(device->d, kernel->k);
  kernel->k = NULL;
  if (kernel->previous)
    kernel->previous->next = kernel->next;
  else
    device->kernels = kernel->next;
  if (kernel->next) kernel->next->previous = kernel->previous;
}

/*--- Unloads the kernel; idempotent.
function kernel.close(self) end */
static int kernel_close(lua_State *L) {
  close_kernel(luaL_checkudata(L, 1, LKC_KERNEL));
  return 0;
}

/*--- Closes the device and every kernel built on it; idempotent.
function device.close(self) end */
static int device_close(lua_State *L) {
  lkc_device *device = luaL_checkudata(L, 1, LKC_DEVICE);
  while (device->kernels) close_kernel(device->kernels);
  if (device->d) device->driver->close(device->d);
  device->d = NULL;
  return 0;
}

static int device_tostring(lua_State *L) {
  lkc_device *device = luaL_checkudata(L, 1, LKC_DEVICE);
  lua_pushfstring(L, "kc.device (%s:%d%s)", device->driver ? device->driver->name : "?", device->index,
                  device->d ? "" : ", closed");
  return 1;
}

static int kernel_tostring(lua_State *L) {
  lkc_kernel *kernel = luaL_checkudata(L, 1, LKC_KERNEL);
  lua_pushfstring(L, "kc.kernel (%d parameters%s)", kernel->param_count, kernel->k ? "" : ", closed");
  return 1;
}

/* ---- drivers and devices -------------------------------------------------------------------------------------------- */

/*--- Names of the backends, whether they are present or not; core.probe asks one.
--- @return table names
function core.drivers() end */
static int drivers(lua_State *L) {
  const kc_driver *const *table = lkc_drivers(L);
  lua_newtable(L);
  for (int i = 0; table && table[i]; i++) {
    lua_pushstring(L, table[i]->name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int unknown_driver(lua_State *L, const char *name) {
  const kc_driver *const *table = lkc_drivers(L);
  const char *names[32];
  int n = 0;
  for (; table && table[n] && n < 31; n++) names[n] = table[n]->name;
  names[n] = NULL;
  const char *near = lkc_nearest(name, names);
  if (near) return luaL_error(L, "unknown device '%s' (did you mean '%s'?)", name, near);
  return luaL_error(L, "unknown device '%s'; core.drivers() lists the known ones", name);
}

/* The driver called by the n bytes at `text`. */
static const kc_driver *find_driver(lua_State *L, const char *text, size_t n) {
  for (const kc_driver *const *table = lkc_drivers(L); table && *table; table++)
    if (strlen((*table)->name) == n && memcmp((*table)->name, text, n) == 0) return *table;
  unknown_driver(L, lua_pushlstring(L, text, n));
  return NULL;
}

static int count_devices(const kc_driver *driver, kc_text *why) {
  return kc_driver_check(driver, why) == KC_OK ? kc_driver_probe(driver, why) : 0;
}

/*--- Asks a backend for its devices; may load the vendor's libraries into this process.
--- @param name string one of core.drivers()
--- @return integer count, string|nil why there is none
function core.probe(name) end */
static int probe(lua_State *L) {
  size_t n;
  kc_text why;
  const char *name = luaL_checklstring(L, 1, &n);
  int count = count_devices(find_driver(L, name, n), &why);
  lua_pushinteger(L, count);
  if (count == 0) lua_pushstring(L, why.s);
  return count == 0 ? 2 : 1;
}

/* What a device says of itself mentions the text, in whatever case. */
static bool mentions(const kc_driver *driver, int index, const char *text) {
  kc_drv_device *d;
  kc_text why;
  kc_fingerprint f = {0};
  if (kc_driver_open(&d, driver, index, &why) != KC_OK) return false;
  driver->describe(d, &f);
  driver->close(d);
  f.name[sizeof f.name - 1] = f.driver[sizeof f.driver - 1] = f.runtime[sizeof f.runtime - 1] = '\0';
  return strcasestr(f.name, text) || strcasestr(f.driver, text) || strcasestr(f.runtime, text);
}

/* The device that "" (the first), digits or a text choose among `count`. */
static kc_status choose_device(int *index, const kc_driver *driver, int count, const char *which, kc_text *err) {
  size_t digits = strspn(which, "0123456789");
  *index = 0;
  if (!which[0]) return KC_OK;
  if (!which[digits]) {
    *index = digits > 4 ? INT_MAX : atoi(which);
    if (*index < count) return KC_OK;
    return kc_fail(err, KC_ENODEV, "device '%s:%.40s' does not exist; there are %d", driver->name, which, count);
  }
  for (; *index < count; ++*index)
    if (mentions(driver, *index, which)) return KC_OK;
  return kc_fail(err, KC_ENODEV, "device '%s:%.40s': none of %d mentions that text", driver->name, which, count);
}

/*--- Opens a device in this process.
--- @param name string NAME (the first device of the backend), NAME:NUMBER, or NAME:TEXT, the first device whose name, driver or runtime
---   has that text in it; e.g. "cpu", "opencl:1", "opencl:pocl"
--- @return userdata|nil device, string message, string code
function core.device(name) end */
static int open_device(lua_State *L) {
  const char *name = luaL_checkstring(L, 1), *colon = strchr(name, ':');
  kc_text err;
  if (colon && !colon[1]) return luaL_error(L, "device '%s': expected NAME, NAME:NUMBER or NAME:TEXT", name);
  const kc_driver *driver = find_driver(L, name, colon ? (size_t)(colon - name) : strlen(name));
  lkc_device *device = lua_newuserdatauv(L, sizeof *device, 0);
  *device = (lkc_device){.driver = driver};
  luaL_setmetatable(L, LKC_DEVICE);
  kc_status status = kc_driver_check(driver, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  int count = kc_driver_probe(driver, &err);
  if (count == 0) return lkc_fail(L, KC_ENODEV, &err);
  status = choose_device(&device->index, driver, count, colon ? colon + 1 : "", &err);
  if (status != KC_OK) return lkc_fail(L, status, &err);
  status = kc_driver_open(&device->d, driver, device->index, &err);
  return status == KC_OK ? 1 : lkc_result(L, status, &err);
}

/*--- Facts of the device, recorded in every trace.
--- @return table {name=, arch=, driver=, runtime=, compiler=, features=names separated by spaces, denormals_kept=boolean, contracts=boolean}
function device.fingerprint(self) end */
static int device_fingerprint(lua_State *L) {
  lkc_device *device = lkc_checkdevice(L, 1);
  kc_fingerprint f = {0};
  device->driver->describe(device->d, &f);
  const struct {
    const char *field;
    char *text;
    size_t size;
  } texts[] = {{"name", f.name, sizeof f.name},
               {"arch", f.arch, sizeof f.arch},
               {"driver", f.driver, sizeof f.driver},
               {"runtime", f.runtime, sizeof f.runtime},
               {"compiler", f.compiler, sizeof f.compiler},
               {"features", f.features, sizeof f.features}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    texts[i].text[texts[i].size - 1] = '\0'; /* a driver may have filled it to the brim */
    lkc_setstring(L, texts[i].field, texts[i].text);
  }
  lkc_setboolean(L, "denormals_kept", f.denormals_kept);
  lkc_setboolean(L, "contracts", f.contracts);
  return 1;
}

/* ---- building ------------------------------------------------------------------------------------------------------- */

static uint8_t dialect_field(lua_State *L, int options) {
  static const char *const names[] = {"kc", "c", "cuda", "opencl", "library", NULL}; /* in the order of kc_dialect */
  const char *name = lkc_fieldstring(L, options, "dialect", "kc");
  for (uint8_t i = 0; names[i]; i++)
    if (strcmp(names[i], name) == 0) return i;
  luaL_error(L, "field 'dialect': expected kc, c, cuda, opencl or library, got '%s'", name);
  return 0;
}

static const char *required_field(lua_State *L, int options, const char *field) {
  const char *value = lkc_fieldstring(L, options, field, NULL);
  if (!value) luaL_error(L, "field '%s' is missing", field);
  return value;
}

static const kc_format *format_of(lua_State *L, const char *name, const char *where, int i) {
  const kc_format *format = kc_format_find(name);
  if (!format) luaL_error(L, "%s %d: unknown format '%s'", where, i, name);
  return format;
}

/* Reads the parameters into the kernel; their names move into the table at `names`. */
static void read_params(lua_State *L, int options, int names, lkc_kernel *kernel) {
  lua_getfield(L, options, "params");
  int list = lua_gettop(L);
  for (int i = 0; i < kernel->param_count; i++) {
    if (lua_geti(L, list, i + 1) != LUA_TTABLE)
      luaL_error(L, "parameter %d: expected a table, got %s", i + 1, luaL_typename(L, -1));
    int item = lua_gettop(L);
    const char *name = lkc_fieldstring(L, item, "name", "?");
    lua_pushstring(L, name);
    name = lua_tostring(L, -1);
    lua_rawseti(L, names, i + 1);
    kernel->params[i] = (kc_param){.name = name,
                                   .format = format_of(L, required_field(L, item, "format"), "parameter", i + 1),
                                   .buffer = lkc_fieldboolean(L, item, "buffer", false)};
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static int param_count(lua_State *L, int options) {
  int type = lua_getfield(L, options, "params");
  if (type != LUA_TTABLE && type != LUA_TNIL) luaL_error(L, "field 'params': expected a list, got %s", luaL_typename(L, -1));
  lua_Integer n = type == LUA_TTABLE ? luaL_len(L, -1) : 0;
  if (n > MAX_PARAMS) luaL_error(L, "field 'params': at most %d parameters", MAX_PARAMS);
  lua_pop(L, 1);
  return (int)n;
}

/* A closed kernel on top of the stack: its device is user value 1, the table of parameter names user value 2. */
static lkc_kernel *new_kernel(lua_State *L, lkc_device *device, int options) {
  int n = param_count(L, options);
  lkc_kernel *kernel = lua_newuserdatauv(L, sizeof *kernel + (size_t)n * sizeof *kernel->params, 2);
  memset(kernel, 0, sizeof *kernel);
  kernel->device = device;
  kernel->param_count = n;
  luaL_setmetatable(L, LKC_KERNEL);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  lua_newtable(L);
  read_params(L, options, lua_gettop(L), kernel);
  lua_setiuservalue(L, -2, 2);
  return kernel;
}

static kc_build build_of(lua_State *L, int options, const lkc_kernel *kernel) {
  const char *result = lkc_fieldstring(L, options, "result", NULL);
  kc_build b = {.dialect = dialect_field(L, options),
                .source = required_field(L, options, "source"),
                .entry = required_field(L, options, "entry"),
                .params = kernel->params,
                .param_count = kernel->param_count,
                .result = result ? format_of(L, result, "result", 1) : NULL,
                .map = lkc_fieldboolean(L, options, "map", false),
                .options = {.contract = lkc_fieldboolean(L, options, "contract", false),
                            .flush = lkc_fieldboolean(L, options, "flush", false),
                            .fast_math = lkc_fieldboolean(L, options, "fast_math", false),
                            .defines = lkc_fieldstring(L, options, "defines", "")},
                .cache_dir = lkc_fieldstring(L, options, "cache", NULL)};
  b.file = lkc_fieldstring(L, options, "file", "source");
  return b;
}

static void push_log(lua_State *L, lkc_kernel *kernel) {
  lua_pushstring(L, kernel->log); /* nil for NULL */
  free(kernel->log);
  kernel->log = NULL;
}

static void link_kernel(lkc_kernel *kernel) {
  kernel->next = kernel->device->kernels;
  if (kernel->next) kernel->next->previous = kernel;
  kernel->device->kernels = kernel;
}

/*--- Builds a kernel.
--- @param options table {dialect="kc"|"c"|"cuda"|"opencl"|"library", source=text or path of a library, file=name for messages,
---   entry=, params={{name=, format=, buffer=boolean}, ...}, result=format|nil, map=false (a library's function of numbers, called for
---   each work-item along the first dimension: buffers give their elements, the last one takes the results), contract=false,
---   flush=false, fast_math=false, defines="NAME=VALUE ...", cache=directory|nil}
--- @return userdata|nil kernel, string|nil log or message, string|nil code, string|nil log
function device.kernel(self, options) end */
static int device_kernel(lua_State *L) {
  lkc_device *device = lkc_checkdevice(L, 1);
  kc_text err;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lkc_kernel *kernel = new_kernel(L, device, 2);
  kc_build b = build_of(L, 2, kernel);
  kernel->result = b.result;
  kc_status status = kc_driver_build(&kernel->k, device->driver, device->d, &b, &kernel->log, &err);
  if (status == KC_OK) {
    link_kernel(kernel);
    push_log(L, kernel);
    return 2;
  }
  int n = lkc_result(L, status, &err);
  push_log(L, kernel);
  return n + 1;
}

/* ---- code ------------------------------------------------------------------------------------------------------------ */

/*--- The architectures that a backend's compiler knows; needs no device.
--- @param name string of the backend, e.g. "cuda"
--- @return table|nil names lowest first, string message, string code
function core.archs(name) end */
static int archs(lua_State *L) {
  int n = 0;
  size_t length;
  char *list;
  kc_text err;
  const char *name = luaL_checklstring(L, 1, &length);
  const kc_driver *driver = find_driver(L, name, length);
  kc_status status = kc_driver_check(driver, &err);
  if (status == KC_OK) status = kc_driver_archs(&list, driver, &err);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_pushstring(L, list); /* Lua's copy survives an error below */
  free(list);
  const char *at = lua_tostring(L, -1);
  lua_newtable(L);
  for (; *(at += strspn(at, " ")); at += strcspn(at, " ")) {
    lua_pushlstring(L, at, strcspn(at, " "));
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

static int push_code_table(lua_State *L, const kc_code *code) {
  lua_newtable(L);
  lkc_setstring(L, "language", code->language);
  lkc_setstring(L, "arch", code->arch);
  lkc_setstring(L, "entry", code->entry);
  lua_pushlstring(L, code->text, code->text_size);
  lua_setfield(L, -2, "text");
  lua_pushlstring(L, (const char *)code->binary, code->binary_size);
  lua_setfield(L, -2, "binary");
  return 1;
}

/*--- Compiles a kernel for an architecture; needs no device.
--- @param name string of the backend, e.g. "cuda"
--- @param arch string one of core.archs(name)
--- @param options table as of device.kernel
--- @return table|nil code {language="ptx"|"amdgcn", arch=, entry=name of the kernel in it, text=for people, binary=for the device}
--- @return string|nil log or message, string|nil code, string|nil log
function core.compile(name, arch, options) end */
static int compile(lua_State *L) {
  size_t length;
  kc_text err;
  const char *name = luaL_checklstring(L, 1, &length);
  const kc_driver *driver = find_driver(L, name, length);
  const char *arch = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  lkc_kernel *kernel = new_kernel(L, NULL, 3);
  kc_build b = build_of(L, 3, kernel);
  kc_status status = kc_driver_check(driver, &err);
  if (status == KC_OK) status = kc_driver_compile(&kernel->code, driver, arch, &b, &kernel->log, &err);
  int n = status == KC_OK ? push_code_table(L, &kernel->code) : lkc_result(L, status, &err);
  kc_code_free(&kernel->code);
  push_log(L, kernel);
  return n + 1;
}

/*--- The kernel's code as its device loads it and as people read it.
--- @return table|nil code as of core.compile, string message, string code
function kernel.code(self) end */
static int kernel_code(lua_State *L) {
  lkc_kernel *kernel = lkc_checkkernel(L, 1);
  kc_code code;
  kc_text err;
  kc_status status = kc_driver_code(&code, kernel->device->driver, kernel->device->d, kernel->k, &err);
  return status == KC_OK ? push_code_table(L, &code) : lkc_result(L, status, &err);
}

/*--- The kernel's PTX, on a device that has such.
--- @return string|nil text, string message, string code
function kernel.ptx(self) end */
static int kernel_ptx(lua_State *L) {
  lkc_kernel *kernel = lkc_checkkernel(L, 1);
  kc_code code;
  kc_text err;
  kc_status status = kc_driver_code(&code, kernel->device->driver, kernel->device->d, kernel->k, &err);
  if (status == KC_OK && strcmp(code.language, "ptx") != 0)
    status = kc_fail(&err, KC_EUNSUPPORTED, "the kernel's text is %s, not PTX; kernel:code() gives it", code.language);
  if (status != KC_OK) return lkc_result(L, status, &err);
  lua_pushlstring(L, code.text, code.text_size);
  return 1;
}

/*--- Runs a kernel and waits for it.
--- @param kernel userdata built on this device
--- @param args table one buffer or number for every parameter; a number must be one of the parameter's format
--- @param options table|nil {grid={work-groups}, group={work-items}, schedule=integer: 0 natural order, else a seed}
--- @return table|nil record {seconds=, fp_changed=, divergent_barrier=, local_damaged=, evidence=string|nil, result=number|nil}
--- @return string message, string code
function device.launch(self, kernel, args, options) end */
static int device_launch(lua_State *L) {
  lkc_device *device = lkc_checkdevice(L, 1);
  lkc_kernel *kernel = lkc_checkkernel(L, 2);
  if (kernel->device != device) return luaL_error(L, "the kernel was built on another device");
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 4);
  if (lua_isnil(L, 4)) {
    lua_newtable(L);
    lua_replace(L, 4);
  }
  luaL_checktype(L, 4, LUA_TTABLE);
  return lkc_launch(L, device, kernel);
}

void lkc_open_device(lua_State *L) {
  static const luaL_Reg device_methods[] = {{"close", device_close},
                                            {"fingerprint", device_fingerprint},
                                            {"kernel", device_kernel},
                                            {"launch", device_launch},
                                            {NULL, NULL}};
  static const luaL_Reg kernel_methods[] = {{"close", kernel_close}, {"code", kernel_code}, {"ptx", kernel_ptx}, {NULL, NULL}};
  static const luaL_Reg device_meta[] = {{"__tostring", device_tostring}, {NULL, NULL}};
  static const luaL_Reg kernel_meta[] = {{"__tostring", kernel_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"drivers", drivers}, {"probe", probe},     {"device", open_device},
                                       {"archs", archs},     {"compile", compile}, {NULL, NULL}};
  lkc_newtype(L, LKC_DEVICE, device_methods, device_meta, device_close);
  lkc_newtype(L, LKC_KERNEL, kernel_methods, kernel_meta, kernel_close);
  luaL_setfuncs(L, functions, 0);
}
