/* fake_rtc.c - a runtime compiler that is none: its "code" is a few instructions and the options it was given. A text that contains
 * ABORT ends the process, one that contains ERROR does not compile. FAKE_RTC_COUNT names a file that grows with every compilation.
 * Where FAKE_RTC_EMULATE names emulate.h, the code is a module for the host, made with c++, which fake_gpu.c runs.
 * Built twice: FAKE_HIP gives it hipRTC's names, and those of the code object manager. */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#ifdef FAKE_HIP
#define NAME(word) hiprtc##word
#define CODE(word) hiprtcGetCode##word
#define EMULATE "-DEMULATE_HIP"
#else
#define NAME(word) nvrtc##word
#define CODE(word) nvrtcGetCUBIN##word
#define EMULATE ""
#endif

static struct {
  char name[64], text[4096], log[1 << 16];
  char *source, *code;
  size_t code_size;
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
  program.source = strdup(source);
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
/* ---- emulation ---- */

static void write_source(const char *path, const char *header) {
  FILE *file = fopen(path, "w");
  if (!file) abort();
  const char *body = strstr(program.source, "\n#line 1 \"kc_common.h\""); /* where the prelude's own mention is past */
  int meets = strstr(body ? body : program.source, "kc_barrier(") != NULL;
  fprintf(file, "#include \"%s\"\n%s\nEMULATE_KERNEL(%s, %d)\n", header, program.source, program.name, meets);
  fclose(file);
}

static int has(int n, const char *const *options, const char *word) {
  for (int i = 0; i < n; i++)
    if (strcmp(options[i], word) == 0) return 1;
  return 0;
}

static void read_code(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return;
  fseek(file, 0, SEEK_END);
  program.code_size = (size_t)ftell(file);
  rewind(file);
  program.code = malloc(program.code_size);
  if (!program.code || fread(program.code, 1, program.code_size, file) != program.code_size) abort();
  fclose(file);
}

static void emulate(const char *header, int n, const char *const *options) {
  char directory[] = "/tmp/kc-emulated-XXXXXX", source[64], module[64], command[1024];
  int flush = has(n, options, "--ftz=true") || has(n, options, "-fgpu-flush-denormals-to-zero");
  if (!mkdtemp(directory)) abort();
  snprintf(source, sizeof source, "%s/k.cc", directory);
  snprintf(module, sizeof module, "%s/k.so", directory);
  write_source(source, header);
  snprintf(command, sizeof command,
           "c++ -x c++ -std=c++17 -O1 -fPIC -shared -ffp-contract=off -w -fvisibility=hidden %s %s -o %s %s 2>&1",
           flush ? "-DEMULATE_FLUSH" : "", EMULATE, module, source);
  FILE *said = popen(command, "r");
  size_t got = said ? fread(program.log, 1, sizeof program.log - 1, said) : 0;
  program.log[got] = '\0';
  program.fails = !said || pclose(said) != 0;
  read_code(module);
  remove(module);
  remove(source);
  remove(directory);
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
  const char *header = getenv("FAKE_RTC_EMULATE");
  if (header && !program.fails)
    emulate(header, n, options);
  else
    program.code_size = (size_t)asprintf(&program.code, "\177ELF %s", program.text) + 1;
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

PUBLIC int CODE(Size)(void *p, size_t *size) {
  (void)p;
  *size = program.code_size;
  return 0;
}
PUBLIC int CODE()(void *p, char *out) {
  (void)p;
  memcpy(out, program.code, program.code_size);
  return 0;
}

#ifndef FAKE_HIP
PUBLIC int nvrtcGetPTXSize(void *p, size_t *size) {
  (void)p;
  *size = strlen(program.text) + 1;
  return 0;
}
PUBLIC int nvrtcGetPTX(void *p, char *out) {
  (void)p;
  strcpy(out, program.text);
  return 0;
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
/* The code object manager: a data set is the one thing in it. Version 3: action 12 is something else. */
static char *made;

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
  return data == 5 && n == program.code_size && memcmp(bytes, program.code, n) == 0 ? 0 : 2;
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
  made = kind == 10 ? program.text : NULL;
  return 0;
}
#endif
