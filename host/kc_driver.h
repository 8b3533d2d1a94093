/* kc_driver.h - what a device backend implements. A backend is one file in devices/ and one row in devices/drivers.c.
 *
 * Rules: operations marked optional may be NULL, written explicitly; all others are checked at registration together with
 * `abi_size`. Memory is named by an opaque uint64_t. A driver never exits, prints or calls Lua; text goes to `err`.
 */
#ifndef KC_DRIVER_H
#define KC_DRIVER_H

#include "kc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kc_drv_device kc_drv_device; /* defined by each driver */
typedef struct kc_drv_kernel kc_drv_kernel; /* defined by each driver */
typedef uint64_t kc_mem;

/** Facts of an opened device, recorded in every trace. Empty text where a driver cannot tell. */
typedef struct kc_fingerprint {
  char name[128], arch[64], driver[128], runtime[128], compiler[192];
  char features[2048]; /* optional ones, by the names of the device's interface, separated by spaces */
  bool denormals_kept; /* as the device computes with default build options */
  bool contracts;      /* whether a*b+c is fused under default build options */
} kc_fingerprint;

typedef enum kc_dialect {
  KC_DIALECT_KC, /* portable text, suffix .k; the driver prepends the prelude */
  KC_DIALECT_C,  /* a host function in C, called once per launch */
  KC_DIALECT_CUDA,
  KC_DIALECT_OPENCL,
  KC_DIALECT_LIBRARY /* source is the full path of a shared library, entry a symbol called once per launch, or per element */
} kc_dialect;

/** Build options; every field is explicit. */
typedef struct kc_build_options {
  bool contract;       /* allow fusing a*b+c */
  bool flush;          /* flush denormals */
  bool fast_math;      /* whatever the compiler calls fast math */
  const char *defines; /* space-separated NAME=VALUE, values integers or identifiers; may be "" */
} kc_build_options;

/** One parameter of a kernel. A buffer parameter is a pointer to `format`, a scalar is passed by value. */
typedef struct kc_param {
  const char *name;
  const kc_format *format;
  bool buffer;
} kc_param;

/** What to build. Strings stay owned by the caller and live until build returns. */
typedef struct kc_build {
  uint8_t dialect;    /* kc_dialect */
  const char *source; /* text, or a path for KC_DIALECT_LIBRARY */
  const char *file;   /* for messages: where the text came from */
  const char *entry;
  const kc_param *params;
  int param_count;
  const kc_format *result; /* C and LIBRARY: format of the returned scalar, NULL for void */
  /* LIBRARY: a function of numbers, called for each element: a launch of n work-items along the first dimension calls it n times,
   * a buffer parameter passes its element by value, and the last parameter is the buffer of the results. */
  bool map;
  kc_build_options options;
  const char *cache_dir; /* NULL: no cache of compiled kernels */
} kc_build;

/** Compiled code, as a device loads it and as people read it. */
typedef struct kc_code {
  const char *language; /* of the text: "ptx", "amdgcn" */
  const char *arch;     /* what it was compiled for: "sm_90", "gfx90a" */
  const char *entry;    /* the kernel's name in it */
  const uint8_t *binary;
  size_t binary_size;
  const char *text; /* terminated */
  size_t text_size;
  uint8_t *block; /* malloc'd, holds all of the above; NULL: it belongs to a kernel */
} kc_code;

/** A kernel argument: memory (data address, guards lie around it) or the scalar's code. */
typedef struct kc_arg {
  bool buffer;
  kc_mem mem;
  uint64_t offset; /* bytes from the start of mem to the first data byte */
  uint64_t scalar; /* code in the parameter's format, right-aligned */
} kc_arg;

/** A launch: grid counts work-groups, group counts work-items. `schedule` 0 runs in natural order, any other value seeds a
 * permuted order of groups, of work-items between barriers and of atomics (drivers that cannot permute refuse it). */
typedef struct kc_launch {
  const kc_arg *args;
  int arg_count;
  uint32_t grid[3], group[3];
  uint64_t schedule;
} kc_launch;

/** What happened during a launch. */
typedef struct kc_launch_record {
  double seconds;
  kc_fpstate before, after;
  bool fp_changed;        /* the candidate left another floating-point state behind */
  bool divergent_barrier; /* a barrier was reached by part of a group */
  bool local_damaged;     /* guards of a local array were overwritten */
  uint64_t result;        /* returned scalar's code, C and LIBRARY */
  char evidence[256];     /* one line on whatever of the above is set */
} kc_launch_record;

/** A backend. */
typedef struct kc_driver {
  size_t abi_size; /* sizeof(kc_driver) */
  const char *name;
  /* Number of devices; 0 with the reason in `why` when the backend is absent. */
  int (*probe)(kc_text *why);
  kc_status (*open)(kc_drv_device **out, int index, kc_text *err);
  void (*close)(kc_drv_device *d);
  void (*describe)(kc_drv_device *d, kc_fingerprint *out);
  kc_status (*alloc)(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err);
  void (*free)(kc_drv_device *d, kc_mem mem);
  /* Optional: device memory that aliases host memory, so that shared memfds need no copy. Freed with `free`. */
  kc_status (*import)(kc_mem *out, kc_drv_device *d, void *host, size_t bytes, bool writable, kc_text *err);
  kc_status (*write)(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err);
  kc_status (*read)(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err);
  /* Builds; `log` receives the compiler's output (malloc'd, caller frees; NULL when none), also on success. */
  kc_status (*build)(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err);
  void (*unload)(kc_drv_device *d, kc_drv_kernel *k);
  kc_status (*launch)(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err);
  kc_status (*sync)(kc_drv_device *d, kc_text *err);
  /* Optional: the architectures that the compiler knows, lowest first, separated by spaces; malloc'd. Needs no device. */
  kc_status (*archs)(char **out, kc_text *err);
  /* Optional: compiles for one of them without a device. `out` owns a block, freed with kc_code_free; `log` as in build. */
  kc_status (*compile)(kc_code *out, const char *arch, const kc_build *b, char **log, kc_text *err);
  /* Optional: the code of a kernel, valid until it is unloaded. */
  kc_status (*code)(kc_code *out, kc_drv_device *d, kc_drv_kernel *k, kc_text *err);
} kc_driver;

/** Checks abi_size and required operations; KC_EINVAL names what is missing. */
KC_API KC_MUST_CHECK kc_status kc_driver_check(const kc_driver *driver, kc_text *err);

/* ---- the host's side: the one place where a backend's answers are checked before anybody believes them, and what the host does
 * where a backend leaves an optional operation out ---- */

/** Each wrapper calls the operation of the same name and turns what no driver may answer (a status that is not one, success
 * without a result) into KC_EINTERNAL; a failure without text gets one that names driver and operation. */
KC_API int kc_driver_probe(const kc_driver *v, kc_text *why);
/** Opens device `index`. */
KC_API kc_status kc_driver_open(kc_drv_device **out, const kc_driver *v, int index, kc_text *err);
/** As kc_driver_open, for kernels. */
KC_API kc_status kc_driver_build(kc_drv_kernel **out, const kc_driver *v, kc_drv_device *d, const kc_build *b, char **log,
                                 kc_text *err);
/** Launches and waits for completion; the record is zeroed first. */
KC_API kc_status kc_driver_launch(const kc_driver *v, kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l,
                                  kc_launch_record *record, kc_text *err);

/** As the operation; KC_EUNSUPPORTED for a driver without it. */
KC_API kc_status kc_driver_archs(char **out, const kc_driver *v, kc_text *err);
/** As the operation; KC_EUNSUPPORTED for a driver without it. */
KC_API kc_status kc_driver_compile(kc_code *out, const kc_driver *v, const char *arch, const kc_build *b, char **log,
                                   kc_text *err);
/** As the operation; KC_EUNSUPPORTED for a driver without it. */
KC_API kc_status kc_driver_code(kc_code *out, const kc_driver *v, kc_drv_device *d, kc_drv_kernel *k, kc_text *err);
/** Frees what kc_driver_compile gave. Idempotent. */
KC_API void kc_code_free(kc_code *code);

/** A host buffer made visible to a device for one launch: guards and data, so that a kernel's overruns come back too. */
typedef struct kc_binding {
  kc_mem mem;
  kc_buffer *buffer;
  bool open, imported;
} kc_binding;

/** Imports the buffer where the driver can, else copies it over. The buffer must outlive the binding. */
KC_API kc_status kc_bind(kc_binding *out, const kc_driver *v, kc_drv_device *d, kc_buffer *b, kc_text *err);
/** Copies guards and data back unless they are the same memory; nothing for a read-only buffer. */
KC_API kc_status kc_bind_collect(const kc_binding *k, const kc_driver *v, kc_drv_device *d, kc_text *err);
/** Frees the device's side. Idempotent. */
KC_API void kc_unbind(kc_binding *k, const kc_driver *v, kc_drv_device *d);

#ifdef __cplusplus
}
#endif
#endif
