/* test_faulty.c - what the host and its Lua binding do with a backend that fails or lies. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "faulty.h"
#include "lkc.h"
#include "lkc_extension.h"

/* ---- the driver struct ------------------------------------------------------------------------------------------------- */

Test(faulty, a_driver_that_lacks_something_is_named) {
  kc_text err;
  cr_expect_eq(kc_driver_check(&kc_driver_faulty, &err), KC_OK, "import may be absent: %s", err.s);
  cr_expect_eq(kc_driver_check(NULL, &err), KC_EINVAL);
#define LACKS(op)                                                                                                              \
  do {                                                                                                                         \
    kc_driver v = kc_driver_faulty;                                                                                            \
    v.op = NULL;                                                                                                               \
    cr_expect_eq(kc_driver_check(&v, &err), KC_EINVAL);                                                                        \
    cr_expect(strstr(err.s, #op), "%s", err.s);                                                                                \
  } while (0)
  LACKS(name);
  LACKS(probe);
  LACKS(open);
  LACKS(close);
  LACKS(describe);
  LACKS(alloc);
  LACKS(free);
  LACKS(write);
  LACKS(read);
  LACKS(build);
  LACKS(unload);
  LACKS(launch);
  LACKS(sync);
  kc_driver v = kc_driver_faulty;
  v.abi_size -= sizeof(void *);
  cr_expect_eq(kc_driver_check(&v, &err), KC_EINVAL);
  cr_expect(strstr(err.s, "abi_size"), "%s", err.s);
}

/* ---- through Lua: the whole way from core.device to the record ----------------------------------------------------------- */

static const kc_driver *const table[] = {&kc_driver_faulty, NULL};

static lua_State *state(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lkc_open_extensions(L, table);
  luaL_requiref(L, "kc.core", luaopen_kc_core, 1);
  lua_setglobal(L, "core");
  faulty = (faulty_plan){0};
  return L;
}

/* Runs code that must answer true. */
static void run(lua_State *L, const char *code) {
  int failed = luaL_dostring(L, code);
  cr_expect(!failed && lua_toboolean(L, -1), "%s\n%s", code, failed ? lua_tostring(L, -1) : "answered false");
  lua_settop(L, 0);
}

static void finish(lua_State *L) {
  lua_close(L);
  cr_expect_eq(faulty.devices, 0, "%d devices left open", faulty.devices);
  cr_expect_eq(faulty.kernels, 0, "%d kernels left", faulty.kernels);
  cr_expect_eq(faulty.memories, 0, "%d memories left", faulty.memories);
}

static const char setup[] =
    "device = core.device('faulty')\n"
    "kernel = device:kernel{ source = '', entry = 'k', params = {{ name = 'x', format = 'u8', buffer = true }} }\n"
    "buffer = core.buffer('u8', { 16 }) for i = 1, 16 do buffer[i] = i end\n"
    "return true\n";

Test(faulty, without_import_buffers_are_copied_there_and_back) {
  lua_State *L = state();
  run(L, setup);
  run(L,
      "local record = device:launch(kernel, { buffer }) return buffer[1] == 2 and buffer[16] == 17 and record.evidence == nil");
  run(L, "return buffer:guards() == nil or not buffer:guards().damaged");
  finish(L);
}

Test(faulty, a_device_that_is_absent_or_does_not_open) {
  lua_State *L = state();
  faulty.call = FAULT_PROBE;
  run(L, "local d, m, c = core.device('faulty') return d == nil and m:find('faulty') and c == 'no-device'");
  run(L, "local count, why = core.probe('faulty') return core.drivers()[1] == 'faulty' and count == 0 and #why > 0");
  faulty.manner = FAULT_NONSENSE;
  run(L, "local d, m, c = core.device('faulty') return d == nil and c == 'no-device'");
  faulty = (faulty_plan){.call = FAULT_OPEN, .manner = FAULT_SILENT};
  run(L, "local d, m, c = core.device('faulty') return d == nil and m:find('open failed') and c == 'launch'");
  faulty.manner = FAULT_SPOKEN;
  run(L, "local d, m, c = core.device('faulty') return d == nil and m:find('was ordered') and c == 'no-memory'");
  faulty.manner = FAULT_NO_RESULT;
  run(L, "local ok, m = pcall(core.device, 'faulty') return not ok and m:find('without a result')");
  faulty.manner = FAULT_NONSENSE;
  run(L, "local ok, m = pcall(core.device, 'faulty') return not ok and m:find('77')");
  finish(L);
}

Test(faulty, a_build_that_fails_or_lies_leaves_no_kernel) {
  lua_State *L = state();
  static const char build[] = "local k, m, c, log = device:kernel{ source = '', entry = 'k' }\n";
  char code[300];
  run(L, "device = core.device('faulty') return true");
  faulty = (faulty_plan){.devices = 1, .call = FAULT_BUILD, .manner = FAULT_SPOKEN};
  snprintf(code, sizeof code, "%s%s", build,
           "return k == nil and m:find('ordered') and c == 'no-memory' and log:find('log of')");
  run(L, code);
  faulty.manner = FAULT_NO_RESULT;
  run(L,
      "local ok, m = pcall(device.kernel, device, { source = '', entry = 'k' }) return not ok and m:find('without a result')");
  finish(L);
}

Test(faulty, a_launch_that_fails_at_any_step_frees_everything) {
  static const faulty_call calls[] = {FAULT_ALLOC, FAULT_WRITE, FAULT_READ, FAULT_LAUNCH, FAULT_SYNC};
  lua_State *L = state();
  run(L, setup);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    faulty.call = calls[i];
    faulty.manner = FAULT_SPOKEN;
    run(L, "local r, m, c = device:launch(kernel, { buffer }) return r == nil and m:find('was ordered') and c == 'no-memory'");
    faulty.manner = FAULT_SILENT;
    run(L, "local r, m, c = device:launch(kernel, { buffer }) return r == nil and m:find('failed') and c == 'launch'");
    faulty.manner = FAULT_NONSENSE;
    run(L, "local ok, m = pcall(device.launch, device, kernel, { buffer }) return not ok and m:find('77')");
    cr_expect_eq(faulty.memories, 0, "after call %d", calls[i]);
  }
  faulty.call = FAULT_ALLOC;
  faulty.manner = FAULT_NO_RESULT;
  run(L, "local ok, m = pcall(device.launch, device, kernel, { buffer }) return not ok and m:find('without a result')");
  finish(L);
}

Test(faulty, texts_without_an_end_are_cut) {
  lua_State *L = state();
  run(L, setup);
  faulty.call = FAULT_LAUNCH;
  faulty.manner = FAULT_LOUD;
  run(L, "local r = device:launch(kernel, { buffer }) return r.fp_changed and r.divergent_barrier and #r.evidence == 255");
  run(L, "return #device:fingerprint().name == 127");
  finish(L);
}

Test(faulty, what_is_closed_stays_closed_in_any_order) {
  lua_State *L = state();
  run(L, setup);
  run(L, "device:close() device:close() kernel:close()\n"
         "local ok, m = pcall(device.launch, device, kernel, { buffer }) return not ok and m:find('closed device')");
  run(L, setup);
  run(L, "kernel:close() kernel:close()\n"
         "local ok, m = pcall(device.launch, device, kernel, { buffer }) return not ok and m:find('closed kernel')");
  run(L, setup);
  run(L, "local second = core.device('faulty')\n"
         "local ok, m = pcall(second.launch, second, kernel, { buffer }) return not ok and m:find('another device')");
  run(L, "device = nil collectgarbage() collectgarbage() return tostring(kernel) == 'kc.kernel (1 parameters)'");
  finish(L);
}
