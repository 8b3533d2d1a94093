/* nvrtc.c - what is NVRTC's own. */
#include <stdlib.h>

#include "rtc.h"
#include "rtc_symbols.h"

static const kc__symbol symbols[] = {
    KC__RTC_SYMBOLS("nvrtc"),
    KC__RTC_ROW(code_size, "nvrtcGetCUBINSize", false),
    KC__RTC_ROW(code, "nvrtcGetCUBIN", false),
    KC__RTC_ROW(text_size, "nvrtcGetPTXSize", false),
    KC__RTC_ROW(text, "nvrtcGetPTX", false),
    KC__RTC_ROW(arch_count, "nvrtcGetNumSupportedArchs", false),
    KC__RTC_ROW(archs, "nvrtcGetSupportedArchs", false),
};

static const char *const patterns[] = {"$CUDA_HOME/lib*/libnvrtc.so*",
                                       "$CUDA_PATH/lib*/libnvrtc.so*",
                                       "libnvrtc.so.13",
                                       "libnvrtc.so.12",
                                       "libnvrtc.so.11.2",
                                       "libnvrtc.so",
                                       "/usr/local/cuda/lib*/libnvrtc.so*",
                                       "/usr/local/cuda-*/lib*/libnvrtc.so*",
                                       "/opt/cuda/lib*/libnvrtc.so*",
                                       "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so*",
                                       "$HOME/.local/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so*",
                                       "/usr/local/lib/python3*/*-packages/nvidia/cu*/lib/libnvrtc.so*",
                                       "/usr/lib/python3*/*-packages/nvidia/cu*/lib/libnvrtc.so*",
                                       NULL};

static kc_status archs(kc__string *out, const kc__rtc_api *rtc, kc_text *err) {
  int n = 0;
  int code = rtc->arch_count(&n);
  int *numbers = code == 0 && n > 0 ? calloc((size_t)n, sizeof *numbers) : NULL;
  if (numbers) code = rtc->archs(numbers);
  for (int i = 0; numbers && code == 0 && i < n; i++) kc__addf(out, "%ssm_%d", i ? " " : "", numbers[i]);
  bool listed = numbers && code == 0;
  free(numbers);
  return listed ? KC_OK : kc_fail(err, KC_EBUILD, "nvrtcGetSupportedArchs: %s", rtc->error(code));
}

static kc_status text(kc__string *out, const kc__rtc_api *rtc, void *program, const char *arch, const kc__part *code,
                      kc_text *err) {
  (void)arch;
  (void)code;
  return kc__rtc_bytes(out, rtc, program, rtc->text_size, rtc->text, "nvrtcGetPTX", err);
}

const kc__rtc_vendor kc__rtc_nvrtc = {.name = "nvrtc",
                                      .asked = "KC_NVRTC",
                                      .symbols = symbols,
                                      .count = sizeof symbols / sizeof *symbols,
                                      .patterns = patterns,
                                      .archs = archs,
                                      .text = text};
