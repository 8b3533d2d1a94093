/* fake_gpu.c - a GPU runtime that runs a few kernels it knows by name on the host, and modules that fake_rtc.c made, checks how it is called, and fails on demand. Built
 * twice: FAKE_HIP gives it HIP's names. It is written from the vendors' documentation, not from the driver that it tests. */
#include "fake_gpu.h"

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#ifdef FAKE_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, INVALID_IMAGE = 200, NOT_FOUND = 500, MEMORY = 1 << 26 };
enum { LIMIT_BLOCKS = 256 };

static fake_gpu state = {.devices = 2, .major = 9, .minor = 0, .largest_group = 1024};
static struct context { int device; } contexts[8];
static struct context *current;
static struct {
  char *at;
  size_t bytes;
  struct context *owner;
} blocks[LIMIT_BLOCKS];
static int pending, fault; /* a launch that was not waited for, and what it comes to */

PUBLIC fake_gpu *fake_gpu_state(void) {
  return &state;
}

/* What every call begins with. */
static int begin(const char *call, int needs_context) {
  if (state.failing && strcmp(state.failing, call) == 0) {
    state.failing = NULL;
    return state.code;
  }
  if (state.dead) return state.dead;
  if (needs_context && !current) {
    state.misuses++;
    return INVALID_CONTEXT;
  }
  return 0;
}
#define BEGIN(call, needs_context)                                                                                             \
  do {                                                                                                                         \
    int wrong = begin(call, needs_context);                                                                                    \
    if (wrong) return wrong;                                                                                                   \
  } while (0)

/* ---- devices ---- */

PUBLIC int NAME(cuInit, hipInit)(unsigned flags) {
  BEGIN("init", 0);
  return flags == 0 ? 0 : INVALID_VALUE;
}
PUBLIC int NAME(cuDriverGetVersion, hipRuntimeGetVersion)(int *version) {
  BEGIN("version", 0);
  *version = 12345;
  return 0;
}
PUBLIC int NAME(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  BEGIN("count", 0);
  *count = state.devices;
  return 0;
}
PUBLIC int NAME(cuDeviceGet, hipDeviceGet)(int *device, int index) {
  BEGIN("device", 0);
  *device = 40 + index; /* a device is not its index */
  return index >= 0 && index < state.devices ? 0 : INVALID_VALUE;
}
PUBLIC int NAME(cuDeviceGetName, hipDeviceGetName)(char *out, int size, int device) {
  BEGIN("name", 0);
  snprintf(out, (size_t)size, "Fake GPU %d", device - 40);
  return 0;
}
PUBLIC int NAME(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, int device) {
  BEGIN("memory", 0);
  *bytes = device >= 40 ? MEMORY : 0;
  return 0;
}
PUBLIC int NAME(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)(void **out, int device) {
  BEGIN("retain", 0);
  contexts[device - 40].device = device;
  *out = &contexts[device - 40];
  state.contexts++;
  return 0;
}
PUBLIC int NAME(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)(int device) {
  if (current == &contexts[device - 40]) current = NULL;
  state.contexts--;
  return 0;
}
PUBLIC int NAME(cuCtxSetCurrent, hipCtxSetCurrent)(void *context) {
  BEGIN("enter", 0);
  current = context;
  return 0;
}

#ifdef FAKE_HIP
/* Some layout: the name first, somewhere behind it the architecture. */
PUBLIC int hipGetDeviceProperties(void *out, int device);
PUBLIC int hipGetDeviceProperties(void *out, int device) {
  BEGIN("properties", 0);
  snprintf(out, 256, "Fake GPU %d gfx000", device - 40);
  snprintf((char *)out + 396, 256, "gfx90a:sramecc+:xnack-");
  return 0;
}
PUBLIC const char *hipGetErrorName(int code);
PUBLIC const char *hipGetErrorName(int code) {
  return code == 700 ? "hipErrorIllegalAddress" : code == 100 ? "hipErrorNoDevice" : "hipErrorOfSomeKind";
}
#else
PUBLIC int cuDeviceGetAttribute(int *value, int what, int device);
PUBLIC int cuDeviceGetAttribute(int *value, int what, int device) {
  BEGIN("attribute", 0);
  const int values[80] = {[1] = 1024,  [2] = 1024,  [3] = 512,          [4] = 64,          [5] = 0x7fffffff,
                          [6] = 65535, [7] = 65535, [75] = state.major, [76] = state.minor};
  *value = device >= 40 && what < 80 ? values[what] : 0;
  return 0;
}
PUBLIC int cuGetErrorName(int code, const char **name);
PUBLIC int cuGetErrorName(int code, const char **name) {
  *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OF_SOME_KIND";
  return 0;
}
#endif

/* ---- memory: an address is good within one block of the current context ---- */

static int find(const char *at, size_t bytes) {
  for (int i = 0; i < LIMIT_BLOCKS; i++)
    if (blocks[i].at && at >= blocks[i].at && at + bytes <= blocks[i].at + blocks[i].bytes && blocks[i].owner == current)
      return i;
  state.misuses++;
  return -1;
}

PUBLIC int NAME(cuMemAlloc_v2, hipMalloc)(uint64_t *address, size_t bytes) {
  BEGIN("alloc", 1);
  if (bytes == 0) return INVALID_VALUE;
  if (bytes > MEMORY) return OUT_OF_MEMORY;
  for (int i = 0; i < LIMIT_BLOCKS; i++)
    if (!blocks[i].at) {
      blocks[i].at = malloc(bytes);
      blocks[i].bytes = bytes;
      blocks[i].owner = current;
      *address = (uint64_t)(uintptr_t)blocks[i].at;
      state.blocks++;
      return 0;
    }
  return OUT_OF_MEMORY;
}
PUBLIC int NAME(cuMemFree_v2, hipFree)(uint64_t address) {
  BEGIN("free", 1);
  int i = find((char *)(uintptr_t)address, 0);
  if (i < 0 || blocks[i].at != (char *)(uintptr_t)address) return INVALID_VALUE;
  free(blocks[i].at);
  blocks[i].at = NULL;
  state.blocks--;
  return 0;
}
PUBLIC int NAME(cuMemcpyHtoD_v2, hipMemcpyHtoD)(uint64_t to, const void *from, size_t bytes) {
  BEGIN("write", 1);
  if (find((char *)(uintptr_t)to, bytes) < 0) return INVALID_VALUE;
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}
PUBLIC int NAME(cuMemcpyDtoH_v2, hipMemcpyDtoH)(void *to, uint64_t from, size_t bytes) {
  BEGIN("read", 1);
  if (find((char *)(uintptr_t)from, bytes) < 0) return INVALID_VALUE;
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return 0;
}

/* ---- kernels ---- */

static void axpy(void **a, unsigned items) {
  const float *x = *(const float **)a[0];
  float *y = *(float **)a[1], factor = *(float *)a[2];
  int n = *(int *)a[3];
  for (int i = 0; i < n && (unsigned)i < items; i++) y[i] = factor * x[i] + y[i];
}
static void mix(void **a, unsigned items) {
  double *out = *(double **)a[1];
  (void)items;
  out[0] = *(int8_t *)a[0];
  out[1] = (double)(*(uint64_t *)a[2] >> 32);
  out[2] = (double)*(float *)a[3];
  out[3] = (double)*(int64_t *)a[4];
  out[4] = *(uint16_t *)a[5];
  out[5] = *(double *)a[6];
}
static void overrun(void **a, unsigned items) {
  (*(int32_t **)a[0])[items] = 7;
}
static void trap(void **a, unsigned items) {
  (void)a;
  (void)items;
  fault = 700;
}

struct kernel {
  const char *name;
  void (*run)(void **arguments, unsigned items);
  int (*launch)(void **arguments, const unsigned *grid, const unsigned *block); /* of an emulated one */
};
static struct kernel kernels[] = {
    {"kc__axpy", axpy, NULL}, {"kc__mix", mix, NULL}, {"kc__overrun", overrun, NULL}, {"kc__trap", trap, NULL}};

struct module {
  char *image; /* or */
  void *library;
  struct kernel emulated;
};

/* An image does not say how long it is: its section headers stand last. Every module has a name of its own: one that is loaded already
 * would be taken for the new one. */
static void *open_library(const void *image) {
  const Elf64_Ehdr *head = image;
  size_t size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
  char path[] = "/tmp/kc-module-XXXXXX";
  int fd = mkstemp(path);
  void *library = fd >= 0 && write(fd, image, size) == (ssize_t)size ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (fd >= 0) {
    close(fd);
    unlink(path);
  }
  return library;
}

PUBLIC int NAME(cuModuleLoadData, hipModuleLoadData)(void **module, const void *image) {
  BEGIN("load", 1);
  int is_elf = memcmp(image, "\177ELF", 4) == 0, is_text = strstr(image, ".entry") != NULL;
  if (!is_elf && !is_text) return INVALID_IMAGE;
  state.loaded_text = !is_elf;
  struct module *m = calloc(1, sizeof *m);
  if (memcmp(image, "\177ELF\2", 5) == 0)
    m->library = open_library(image);
  else
    m->image = strdup(image);
  if (!m->library && !m->image) {
    free(m);
    return INVALID_IMAGE;
  }
  state.modules++;
  *module = m;
  return 0;
}
PUBLIC int NAME(cuModuleUnload, hipModuleUnload)(void *module) {
  BEGIN("unload", 1);
  struct module *m = module;
  if (m->library) dlclose(m->library);
  free(m->image);
  free(m);
  state.modules--;
  return 0;
}
PUBLIC int NAME(cuModuleGetFunction, hipModuleGetFunction)(void **function, void *module, const char *name) {
  BEGIN("function", 1);
  struct module *m = module;
  if (m->library) {
    void *launch = dlsym(m->library, "emulated_launch");
    if (!launch) return NOT_FOUND;
    m->emulated.name = "an emulated kernel";
    memcpy(&m->emulated.launch, &launch, sizeof launch);
    *function = &m->emulated;
    return 0;
  }
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].name, name) == 0 && strstr(m->image, name)) {
      *function = &kernels[i];
      return 0;
    }
  return NOT_FOUND;
}
PUBLIC int NAME(cuFuncGetAttribute, hipFuncGetAttribute)(int *value, int what, void *function) {
  BEGIN("fact", 1);
  *value = what == 0 && function ? state.largest_group : 0;
  return 0;
}
PUBLIC int NAME(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                       unsigned by, unsigned bz, unsigned shared, void *stream,
                                                       void **arguments, void **extra) {
  BEGIN("launch", 1);
  const struct kernel *k = function;
  if (!stream || extra || shared) state.misuses++;
  if (gx == 0 || gy == 0 || gz == 0 || (int)(bx * by * bz) > state.largest_group) return INVALID_VALUE;
  memcpy(state.grid, (unsigned[]){gx, gy, gz}, sizeof state.grid);
  memcpy(state.block, (unsigned[]){bx, by, bz}, sizeof state.block);
  if (k->launch)
    fault = k->launch(arguments, state.grid, state.block);
  else
    k->run(arguments, gx * gy * gz * bx * by * bz);
  pending = 1;
  return 0;
}

/* ---- streams and events ---- */

PUBLIC int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void **stream, unsigned flags) {
  BEGIN("stream", 1);
  if (flags != 0) state.misuses++; /* it would not wait for copies */
  *stream = malloc(1);
  state.streams++;
  return 0;
}
/* What a kernel did shows where it is waited for. */
PUBLIC int NAME(cuStreamSynchronize, hipStreamSynchronize)(void *stream) {
  BEGIN("wait", 1);
  if (fault) state.dead = fault;
  pending = 0;
  return stream ? state.dead : INVALID_VALUE;
}
PUBLIC int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void *stream) {
  free(stream);
  state.streams--;
  return 0;
}
PUBLIC int NAME(cuEventCreate, hipEventCreateWithFlags)(void **event, unsigned flags) {
  BEGIN("event", 1);
  *event = calloc(1, 1);
  state.events++;
  return flags == 0 ? 0 : INVALID_VALUE;
}
PUBLIC int NAME(cuEventRecord, hipEventRecord)(void *event, void *stream) {
  BEGIN("record", 1);
  *(char *)event = 1;
  return stream ? 0 : INVALID_VALUE;
}
PUBLIC int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds, void *from, void *to) {
  BEGIN("elapsed", 1);
  *milliseconds = 1500.0f;
  return *(char *)from && *(char *)to && !pending ? 0 : INVALID_VALUE;
}
PUBLIC int NAME(cuEventDestroy_v2, hipEventDestroy)(void *event) {
  free(event);
  state.events--;
  return 0;
}
