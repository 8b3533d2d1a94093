/* gpu.h - one driver for two vendors: CUDA's driver API and HIP coincide but for names, so a vendor is a table of symbols and of
 * what differs. Declared here, so that no header of theirs is needed to build. */
#ifndef KC_DEVICES_GPU_H
#define KC_DEVICES_GPU_H

#include "dynlib.h"
#include "kc_driver.h"
#include "text.h"

/* Every function answers a code; 0 is success. Addresses of device memory are 64-bit integers. */
typedef struct kc__gpu_api {
  int (*init)(unsigned flags);
  int (*version)(int *version);
  int (*count)(int *count);
  int (*device)(int *device, int index);
  int (*name)(char *out, int size, int device);
  int (*memory)(size_t *bytes, int device);
  int (*retain)(void **context, int device);
  int (*release)(int device);
  int (*enter)(void *context);
  int (*alloc)(uint64_t *address, size_t bytes);
  int (*free)(uint64_t address);
  int (*write)(uint64_t to, const void *from, size_t bytes);
  int (*read)(void *to, uint64_t from, size_t bytes);
  int (*load)(void **module, const void *image);
  int (*unload)(void *module);
  int (*function)(void **function, void *module, const char *name);
  int (*fact)(int *value, int what, void *function);
  int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                void *stream, void **arguments, void **extra);
  int (*stream)(void **stream, unsigned flags);
  int (*wait)(void *stream);
  int (*end_stream)(void *stream);
  int (*event)(void **event, unsigned flags);
  int (*record)(void *event, void *stream);
  int (*elapsed)(float *milliseconds, void *from, void *to);
  int (*end_event)(void *event);
  /* One of these two tells the name of a code. */
  int (*tell)(int code, const char **name);
  const char *(*spell)(int code);
  /* CUDA's and HIP's own ways to facts of a device. */
  int (*attribute)(int *value, int what, int device);
  int (*properties)(void *out, int device);
} kc__gpu_api;

#define KC__GPU_ROW(field, name)                                                                                               \
  { name, offsetof(kc__gpu_api, field), false }

typedef struct kc__gpu_limits {
  uint32_t grid[3], block[3];
} kc__gpu_limits;

/* What a runtime compiler is asked for, words separated by spaces: `always`, then one of each pair, off and on. */
typedef struct kc__gpu_options {
  const char *always, *fast[2], *contract[2], *flush[2];
} kc__gpu_options;

typedef struct kc__gpu_vendor {
  const char *name;                     /* of the API, in messages */
  const char *asked, *const *libraries; /* the variable that names the runtime's library, and what it is called otherwise */
  const char *const *nodes;             /* where the kernel driver shows itself; none of them: no device. NULL: not asked */
  const kc__symbol *symbols;
  size_t symbol_count;
  const char *compiler, *language; /* kc-rtc's word for the runtime compiler, and what its text is called */
  kc__gpu_options options;
  const char *headers; /* a file that lies beside the vendor's own headers */
  /* Codes after which the process can use the device no more, ended by 0: what a kernel did, and what happened to it. */
  const int *faults, *losses;
  bool translates; /* the driver compiles the text for devices newer than the compiler */
  /* The architecture's name and the limits of launches. */
  bool (*learn)(char *arch, size_t size, kc__gpu_limits *limits, const kc__gpu_api *api, int device);
} kc__gpu_vendor;

/* What kc-rtc says of a runtime compiler. */
typedef struct kc__gpu_compiler {
  char program[768];                /* kc-rtc */
  char library[768], identity[896]; /* the compiler's file; that with its size and time */
  char version[32], archs[2048];
} kc__gpu_compiler;

/* gpu_compile.c */
kc_status kc__gpu_find_compiler(kc__gpu_compiler *c, const kc__gpu_vendor *v, kc_text *err);
/* The name among the compiler's architectures to compile for, for a device of architecture `arch`; false: there is none. */
bool kc__gpu_choose(char *out, size_t size, const kc__gpu_compiler *c, const kc__gpu_vendor *v, const char *arch);
/* `out` owns its block. */
kc_status kc__gpu_compile_with(kc_code *out, const kc__gpu_compiler *c, const kc__gpu_vendor *v, const char *arch,
                               const kc_build *b, char **log, kc_text *err);

/* Operations without a device need to be told their vendor; gpu.c. */
int kc__gpu_probe(const kc__gpu_vendor *v, kc_text *why);
kc_status kc__gpu_open(kc_drv_device **out, const kc__gpu_vendor *v, int index, kc_text *err);
kc_status kc__gpu_archs(char **out, const kc__gpu_vendor *v, kc_text *err);
kc_status kc__gpu_compile(kc_code *out, const kc__gpu_vendor *v, const char *arch, const kc_build *b, char **log, kc_text *err);
/* The others know it from their device. */
void kc__gpu_close(kc_drv_device *d);
void kc__gpu_describe(kc_drv_device *d, kc_fingerprint *out);
kc_status kc__gpu_alloc(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err);
void kc__gpu_free(kc_drv_device *d, kc_mem mem);
kc_status kc__gpu_write(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err);
kc_status kc__gpu_read(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err);
kc_status kc__gpu_build(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err);
void kc__gpu_unload(kc_drv_device *d, kc_drv_kernel *k);
kc_status kc__gpu_launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err);
kc_status kc__gpu_sync(kc_drv_device *d, kc_text *err);
kc_status kc__gpu_code(kc_code *out, kc_drv_device *d, kc_drv_kernel *k, kc_text *err);

/* The driver called `word`, over the table `vendor`. */
#define KC__GPU_DRIVER(word, vendor)                                                                                           \
  static int probe(kc_text *why) {                                                                                             \
    return kc__gpu_probe(&(vendor), why);                                                                                      \
  }                                                                                                                            \
  static kc_status open_device(kc_drv_device **out, int index, kc_text *err) {                                                 \
    return kc__gpu_open(out, &(vendor), index, err);                                                                           \
  }                                                                                                                            \
  static kc_status archs(char **out, kc_text *err) {                                                                           \
    return kc__gpu_archs(out, &(vendor), err);                                                                                 \
  }                                                                                                                            \
  static kc_status compile(kc_code *out, const char *arch, const kc_build *b, char **log, kc_text *err) {                      \
    return kc__gpu_compile(out, &(vendor), arch, b, log, err);                                                                 \
  }                                                                                                                            \
  const kc_driver kc_driver_##word = {.abi_size = sizeof(kc_driver),                                                           \
                                      .name = #word,                                                                           \
                                      .probe = probe,                                                                          \
                                      .open = open_device,                                                                     \
                                      .close = kc__gpu_close,                                                                  \
                                      .describe = kc__gpu_describe,                                                            \
                                      .alloc = kc__gpu_alloc,                                                                  \
                                      .free = kc__gpu_free,                                                                    \
                                      .import = NULL,                                                                          \
                                      .write = kc__gpu_write,                                                                  \
                                      .read = kc__gpu_read,                                                                    \
                                      .build = kc__gpu_build,                                                                  \
                                      .unload = kc__gpu_unload,                                                                \
                                      .launch = kc__gpu_launch,                                                                \
                                      .sync = kc__gpu_sync,                                                                    \
                                      .archs = archs,                                                                          \
                                      .compile = compile,                                                                      \
                                      .code = kc__gpu_code}

#endif
