/* fake_rtc.c - a runtime compiler that is none: its "code" is a few instructions and the options it was given. A text that contains
 * ABORT ends the process, one that contains ERROR does not compile. FAKE_RTC_COUNT names a file that grows with every compilation.
 * Built twice: FAKE_HIP gives it hipRTC's names, and those of the code object manager. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#ifdef FAKE_HIP
#define NAME(word) hiprtc##word
#else
#define NAME(word) nvrtc##word
#endif

static struct {
  char name[64], text[4096], code[4160], log[128];
  int fails;
} program;

PUBLIC const char *NAME(GetErrorString)(int code) {
  return code == 6 ? "FAKE_ERROR_COMPILATION" : "FAKE_ERROR";
}
PUBLIC int NAME(Version)(int *major, int *minor) {
  *major = 99;
  *minor = 1;
  return 0;
}
PUBLIC int NAME(CreateProgram)(void **out, const char *source, const char *name, int n, const char *const *texts,
                               const char *const *names) {
  *out = &program;
  if (strstr(source, "ABORT")) abort();
  program.fails = strstr(source, "ERROR") != NULL;
  if (program.fails) strcpy(program.log, "some (odd) file.k(4): error: identifier \"ERROR\" is undefined\n");
  return name && n == 0 && !texts && !names ? 0 : 3;
}
PUBLIC int NAME(AddNameExpression)(void *p, const char *name) {
  (void)p;
  snprintf(program.name, sizeof program.name, "%s", name);
  return 0;
}
static void count(void) {
  const char *path = getenv("FAKE_RTC_COUNT");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fputc('.', file);
  fclose(file);
}
PUBLIC int NAME(CompileProgram)(void *p, int n, const char *const *options) {
  size_t at = 0;
  (void)p;
  count();
  for (int i = 0; i < n; i++) at += (size_t)snprintf(program.text + at, sizeof program.text - at, "// option %s\n", options[i]);
  snprintf(program.text + at, sizeof program.text - at,
           ".visible .entry %s(\n.param .u64 p\n)\n{\n\t.reg .f32 %%f<4>;\n\tfma.rn.f32 \t%%f1, %%f2, %%f3, %%f1;\n\tret;\n}\n"
           "%s:\n\tv_fma_f32 v1, v2, v3, v1 // 0\n\ts_endpgm\n",
           program.name, program.name);
  snprintf(program.code, sizeof program.code, "\177ELF %s", program.text);
  return program.fails ? 6 : 0;
}
PUBLIC int NAME(GetProgramLogSize)(void *p, size_t *size) {
  (void)p;
  *size = strlen(program.log) + 1;
  return 0;
}
PUBLIC int NAME(GetProgramLog)(void *p, char *out) {
  (void)p;
  strcpy(out, program.log);
  return 0;
}
PUBLIC int NAME(GetLoweredName)(void *p, const char *name, const char **lowered) {
  (void)p;
  *lowered = program.name;
  return strcmp(name, program.name) == 0 ? 0 : 3;
}

static int give_size(const char *text, size_t *size) {
  *size = strlen(text) + 1;
  return 0;
}
static int give(const char *text, char *out) {
  strcpy(out, text);
  return 0;
}
#ifndef FAKE_HIP
PUBLIC int nvrtcGetCUBINSize(void *p, size_t *size) {
  (void)p;
  return give_size(program.code, size);
}
PUBLIC int nvrtcGetCUBIN(void *p, char *out) {
  (void)p;
  return give(program.code, out);
}
PUBLIC int nvrtcGetPTXSize(void *p, size_t *size) {
  (void)p;
  return give_size(program.text, size);
}
PUBLIC int nvrtcGetPTX(void *p, char *out) {
  (void)p;
  return give(program.text, out);
}
PUBLIC int nvrtcGetNumSupportedArchs(int *n) {
  *n = 3;
  return 0;
}
PUBLIC int nvrtcGetSupportedArchs(int *out) {
  memcpy(out, (int[]){75, 80, 90}, 3 * sizeof *out);
  return 0;
}
#else
PUBLIC int hiprtcGetCodeSize(void *p, size_t *size) {
  (void)p;
  return give_size(program.code, size);
}
PUBLIC int hiprtcGetCode(void *p, char *out) {
  (void)p;
  return give(program.code, out);
}

/* The code object manager: a data set is the one thing in it. Version 3: action 12 is something else. */
static char object[4160], *made;

PUBLIC int amd_comgr_get_isa_count(size_t *n) {
  *n = 2;
  return 0;
}
PUBLIC int amd_comgr_get_isa_name(size_t i, const char **name) {
  *name = i == 0 ? "amdgcn-amd-amdhsa--gfx906" : "amdgcn-amd-amdhsa--gfx90a";
  return i < 2 ? 0 : 2;
}
PUBLIC int amd_comgr_create_data(int kind, uint64_t *data) {
  *data = 5;
  return kind == 8 ? 0 : 2;
}
PUBLIC int amd_comgr_release_data(uint64_t data) {
  return data == 5 || data == 6 ? 0 : 2;
}
PUBLIC int amd_comgr_set_data(uint64_t data, size_t n, const char *bytes) {
  if (data != 5 || n > sizeof object) return 2;
  memcpy(object, bytes, n);
  return 0;
}
PUBLIC int amd_comgr_get_data(uint64_t data, size_t *n, char *bytes) {
  if (data != 6) return 2;
  *n = strlen(made);
  if (bytes) memcpy(bytes, made, *n);
  return 0;
}
PUBLIC int amd_comgr_set_data_name(uint64_t data, const char *name) {
  return data == 5 && name ? 0 : 2;
}
PUBLIC int amd_comgr_create_data_set(uint64_t *set) {
  static uint64_t next = 10;
  *set = next++;
  return 0;
}
PUBLIC int amd_comgr_data_set_add(uint64_t set, uint64_t data) {
  return set >= 10 && data == 5 ? 0 : 2;
}
PUBLIC int amd_comgr_action_data_get_data(uint64_t set, int kind, size_t i, uint64_t *data) {
  *data = 6;
  return set >= 10 && kind == 1 && i == 0 && made ? 0 : 2;
}
PUBLIC int amd_comgr_create_action_info(uint64_t *action) {
  *action = 7;
  return 0;
}
PUBLIC int amd_comgr_action_info_set_isa_name(uint64_t action, const char *name) {
  return action == 7 && strncmp(name, "amdgcn-amd-amdhsa--gfx90", 24) == 0 ? 0 : 2;
}
PUBLIC int amd_comgr_do_action(int kind, uint64_t action, uint64_t input, uint64_t output) {
  if (action != 7 || input < 10 || output < 10) return 2;
  made = kind == 10 ? object + 5 : NULL;
  return 0;
}
#endif
