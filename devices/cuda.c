/* cuda.c - the cuda driver: NVIDIA's driver API and NVRTC. Names, values and signatures are those of the CUDA driver API. */
#include <stdio.h>

#include "drivers.h"
#include "gpu.h"

/* The versioned symbols, as cuda.h maps its names to them. */
static const kc__symbol symbols[] = {
    KC__GPU_ROW(init, "cuInit"),
    KC__GPU_ROW(version, "cuDriverGetVersion"),
    KC__GPU_ROW(count, "cuDeviceGetCount"),
    KC__GPU_ROW(device, "cuDeviceGet"),
    KC__GPU_ROW(name, "cuDeviceGetName"),
    KC__GPU_ROW(memory, "cuDeviceTotalMem_v2"),
    KC__GPU_ROW(retain, "cuDevicePrimaryCtxRetain"),
    KC__GPU_ROW(release, "cuDevicePrimaryCtxRelease_v2"),
    KC__GPU_ROW(enter, "cuCtxSetCurrent"),
    KC__GPU_ROW(alloc, "cuMemAlloc_v2"),
    KC__GPU_ROW(free, "cuMemFree_v2"),
    KC__GPU_ROW(write, "cuMemcpyHtoD_v2"),
    KC__GPU_ROW(read, "cuMemcpyDtoH_v2"),
    KC__GPU_ROW(load, "cuModuleLoadData"),
    KC__GPU_ROW(unload, "cuModuleUnload"),
    KC__GPU_ROW(function, "cuModuleGetFunction"),
    KC__GPU_ROW(fact, "cuFuncGetAttribute"),
    KC__GPU_ROW(launch, "cuLaunchKernel"),
    KC__GPU_ROW(stream, "cuStreamCreate"),
    KC__GPU_ROW(wait, "cuStreamSynchronize"),
    KC__GPU_ROW(end_stream, "cuStreamDestroy_v2"),
    KC__GPU_ROW(event, "cuEventCreate"),
    KC__GPU_ROW(record, "cuEventRecord"),
    KC__GPU_ROW(elapsed, "cuEventElapsedTime"),
    KC__GPU_ROW(end_event, "cuEventDestroy_v2"),
    KC__GPU_ROW(tell, "cuGetErrorName"),
    KC__GPU_ROW(attribute, "cuDeviceGetAttribute"),
};

static const char *const libraries[] = {"libcuda.so.1", NULL};

/* Illegal address, time-out, assert, hardware stack, illegal instruction, misaligned address, address space, program counter, launch
 * failed, tensor memory leak. */
static const int faults[] = {700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 0};
/* ECC and NVLink uncorrectable, contained error, context destroyed, external device, unknown. */
static const int losses[] = {214, 220, 226, 709, 911, 999, 0};

static bool learn(char *arch, size_t size, kc__gpu_limits *limits, const kc__gpu_api *api, int device) {
  enum { MAX_BLOCK_DIM_X = 2, MAX_GRID_DIM_X = 5, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
  int major = 0, minor = 0, value[6] = {0};
  bool known = api->attribute(&major, CAPABILITY_MAJOR, device) == 0 && api->attribute(&minor, CAPABILITY_MINOR, device) == 0;
  for (int i = 0; i < 3; i++)
    known = known && api->attribute(&value[i], MAX_GRID_DIM_X + i, device) == 0 &&
            api->attribute(&value[3 + i], MAX_BLOCK_DIM_X + i, device) == 0;
  for (int i = 0; i < 3; i++) {
    limits->grid[i] = (uint32_t)value[i];
    limits->block[i] = (uint32_t)value[3 + i];
  }
  snprintf(arch, size, "sm_%d%d", major, minor);
  return known;
}

static const kc__gpu_vendor vendor = {
    .name = "CUDA",
    .asked = "KC_CUDA",
    .libraries = libraries,
    .nodes = NULL,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .compiler = "nvrtc",
    .language = "ptx",
    .options = {.always = "--std=c++17",
                .fast = {"--prec-div=true --prec-sqrt=true", "--use_fast_math"},
                .contract = {"--fmad=false", "--fmad=true"},
                .flush = {"--ftz=false", "--ftz=true"}},
    .headers = "cuda_fp16.h",
    .faults = faults,
    .losses = losses,
    .translates = true,
    .learn = learn,
};

KC__GPU_DRIVER(cuda, vendor);
