/* opencl.h - the part of the OpenCL 1.2 API that kc uses, declared here so that no header is needed to build. Names, values and
 * signatures are those of the OpenCL specification, version 1.2. */
#ifndef KC_DEVICES_OPENCL_H
#define KC_DEVICES_OPENCL_H

#include "kc_driver.h"

typedef struct kc__cl_handle *kc__cl; /* any cl_ object */

enum {
  KC__CL_SUCCESS = 0,
  KC__CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  KC__CL_OUT_OF_HOST_MEMORY = -6,
  KC__CL_INVALID_BUFFER_SIZE = -61,

  KC__CL_PLATFORM_NAME = 0x0902,
  KC__CL_DEVICE_TYPE = 0x1000,
  KC__CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  KC__CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
  KC__CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  KC__CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
  KC__CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
  KC__CL_DEVICE_NAME = 0x102B,
  KC__CL_DRIVER_VERSION = 0x102D,
  KC__CL_DEVICE_VERSION = 0x102F,
  KC__CL_DEVICE_EXTENSIONS = 0x1030,
  KC__CL_DEVICE_OPENCL_C_VERSION = 0x103D,

  KC__CL_FP_DENORM = 1 << 0,
  KC__CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,

  KC__CL_PROGRAM_BINARY_SIZES = 0x1165,
  KC__CL_PROGRAM_BINARIES = 0x1166,
  KC__CL_PROGRAM_BUILD_LOG = 0x1183,
  KC__CL_KERNEL_ARG_TYPE_NAME = 0x1198,
  KC__CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
  KC__CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
};
#define KC__CL_DEVICE_TYPE_ALL 0xFFFFFFFFu
#define KC__CL_MEM_READ_WRITE 1u

typedef struct kc__cl_region {
  size_t origin, size;
} kc__cl_region;

/* The functions, filled from the ICD loader. */
typedef struct kc__cl_api {
  int32_t (*platforms)(uint32_t n, kc__cl *out, uint32_t *count);
  int32_t (*platform_info)(kc__cl platform, uint32_t what, size_t size, void *out, size_t *needed);
  int32_t (*devices)(kc__cl platform, uint64_t type, uint32_t n, kc__cl *out, uint32_t *count);
  int32_t (*device_info)(kc__cl device, uint32_t what, size_t size, void *out, size_t *needed);
  kc__cl (*create_context)(const intptr_t *properties, uint32_t n, const kc__cl *devices, void *notify, void *user,
                           int32_t *code);
  kc__cl (*create_queue)(kc__cl context, kc__cl device, uint64_t properties, int32_t *code);
  kc__cl (*create_buffer)(kc__cl context, uint64_t flags, size_t bytes, void *host, int32_t *code);
  kc__cl (*create_sub_buffer)(kc__cl buffer, uint64_t flags, uint32_t type, const kc__cl_region *region, int32_t *code);
  int32_t (*write)(kc__cl queue, kc__cl buffer, uint32_t blocking, size_t offset, size_t bytes, const void *from, uint32_t n,
                   const kc__cl *wait, kc__cl *event);
  int32_t (*read)(kc__cl queue, kc__cl buffer, uint32_t blocking, size_t offset, size_t bytes, void *to, uint32_t n,
                  const kc__cl *wait, kc__cl *event);
  kc__cl (*program_with_source)(kc__cl context, uint32_t n, const char **texts, const size_t *sizes, int32_t *code);
  kc__cl (*program_with_binary)(kc__cl context, uint32_t n, const kc__cl *devices, const size_t *sizes,
                                const uint8_t **binaries, int32_t *each, int32_t *code);
  int32_t (*build)(kc__cl program, uint32_t n, const kc__cl *devices, const char *options, void *notify, void *user);
  int32_t (*build_info)(kc__cl program, kc__cl device, uint32_t what, size_t size, void *out, size_t *needed);
  int32_t (*program_info)(kc__cl program, uint32_t what, size_t size, void *out, size_t *needed);
  kc__cl (*create_kernel)(kc__cl program, const char *name, int32_t *code);
  int32_t (*kernel_arg_info)(kc__cl kernel, uint32_t index, uint32_t what, size_t size, void *out, size_t *needed);
  int32_t (*kernel_group_info)(kc__cl kernel, kc__cl device, uint32_t what, size_t size, void *out, size_t *needed);
  int32_t (*set_arg)(kc__cl kernel, uint32_t index, size_t size, const void *value);
  int32_t (*launch)(kc__cl queue, kc__cl kernel, uint32_t dimensions, const size_t *offset, const size_t *global,
                    const size_t *local, uint32_t n, const kc__cl *wait, kc__cl *event);
  int32_t (*finish)(kc__cl queue);
  int32_t (*release_kernel)(kc__cl);
  int32_t (*release_program)(kc__cl);
  int32_t (*release_memory)(kc__cl);
  int32_t (*release_queue)(kc__cl);
  int32_t (*release_context)(kc__cl);
} kc__cl_api;

/* Opens the loader, which stays open (drivers do not survive being unloaded under their own threads), and fills the table.
 * KC_ENODEV says what is missing. */
kc_status kc__cl_load(kc__cl_api *cl, kc_text *err);
/* "CL_OUT_OF_RESOURCES" for -5; the number for what has no name here. */
void kc__cl_fail(kc_text *err, const char *what, int32_t code);

/* An opened device. */
struct kc_drv_device {
  kc__cl_api cl;
  kc__cl platform, device, context, queue;
  size_t alignment, largest_group, extents[3], largest_memory;
  bool rounds_divide; /* knows -cl-fp32-correctly-rounded-divide-sqrt */
};

/* Builds a program for the kernel; opencl_build.c. */
kc_status kc__cl_build(kc__cl *program, kc__cl *kernel, const kc_drv_device *d, const kc_build *b, char **log, kc_text *err);
/* Text of a device or platform property, always terminated. */
void kc__cl_device_text(const kc_drv_device *d, uint32_t what, char *out, size_t size);

#endif
