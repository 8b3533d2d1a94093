/* bench_device.c - what Lua adds to the launch of an empty kernel, on each device; and a tiled matrix product with barriers and local
 * memory on the cpu device against OpenCL's on the same source, one thread each. */
#define _GNU_SOURCE 1
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "drivers.h"
#include "lkc_state.h"

enum { ROUNDS = 21, LAUNCHES = 2000, N = 512, TILE = 16 };

static void must(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "bench_device: %s\n", what);
  exit(1);
}

typedef struct opened {
  const kc_driver *v;
  kc_drv_device *d;
  kc_drv_kernel *k;
} opened;

static opened build(const kc_driver *v, const char *source, const kc_param *params, int count) {
  kc_text err = {""};
  char *log = NULL;
  opened o = {.v = v};
  const kc_build b = {
      .source = source, .file = "bench.k", .entry = "k", .params = params, .param_count = count, .options = {.defines = ""}};
  must(kc_driver_open(&o.d, v, 0, &err) == KC_OK, err.s);
  must(kc_driver_build(&o.k, v, o.d, &b, &log, &err) == KC_OK, err.s);
  free(log);
  return o;
}

static void shut(opened *o) {
  o->v->unload(o->d, o->k);
  o->v->close(o->d);
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

static double from_c(const opened *o) {
  const kc_launch l = {.grid = {1, 1, 1}, .group = {1, 1, 1}};
  kc_launch_record record;
  kc_text err = {""};
  double started = now();
  for (int i = 0; i < LAUNCHES; i++) must(kc_driver_launch(o->v, o->d, o->k, &l, &record, &err) == KC_OK, err.s);
  return (now() - started) / LAUNCHES;
}

static const char script[] = "local name, launches = ...\n"
                             "local core = require 'kc.core'\n"
                             "local device = core.device(name)\n"
                             "local kernel = assert(device:kernel { source = 'KC_KERNEL void k(void) {}', entry = 'k' })\n"
                             "local geometry, none = { grid = { 1 }, group = { 1 } }, {}\n"
                             "return function()\n"
                             "  local started = core.clock()\n"
                             "  for _ = 1, launches do device:launch(kernel, none, geometry) end\n"
                             "  return (core.clock() - started) / launches\n"
                             "end\n";

static double from_lua(lua_State *L) {
  lua_pushvalue(L, -1);
  must(lua_pcall(L, 0, 1, 0) == LUA_OK, lua_tostring(L, -1));
  double seconds = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return seconds;
}

static void launches(const kc_driver *v) {
  const char *error = NULL;
  double c[ROUNDS], lua[ROUNDS];
  opened o = build(v, "KC_KERNEL void k(void) {}", NULL, 0);
  lua_State *L = lkc_newstate(&(lkc_setup){.drivers = kc_drivers, .role = "bench"}, &error);
  must(L && luaL_loadstring(L, script) == LUA_OK, L ? lua_tostring(L, -1) : error);
  lua_pushstring(L, v->name);
  lua_pushinteger(L, LAUNCHES);
  must(lua_pcall(L, 2, 1, 0) == LUA_OK, lua_tostring(L, -1));
  for (int i = 0; i < ROUNDS; i++) {
    c[i] = from_c(&o);
    lua[i] = from_lua(L);
  }
  double in_c = median(c, ROUNDS), in_lua = median(lua, ROUNDS);
  printf("an empty kernel from Lua, beyond the same from C, %-8s %8.3g us     < 2   (%.3g and %.3g us)\n", v->name,
         (in_lua - in_c) * 1e6, in_lua * 1e6, in_c * 1e6);
  lua_close(L);
  shut(&o);
}

/* ---- matrix product ---------------------------------------------------------------------------------------------------- */

static const char tiled[] =
    "KC_KERNEL void k(KC_GLOBAL const kc_f32 *a, KC_GLOBAL const kc_f32 *b, KC_GLOBAL kc_f32 *c, kc_i32 n) {\n"
    "  KC_LOCAL_ARRAY(kc_f32, x, [16][16]);\n  KC_LOCAL_ARRAY(kc_f32, y, [16][16]);\n"
    "  kc_i32 i = kc_lid(1), j = kc_lid(0), row = kc_grp(1) * 16 + i, column = kc_grp(0) * 16 + j;\n  kc_f32 sum = 0.0f;\n"
    "  for (kc_i32 t = 0; t < n; t += 16) {\n"
    "    x[i][j] = a[row * n + t + j];\n    y[i][j] = b[(t + i) * n + column];\n    kc_barrier();\n"
    "    for (kc_i32 k = 0; k < 16; k++) sum += x[i][k] * y[k][j];\n    kc_barrier();\n  }\n"
    "  c[row * n + column] = sum;\n}\n";

typedef struct product {
  opened o;
  kc_arg args[4];
  float *result;
} product;

static product open_product(const kc_driver *v, const float *a, const float *b) {
  const kc_format *f32 = kc_format_find("f32"), *i32 = kc_format_find("i32");
  const kc_param params[] = {{"a", f32, true}, {"b", f32, true}, {"c", f32, true}, {"n", i32, false}};
  const size_t bytes = sizeof(float) * N * N;
  kc_text err = {""};
  product p = {.o = build(v, tiled, params, 4), .result = malloc(bytes)};
  for (int i = 0; i < 3; i++) {
    p.args[i].buffer = true;
    must(v->alloc(&p.args[i].mem, p.o.d, bytes, &err) == KC_OK, err.s);
    if (i < 2) must(v->write(p.o.d, p.args[i].mem, 0, i ? b : a, bytes, &err) == KC_OK, err.s);
  }
  p.args[3].scalar = N;
  return p;
}

static double multiply(const product *p) {
  const kc_launch l = {.args = p->args, .arg_count = 4, .grid = {N / TILE, N / TILE, 1}, .group = {TILE, TILE, 1}};
  kc_launch_record record;
  kc_text err = {""};
  double started = now();
  must(kc_driver_launch(p->o.v, p->o.d, p->o.k, &l, &record, &err) == KC_OK, err.s);
  return now() - started;
}

static void close_product(product *p) {
  for (int i = 0; i < 3; i++) p->o.v->free(p->o.d, p->args[i].mem);
  free(p->result);
  shut(&p->o);
}

static void products(const kc_driver *cpu, const kc_driver *opencl) {
  static float a[N * N], b[N * N];
  double ours[ROUNDS], theirs[ROUNDS];
  kc_text err = {""};
  for (int i = 0; i < N * N; i++) {
    a[i] = (float)(i % 7 - 3);
    b[i] = (float)(i % 5 - 2);
  }
  product p = open_product(cpu, a, b), q = open_product(opencl, a, b);
  for (int i = 0; i < ROUNDS; i++) {
    ours[i] = multiply(&p);
    theirs[i] = multiply(&q);
  }
  must(cpu->read(p.o.d, p.result, p.args[2].mem, 0, sizeof a, &err) == KC_OK, err.s);
  must(opencl->read(q.o.d, q.result, q.args[2].mem, 0, sizeof a, &err) == KC_OK, err.s);
  must(memcmp(p.result, q.result, sizeof a) == 0, "the products differ");
  double in_cpu = median(ours, ROUNDS), in_opencl = median(theirs, ROUNDS);
  printf("tiled matmul %d x %d, cpu / opencl, one thread each   %8.3g times  < 5   (%.3g and %.3g ms)\n", N, N,
         in_cpu / in_opencl, in_cpu * 1e3, in_opencl * 1e3);
  close_product(&p);
  close_product(&q);
}

int main(void) {
  const kc_driver *cpu = NULL, *opencl = NULL;
  kc_text why;
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
  for (const kc_driver *const *v = kc_drivers; *v; v++) {
    if (kc_driver_probe(*v, &why) == 0) {
      printf("skipped: %s: %s\n", (*v)->name, why.s);
      continue;
    }
    launches(*v);
    if (strcmp((*v)->name, "cpu") == 0) cpu = *v;
    if (strcmp((*v)->name, "opencl") == 0) opencl = *v;
  }
  if (cpu && opencl) products(cpu, opencl);
  return 0;
}
