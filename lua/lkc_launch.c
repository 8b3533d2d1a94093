/* lkc_launch.c - a launch: arguments and geometry read, buffers bound, the record. Between the first bound buffer and the last unbound one
 * nothing calls Lua. */
#define _GNU_SOURCE 1
#include <limits.h>
#include <math.h>
#include <string.h>

#include "lkc_device.h"

static int bad_scalar(lua_State *L, const kc_param *p, int i, const char *why) {
  return luaL_error(L, "argument %d ('%s', %s): %s", i + 1, p->name, p->format->name, why);
}

static uint64_t integer_code(lua_State *L, int at, const kc_param *p, int i) {
  int exact;
  lua_Integer n = lua_tointegerx(L, at, &exact);
  int bits = p->format->bits;
  bool is_signed = p->format->kind == KC_INT;
  if (!exact) bad_scalar(L, p, i, "expected an integer");
  lua_Integer high = bits == 64 ? LUA_MAXINTEGER : ((lua_Integer)1 << (is_signed ? bits - 1 : bits)) - 1;
  lua_Integer low = is_signed ? -high - 1 : 0;
  if (n < low || n > high) bad_scalar(L, p, i, lua_pushfstring(L, "%I is out of range", n));
  return (uint64_t)n & (bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
}

/* Nothing is rounded silently: the number must be one of the format's own. */
static uint64_t float_code(lua_State *L, int at, const kc_param *p, int i) {
  const kc_encoding nearest = {.rounding = KC_RNE};
  double x = lua_tonumber(L, at);
  uint64_t code = kc_encode(p->format, x, &nearest);
  double back = kc_decode(p->format, code);
  bool whole = !lua_isinteger(L, at) || (fabs(x) < 0x1p63 && (lua_Integer)x == lua_tointeger(L, at));
  if (!whole || kc_classify_double(back) != kc_classify_double(x) || (back != x && !isnan(x)))
    bad_scalar(L, p, i, lua_pushfstring(L, "%s is not a number of this format", luaL_tolstring(L, at, NULL)));
  return code;
}

/* What stands behind a buffer argument while it is launched. */
typedef struct lkc_operand {
  kc_buffer *buffer;
  kc_binding binding;
} lkc_operand;

/* A launch as far as Lua is concerned: what every argument is. `args` lie behind the operands. */
typedef struct lkc_call {
  kc_launch launch;
  kc_arg *args;
  lkc_operand operands[];
} lkc_call;

/* As long as the kernel's parameters need: a launch of few takes less than a microsecond here. */
static lkc_call *new_call(lua_State *L, int params) {
  size_t operands = sizeof(lkc_call) + (size_t)params * sizeof(lkc_operand), size = operands + (size_t)params * sizeof(kc_arg);
  lkc_call *call = lua_newuserdatauv(L, size, 0);
  memset(call, 0, size);
  call->args = (kc_arg *)(void *)((char *)call + operands);
  return call;
}

/* Leaves the argument on the stack, so that its buffer lives as long as the call. */
static void read_arg(lua_State *L, int list, lkc_call *call, const kc_param *p, int i) {
  int type = lua_geti(L, list, i + 1), at = lua_gettop(L);
  if (p->buffer) {
    lkc_buffer *buffer = luaL_testudata(L, at, LKC_BUFFER);
    if (!buffer)
      luaL_error(L, "argument %d ('%s'): expected a buffer of %s, got %s", i + 1, p->name, p->format->name,
                 luaL_typename(L, at));
    if (!buffer->b) luaL_error(L, "argument %d ('%s'): attempt to use a closed buffer", i + 1, p->name);
    if (kc_buffer_format(buffer->b) != p->format)
      luaL_error(L, "argument %d ('%s'): expected a buffer of %s, got one of %s", i + 1, p->name, p->format->name,
                 kc_buffer_format(buffer->b)->name);
    call->operands[i].buffer = buffer->b;
    call->args[i] = (kc_arg){.buffer = true, .offset = kc_buffer_guard_bytes(buffer->b)};
    return;
  }
  if (type != LUA_TNUMBER) bad_scalar(L, p, i, lua_pushfstring(L, "expected a number, got %s", luaL_typename(L, at)));
  call->args[i].scalar = (p->format->kind == KC_FLOAT ? float_code : integer_code)(L, at, p, i);
}

static void read_args(lua_State *L, int list, lkc_call *call, const lkc_kernel *kernel) {
  lua_Integer n = luaL_len(L, list);
  if (n != kernel->param_count) luaL_error(L, "the kernel takes %d arguments, got %I", kernel->param_count, n);
  luaL_checkstack(L, kernel->param_count + 8, "too many arguments");
  for (int i = 0; i < kernel->param_count; i++) read_arg(L, list, call, &kernel->params[i], i);
  call->launch.args = call->args;
  call->launch.arg_count = kernel->param_count;
}

static void read_extent(lua_State *L, int options, const char *field, lua_Integer least, uint32_t out[3]) {
  int type = lua_getfield(L, options, field);
  if (type != LUA_TNIL && type != LUA_TTABLE) luaL_error(L, "field '%s': expected a list, got %s", field, luaL_typename(L, -1));
  lua_Integer rank = type == LUA_TTABLE ? luaL_len(L, -1) : 0;
  if (rank > 3) luaL_error(L, "field '%s': at most 3 dimensions", field);
  for (int d = 0; d < 3; d++) {
    int exact = 1;
    lua_Integer n = 1;
    if (d < rank) {
      lua_geti(L, -1, d + 1);
      n = lua_tointegerx(L, -1, &exact);
      lua_pop(L, 1);
    }
    if (!exact || n < least || n > UINT32_MAX)
      luaL_error(L, "field '%s', dimension %d: expected an integer >= %I", field, d + 1, least);
    out[d] = (uint32_t)n;
  }
  lua_pop(L, 1);
}

/* The same buffer twice is the same device memory twice. */
static kc_status bind_all(lkc_call *call, const lkc_device *device, kc_text *err) {
  for (int i = 0; i < call->launch.arg_count; i++) {
    int same = i;
    kc_buffer *buffer = call->operands[i].buffer;
    if (!buffer) continue;
    for (int j = i - 1; j >= 0; j--)
      if (call->operands[j].buffer == buffer) same = j;
    if (same == i) {
      kc_status status = kc_bind(&call->operands[i].binding, device->driver, device->d, buffer, err);
      if (status != KC_OK) return status;
    }
    call->args[i].mem = call->operands[same].binding.mem;
  }
  return KC_OK;
}

static kc_status collect_all(lkc_call *call, const lkc_device *device, kc_text *err) {
  kc_status status = KC_OK;
  for (int i = 0; i < call->launch.arg_count && status == KC_OK; i++)
    if (call->operands[i].binding.open) status = kc_bind_collect(&call->operands[i].binding, device->driver, device->d, err);
  return status;
}

static kc_status run(lkc_call *call, const lkc_kernel *kernel, kc_launch_record *record, kc_text *err) {
  const lkc_device *device = kernel->device;
  kc_status status = bind_all(call, device, err);
  if (status == KC_OK) status = kc_driver_launch(device->driver, device->d, kernel->k, &call->launch, record, err);
  if (status == KC_OK) status = collect_all(call, device, err);
  for (int i = 0; i < call->launch.arg_count; i++) kc_unbind(&call->operands[i].binding, device->driver, device->d);
  return status;
}

static void push_code(lua_State *L, const kc_format *f, uint64_t code) {
  if (f->kind == KC_FLOAT)
    lua_pushnumber(L, kc_decode(f, code));
  else if (f->kind == KC_UINT)
    lua_pushinteger(L, (lua_Integer)code);
  else
    lua_pushinteger(L, (lua_Integer)(code << (64 - f->bits)) >> (64 - f->bits));
}

static int push_record(lua_State *L, const kc_launch_record *record, const kc_format *result) {
  lua_createtable(L, 0, 6);
  lkc_setnumber(L, "seconds", record->seconds);
  lkc_setboolean(L, "fp_changed", record->fp_changed);
  lkc_setboolean(L, "divergent_barrier", record->divergent_barrier);
  lkc_setboolean(L, "local_damaged", record->local_damaged);
  if (record->evidence[0]) lkc_setstring(L, "evidence", record->evidence);
  if (result) {
    push_code(L, result, record->result);
    lua_setfield(L, -2, "result");
  }
  return 1;
}

int lkc_launch(lua_State *L, lkc_device *device, lkc_kernel *kernel) {
  kc_launch_record record;
  kc_text err;
  lkc_call *call = new_call(L, kernel->param_count);
  read_extent(L, 4, "grid", 0, call->launch.grid);
  read_extent(L, 4, "group", 1, call->launch.group);
  call->launch.schedule = (uint64_t)lkc_fieldinteger(L, 4, "schedule", 0);
  read_args(L, 3, call, kernel);
  if (!kernel->k || !device->d) return luaL_error(L, "the kernel was closed while its arguments were read");
  kc_status status = run(call, kernel, &record, &err);
  return status == KC_OK ? push_record(L, &record, kernel->result) : lkc_result(L, status, &err);
}
