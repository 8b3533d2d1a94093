/* hip.c - the hip driver: AMD's HIP runtime and hipRTC. Names, values and signatures are those of the HIP runtime API; what newer
 * versions have renamed is looked for under both names. */
#include <stdio.h>
#include <string.h>

#include "drivers.h"
#include "gpu.h"

static const kc__symbol symbols[] = {
    KC__GPU_ROW(init, "hipInit"),
    KC__GPU_ROW(version, "hipRuntimeGetVersion"),
    KC__GPU_ROW(count, "hipGetDeviceCount"),
    KC__GPU_ROW(device, "hipDeviceGet"),
    KC__GPU_ROW(name, "hipDeviceGetName"),
    KC__GPU_ROW(memory, "hipDeviceTotalMem"),
    KC__GPU_ROW(retain, "hipDevicePrimaryCtxRetain"),
    KC__GPU_ROW(release, "hipDevicePrimaryCtxRelease"),
    KC__GPU_ROW(enter, "hipCtxSetCurrent"),
    KC__GPU_ROW(alloc, "hipMalloc"),
    KC__GPU_ROW(free, "hipFree"),
    KC__GPU_ROW(write, "hipMemcpyHtoD"),
    KC__GPU_ROW(read, "hipMemcpyDtoH"),
    KC__GPU_ROW(load, "hipModuleLoadData"),
    KC__GPU_ROW(unload, "hipModuleUnload"),
    KC__GPU_ROW(function, "hipModuleGetFunction"),
    KC__GPU_ROW(fact, "hipFuncGetAttribute"),
    KC__GPU_ROW(launch, "hipModuleLaunchKernel"),
    KC__GPU_ROW(stream, "hipStreamCreateWithFlags"),
    KC__GPU_ROW(wait, "hipStreamSynchronize"),
    KC__GPU_ROW(end_stream, "hipStreamDestroy"),
    KC__GPU_ROW(event, "hipEventCreateWithFlags"),
    KC__GPU_ROW(record, "hipEventRecord"),
    KC__GPU_ROW(elapsed, "hipEventElapsedTime"),
    KC__GPU_ROW(end_event, "hipEventDestroy"),
    KC__GPU_ROW(spell, "hipGetErrorName"),
    KC__GPU_ROW(properties, "hipGetDeviceProperties"),
};

static const char *const libraries[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so", NULL};
static const char *const nodes[] = {"/dev/kfd", "/dev/dxg", NULL};

/* Illegal address, time-out, assert, launch failure. */
static const int faults[] = {700, 702, 710, 719, 0};
/* ECC uncorrectable, context destroyed, unknown. */
static const int losses[] = {214, 709, 999, 0};

/* The layout of hipDeviceProp_t has changed and will: gcnArchName is found by what it says. The name of the device stands first, and
 * no member before the one that is looked for is text. The limits are those that HIP's documentation states for all devices. */
static bool learn(char *arch, size_t size, kc__gpu_limits *limits, const kc__gpu_api *api, int device) {
  enum { PROPERTIES = 16384, AFTER_NAME = 256 };
  char block[PROPERTIES] = "";
  const char *found = NULL;
  *limits = (kc__gpu_limits){{INT32_MAX, 65535, 65535}, {1024, 1024, 1024}};
  if (api->properties(block, device) != 0) return false;
  for (size_t i = AFTER_NAME; i + 64 < sizeof block && !found; i++)
    if (memcmp(block + i, "gfx", 3) == 0) found = block + i;
  snprintf(arch, size, "%.63s", found ? found : "");
  return found != NULL;
}

static const kc__gpu_vendor vendor = {
    .name = "HIP",
    .asked = "KC_HIP",
    .libraries = libraries,
    .nodes = nodes,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .compiler = "hiprtc",
    .language = "amdgcn",
    /* -ffast-math turns contraction on: what is asked for comes after it. */
    .options = {.always = "-std=c++17 -O3",
                .fast = {"", "-ffast-math"},
                .contract = {"-ffp-contract=off", "-ffp-contract=fast"},
                .flush = {"-fno-gpu-flush-denormals-to-zero", "-fgpu-flush-denormals-to-zero"}},
    .headers = "hip/hip_fp16.h",
    .faults = faults,
    .losses = losses,
    .translates = false,
    .learn = learn,
};

KC__GPU_DRIVER(hip, vendor);
